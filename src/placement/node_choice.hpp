// Which nodes of a domain, and how many pods on each, once their number is settled.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "domain_tree.hpp"
#include "planner_limit.hpp"

namespace rankward::placement {

struct NodeShare {
  std::uint32_t node = 0;  // position in PlanNodes::nodes
  std::int32_t pods = 0;   // new ones; 0 on nodes where only fixed ranks stand
};

struct NodeChoice {
  std::int64_t broken = 0;        // nodes on which all devices were free, and now some are
  std::int64_t left_over = 0;     // sum of c_n - q_n
  std::int64_t gpu_sets = 0;      // distinct sets of GPU indexes
  std::vector<NodeShare> shares;  // by node

  // By the rest of the objective; names last, which is the order of nodes.
  [[nodiscard]] bool better_than(const NodeChoice& other) const;
};

struct ChoiceQuestion {
  const PlanNodes* nodes = nullptr;
  ShareTables* tables = nullptr;
  const DomainTree* tree = nullptr;
  const Domain* domain = nullptr;
  const std::vector<std::uint32_t>* fixed = nullptr;  // positions, all of them in the domain
  PlanLimit limit;
  std::int32_t pods = 0;
  std::int32_t count = 0;  // the fewest nodes that do, by DomainSearch
};

// Exactly `count` nodes, those with fixed ranks included, that take the pods in shares which the
// limit allows: fewest broken, least left over, fewest sets of GPU indexes. Of nodes that are alike
// those named first. Nothing where there is no such choice, or none that could be better than
// `best`.
//
// Exact, but for the sets of GPUs where there are so many that not all combinations can be tried,
// and for names where nodes that are not alike would serve equally.
[[nodiscard]] std::optional<NodeChoice> choose_nodes(const ChoiceQuestion& question,
                                                     const NodeChoice* best);

}  // namespace rankward::placement
