// Machines for tests, written as `nvidia-smi topo -m` prints them.
#pragma once

#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/topology/node_topology.hpp"

namespace rankward::topology::testing {

// Each row: the cells of one GPU, first towards the GPUs, then towards the NICs. NICs are called
// mlx5_0, mlx5_1, ... and have no rate until the test gives one.
inline NodeTopology machine(const std::vector<std::string>& rows, std::size_t nics = 0) {
  NodeTopology node;
  node.gpus.resize(rows.size());
  node.nics.resize(nics);
  for (std::size_t i = 0; i < nics; ++i)
    node.nics[i].device = "mlx5_" + std::to_string(i);
  for (std::size_t gpu = 0; gpu < rows.size(); ++gpu) {
    node.gpus[gpu].index = static_cast<std::uint32_t>(gpu);
    std::istringstream cells(rows[gpu]);
    std::string cell;
    for (std::size_t column = 0; column < rows.size() + nics; ++column) {
      if (!(cells >> cell)) throw std::invalid_argument("row too short: " + rows[gpu]);
      PathType path = PathType::kUnknown;
      std::uint8_t links = 0;
      if (cell.starts_with("NV")) {
        path = PathType::kNvLink;
        links = static_cast<std::uint8_t>(std::stoi(cell.substr(2)));
      } else if (const auto read = path_type(cell)) {
        path = *read;
      } else {
        throw std::invalid_argument("no such cell: " + cell);
      }
      if (column < rows.size()) {
        node.gpu_paths.push_back(path);
        node.nvlinks.push_back(links);
      } else {
        node.nic_paths.push_back(path);
      }
    }
  }
  return node;
}

inline void set_nics(NodeTopology& node, double rate, LinkLayer layer = LinkLayer::kInfiniBand) {
  for (Nic& nic : node.nics) {
    nic.rate = GigabytesPerSecond{rate};
    nic.link_layer = layer;
    nic.state = PortState::kActive;
  }
}

inline std::vector<std::uint32_t> first(std::uint32_t count) {
  std::vector<std::uint32_t> gpus(count);
  for (std::uint32_t i = 0; i < count; ++i)
    gpus[i] = i;
  return gpus;
}

// HGX H100, one NIC a GPU behind one switch: the matrix of case 29's near node.
inline NodeTopology hgx_h100() {
  return machine(
      {
          "X NV18 NV18 NV18 NV18 NV18 NV18 NV18 PIX NODE NODE NODE SYS SYS SYS SYS",
          "NV18 X NV18 NV18 NV18 NV18 NV18 NV18 NODE PIX NODE NODE SYS SYS SYS SYS",
          "NV18 NV18 X NV18 NV18 NV18 NV18 NV18 NODE NODE PIX NODE SYS SYS SYS SYS",
          "NV18 NV18 NV18 X NV18 NV18 NV18 NV18 NODE NODE NODE PIX SYS SYS SYS SYS",
          "NV18 NV18 NV18 NV18 X NV18 NV18 NV18 SYS SYS SYS SYS PIX NODE NODE NODE",
          "NV18 NV18 NV18 NV18 NV18 X NV18 NV18 SYS SYS SYS SYS NODE PIX NODE NODE",
          "NV18 NV18 NV18 NV18 NV18 NV18 X NV18 SYS SYS SYS SYS NODE NODE PIX NODE",
          "NV18 NV18 NV18 NV18 NV18 NV18 NV18 X SYS SYS SYS SYS NODE NODE NODE PIX",
      },
      8);
}

// Eight PCIe GPUs behind two switches of one socket, both HCAs on the other: case 29's far node.
inline NodeTopology far_nics() {
  return machine(
      {
          "X PIX PIX PIX NODE NODE NODE NODE SYS SYS",
          "PIX X PIX PIX NODE NODE NODE NODE SYS SYS",
          "PIX PIX X PIX NODE NODE NODE NODE SYS SYS",
          "PIX PIX PIX X NODE NODE NODE NODE SYS SYS",
          "NODE NODE NODE NODE X PIX PIX PIX SYS SYS",
          "NODE NODE NODE NODE PIX X PIX PIX SYS SYS",
          "NODE NODE NODE NODE PIX PIX X PIX SYS SYS",
          "NODE NODE NODE NODE PIX PIX PIX X SYS SYS",
      },
      2);
}

// Four A100 PCIe cards, bridged in pairs, one pair a socket.
inline NodeTopology bridged_pairs() {
  NodeTopology node = machine({
      "X NV12 SYS SYS",
      "NV12 X SYS SYS",
      "SYS SYS X NV12",
      "SYS SYS NV12 X",
  });
  node.product = "NVIDIA-A100-PCIE-40GB";
  return node;
}

}  // namespace rankward::topology::testing
