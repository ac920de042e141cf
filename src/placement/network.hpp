// Which transport a pod's rank would use on a node, from what it asks for and what the node has up.
#pragma once

#include "rankward/placement/request.hpp"
#include "rankward/placement/snapshot.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

struct Network {
  topology::Transport transport = topology::Transport::kSocket;
  bool rdma = false;        // the node has something to carry it
  bool nics_known = false;  // the report lists NICs
};

[[nodiscard]] Network network_of(const Request& request, const NodeState& node);

// rdma-required on a node without any RDMA. A pod that requests the devices by name is told so in
// filter only where all ports are down: the scheduler has found the devices.
[[nodiscard]] bool rdma_is_missing(const Request& request, const NodeState& node, Use use);

// The NIC resource of which the node has too few free; nullptr for none. `absent`: it has none.
struct NicShortage {
  const DeviceRequest* nic = nullptr;
  bool absent = false;
};
[[nodiscard]] NicShortage nic_shortage(const Request& request, const NodeState& node);

}  // namespace rankward::placement
