// Nodes that one plan may be made of: one transport class, one required domain.
//
// What placement.md leaves open is settled so:
// * Known nodes, then a preferred domain, come before the lowest tier, all at equal time.
// * Ranks that stand decide about class and required domain, the first node's should they differ.
// * A node without the required label is in no domain. One without a preferred one is outside it.
// * A domain inside another is never slower: phi does not rise with the tier, nor is an NVLink
//   clique slower than the NICs.
// * One node crosses tier 0, as a clique does.
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
