// The fabric above a set of nodes, as domains that contain each other.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "planner_nodes.hpp"

namespace rankward::placement {

// Nodes that meet at this tier at the latest.
struct Domain {
  std::uint32_t tier = 0;
  std::uint32_t fixed = 0;  // nodes with fixed ranks in it
  // Where its members stand in DomainTree::order, or, of a clique, in clique_order.
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
};

// A domain is its whole path from the top down: leaf names may repeat from spine to spine. A level
// that a node does not name is passed over. NVLink cliques are domains of tier 0; the whole fabric
// is one at the top tier, with the nodes of which nobody says where they hang.
class DomainTree {
 public:
  // `members`: positions in nodes.nodes, ascending. `top`: whole_fabric_tier().
  DomainTree(const PlanNodes& nodes, const std::vector<std::uint32_t>& members,
             const Snapshot& snapshot, std::uint32_t top);

  // By tier, then in the order in which their first members come.
  [[nodiscard]] const std::vector<Domain>& domains() const { return domains_; }
  // Nodes without fixed ranks by profile.
  [[nodiscard]] std::span<const std::uint32_t> counts(const Domain& domain) const;
  // Positions in nodes.nodes, ascending.
  [[nodiscard]] std::vector<std::uint32_t> members(const Domain& domain) const;

 private:
  struct Entry {
    Domain domain;
    std::uint32_t above = 0;
    std::uint32_t own = 0;  // members that hang in it directly
  };

  void lay_out(const std::vector<std::uint32_t>& members, std::vector<Entry>& tree,
               const std::vector<std::uint32_t>& lowest);
  void add_cliques(const std::vector<std::uint32_t>& members, const Snapshot& snapshot);
  void count();

  const PlanNodes& nodes_;
  std::vector<Domain> domains_;
  std::vector<std::uint32_t> order_;         // members, those of one domain side by side
  std::vector<std::uint32_t> clique_order_;  // those in cliques
  std::vector<std::uint32_t> counts_;        // by domain, a row of all profiles
};

// The tier at which all of these nodes meet: the last that phi has a factor for, or, where some
// have more levels than that, the one above them.
[[nodiscard]] std::uint32_t whole_fabric_tier(const PlanNodes& nodes, const Snapshot& snapshot,
                                              const Options& options);

// The nodes so that those of one domain follow each other, on every tier.
[[nodiscard]] std::vector<NodeIndex> in_tree_order(std::vector<NodeIndex> nodes,
                                                   const Snapshot& snapshot);

}  // namespace rankward::placement
