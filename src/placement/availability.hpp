// What the scheduler's own filters say of a node, for plan and explain: the words of others, not
// ours.
#pragma once

#include <optional>
#include <string>

#include "rankward/placement/request.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

// Why the node takes no such pod whatever is free on it, for a person: "not ready",
// "taint team=b:NoSchedule", "nvidia.com/gpu.memory Gt 80000 does not hold".
[[nodiscard]] std::optional<std::string> closed_to(const kube::PodSpec& spec,
                                                   const kube::Node& node);

// What else than devices the node is short of: "cpu", "pods", a resource of others.
[[nodiscard]] std::optional<std::string> short_of(const Request& request, const NodeState& node);

}  // namespace rankward::placement
