#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "constants.hpp"
#include "gpu_set.hpp"
#include "products.hpp"
#include "rankward/topology/bandwidth.hpp"
#include "ring.hpp"

namespace rankward::topology {

namespace {

// Bandwidths of the links of one machine.
struct Links {
  const GpuModel* model;

  // An unknown generation is told by the number of links as far as that goes: no GPU before SM90
  // has more than 12, and the slow SM86 ones have 4.
  [[nodiscard]] double nvlink(std::uint8_t count) const {
    const double links = count;
    if (model != nullptr && model->nvlink != nullptr) return links * model->nvlink->value;
    if (count > 12) return links * constant::kNvLinkSm90.value;
    if (count > 4) return links * constant::kNvLinkSm80.value;
    return links * constant::kNvLinkSm86.value;
  }

  [[nodiscard]] double pcie() const {
    return model != nullptr ? model->pcie->value : constant::kPcieGen3.value;
  }

  [[nodiscard]] double through_cpu() const { return pcie() / constant::kHostBridgeOverhead.value; }

  [[nodiscard]] double between_sockets() const {
    const double cpu_link =
        model != nullptr ? model->cpu_link->value : constant::kCpuLinkBroadwell.value;
    return std::min(through_cpu(), cpu_link);
  }

  [[nodiscard]] double of(PathType path, std::uint8_t nvlinks) const {
    switch (path) {
      case PathType::kSelf:
        return std::numeric_limits<double>::infinity();
      case PathType::kNvLink:
        return nvlink(std::max<std::uint8_t>(nvlinks, 1));
      case PathType::kC2C:
        return constant::kC2C.value;
      case PathType::kPix:
      case PathType::kPxb:
        return pcie();
      case PathType::kPhb:
      case PathType::kNode:
        return through_cpu();
      case PathType::kSys:
      case PathType::kUnknown:
        break;
    }
    return between_sockets();
  }
};

struct Pair {
  PathType path = PathType::kUnknown;
  std::uint8_t nvlinks = 0;
};

// A matrix that is not of the node's size says nothing.
bool has_matrix(const NodeTopology& node) {
  return !node.gpus.empty() && node.gpu_paths.size() == node.gpus.size() * node.gpus.size() &&
         (node.nvlinks.empty() || node.nvlinks.size() == node.gpu_paths.size());
}

Pair pair_of(const NodeTopology& node, std::uint32_t a, std::uint32_t b) {
  if (a >= node.gpus.size() || b >= node.gpus.size()) return {};
  return {node.gpu_path(a, b), node.nvlink_count(a, b)};
}

// Every two GPUs of the whole node show the same number of NVLinks, at least 8: direct links
// between more than two GPUs never reach that, so it is each GPU's whole bundle into a switch.
bool is_switched(const NodeTopology& node) {
  if (node.gpus.size() < 3) return false;
  for (std::size_t a = 0; a < node.gpus.size(); ++a) {
    for (std::size_t b = 0; b < node.gpus.size(); ++b) {
      if (a == b) continue;
      if (node.gpu_path(a, b) != PathType::kNvLink) return false;
      if (node.nvlink_count(a, b) < 8 || node.nvlink_count(a, b) != node.nvlink_count(0, 1)) {
        return false;
      }
    }
  }
  return true;
}

Bottleneck worst_pcie(const Links& links, std::string link) {
  return {{links.between_sockets()}, std::move(link), {constant::kPcieStep.value}};
}

Bottleneck without_matrix(const NodeTopology& node, const Links& links) {
  const GpuModel* model = links.model;
  if (model == nullptr || model->nvlink == nullptr ||
      (model->shape != NvLinkShape::kSwitched && model->shape != NvLinkShape::kSwitchedButFour)) {
    return worst_pcie(links, "GPU-GPU paths not known");
  }
  const auto gpus =
      node.gpus.empty() ? node.gpu_count.value_or(0) : static_cast<std::int64_t>(node.gpus.size());
  if (model->shape == NvLinkShape::kSwitchedButFour && gpus == 4) {
    const auto each = static_cast<std::uint8_t>(model->nvlinks / 3);
    return {{links.nvlink(each)},
            "NVLink mesh, NV" + std::to_string(each),
            {constant::kNvLinkStep.value}};
  }
  return {{links.nvlink(model->nvlinks)}, "NVSwitch", {constant::kNvLinkStep.value}};
}

std::string name_of(std::uint32_t a, std::uint32_t b, Pair pair) {
  std::string text =
      "GPU" + std::to_string(std::min(a, b)) + "-GPU" + std::to_string(std::max(a, b)) + " ";
  if (pair.path == PathType::kNvLink) {
    return text + "NV" + std::to_string(std::max<int>(pair.nvlinks, 1));
  }
  return text + std::string(to_string(pair.path));
}

}  // namespace

Bottleneck intra_node(const NodeTopology& node, std::span<const std::uint32_t> gpus) {
  const std::vector<std::uint32_t> set = gpu_set(gpus);
  if (set.size() < 2) {
    return {{std::numeric_limits<double>::infinity()}, "one GPU: nothing to send", {0}};
  }
  const Links links{gpu_model(node)};
  if (node.sharing == SharingMode::kMigSingle) {
    return worst_pcie(links, "MIG slices have no peer access");
  }
  if (!has_matrix(node)) return without_matrix(node, links);

  if (is_switched(node) && set.back() < node.gpus.size()) {
    return {{links.nvlink(node.nvlink_count(0, 1))}, "NVSwitch", {constant::kNvLinkStep.value}};
  }
  const std::size_t n = set.size();
  std::vector<double> bandwidths(n * n, std::numeric_limits<double>::infinity());
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 0; b < n; ++b) {
      if (a == b) continue;
      // The worse of the two directions, should a report contradict itself.
      const Pair there = pair_of(node, set[a], set[b]);
      const Pair back = pair_of(node, set[b], set[a]);
      bandwidths[a * n + b] =
          std::min(links.of(there.path, there.nvlinks), links.of(back.path, back.nvlinks));
    }
  }
  const Ring ring = best_ring(bandwidths, n);
  Bottleneck result{{ring.bandwidth}, "", {constant::kNvLinkStep.value}};
  for (std::size_t i = 0; i < n; ++i) {
    const std::uint32_t a = ring.order[i];
    const std::uint32_t b = ring.order[(i + 1) % n];
    const Pair pair = pair_of(node, set[a], set[b]);
    if (pair.path != PathType::kNvLink) result.step = {constant::kPcieStep.value};
    if (result.link.empty() && bandwidths[a * n + b] <= ring.bandwidth) {
      result.link = name_of(set[a], set[b], pair);
    }
  }
  return result;
}

std::optional<GigabytesPerSecond> nvlink_per_gpu(const NodeTopology& node) {
  const GpuModel* model = gpu_model(node);
  if (model == nullptr || model->nvlink == nullptr) return std::nullopt;
  return GigabytesPerSecond{model->nvlinks * model->nvlink->value};
}

}  // namespace rankward::topology
