#include "machine_links.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <span>
#include <utility>

namespace rankward::commands {
namespace {

using topology::Bottleneck;
using topology::NodeTopology;
using topology::PathType;
using topology::Transport;

// `path(i)` of device i among `count`.
template <class Path>
Nearest nearest(std::size_t count, Path&& path) {
  Nearest out;
  for (std::size_t i = 0; i < count; ++i)
    out.path = std::min(out.path, path(i));
  for (std::size_t i = 0; i < count && out.path != PathType::kUnknown; ++i) {
    if (path(i) == out.path) out.devices.push_back(i);
  }
  return out;
}

// Over the transport that the node's ports carry best; where nobody says what they are, all three
// give the same.
Bottleneck over_rdma(const NodeTopology& node, std::span<const std::uint32_t> gpus) {
  Bottleneck best = topology::inter_node(node, gpus, Transport::kInfiniBand);
  for (const Transport transport : {Transport::kRoce, Transport::kEfa}) {
    Bottleneck other = topology::inter_node(node, gpus, transport);
    if (other.bandwidth > best.bandwidth) best = std::move(other);
  }
  return best;
}

std::vector<PairKind> pair_kinds(const NodeTopology& node) {
  // By distance, more NVLinks first.
  std::map<std::pair<PathType, int>, PairKind> kinds;
  for (std::uint32_t a = 0; a < node.gpus.size(); ++a) {
    for (std::uint32_t b = a + 1; b < node.gpus.size(); ++b) {
      const PathType path = node.gpu_path(a, b);
      const int links = node.nvlink_count(a, b);
      PairKind& kind = kinds[{path, -links}];
      if (kind.pairs == 0) {
        kind.path = links > 0 ? "NV" + std::to_string(links) : std::string(to_string(path));
        kind.bandwidth = topology::intra_node(node, std::vector{a, b}).bandwidth;
      }
      ++kind.pairs;
    }
  }
  std::vector<PairKind> out;
  for (auto& [key, kind] : kinds)
    out.push_back(std::move(kind));
  return out;
}

std::vector<std::string> assumptions(const NodeTopology& node) {
  std::vector<std::string> out;
  const auto any_nic = [&](auto&& unknown) {
    return std::any_of(node.nics.begin(), node.nics.end(), unknown);
  };
  if (node.nics.empty()) {
    out.emplace_back("NICs (one of 100 Gb/s, staged in host memory; EFA shows in no matrix)");
  }
  if (any_nic([](const topology::Nic& nic) { return !nic.rate; })) {
    out.emplace_back("NIC rates (100 Gb/s)");
  }
  if (any_nic(
          [](const topology::Nic& nic) { return nic.state == topology::PortState::kUnknown; })) {
    out.emplace_back("port states (active)");
  }
  if (!node.gpu_direct && !node.nics.empty()) out.emplace_back("GPUDirect RDMA (there)");
  const bool no_model = node.product.empty() &&
                        std::any_of(node.gpus.begin(), node.gpus.end(),
                                    [](const topology::Gpu& gpu) { return gpu.model.empty(); });
  if (no_model)
    out.emplace_back("GPU model (PCIe gen 3 between GPUs, NVLink by the number of links)");
  return out;
}

}  // namespace

MachineLinks machine_links(const NodeTopology& node) {
  MachineLinks out;
  out.gpus = node.gpus.size();
  if (out.gpus == 0) {
    // More than any machine has would only be a typing error in a label.
    out.gpus = static_cast<std::size_t>(
        std::clamp<std::int64_t>(node.gpu_count.value_or(0), std::int64_t{0}, std::int64_t{64}));
  }
  for (std::uint32_t gpu = 0; gpu < node.gpus.size(); ++gpu) {
    out.nics_of_gpu.push_back(
        nearest(node.nics.size(), [&](std::size_t nic) { return node.nic_path(gpu, nic); }));
    out.inter_of_gpu.push_back(over_rdma(node, std::vector{gpu}));
  }
  for (std::size_t nic = 0; nic < node.nics.size(); ++nic) {
    out.gpus_of_nic.push_back(
        nearest(node.gpus.size(), [&](std::size_t gpu) { return node.nic_path(gpu, nic); }));
  }
  out.pairs = pair_kinds(node);
  std::vector<std::uint32_t> all(out.gpus);
  std::iota(all.begin(), all.end(), 0U);
  out.intra = topology::intra_node(node, all);
  out.inter = over_rdma(node, all);
  out.assumed = assumptions(node);
  return out;
}

}  // namespace rankward::commands
