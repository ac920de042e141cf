#include "network.hpp"

#include <algorithm>

#include "question.hpp"

namespace rankward::placement {

namespace {

using topology::LinkLayer;
using topology::Transport;

constexpr std::string_view kEfaResource = "vpc.amazonaws.com/efa";

bool requests(const Request& request, std::string_view name) {
  return std::any_of(request.nics.begin(), request.nics.end(),
                     [name](const DeviceRequest& nic) { return nic.resource == name; });
}

// rdma-required and rdma-preferred count without a request too: what the pod forgot to request is
// admission's to say.
bool may_use_rdma(const Request& request) {
  return request.wants_rdma() || (request.host_network && request.transport != TransportWish::kTcp);
}

bool is_up(const topology::Nic& nic) {
  return nic.state != topology::PortState::kDown;
}

// An Ethernet port carries RoCE only where it is handed out as an RDMA device.
bool carries_rdma(const topology::Nic& nic) {
  return is_up(nic) && (nic.link_layer != LinkLayer::kEthernet || kube::is_rdma(nic.resource));
}

// nullptr where the node advertises no RDMA device.
const DeviceAmount* rdma_device(const NodeState& node) {
  const auto found = std::find_if(
      node.devices.begin(), node.devices.end(),
      [](const DeviceAmount& device) { return device.rdma && device.allocatable.value_or(0) > 0; });
  return found == node.devices.end() ? nullptr : &*found;
}

Transport transport_over(const topology::NodeTopology& topology) {
  bool ethernet = false;
  bool unknown = false;
  for (const topology::Nic& nic : topology.nics) {
    if (!is_up(nic)) continue;
    if (nic.link_layer == LinkLayer::kEfa) return Transport::kEfa;
    if (nic.link_layer == LinkLayer::kInfiniBand) return Transport::kInfiniBand;
    ethernet = ethernet || nic.link_layer == LinkLayer::kEthernet;
    unknown = unknown || nic.link_layer == LinkLayer::kUnknown;
  }
  // Where no port says, InfiniBand is what the bandwidth of an RDMA port is worked out by.
  return ethernet && !unknown ? Transport::kRoce : Transport::kInfiniBand;
}

}  // namespace

Network network_of(const Request& request, const NodeState& node) {
  const topology::NodeTopology& topology = *node.machine;
  Network network;
  network.nics_known = !topology.nics.empty();
  if (!may_use_rdma(request)) return network;
  if (network.nics_known) {
    const bool handed_out = rdma_device(node) != nullptr;
    network.rdma = std::any_of(topology.nics.begin(), topology.nics.end(),
                               [handed_out](const topology::Nic& nic) {
                                 return carries_rdma(nic) || (is_up(nic) && handed_out);
                               });
    if (network.rdma) network.transport = transport_over(topology);
    return network;
  }
  const DeviceAmount* device = rdma_device(node);
  network.rdma = device != nullptr || !request.nics.empty();
  if (network.rdma) {
    const bool efa =
        requests(request, kEfaResource) || (device != nullptr && device->resource == kEfaResource);
    network.transport = efa ? Transport::kEfa : Transport::kInfiniBand;
  }
  return network;
}

bool rdma_is_missing(const Request& request, const NodeState& node, Use use) {
  if (request.transport != TransportWish::kRdmaRequired) return false;
  const bool ports_down = !node.machine->nics.empty() &&
                          std::none_of(node.machine->nics.begin(), node.machine->nics.end(), is_up);
  if (!request.nics.empty() && use == Use::kFilter) return ports_down;
  if (!request.nics.empty()) return ports_down || nic_shortage(request, node).absent;
  return !network_of(request, node).rdma;
}

NicShortage nic_shortage(const Request& request, const NodeState& node) {
  NicShortage worst;
  for (const DeviceRequest& nic : request.nics) {
    const auto free = node.free(nic.resource);
    if (free.value_or(0) >= nic.count) continue;
    const DeviceAmount* has = node.device(nic.resource);
    const bool absent = has == nullptr || has->capacity.value_or(0) <= 0;
    if (worst.nic == nullptr || (absent && !worst.absent)) worst = {&nic, absent};
  }
  return worst;
}

}  // namespace rankward::placement
