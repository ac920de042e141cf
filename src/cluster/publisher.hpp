// The one thread that owns the SnapshotBuilder.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <mutex>
#include <stop_token>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "node_facts.hpp"
#include "rankward/cluster/snapshot_holder.hpp"
#include "rankward/kube/pod.hpp"
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
  std::vector<kube::Pod> pods;
};
struct PodPut {
  kube::Pod pod;
};
struct PodRemoved {
  std::string key;  // SnapshotBuilder's
};
using Change = std::variant<NodesReplaced, NodePut, NodeRemoved, PodsReplaced, PodPut, PodRemoved>;

// Publishes nothing before both resources have been replaced once: Nodes without their Pods would
// look free. After that a change is published at once, and what comes within `interval` of the last
// Snapshot waits for the interval's end and goes out together.
class Publisher {
 public:
  using Publish = std::function<void(const std::shared_ptr<const placement::Snapshot>&)>;

  Publisher(std::chrono::milliseconds interval, Publish publish);
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
  void apply(Change change);
  void publish();

  const std::chrono::milliseconds interval_;
  const Publish publish_;
  SnapshotHolder holder_;
  std::atomic<bool> synced_{false};
  std::atomic<std::uint64_t> published_{0};

  placement::SnapshotBuilder builder_;  // of the owner's thread, as the two below
  bool have_nodes_ = false;
  bool have_pods_ = false;

  std::mutex mutex_;
  std::condition_variable_any queued_;
  std::condition_variable_any drained_;
  std::vector<Change> queue_;  // under mutex_
  std::stop_source stopping_;
  std::thread thread_;  // last: starts when all else is there
};

}  // namespace rankward::cluster
