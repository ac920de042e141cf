// The one thread that owns the SnapshotBuilder.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "node_facts.hpp"
#include "rankward/cluster/snapshot_holder.hpp"
#include "rankward/formats/gang_objects.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::cluster {

struct NodesReplaced {
  std::vector<NodeFacts> nodes;
};
struct NodePut {
  NodeFacts node;
};
struct NodeRemoved {
  std::string name;
};
struct PodsReplaced {
  std::vector<placement::PodDigest> pods;
};
struct PodPut {
  placement::PodDigest pod;
};
struct PodRemoved {
  std::string key;  // SnapshotBuilder's
};
// Owners of gangs, all of one resource ("jobs.batch"), which are heard of from now on.
struct GangOwnersReplaced {
  std::string resource;
  std::vector<formats::GangOwner> owners;
};
// The resource has turned out not to be there: it has no owners.
struct GangOwnersAbsent {
  std::string resource;
};
struct GangOwnerPut {
  formats::GangOwner owner;
};
struct GangOwnerRemoved {
  std::string key;  // formats::gang_owner_key()
};
// Nothing will be heard of this resource for now; what was heard stays.
struct GangOwnersUnknown {
  std::string resource;
};
using Change = std::variant<NodesReplaced, NodePut, NodeRemoved, PodsReplaced, PodPut, PodRemoved,
                            GangOwnersReplaced, GangOwnersAbsent, GangOwnerPut, GangOwnerRemoved,
                            GangOwnersUnknown>;

struct PublisherOptions {
  std::chrono::milliseconds interval{20};
  // The first Snapshot waits for so many resources of gang owners, but not longer than that.
  std::size_t gang_resources = 0;
  std::chrono::milliseconds gang_patience{0};
};

// Publishes nothing before Nodes and Pods have been replaced once: Nodes without their Pods would
// look free. After that a change is published at once, and what comes within `interval` of the last
// Snapshot waits for the interval's end and goes out together.
class Publisher {
 public:
  using Publish = std::function<void(const std::shared_ptr<const placement::Snapshot>&)>;

  Publisher(const PublisherOptions& options, Publish publish);
  ~Publisher() { stop(); }
  Publisher(const Publisher&) = delete;
  Publisher& operator=(const Publisher&) = delete;

  // From any thread. Blocks while the owner is far behind, so that a storm of events waits in the
  // API server's buffers instead of our memory. Dropped after stop().
  void push(Change change);
  // Joins the thread; what is still queued is dropped.
  void stop();

  [[nodiscard]] const SnapshotHolder& holder() const { return holder_; }
  [[nodiscard]] bool synced() const { return synced_.load(std::memory_order_acquire); }
  [[nodiscard]] std::uint64_t published() const { return published_; }

 private:
  void run(const std::stop_token& stop);
  // False once stopped.
  bool wait_for_changes(const std::stop_token& stop, std::vector<Change>& batch);
  void apply(Change change);
  void replace_gang_owners(const std::string& resource, std::vector<formats::GangOwner> owners);
  // The resource's state is known; `heard`: what happens to its objects will be told.
  void settle_gang_resource(std::string resource, bool heard);
  [[nodiscard]] bool may_publish() const;
  void publish();

  const PublisherOptions options_;
  const std::chrono::steady_clock::time_point patience_ends_;
  const Publish publish_;
  SnapshotHolder holder_;
  std::atomic<bool> synced_{false};
  std::atomic<std::uint64_t> published_{0};

  placement::SnapshotBuilder builder_;  // of the owner's thread, as all up to the mutex
  bool have_nodes_ = false;
  bool have_pods_ = false;
  std::map<std::string, bool> settled_;  // resources of gang owners; whether they are heard of
  std::chrono::steady_clock::time_point not_before_;

  std::mutex mutex_;
  std::condition_variable_any queued_;
  std::condition_variable_any drained_;
  std::vector<Change> queue_;  // under mutex_
  std::stop_source stopping_;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace rankward::cluster
