// Which GPUs of a node a pod will get, as far as that can be foretold.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "rankward/topology/node_topology.hpp"

namespace rankward::placement {

// Positions in topology.gpus, ascending.
using GpuSet = std::vector<std::uint32_t>;

// Above this many nobody scores them, and above this many that tie nobody prices them: see
// Pick::open. Half of an eight-GPU node is 70 sets, two of sixteen are 120.
inline constexpr std::size_t kMaxScoredSets = 1000;
inline constexpr std::size_t kMaxSets = 128;

struct Pick {
  // Every set that may come out. More than one where the plugin's scores tie or the free GPUs are
  // not known; the worst of them is what to count on.
  std::vector<GpuSet> sets;
  // There are too many to list: any GPUs of the node, `sets` is empty.
  bool open = false;
};

// `count` GPUs out of those in `free` (all where nothing is said of them). With known free GPUs the
// NVIDIA plugin's preferred allocation is emulated: the sets of greatest sum of pair scores
// (go-gpuallocator besteffort_policy.go, k8s-device-plugin alignedAlloc), after the kubelet's
// Topology Manager has narrowed the choice by NUMA node.
[[nodiscard]] Pick predict_pick(const topology::NodeTopology& topology,
                                std::optional<std::uint64_t> free, std::size_t count);

}  // namespace rankward::placement
