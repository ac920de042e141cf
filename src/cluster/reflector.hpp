// Lists and watches one resource for as long as it is let.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>

#include "api_client.hpp"
#include "api_failure.hpp"
#include "rankward/cluster/watcher.hpp"
#include "resource_sink.hpp"

namespace rankward::cluster {

struct Resource {
  std::string name;            // "pods"
  std::string path;            // "/api/v1/pods"
  std::string field_selector;  // "" for all
  // The server may not have it, or not for us, and that is no fault.
  bool optional = false;
};

// The protocol of client-go's reflector. The first list is served from the API server's cache
// (resourceVersion=0), later ones are at least as new as what was seen last, and only after a 410
// is etcd itself asked, in pages. A watch that ends by itself is continued from the last version;
// any other end means a new list.
class Reflector {
 public:
  // Everything given outlives the Reflector; `random` may be called from its thread at any time.
  Reflector(Resource resource, ResourceSink& sink, ApiClient& client, const WatcherOptions& options,
            std::function<double()> random);

  // Where the path had to be found out first. Not while run() is running.
  void set_path(std::string path) { resource_.path = std::move(path); }
  // Returns after stop, provided that the client is cancelled too. An optional resource also when
  // the server refuses it (403) or does not know it (404): with that failure.
  std::optional<ApiFailure> run(const std::stop_token& stop);

  // From any thread.
  [[nodiscard]] ResourceStats stats() const;
  // When the API server last showed that it is there for us; nothing before the first list.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> last_contact() const;

 private:
  struct Counters {
    std::atomic<std::uint64_t> lists{0}, watches{0}, watch_ends{0}, failures{0}, gone{0}, events{0},
        bookmarks{0}, parse_errors{0};
  };

  // Each returns why it failed; sets version_.
  std::optional<ApiFailure> list(const std::string& version);
  std::optional<ApiFailure> list_page(const std::string& target, std::string& continue_token);
  std::optional<ApiFailure> watch();
  std::optional<ApiFailure> take_line(std::string_view line);

  [[nodiscard]] std::string list_target(const std::string& version,
                                        const std::string& continue_token) const;
  [[nodiscard]] std::string watch_target() const;
  void contact();
  void unreadable(const Error& error);
  void report(Severity severity, std::string_view message, std::string error = {}) const;
  void wait(const std::stop_token& stop, std::chrono::milliseconds time);

  Resource resource_;
  ResourceSink& sink_;
  ApiClient& client_;
  const WatcherOptions& options_;
  const std::function<double()> random_;

  std::string version_;    // the last one seen; opaque
  bool progress_ = false;  // this watch has given an event or come to its proper end
  Counters counters_;
  std::atomic<std::int64_t> last_contact_{0};  // steady_clock ticks; 0: none
  std::mutex mutex_;
  std::condition_variable_any wake_;
};

}  // namespace rankward::cluster
