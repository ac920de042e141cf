// What gangs with plans leave of a node.
#pragma once

#include <span>

#include "rankward/placement/request.hpp"
#include "rankward/placement/reservations.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

// Whether the places that other gangs hold on the node leave too little for one pod of this
// request. Only what somebody holds is looked at: all else the scheduler counts itself.
[[nodiscard]] bool is_taken_by_others(const Request& request, const NodeState& node,
                                      std::span<const Held> held);

}  // namespace rankward::placement
