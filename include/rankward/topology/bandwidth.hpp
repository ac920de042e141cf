// Bandwidth of a node's links from the one table of constants.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rankward/topology/node_topology.hpp"

namespace rankward::topology {

// What carries a collective between nodes, as NCCL would pick it for one rank.
enum class Transport : std::uint8_t { kUnknown, kInfiniBand, kRoce, kEfa, kTcpx, kSocket };
[[nodiscard]] std::string_view to_string(Transport transport);

// One constant with where it comes from, so that a person can check it.
struct Constant {
  std::string_view name;
  double value;  // GB/s, one direction, or seconds for latencies
  std::string_view source;
};
[[nodiscard]] std::span<const Constant> constants();

// A bandwidth and the link that sets it, for people: "GPU2-GPU3 SYS", "GPU0-mlx5_3 NODE, no
// GPUDirect".
struct Bottleneck {
  GigabytesPerSecond bandwidth;
  std::string link;
};

// Slowest link in the best ring over these GPUs (indexes into node.gpus): NVLink where every pair
// or a cycle of pairs has it, else PCIe by path type. Infinite for one GPU. Without a matrix: by
// product where it names an NVSwitch machine, else the worst constant of PCIe.
[[nodiscard]] Bottleneck intra_node(const NodeTopology& node, std::span<const std::uint32_t> gpus);

// Sum over the NICs which these GPUs reach at their least distance of min(rate, PCIe, path cap).
[[nodiscard]] Bottleneck inter_node(const NodeTopology& node, std::span<const std::uint32_t> gpus,
                                    Transport transport);

}  // namespace rankward::topology
