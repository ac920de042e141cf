#include "products.hpp"

#include <array>

#include "product_words.hpp"

namespace rankward::topology {

namespace {

struct Row {
  std::array<std::string_view, 3> words;  // unused places are empty
  GpuModel model;
};

using enum NvLinkShape;

// The first row whose words all stand in the product wins, so the narrower names come first.
// Sources: NVIDIA's data sheets of each product for NVLinks and PCIe generation; for the CPUs, the
// systems in the dossier's matrices (SXM4 on Cascade Lake and Rome, SXM5 on Sapphire Rapids,
// Genoa).
const std::array kRows{
    Row{{"GB300"},
        {&constant::kNvLinkSm100, 18, kSwitched, &constant::kPcieGen6, &constant::kCpuLinkGrace,
         true}},
    Row{{"GB200"},
        {&constant::kNvLinkSm100, 18, kSwitched, &constant::kPcieGen5, &constant::kCpuLinkGrace,
         true}},
    Row{{"GH200"},
        {&constant::kNvLinkSm90, 18, kPerhapsBridged, &constant::kPcieGen5,
         &constant::kCpuLinkGrace, true}},
    Row{{"B300"},
        {&constant::kNvLinkSm100, 18, kSwitched, &constant::kPcieGen6, &constant::kCpuLinkAmd}},
    Row{{"B200"},
        {&constant::kNvLinkSm100, 18, kSwitched, &constant::kPcieGen5, &constant::kCpuLinkAmd}},
    Row{{"H200", "NVL"},
        {&constant::kNvLinkSm90, 18, kPerhapsBridged, &constant::kPcieGen5,
         &constant::kCpuLinkSkylake}},
    Row{{"H200"},
        {&constant::kNvLinkSm90, 18, kSwitchedButFour, &constant::kPcieGen5,
         &constant::kCpuLinkAmd}},
    Row{{"H100", "NVL"},
        {&constant::kNvLinkSm90, 12, kPerhapsBridged, &constant::kPcieGen5,
         &constant::kCpuLinkSkylake}},
    Row{{"H100", "PCIE"},
        {&constant::kNvLinkSm90, 12, kPerhapsBridged, &constant::kPcieGen5,
         &constant::kCpuLinkSkylake}},
    Row{{"H100", "HBM3"},
        {&constant::kNvLinkSm90, 18, kSwitchedButFour, &constant::kPcieGen5,
         &constant::kCpuLinkAmd}},
    Row{{"H100", "SXM5"},
        {&constant::kNvLinkSm90, 18, kSwitchedButFour, &constant::kPcieGen5,
         &constant::kCpuLinkAmd}},
    Row{{"H20"},
        {&constant::kNvLinkSm90, 18, kSwitched, &constant::kPcieGen5, &constant::kCpuLinkAmd}},
    Row{{"A100", "SXM4"},
        {&constant::kNvLinkSm80, 12, kSwitchedButFour, &constant::kPcieGen4,
         &constant::kCpuLinkSkylake}},
    Row{{"A100", "SXM"},
        {&constant::kNvLinkSm80, 12, kSwitchedButFour, &constant::kPcieGen4,
         &constant::kCpuLinkSkylake}},
    Row{{"A800", "SXM4"},
        {&constant::kNvLinkSm80, 8, kSwitched, &constant::kPcieGen4, &constant::kCpuLinkSkylake}},
    Row{{"A100", "PCIE"},
        {&constant::kNvLinkSm80, 12, kPerhapsBridged, &constant::kPcieGen4,
         &constant::kCpuLinkSkylake}},
    Row{{"A30"},
        {&constant::kNvLinkSm80, 4, kPerhapsBridged, &constant::kPcieGen4,
         &constant::kCpuLinkSkylake}},
    Row{{"A40"},
        {&constant::kNvLinkSm86, 4, kPerhapsBridged, &constant::kPcieGen4,
         &constant::kCpuLinkSkylake}},
    Row{{"RTX", "A6000"},
        {&constant::kNvLinkSm86, 4, kPerhapsBridged, &constant::kPcieGen4,
         &constant::kCpuLinkSkylake}},
    Row{{"V100", "SXM3"},
        {&constant::kNvLinkSm70, 6, kSwitched, &constant::kPcieGen3, &constant::kCpuLinkBroadwell}},
    Row{{"V100", "SXM2"},
        {&constant::kNvLinkSm70, 6, kMesh, &constant::kPcieGen3, &constant::kCpuLinkBroadwell}},
    Row{{"RTX", "PRO", "6000"},
        {nullptr, 0, kPerhapsBridged, &constant::kPcieGen5, &constant::kCpuLinkSkylake}},
    Row{{"L40S"}, {nullptr, 0, kPerhapsBridged, &constant::kPcieGen4, &constant::kCpuLinkSkylake}},
    Row{{"L40"}, {nullptr, 0, kPerhapsBridged, &constant::kPcieGen4, &constant::kCpuLinkSkylake}},
    Row{{"A10G"}, {nullptr, 0, kPerhapsBridged, &constant::kPcieGen4, &constant::kCpuLinkSkylake}},
    Row{{"A10"}, {nullptr, 0, kPerhapsBridged, &constant::kPcieGen4, &constant::kCpuLinkSkylake}},
    Row{{"T4"}, {nullptr, 0, kPerhapsBridged, &constant::kPcieGen3, &constant::kCpuLinkBroadwell}},
};

}  // namespace

const GpuModel* gpu_model(std::string_view product) {
  const ProductWords words(product);
  for (const Row& row : kRows) {
    if (words.has(row.words)) return &row.model;
  }
  return nullptr;
}

const GpuModel* gpu_model(const NodeTopology& node) {
  if (!node.product.empty()) return gpu_model(std::string_view(node.product));
  if (node.gpus.empty()) return nullptr;
  const std::string& first = node.gpus.front().model;
  for (const Gpu& gpu : node.gpus) {
    if (gpu.model != first) return nullptr;
  }
  return gpu_model(std::string_view(first));
}

}  // namespace rankward::topology
