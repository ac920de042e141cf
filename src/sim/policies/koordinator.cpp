// Koordinator's network topology solver (koordinator-sh/koordinator, pkg/scheduler/plugins/
// coscheduling/core/network_topology_solver.go): the lowest layer, hosts included, with a domain
// that offers a slot for every pod; there the domain that offers fewest, and among equals the one
// whose parents do. Then down: children with the most slots first, each filled. The node score that
// Koordinator breaks further ties with is left out: names decide.
#include <algorithm>

#include "../topology_tree.hpp"
#include "policy.hpp"

namespace rankward::sim {
namespace {

class Koordinator : public GangPolicy {
 public:
  explicit Koordinator(const Cluster& cluster) : tree_(cluster.empty()) {}

  std::optional<std::vector<HostShare>> place(const JobInfo& info, Cluster& cluster) override {
    const Job& job = *info.job;
    // It tries the job's own pods on each node, so no node offers more than there are.
    slots_ = tree_.rolled_up(
        [&](HostIndex host) { return std::min<std::int64_t>(job.pods, cluster.slots(host, job)); });
    for (std::size_t level = tree_.levels().size(); level-- > 0;) {
      std::optional<DomainIndex> best;
      for (const DomainIndex domain : tree_.levels()[level]) {
        if (slots_[domain] < job.pods) continue;
        if (!best || before(domain, *best, level, true)) best = domain;
      }
      if (!best) continue;
      std::vector<HostShare> shares;
      auto left = static_cast<std::int32_t>(job.pods);
      distribute(*best, level, left, shares);
      return shares;
    }
    return std::nullopt;
  }

 private:
  // Compares the slots of both, then of their parents, up to the root.
  [[nodiscard]] bool before(DomainIndex a, DomainIndex b, std::size_t level, bool fewest) const {
    DomainIndex above_a = a;
    DomainIndex above_b = b;
    for (std::size_t i = 0; i <= level; ++i) {
      if (slots_[above_a] != slots_[above_b]) {
        return (slots_[above_a] < slots_[above_b]) == fewest;
      }
      above_a = tree_.domain(above_a).parent;
      above_b = tree_.domain(above_b).parent;
    }
    return tree_.domain(a).path < tree_.domain(b).path;
  }

  void distribute(DomainIndex domain, std::size_t level, std::int32_t& left,
                  std::vector<HostShare>& shares) const {
    if (left == 0 || slots_[domain] == 0) return;
    if (level == tree_.host_level()) {
      const auto pods = static_cast<std::int32_t>(std::min<std::int64_t>(left, slots_[domain]));
      shares.push_back({tree_.host(domain), pods});
      left -= pods;
      return;
    }
    std::vector<DomainIndex> children = tree_.domain(domain).children;
    std::sort(children.begin(), children.end(),
              [&](DomainIndex a, DomainIndex b) { return before(a, b, level + 1, false); });
    for (const DomainIndex child : children)
      distribute(child, level + 1, left, shares);
  }

  TopologyTree tree_;
  std::vector<std::int64_t> slots_;  // of the job at hand, by domain
};

}  // namespace

PolicyInstance make_koordinator(const PolicyInputs& inputs) {
  return {nullptr, std::make_unique<Koordinator>(inputs.cluster)};
}

}  // namespace rankward::sim
