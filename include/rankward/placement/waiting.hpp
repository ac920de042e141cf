// Why a pod waits whose scheduler may never have asked about it: kube-scheduler's own filters run
// before an extender, and say "Insufficient nvidia.com/gpu" where a driver or device plugin failed.
#pragma once

#include <cstddef>
#include <vector>

#include "rankward/placement/reservations.hpp"
#include "rankward/placement/snapshot.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

struct WaitingReason {
  ReasonCode code;
  std::size_t nodes = 0;
};

struct WaitingOutlook {
  // A node takes it by all that we know: its own requests, free amounts, what gangs hold. Then it
  // sleeps for a reason that has gone, or that we do not know (affinity, volumes, ports).
  bool has_room = false;
  std::size_t nodes = 0;  // looked at: all of the Snapshot, or up to the one with room
  // Where there is no room: one a node, those with most nodes first, then by code.
  std::vector<WaitingReason> reasons;
};

// Judges as for Use::kExplain, amounts included. Looks at every node; those of one
// shape are judged once.
[[nodiscard]] WaitingOutlook outlook(const ClusterView& view, const WaitingPod& pod,
                                     const Options& options);

}  // namespace rankward::placement
