// Why there is no plan.
#pragma once

#include "planner_nodes.hpp"
#include "rankward/placement/plan.hpp"

namespace rankward::placement {

[[nodiscard]] PlanRefusal refuse(const PlanQuestion& question, const PlanNodes& nodes,
                                 const Snapshot& snapshot);

}  // namespace rankward::placement
