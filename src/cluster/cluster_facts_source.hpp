// One resource of ClusterFacts: listed and watched, and its absence borne.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>

#include "api_client.hpp"
#include "rankward/cluster/cluster_facts.hpp"
#include "reflector.hpp"
#include "resource_sink.hpp"

namespace rankward::cluster {

class ClusterFactsSource {
 public:
  // Everything given outlives the source. `forget` empties the resource's part of the facts.
  ClusterFactsSource(FactsResource resource, ResourceSink& sink, std::function<void()> forget,
                     const ApiServer& server, CredentialSource& credentials,
                     const WatcherOptions& options, std::function<double()> random);

  // Returns after stop and cancel().
  void run(const std::stop_token& stop);
  void cancel() { client_.cancel(); }
  // From any thread.
  [[nodiscard]] FactsStats stats() const;

 private:
  void tell(FactsState state, std::string error);
  void wait(const std::stop_token& stop, std::chrono::milliseconds time);

  const FactsResource resource_;
  const std::function<void()> forget_;
  const WatcherOptions& options_;
  const std::function<double()> random_;
  ApiClient client_;
  Reflector reflector_;
  std::optional<FactsState> told_;  // of the thread in run()
  std::atomic<FactsState> state_{FactsState::kUnknown};
  std::atomic<std::uint64_t> lists_before_{0};  // lists before this try
  std::mutex mutex_;
  std::condition_variable_any wake_;
};

}  // namespace rankward::cluster
