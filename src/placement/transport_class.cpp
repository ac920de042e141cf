#include "transport_class.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string_view>
#include <vector>

#include "network.hpp"

namespace rankward::placement {

namespace {

using topology::Transport;

void append(std::string& key, std::string_view text) {
  key += std::to_string(text.size());
  key += ':';
  key += text;
}

// The name that GFD gives, else what all GPUs of the report agree on.
std::string_view product_of(const topology::NodeTopology& machine) {
  if (!machine.product.empty() || machine.gpus.empty()) return machine.product;
  const std::string& model = machine.gpus.front().model;
  const bool same = std::all_of(machine.gpus.begin(), machine.gpus.end(),
                                [&](const topology::Gpu& gpu) { return gpu.model == model; });
  return same ? std::string_view(model) : std::string_view("mixed");
}

// As inter_node() counts ports: a storage port is none of an InfiniBand gang's.
bool carries(const topology::Nic& nic, Transport transport) {
  using topology::LinkLayer;
  if (nic.state == topology::PortState::kDown) return false;
  if (nic.link_layer == LinkLayer::kUnknown) return true;
  switch (transport) {
    case Transport::kInfiniBand:
      return nic.link_layer == LinkLayer::kInfiniBand;
    case Transport::kEfa:
      return nic.link_layer == LinkLayer::kEfa;
    default:
      return nic.link_layer == LinkLayer::kEthernet;
  }
}

void append_ports(std::string& key, const topology::NodeTopology& machine, Transport transport) {
  std::vector<std::string> ports;
  for (const topology::Nic& nic : machine.nics) {
    if (!carries(nic, transport)) continue;
    char text[48];
    // Rates come in whole Gb/s; half of one is no difference.
    std::snprintf(text, sizeof(text), "%d@%.0f", static_cast<int>(nic.link_layer),
                  nic.rate ? nic.rate->value * 8 : -1);
    ports.emplace_back(text);
  }
  std::sort(ports.begin(), ports.end());
  for (const std::string& port : ports)
    append(key, port);
  key += machine.gpu_direct ? (*machine.gpu_direct ? '+' : '-') : '?';
}

}  // namespace

std::string transport_class(const Request& request, const NodeState& node) {
  const topology::NodeTopology& machine = *node.machine;
  const Transport transport = network_of(request, node).transport;
  std::string key(1, static_cast<char>('A' + static_cast<int>(transport)));
  key += static_cast<char>('A' + static_cast<int>(machine.sharing));
  append(key, product_of(machine));
  if (transport != Transport::kSocket) append_ports(key, machine, transport);
  return key;
}

}  // namespace rankward::placement
