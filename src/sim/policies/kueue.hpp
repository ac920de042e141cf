// What Kueue's topology-aware scheduling does with counts of pods per domain
// (kubernetes-sigs/kueue, KEP-2724; pkg/cache/scheduler/tas_flavor_snapshot.go). Slices are single
// pods, there are no leaders, and nodes have no preferred affinity.
#pragma once

#include <optional>
#include <vector>

#include "../topology_tree.hpp"
#include "policy.hpp"

namespace rankward::sim::kueue {

// Pods that fit, by domain; the root stands for no domain of Kueue's.
using Counts = std::vector<std::int64_t>;

struct DomainShare {
  DomainIndex domain = 0;
  std::int64_t pods = 0;
};

enum class Order : std::uint8_t { kMostFirst, kLeastFirst };

[[nodiscard]] Counts count_pods(const TopologyTree& tree, const Cluster& cluster, const Job& job);
// By count, equals by path.
[[nodiscard]] std::vector<DomainIndex> sorted(const TopologyTree& tree, const Counts& counts,
                                              std::vector<DomainIndex> domains, Order order);
[[nodiscard]] std::vector<DomainIndex> children_of(const TopologyTree& tree,
                                                   const std::vector<DomainIndex>& domains);
// Fills the domains in order until the pods have a place. With kMostFirst the last domain is the
// smallest of the rest that takes what is left. Nothing where they do not all fit.
[[nodiscard]] std::optional<std::vector<DomainShare>> fill(const Counts& counts,
                                                           const std::vector<DomainIndex>& domains,
                                                           std::int64_t pods, Order order);
// From shares of domains at `level` down to hosts, as few domains a level as possible.
[[nodiscard]] std::optional<std::vector<HostShare>> descend(const TopologyTree& tree,
                                                            const Counts& counts,
                                                            std::vector<DomainShare> shares,
                                                            std::size_t level, std::int64_t pods);
[[nodiscard]] std::vector<HostShare> on_hosts(const TopologyTree& tree,
                                              const std::vector<DomainShare>& shares);

// BestFit with podset-preferred-topology at the hosts' level: one host, else one domain of the
// lowest level that takes all, the smallest such; else as few top domains as will do.
[[nodiscard]] std::optional<std::vector<HostShare>> best_fit(const TopologyTree& tree,
                                                             const Counts& counts,
                                                             std::int64_t pods);

}  // namespace rankward::sim::kueue
