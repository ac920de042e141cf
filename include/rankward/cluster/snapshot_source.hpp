// Where the server gets the cluster from, whoever made it.
#pragma once

#include <memory>

#include "rankward/placement/snapshot.hpp"

namespace rankward::cluster {

class SnapshotSource {
 public:
  virtual ~SnapshotSource() = default;
  // Never null: before the first real one an empty Snapshot with number 0. From any thread; takes
  // no lock unless a new Snapshot has come since this thread's last call.
  [[nodiscard]] virtual std::shared_ptr<const placement::Snapshot> current() const = 0;
  // Whether current() is the cluster, no matter how old. Never false again once it was true.
  [[nodiscard]] virtual bool ready() const = 0;
};

}  // namespace rankward::cluster
