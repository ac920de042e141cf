// How many pods of a gang a node can host now.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/placement/request.hpp"
#include "rankward/placement/reservations.hpp"
#include "rankward/placement/snapshot.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

// What stands on the node beside the pods that the Snapshot counts there.
struct RoomTaken {
  std::span<const Held> held;   // of any gang; those of the request's own count for nothing
  std::int32_t own_unseen = 0;  // ranks of the gang itself that the Snapshot does not show bound
};

struct NodeRoom {
  std::int64_t pods = 0;
  // Of the first device that the node counts: free once all others have theirs, and whether nobody
  // has one. A node with nothing to count is never whole.
  std::int64_t free_devices = 0;
  bool whole_free = false;
};

// Counts by every resource that the pod asks for, pod slots, the GPUs one by one where those are
// known, and, where the kubelet wants each pod on one NUMA node, by NUMA node. For Use::kFilter the
// scheduler has found room for one pod already, so our own counting never ends below one; what
// other gangs hold it does not know, and that is taken off then.
class RoomCounter {
 public:
  // The request outlives the counter.
  RoomCounter(const Request& request, Use use);

  [[nodiscard]] NodeRoom room_on(const NodeState& node, const RoomTaken& taken) const;

  // The same in two steps. The first reads the node's shape alone, so where nothing is taken its
  // answer holds for all nodes of that shape.
  [[nodiscard]] NodeRoom room_of_devices(const NodeState& node, const RoomTaken& taken) const;
  void limit_by_the_rest(const NodeState& node, const RoomTaken& taken, NodeRoom& room) const;

 private:
  struct Need {
    std::string_view resource;
    const kube::Quantity* amount = nullptr;
    bool in_thousandths = false;  // of a unit, as CPU comes
    std::int64_t count = 0;
    const PlainAmount NodeState::*plain = nullptr;  // where the node keeps it as one number
  };

  [[nodiscard]] std::int64_t held(const RoomTaken& taken, std::string_view resource) const;
  [[nodiscard]] std::int64_t left(std::int64_t free, std::int64_t need, std::int64_t held,
                                  const RoomTaken& taken) const;
  [[nodiscard]] std::int64_t pods_by(const Need& need, const NodeState& node,
                                     const RoomTaken& taken) const;
  [[nodiscard]] std::int64_t pods_by_numa(const NodeState& node, const RoomTaken& taken,
                                          std::int64_t others) const;

  const Request& request_;
  Use use_;
  std::string_view own_gang_;
  std::vector<Need> needs_;               // other than devices
  const DeviceRequest* first_ = nullptr;  // accelerator that nodes count
  const DeviceRequest* gpu_ = nullptr;    // that stands for whole GPUs
};

[[nodiscard]] inline NodeRoom room_on(const Request& request, const NodeState& node,
                                      const RoomTaken& taken, Use use) {
  return RoomCounter(request, use).room_on(node, taken);
}

}  // namespace rankward::placement
