// One resource of gang owners: found where the API server has it, then listed and watched.
#pragma once

#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "api_client.hpp"
#include "publisher.hpp"
#include "rankward/cluster/watcher.hpp"
#include "rankward/formats/gang_objects.hpp"
#include "reflector.hpp"
#include "resource_sink.hpp"

namespace rankward::cluster {

// Objects as Changes of the Snapshot.
class GangSink final : public ResourceSink {
 public:
  // All outlive the sink.
  GangSink(const formats::GangResource& resource, Publisher& publisher,
           const placement::RequestOptions& requests)
      : resource_(resource), publisher_(publisher), requests_(requests) {}

  void begin_list() override { listed_.clear(); }
  Result<void> list_item(std::string_view json) override;
  void end_list() override;
  Result<void> put(std::string_view json) override;
  Result<void> remove(std::string_view json) override;

  // The resource is not there: no owner of this kind says anything.
  void forget();
  // It cannot be had for now; what was heard stays.
  void give_up();

 private:
  const formats::GangResource& resource_;
  Publisher& publisher_;
  const placement::RequestOptions& requests_;
  std::vector<formats::GangOwner> listed_;
};

class GangSource {
 public:
  // Everything given outlives the source.
  GangSource(const formats::GangResource& resource, const ApiServer& server,
             CredentialSource& credentials, Publisher& publisher, const WatcherOptions& options,
             std::function<double()> random);

  // Returns after stop and cancel().
  void run(const std::stop_token& stop);
  void cancel() { client_.cancel(); }
  // From any thread.
  [[nodiscard]] GangSourceStats stats() const;

 private:
  struct Look {
    GangSourceState state = GangSourceState::kUnknown;
    std::string path;   // where it is there
    std::string error;  // where it is not known
  };

  // Asks which versions the API server has.
  [[nodiscard]] Look look();
  // Returns what has become of the resource.
  [[nodiscard]] Look watch(std::string path, const std::stop_token& stop);
  void tell(const Look& found);
  void wait(const std::stop_token& stop, std::chrono::milliseconds time);

  const formats::GangResource& resource_;
  const std::string name_;
  const WatcherOptions& options_;
  const std::function<double()> random_;
  GangSink sink_;
  ApiClient client_;
  Reflector reflector_;
  std::optional<GangSourceState> told_;  // of the thread in run()
  std::atomic<GangSourceState> state_{GangSourceState::kUnknown};
  std::mutex mutex_;
  std::condition_variable_any wake_;
};

}  // namespace rankward::cluster
