// Small clusters and gangs by the number of a seed, for comparing the planner with brute force.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "planner_clusters.hpp"

namespace rankward::placement::testing {

struct RandomCase {
  std::vector<std::pair<kube::Node, topology::NodeTopology>> nodes;
  std::vector<kube::Pod> bound;  // other pods, and ranks of the gang that stand
  kube::Pod pod;                 // one rank of the gang
  std::int32_t ranks = 1;        // that need a slot
  std::vector<std::string> fixed;
  Reservations reserved;  // places that another gang holds
  std::string required;   // a node-label key, "" for none
  Options options;

  [[nodiscard]] std::shared_ptr<const Snapshot> snapshot() const;
};

// Varies capacity, number, rate and distance of NICs, NVSwitch, bridged pairs, rings and plain
// PCIe, NUMA policy, fabric tiers and cliques, occupied GPUs, other gangs' places, fixed ranks,
// required and preferred domains, message size. At most `nodes` nodes and 8 ranks.
[[nodiscard]] RandomCase random_case(std::uint64_t seed, int nodes = 5);

}  // namespace rankward::placement::testing
