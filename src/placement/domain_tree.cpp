#include "domain_tree.hpp"

#include <algorithm>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "fabric_tier.hpp"

namespace rankward::placement {

namespace {

const topology::FabricPosition& fabric_of(const Snapshot& snapshot, NodeIndex index) {
  return snapshot.node(index).topology->fabric;
}

}  // namespace

std::uint32_t whole_fabric_tier(const PlanNodes& nodes, const Snapshot& snapshot,
                                const Options& options) {
  std::size_t levels = 0;
  for (const PlanNode& node : nodes.nodes)
    levels = std::max(levels, fabric_of(snapshot, node.index).domains.size());
  return std::max(top_tier(options), static_cast<std::uint32_t>(levels) + kLeafTier);
}

DomainTree make_domain_tree(const PlanNodes& nodes, const std::vector<std::uint32_t>& members,
                            const Snapshot& snapshot, std::uint32_t top) {
  DomainTree tree;
  // Number of a domain by the one above, its level and its name; 0 stands for the whole fabric.
  std::map<std::tuple<std::size_t, std::size_t, std::string_view>, std::size_t> numbers;
  std::map<std::string_view, std::size_t> cliques;
  tree.domains.push_back({top, members});
  const auto enter = [&tree](auto& known, auto&& key, std::uint32_t tier) {
    const auto [place, added] = known.try_emplace(key, tree.domains.size());
    if (added) tree.domains.push_back({tier, {}});
    return place->second;
  };
  for (const std::uint32_t member : members) {
    const topology::FabricPosition& fabric = fabric_of(snapshot, nodes.nodes[member].index);
    std::size_t above = 0;
    for (std::size_t level = fabric.domains.size(); level-- > 0;) {
      if (fabric.domains[level].empty()) continue;
      const auto tier = static_cast<std::uint32_t>(level) + kLeafTier;
      above =
          enter(numbers, std::tuple(above, level, std::string_view(fabric.domains[level])), tier);
      tree.domains[above].members.push_back(member);
    }
    if (!fabric.clique.empty()) {
      const std::size_t clique = enter(cliques, std::string_view(fabric.clique), kCliqueTier);
      tree.domains[clique].members.push_back(member);
    }
  }
  std::stable_sort(tree.domains.begin(), tree.domains.end(),
                   [](const Domain& a, const Domain& b) { return a.tier < b.tier; });
  return tree;
}

std::vector<NodeIndex> in_tree_order(std::vector<NodeIndex> nodes, const Snapshot& snapshot) {
  const auto before = [&snapshot](NodeIndex a, NodeIndex b) {
    const topology::FabricPosition& one = fabric_of(snapshot, a);
    const topology::FabricPosition& other = fabric_of(snapshot, b);
    const auto path = std::lexicographical_compare_three_way(
        one.domains.rbegin(), one.domains.rend(), other.domains.rbegin(), other.domains.rend());
    if (path != 0) return path < 0;
    return std::tie(one.clique, a) < std::tie(other.clique, b);
  };
  std::sort(nodes.begin(), nodes.end(), before);
  return nodes;
}

}  // namespace rankward::placement
