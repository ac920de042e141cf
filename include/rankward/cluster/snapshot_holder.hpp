// One writer puts Snapshots here, many readers take them.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>

#include "rankward/placement/snapshot.hpp"

namespace rankward::cluster {

// Each thread keeps a weak reference to what it took last and compares one version number, so that
// between two publications a reader does one atomic load and one reference count. The mutex is
// taken once a thread and publication, at most some 50 times a second. std::atomic<shared_ptr> is
// not used: in libstdc++ 12 it is a spin bit that all readers share, which TSan cannot follow. The
// reference is weak so that an idle thread keeps no old cluster in memory.
class SnapshotHolder {
 public:
  SnapshotHolder();
  SnapshotHolder(const SnapshotHolder&) = delete;
  SnapshotHolder& operator=(const SnapshotHolder&) = delete;

  // Null counts as an empty Snapshot.
  void store(std::shared_ptr<const placement::Snapshot> snapshot);
  // Never null.
  [[nodiscard]] std::shared_ptr<const placement::Snapshot> load() const;

 private:
  const std::uint64_t id_;  // of this holder in a thread's cache; never used twice in a process
  std::atomic<std::uint64_t> version_{1};
  mutable std::mutex mutex_;
  std::shared_ptr<const placement::Snapshot> snapshot_;  // under mutex_
};

}  // namespace rankward::cluster
