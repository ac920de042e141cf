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
  double value;  // GB/s, one direction; steps in seconds; factors without unit
  std::string_view source;
};
[[nodiscard]] std::span<const Constant> constants();

// A bandwidth and the link that sets it, for people: "GPU2-GPU3 SYS", "GPU0-mlx5_3 NODE, no
// GPUDirect", "NVSwitch".
struct Bottleneck {
  GigabytesPerSecond bandwidth;
  std::string link;
  Seconds step;  // time of one ring step over such links, whatever the size: NVLink 3.4 us, PCIe
                 // 5.7 us, network 14 us; 0 where nothing is sent
};

// Slowest link in the best ring over these GPUs (indexes into node.gpus, in any order): NVLink
// where every pair or a cycle of pairs has it, else PCIe by path type. Infinite for one GPU.
// Exact up to 16 GPUs, above that a lower bound.
//
// One ring only: a mesh of direct NVLinks lets NCCL lay several, which is left out on purpose, so
// that more GPUs never look faster than fewer.
//
// Without a matrix: by product where it names an NVSwitch machine (GFD's labels alone suffice; then
// only the number of indexes counts), else the worst PCIe path. Slices under MIG single have no
// peer access and take the worst path too.
[[nodiscard]] Bottleneck intra_node(const NodeTopology& node, std::span<const std::uint32_t> gpus);

// Sum over the NICs which these GPUs reach at their least distance of min(rate, PCIe, path cap),
// and no more than the GPUs can send over their own PCIe links. Never falls as GPUs are added.
//
// * PIX, PXB and, on Grace, C2C carry GPUDirect RDMA at full rate. PHB, NODE, SYS, and every path
//   where node.gpu_direct is false, stage in host memory: min(half the rate, CPU link), and the CPU
//   link is what one GPU can send in all.
// * A port that is down carries nothing, nor does one of another link layer than the transport's;
//   0 where that leaves none. Without any NIC in the report: one slow port, staged.
// * EFA never shows in a matrix: the GPUs' share of the node's devices, behind their own switch, as
//   AWS builds p4d and p5.
// * TCP (and an unknown transport): one interface for the node, staged, at most the socket cap.
[[nodiscard]] Bottleneck inter_node(const NodeTopology& node, std::span<const std::uint32_t> gpus,
                                    Transport transport);

// What one GPU sends over NVLink in an NVLink clique or switch, by product: 371 for H100 and H200,
// 722 for B200 and GB200. Nothing for products without NVLink or not known.
[[nodiscard]] std::optional<GigabytesPerSecond> nvlink_per_gpu(const NodeTopology& node);

}  // namespace rankward::topology
