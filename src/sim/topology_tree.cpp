#include "topology_tree.hpp"

#include <algorithm>
#include <map>

namespace rankward::sim {
namespace {

// From the top: core, spine, leaf, NVLink clique where any host has one, and the host itself.
std::vector<std::string> way_down(const placement::NodeState& node, std::size_t tiers,
                                  bool cliques) {
  const topology::FabricPosition& fabric = node.topology->fabric;
  std::vector<std::string> way;
  for (std::size_t i = tiers; i-- > 0;)
    way.push_back(i < fabric.domains.size() ? fabric.domains[i] : "");
  if (cliques) way.push_back(fabric.clique);
  way.push_back(node.node->metadata.name);
  return way;
}

}  // namespace

TopologyTree::TopologyTree(const placement::Snapshot& snapshot) {
  std::size_t tiers = 0;
  bool cliques = false;
  const auto count = static_cast<HostIndex>(snapshot.size());
  for (HostIndex i = 0; i < count; ++i) {
    const auto& fabric = snapshot.node({i}).topology->fabric;
    tiers = std::max(tiers, fabric.domains.size());
    cliques = cliques || !fabric.clique.empty();
  }
  levels_.resize(tiers + (cliques ? 1 : 0) + 2);
  domains_.push_back({});
  levels_[0].push_back(0);
  of_host_.resize(count);
  std::map<std::string, DomainIndex> known;
  for (HostIndex i = 0; i < count; ++i) {
    DomainIndex parent = 0;
    std::string path;
    std::size_t level = 0;
    for (const std::string& name : way_down(snapshot.node({i}), tiers, cliques)) {
      path += (level++ == 0 ? "" : "/") + name;
      const auto [place, is_new] = known.emplace(path, static_cast<DomainIndex>(domains_.size()));
      if (is_new) {
        domains_.push_back({path, parent, {}});
        domains_[parent].children.push_back(place->second);
        levels_[level].push_back(place->second);
      }
      parent = place->second;
    }
    of_host_[i] = parent;
  }
  host_of_.resize(domains_.size());
  for (HostIndex i = 0; i < count; ++i)
    host_of_[of_host_[i]] = i;
  const auto by_path = [this](DomainIndex a, DomainIndex b) {
    return domains_[a].path < domains_[b].path;
  };
  for (Domain& domain : domains_)
    std::sort(domain.children.begin(), domain.children.end(), by_path);
  for (auto& level : levels_)
    std::sort(level.begin(), level.end(), by_path);
}

std::vector<std::int64_t> TopologyTree::rolled_up(
    const std::function<std::int64_t(HostIndex)>& of_host) const {
  std::vector<std::int64_t> sums(domains_.size());
  for (HostIndex i = 0; i < of_host_.size(); ++i) {
    const std::int64_t amount = of_host(i);
    if (amount == 0) continue;
    // The root is its own parent.
    for (DomainIndex domain = of_host_[i];; domain = domains_[domain].parent) {
      sums[domain] += amount;
      if (domain == 0) break;
    }
  }
  return sums;
}

}  // namespace rankward::sim
