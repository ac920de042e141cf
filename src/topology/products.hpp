// What a product name tells of the links of a machine.
#pragma once

#include <cstdint>
#include <string_view>

#include "constants.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::topology {

// How the GPUs of one machine of this product are joined where no matrix says it.
enum class NvLinkShape : std::uint8_t {
  kPerhapsBridged,  // a PCIe card: neighbours may or may not carry a bridge
  kMesh,            // direct links, fewer between some pairs than between others
  kSwitched,        // NVSwitch: every pair at full rate
  // NVSwitch, except on the board with four GPUs, which joins them directly: a third of the links
  // between each two (HGX A100 4-GPU: NV4, HGX H100 4-GPU: NV6).
  kSwitchedButFour,
};

struct GpuModel {
  const Constant* nvlink = nullptr;  // one link; nullptr: the product has none
  std::uint8_t nvlinks = 0;          // links of one GPU
  NvLinkShape shape = NvLinkShape::kPerhapsBridged;
  const Constant* pcie = nullptr;
  const Constant* cpu_link = nullptr;  // least among the CPUs that this product is sold with
  bool on_grace = false;               // GPU and CPU joined by NVLink-C2C
};

// nullptr for a product that the table does not know.
[[nodiscard]] const GpuModel* gpu_model(std::string_view product);

// By node.product, else by the model that all GPUs of the node report. nullptr where they differ.
[[nodiscard]] const GpuModel* gpu_model(const NodeTopology& node);

}  // namespace rankward::topology
