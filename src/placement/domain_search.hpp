// How few nodes of a domain hold a gang within a bound.
#pragma once

#include <cstdint>
#include <optional>

#include "planner_limit.hpp"

namespace rankward::placement {

// The fewest nodes, at least two and those with fixed ranks included, on which `pods` more find
// room with every share allowed by the limit. Nothing where all of them do not.
//
// The allowed shares of a node are mostly an interval [lo, hi], since bandwidth to other nodes
// rises with the share and bandwidth inside falls; then the nodes of largest hi decide, and only
// where their lo sum up to more than there are pods is more to be tried. A device plugin that picks
// better for three GPUs than for two leaves a gap; then sums are worked out one by one.
[[nodiscard]] std::optional<std::int32_t> fewest_nodes(const PlanNodes& nodes,
                                                       const DomainContents& contents,
                                                       const PlanLimit& limit, std::int32_t pods);

}  // namespace rankward::placement
