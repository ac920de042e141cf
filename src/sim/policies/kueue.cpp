#include "kueue.hpp"

#include <algorithm>

namespace rankward::sim::kueue {

Counts count_pods(const TopologyTree& tree, const Cluster& cluster, const Job& job) {
  return tree.rolled_up([&](HostIndex host) { return cluster.slots(host, job); });
}

std::vector<DomainIndex> sorted(const TopologyTree& tree, const Counts& counts,
                                std::vector<DomainIndex> domains, Order order) {
  std::sort(domains.begin(), domains.end(), [&](DomainIndex a, DomainIndex b) {
    if (counts[a] != counts[b]) {
      return order == Order::kMostFirst ? counts[a] > counts[b] : counts[a] < counts[b];
    }
    return tree.domain(a).path < tree.domain(b).path;
  });
  return domains;
}

std::vector<DomainIndex> children_of(const TopologyTree& tree,
                                     const std::vector<DomainIndex>& domains) {
  std::vector<DomainIndex> children;
  for (const DomainIndex domain : domains) {
    const auto& below = tree.domain(domain).children;
    children.insert(children.end(), below.begin(), below.end());
  }
  return children;
}

std::optional<std::vector<DomainShare>> fill(const Counts& counts,
                                             const std::vector<DomainIndex>& domains,
                                             std::int64_t pods, Order order) {
  std::vector<DomainShare> shares;
  for (auto next = domains.begin(); next != domains.end(); ++next) {
    DomainIndex domain = *next;
    if (order == Order::kMostFirst && counts[domain] >= pods) {
      // Most first, so the last that takes the rest is among the smallest; the first of its equals.
      for (auto other = next; other != domains.end() && counts[*other] >= pods; ++other) {
        if (counts[*other] < counts[domain]) domain = *other;
      }
    }
    const std::int64_t taken = std::min(pods, counts[domain]);
    if (taken > 0) shares.push_back({domain, taken});
    pods -= taken;
    if (pods == 0) return shares;
  }
  return std::nullopt;
}

std::vector<HostShare> on_hosts(const TopologyTree& tree, const std::vector<DomainShare>& shares) {
  std::vector<HostShare> hosts;
  hosts.reserve(shares.size());
  for (const DomainShare& share : shares)
    hosts.push_back({tree.host(share.domain), static_cast<std::int32_t>(share.pods)});
  return hosts;
}

std::optional<std::vector<HostShare>> descend(const TopologyTree& tree, const Counts& counts,
                                              std::vector<DomainShare> shares, std::size_t level,
                                              std::int64_t pods) {
  for (; level < tree.host_level(); ++level) {
    std::vector<DomainIndex> domains;
    for (const DomainShare& share : shares)
      domains.push_back(share.domain);
    // All children in one list: what each parent was meant to take is not looked at again.
    auto below = fill(counts, sorted(tree, counts, children_of(tree, domains), Order::kMostFirst),
                      pods, Order::kMostFirst);
    if (!below) return std::nullopt;
    shares = std::move(*below);
  }
  return on_hosts(tree, shares);
}

std::optional<std::vector<HostShare>> best_fit(const TopologyTree& tree, const Counts& counts,
                                               std::int64_t pods) {
  constexpr std::size_t kTopLevel = 1;
  for (std::size_t level = tree.host_level(); level >= kTopLevel; --level) {
    const auto domains = sorted(tree, counts, tree.levels()[level], Order::kMostFirst);
    const bool one_takes_all = counts[domains.front()] >= pods;
    if (!one_takes_all && level > kTopLevel) continue;
    auto shares = fill(counts, domains, pods, Order::kMostFirst);
    if (!shares) return std::nullopt;
    return descend(tree, counts, std::move(*shares), level, pods);
  }
  return std::nullopt;
}

}  // namespace rankward::sim::kueue
