#include "rankward/cluster/snapshot_holder.hpp"

#include <utility>

namespace rankward::cluster {
namespace {

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

const std::shared_ptr<const placement::Snapshot>& empty_snapshot() {
  static const auto snapshot = std::make_shared<const placement::Snapshot>();
  return snapshot;
}

// What this thread took last. One slot: a process has one holder, tests a few.
struct Taken {
  std::uint64_t holder = 0;
  std::uint64_t version = 0;
  std::weak_ptr<const placement::Snapshot> snapshot;
};
thread_local Taken taken;

}  // namespace

SnapshotHolder::SnapshotHolder() : id_(next_id()), snapshot_(empty_snapshot()) {}

void SnapshotHolder::store(std::shared_ptr<const placement::Snapshot> snapshot) {
  if (!snapshot) snapshot = empty_snapshot();
  {
    const std::lock_guard lock(mutex_);
    snapshot_.swap(snapshot);
    version_.fetch_add(1, std::memory_order_release);
  }
  // The old Snapshot ends here, outside the lock, if nobody else has it: it may be large.
}

std::shared_ptr<const placement::Snapshot> SnapshotHolder::load() const {
  if (taken.holder == id_ && taken.version == version_.load(std::memory_order_acquire)) {
    // Fails only where store() has just replaced it and nobody else holds it.
    if (auto snapshot = taken.snapshot.lock()) return snapshot;
  }
  const std::lock_guard lock(mutex_);
  taken = {id_, version_.load(std::memory_order_relaxed), snapshot_};
  return snapshot_;
}

}  // namespace rankward::cluster
