#include "domain_tree.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
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

DomainTree::DomainTree(const PlanNodes& nodes, const std::vector<std::uint32_t>& members,
                       const Snapshot& snapshot, std::uint32_t top)
    : nodes_(nodes) {
  std::vector<Entry> tree{{{top, 0, 0, 0}, 0, 0}};
  // A domain by the one above, its level and its name.
  using Key = std::tuple<std::uint32_t, std::size_t, std::string_view>;
  boost::unordered_flat_map<Key, std::uint32_t, boost::hash<Key>> numbers;
  std::vector<std::uint32_t> lowest;  // domain of each member
  lowest.reserve(members.size());
  const topology::FabricPosition* last = nullptr;
  for (const std::uint32_t member : members) {
    const topology::FabricPosition& fabric = fabric_of(snapshot, nodes.nodes[member].index);
    std::uint32_t domain = 0;
    if (last != nullptr && last->domains == fabric.domains) {
      // Nodes that are named alike mostly hang side by side.
      domain = lowest.back();
    } else {
      for (std::size_t level = fabric.domains.size(); level-- > 0;) {
        if (fabric.domains[level].empty()) continue;
        const auto [place, added] = numbers.try_emplace(Key(domain, level, fabric.domains[level]),
                                                        static_cast<std::uint32_t>(tree.size()));
        if (added) {
          tree.push_back({{static_cast<std::uint32_t>(level) + kLeafTier, 0, 0, 0}, domain, 0});
        }
        domain = place->second;
      }
    }
    last = &fabric;
    lowest.push_back(domain);
    ++tree[domain].own;
  }
  lay_out(members, tree, lowest);
  add_cliques(members, snapshot);
  count();
}

// Domains come after those above them, so one pass up sums up sizes and one pass down gives each
// its part of the order: first its own members, then those of the domains below.
void DomainTree::lay_out(const std::vector<std::uint32_t>& members, std::vector<Entry>& tree,
                         const std::vector<std::uint32_t>& lowest) {
  std::vector<std::uint32_t> size(tree.size());
  for (std::size_t i = tree.size(); i-- > 0;) {
    size[i] += tree[i].own;
    if (i > 0) size[tree[i].above] += size[i];
  }
  std::vector<std::uint32_t> next(tree.size());  // where the next domain below begins
  for (std::size_t i = 0; i < tree.size(); ++i) {
    Domain& domain = tree[i].domain;
    if (i > 0) {
      domain.begin = next[tree[i].above];
      next[tree[i].above] += size[i];
    }
    domain.end = domain.begin + size[i];
    next[i] = domain.begin + tree[i].own;
  }
  std::vector<std::uint32_t> place(tree.size());
  for (std::size_t i = 0; i < tree.size(); ++i)
    place[i] = tree[i].domain.begin;
  order_.resize(members.size());
  for (std::size_t i = 0; i < members.size(); ++i)
    order_[place[lowest[i]]++] = members[i];
  for (const Entry& entry : tree)
    domains_.push_back(entry.domain);
}

void DomainTree::add_cliques(const std::vector<std::uint32_t>& members, const Snapshot& snapshot) {
  boost::unordered_flat_map<std::string_view, std::size_t> numbers;
  std::vector<std::vector<std::uint32_t>> cliques;
  for (const std::uint32_t member : members) {
    const std::string& clique = fabric_of(snapshot, nodes_.nodes[member].index).clique;
    if (clique.empty()) continue;
    const auto [place, added] = numbers.try_emplace(clique, cliques.size());
    if (added) cliques.emplace_back();
    cliques[place->second].push_back(member);
  }
  for (const auto& clique : cliques) {
    const auto begin = static_cast<std::uint32_t>(clique_order_.size());
    clique_order_.insert(clique_order_.end(), clique.begin(), clique.end());
    domains_.push_back({kCliqueTier, 0, begin, static_cast<std::uint32_t>(clique_order_.size())});
  }
  std::stable_sort(domains_.begin(), domains_.end(),
                   [](const Domain& a, const Domain& b) { return a.tier < b.tier; });
}

void DomainTree::count() {
  const std::size_t width = nodes_.profiles.size();
  counts_.assign(width * domains_.size(), 0);
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    Domain& domain = domains_[i];
    const auto& order = domain.tier == kCliqueTier ? clique_order_ : order_;
    for (std::uint32_t place = domain.begin; place < domain.end; ++place) {
      const std::uint32_t member = order[place];
      if (nodes_.nodes[member].fixed > 0) {
        ++domain.fixed;
      } else {
        ++counts_[i * width + nodes_.profile_of(member)];
      }
    }
  }
}

std::span<const std::uint32_t> DomainTree::counts(const Domain& domain) const {
  const auto number = static_cast<std::size_t>(&domain - domains_.data());
  const std::size_t width = nodes_.profiles.size();
  return {counts_.data() + number * width, width};
}

std::vector<std::uint32_t> DomainTree::members(const Domain& domain) const {
  const auto& order = domain.tier == kCliqueTier ? clique_order_ : order_;
  std::vector<std::uint32_t> members(order.begin() + domain.begin, order.begin() + domain.end);
  std::sort(members.begin(), members.end());
  return members;
}

std::vector<NodeIndex> in_tree_order(std::vector<NodeIndex> nodes, const Snapshot& snapshot) {
  std::sort(nodes.begin(), nodes.end());
  // Neighbours by name mostly hang in one place: then it is compared once for all of them.
  struct Run {
    const topology::FabricPosition* place;
    std::size_t begin, end;
  };
  std::vector<Run> runs;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const topology::FabricPosition& place = fabric_of(snapshot, nodes[i]);
    if (!runs.empty() && place.domains == runs.back().place->domains &&
        place.clique == runs.back().place->clique) {
      ++runs.back().end;
    } else {
      runs.push_back({&place, i, i + 1});
    }
  }
  std::sort(runs.begin(), runs.end(), [](const Run& a, const Run& b) {
    const auto& one = a.place->domains;
    const auto& other = b.place->domains;
    const auto path = std::lexicographical_compare_three_way(one.rbegin(), one.rend(),
                                                             other.rbegin(), other.rend());
    if (path != 0) return path < 0;
    return std::tie(a.place->clique, a.begin) < std::tie(b.place->clique, b.begin);
  });
  std::vector<NodeIndex> ordered;
  ordered.reserve(nodes.size());
  for (const Run& run : runs) {
    for (std::size_t i = run.begin; i < run.end; ++i)
      ordered.push_back(nodes[i]);
  }
  return ordered;
}

}  // namespace rankward::placement
