// The API server's Nodes and Pods, listed and watched, as Snapshots.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/cluster/clock.hpp"
#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/cluster/snapshot_source.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::cluster {

enum class Severity : std::uint8_t { kInfo, kWarning, kError };

// Something for the log. Views are valid during the call.
struct WatchEvent {
  Severity severity;
  std::string_view resource;  // "nodes", "pods", or of gang owners: "jobs.batch"
  std::string_view object;    // name where one object is meant, else ""
  std::string_view message;   // fixed texts
  std::string error;          // the cause, "" for none; carries no token and no object content
};

// Times of the protocol. Defaults are client-go's reflector's where it has one.
struct WatchTiming {
  // After the n-th failure in a row: between the least and the least times 2^n, at most the
  // longest.
  std::chrono::milliseconds least_backoff{800};
  std::chrono::milliseconds longest_backoff{30'000};
  // Upper bound of what a Retry-After may ask for.
  std::chrono::milliseconds longest_retry_after{300'000};
  // The server ends each watch after a random time between these, so that replicas spread.
  std::chrono::seconds least_watch{300};
  std::chrono::seconds longest_watch{600};
  // A whole list; 150,000 pods take tens of seconds on a busy API server.
  std::chrono::milliseconds list_timeout{120'000};
  // Silence after which a watch counts as dead. Bookmarks come about once a minute.
  std::chrono::milliseconds watch_silence{150'000};
  // Bursts of changes become one Snapshot. Larger: fewer copies; smaller: fresher answers.
  std::chrono::milliseconds publish_interval{20};
  // The first Snapshot waits no longer than that for the resources that say how large gangs are.
  std::chrono::milliseconds gang_patience{5'000};
  // One that the API server does not have, or not for us, is looked for again about this often.
  std::chrono::milliseconds gang_rediscovery{300'000};
};

struct WatcherOptions {
  topology::LabelOptions labels;
  placement::RequestOptions requests;  // of pods that have no node yet, and of templates
  WatchTiming timing;
  // One watch event. etcd refuses objects above 1.5 MiB by default; JSON is larger than protobuf.
  std::size_t max_line_bytes = std::size_t{16} << 20;
  // Objects a page of a list after a 410. The first list comes from the watch cache, unpaged.
  std::size_t page_size = 500;
  // Of formats::gang_resources(), by name ("jobs.batch"), those to watch where the API server has
  // them. Nothing: all. Unknown names are passed over.
  std::optional<std::vector<std::string>> gang_resources;
  // Called from threads of the watcher; must be thread-safe and quick.
  std::function<void(const WatchEvent&)> on_event;
  const Clock* clock = &machine_clock();  // outlives the watcher
  // Uniform in [0, 1); calls do not overlap. Absent: seeded by the system.
  std::function<double()> random;
};

// Of one resource, since start.
struct ResourceStats {
  std::uint64_t lists = 0;       // complete, the first one included
  std::uint64_t relists = 0;     // complete ones after the first: one an outage
  std::uint64_t watches = 0;     // accepted by the server
  std::uint64_t watch_ends = 0;  // that the server ended at their time
  std::uint64_t failures = 0;    // lists or watches that failed, for any reason
  std::uint64_t gone = 0;        // of which 410
  std::uint64_t events = 0;      // ADDED, MODIFIED, DELETED
  std::uint64_t bookmarks = 0;
  std::uint64_t parse_errors = 0;  // lines or objects that could not be read
};

enum class GangSourceState : std::uint8_t {
  kUnknown,    // not looked for yet, or the API server did not answer
  kAbsent,     // it has no such resource
  kForbidden,  // it has, but not for us: what was heard before stays
  kWatched,
};

struct GangSourceStats {
  std::string resource;  // "jobs.batch"
  GangSourceState state = GangSourceState::kUnknown;
  ResourceStats watch;
};

struct WatcherStats {
  ResourceStats nodes;
  ResourceStats pods;
  std::vector<GangSourceStats> gang_sources;  // in the order of formats::gang_resources()
  std::uint64_t bad_annotations = 0;  // topology reports that could not be read, every time seen
  std::uint64_t snapshots = 0;        // published

  // Of Nodes and Pods, as the sums below.
  [[nodiscard]] std::uint64_t relists() const { return nodes.relists + pods.relists; }
  // Watches of Nodes and Pods after the first of each, for whatever reason.
  [[nodiscard]] std::uint64_t watch_restarts() const {
    return (nodes.watches > 0 ? nodes.watches - 1 : 0) + (pods.watches > 0 ? pods.watches - 1 : 0);
  }
  [[nodiscard]] std::uint64_t parse_errors() const {
    return nodes.parse_errors + pods.parse_errors;
  }
};

class ClusterWatcher : public SnapshotSource {
 public:
  // Called on the watcher's own thread with each Snapshot, after current() has it.
  using Publish = std::function<void(const std::shared_ptr<const placement::Snapshot>&)>;

  // Begins to list at once and never gives up; what fails is reported through on_event and tried
  // again. One thread a resource, and one that builds Snapshots.
  [[nodiscard]] static std::unique_ptr<ClusterWatcher> start(ApiServer server,
                                                             WatcherOptions options = {},
                                                             Publish publish = {});
  ~ClusterWatcher() override;

  [[nodiscard]] std::shared_ptr<const placement::Snapshot> current() const override;
  // Nodes and Pods have been listed and their Snapshot is published.
  [[nodiscard]] bool ready() const override { return synced(); }
  [[nodiscard]] bool synced() const;
  // Time since the API server last gave a sign of life for the resource that has been silent for
  // longer: list, event or bookmark. Up to a minute on a quiet cluster. Nothing before synced().
  [[nodiscard]] std::optional<std::chrono::milliseconds> snapshot_age() const;
  [[nodiscard]] WatcherStats stats() const;
  [[nodiscard]] std::uint64_t relists() const { return stats().relists(); }

  // Cancels what is in flight and joins the threads, within a second unless a name look-up hangs.
  // The last Snapshot stays. Not to be called from a callback.
  void stop();

 private:
  struct Impl;
  explicit ClusterWatcher(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankward::cluster
