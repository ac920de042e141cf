#include "device_pick.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <numeric>

namespace rankward::placement {

namespace {

using topology::NodeTopology;
using topology::PathType;
using topology::TopologyManagerPolicy;

std::vector<std::uint32_t> positions_of(std::uint64_t mask, std::size_t gpus) {
  std::vector<std::uint32_t> positions;
  for (; mask != 0; mask &= mask - 1) {
    const auto position = static_cast<std::uint32_t>(std::countr_zero(mask));
    if (position < gpus) positions.push_back(position);
  }
  return positions;
}

// n over k, cut at kMaxScoredSets + 1.
std::size_t choices(std::size_t n, std::size_t k) {
  k = std::min(k, n - k);
  std::size_t result = 1;
  for (std::size_t i = 1; i <= k; ++i) {
    result = result * (n - k + i) / i;
    if (result > kMaxScoredSets) return kMaxScoredSets + 1;
  }
  return result;
}

// Calls `visit` with each set of `count` out of `from`, in lexical order.
template <class Visit>
void for_each_set(const std::vector<std::uint32_t>& from, std::size_t count, Visit&& visit) {
  std::vector<std::size_t> chosen(count);
  std::iota(chosen.begin(), chosen.end(), std::size_t{0});
  GpuSet set(count);
  while (true) {
    for (std::size_t i = 0; i < count; ++i)
      set[i] = from[chosen[i]];
    visit(set);
    std::size_t i = count;
    while (i > 0 && chosen[i - 1] == from.size() - count + i - 1)
      --i;
    if (i == 0) return;
    ++chosen[i - 1];
    for (std::size_t j = i; j < count; ++j)
      chosen[j] = chosen[j - 1] + 1;
  }
}

// go-gpuallocator's score of a pair. `nvidia-smi topo -m` shows NVLink in place of the PCIe path
// below it; NUMA nodes then tell the one difference that most machines have.
int pair_score(const NodeTopology& topology, std::uint32_t a, std::uint32_t b) {
  constexpr int kPerNvLink = 100;
  constexpr int kOtherCpu = 10;
  constexpr int kSameCpu = 20;
  switch (topology.gpu_path(a, b)) {
    case PathType::kSelf:
      return 60;
    case PathType::kPix:
      return 50;
    case PathType::kPxb:
      return 40;
    case PathType::kPhb:
      return 30;
    case PathType::kNode:
      return kSameCpu;
    case PathType::kSys:
      return kOtherCpu;
    case PathType::kNvLink:
    case PathType::kC2C:
    case PathType::kUnknown:
      break;
  }
  const auto& numa_a = topology.gpus[a].numa_node;
  const auto& numa_b = topology.gpus[b].numa_node;
  const int path = numa_a && numa_b ? (*numa_a == *numa_b ? kSameCpu : kOtherCpu) : 0;
  return path + kPerNvLink * topology.nvlink_count(a, b);
}

int score(const NodeTopology& topology, const GpuSet& set) {
  int sum = 0;
  for (std::size_t i = 0; i < set.size(); ++i) {
    for (std::size_t j = i + 1; j < set.size(); ++j)
      sum += pair_score(topology, set[i], set[j]);
  }
  return sum;
}

// How many NUMA nodes the set lies on; 0 where one of them is not known.
std::size_t numa_nodes(const NodeTopology& topology, const GpuSet& set) {
  std::vector<std::uint32_t> nodes;
  for (const std::uint32_t gpu : set) {
    const auto& numa = topology.gpus[gpu].numa_node;
    if (!numa) return 0;
    if (std::find(nodes.begin(), nodes.end(), *numa) == nodes.end()) nodes.push_back(*numa);
  }
  return nodes.size();
}

// Every policy but none gives devices of as few NUMA nodes as the free ones allow; the strict two
// have refused the pod before where that is too many.
void keep_fewest_numa_nodes(const NodeTopology& topology, std::vector<GpuSet>& sets) {
  if (topology.topology_manager == TopologyManagerPolicy::kUnknown ||
      topology.topology_manager == TopologyManagerPolicy::kNone) {
    return;
  }
  std::size_t fewest = std::numeric_limits<std::size_t>::max();
  for (const GpuSet& set : sets) {
    const std::size_t nodes = numa_nodes(topology, set);
    if (nodes == 0) return;
    fewest = std::min(fewest, nodes);
  }
  std::erase_if(sets, [&](const GpuSet& set) { return numa_nodes(topology, set) != fewest; });
}

void keep_best_scores(const NodeTopology& topology, std::vector<GpuSet>& sets) {
  if (topology.gpu_paths.size() != topology.gpus.size() * topology.gpus.size()) return;
  int best = std::numeric_limits<int>::min();
  std::vector<int> scores;
  scores.reserve(sets.size());
  for (const GpuSet& set : sets) {
    scores.push_back(score(topology, set));
    best = std::max(best, scores.back());
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    if (scores[i] != best) continue;
    if (kept != i) sets[kept] = std::move(sets[i]);
    ++kept;
  }
  sets.resize(kept);
}

}  // namespace

Pick predict_pick(const NodeTopology& topology, std::optional<std::uint64_t> free,
                  std::size_t count) {
  Pick pick;
  const std::size_t gpus = topology.gpus.size();
  GpuSet all(gpus == 0 ? count : gpus);
  std::iota(all.begin(), all.end(), 0U);
  // Without devices one by one only the number counts; a whole node leaves nothing to choose.
  if (gpus == 0 || count >= gpus) {
    pick.sets.push_back(std::move(all));
    return pick;
  }
  std::vector<std::uint32_t> from = free ? positions_of(*free, gpus) : std::vector<std::uint32_t>{};
  // The scheduler says that there is room, our snapshot does not show it yet: not known then.
  const bool known = free && from.size() >= count;
  if (!known) from = std::move(all);
  if (choices(from.size(), count) > kMaxScoredSets) {
    pick.open = true;
    return pick;
  }
  for_each_set(from, count, [&pick](const GpuSet& set) { pick.sets.push_back(set); });
  keep_fewest_numa_nodes(topology, pick.sets);
  if (known) keep_best_scores(topology, pick.sets);
  if (pick.sets.size() > kMaxSets) {
    pick.sets.clear();
    pick.open = true;
  }
  return pick;
}

}  // namespace rankward::placement
