// What all ranks of a gang must have in common (placement.md, "Transport class: a hard partition").
#pragma once

#include <string>

#include "rankward/placement/request.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

// Equal bytes, one class: transport, link layer, number and rate of the ports that carry it,
// GPUDirect or not, GPU product, sharing mode. Over TCP sockets ports do not count, since NCCL has
// the pod's one network there. What nobody has said is a value of its own: nodes without a report
// are no part of a gang on nodes that have one, unless that gang talks over sockets.
[[nodiscard]] std::string transport_class(const Request& request, const NodeState& node);

}  // namespace rankward::placement
