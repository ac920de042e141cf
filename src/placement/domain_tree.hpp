// The fabric above a set of nodes, as domains that contain each other.
#pragma once

#include <cstdint>
#include <vector>

#include "planner_nodes.hpp"

namespace rankward::placement {

// Nodes that meet at this tier at the latest.
struct Domain {
  std::uint32_t tier = 0;
  std::vector<std::uint32_t> members;  // positions in PlanNodes::nodes, ascending
};

struct DomainTree {
  // By tier, then by first member. NVLink cliques are domains of tier 0. The last one is the whole
  // fabric with the nodes of which nobody says where they hang, at the top tier.
  std::vector<Domain> domains;
};

// The tier at which all of these nodes meet: the last that phi has a factor for, or, where some
// have more levels than that, the one above them.
[[nodiscard]] std::uint32_t whole_fabric_tier(const PlanNodes& nodes, const Snapshot& snapshot,
                                              const Options& options);

// A domain is its whole path from the top down: leaf names may repeat from spine to spine. A level
// that a node does not name is passed over. `top` is whole_fabric_tier().
[[nodiscard]] DomainTree make_domain_tree(const PlanNodes& nodes,
                                          const std::vector<std::uint32_t>& members,
                                          const Snapshot& snapshot, std::uint32_t top);

// The nodes so that those of one domain follow each other, on every tier.
[[nodiscard]] std::vector<NodeIndex> in_tree_order(std::vector<NodeIndex> nodes,
                                                   const Snapshot& snapshot);

}  // namespace rankward::placement
