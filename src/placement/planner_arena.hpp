// Nodes that one plan may be made of: one transport class, one required domain.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "domain_tree.hpp"

namespace rankward::placement {

struct Arena {
  // 0 is best: known nodes in one preferred domain, known ones, then the same with unknown nodes.
  int rank = 0;
  std::vector<std::uint32_t> members;  // positions, with room or fixed ranks, ascending
  DomainTree tree;
  // Over the nodes in it: values of B by tier, largest first, and of the ring step, least first.
  std::map<std::uint32_t, std::vector<double>> bandwidths;
  std::vector<double> steps;
  std::int32_t most = 1;  // pods that one node takes
};

// `fixed`: positions of nodes with fixed ranks; only arenas that have them all are made.
[[nodiscard]] std::vector<Arena> make_arenas(const PlanNodes& nodes,
                                             const std::vector<std::uint32_t>& fixed,
                                             const PlanQuestion& question, const Snapshot& snapshot,
                                             const Options& options);

}  // namespace rankward::placement
