// KAI-Scheduler's topology plugin (kai-scheduler/KAI-Scheduler, pkg/scheduler/plugins/topology,
// job_filtering.go and node_scoring.go) with the preferred level just above the hosts: domains that
// take the whole job, the lowest level first, those that it would fill most first. Inside the
// domain hosts are scored by their preferred-level domain, in tenths of the order, and by KAI's
// bin packing (fewest free GPUs) among equals.
#include <algorithm>
#include <tuple>

#include "../topology_tree.hpp"
#include "policy.hpp"

namespace rankward::sim {
namespace {

class KaiTightestDomain : public GangPolicy {
 public:
  explicit KaiTightestDomain(const Cluster& cluster)
      : tree_(cluster.empty()), preferred_(tree_.host_level() - 1) {}

  std::optional<std::vector<HostShare>> place(const JobInfo& info, Cluster& cluster) override {
    const Job& job = *info.job;
    const auto slots = tree_.rolled_up([&](HostIndex host) { return cluster.slots(host, job); });
    if (slots[0] < job.pods) return std::nullopt;
    const std::vector<std::vector<DomainIndex>> levels = sorted_levels(cluster, job);
    for (std::size_t level = levels.size(); level-- > 0;) {
      for (const DomainIndex domain : levels[level]) {
        if (slots[domain] < job.pods) continue;
        return inside(domain, level, levels[preferred_], cluster, job);
      }
    }
    return std::nullopt;
  }

 private:
  // Every level down to the preferred one, children of the fullest parents first.
  [[nodiscard]] std::vector<std::vector<DomainIndex>> sorted_levels(const Cluster& cluster,
                                                                    const Job& job) const {
    // How full the job would make each domain, by its scarcest resource.
    const auto free_of = [&](auto&& member) {
      return tree_.rolled_up([&](HostIndex host) { return cluster.hosts()[host].*member; });
    };
    const auto gpus = free_of(&Host::free_gpus);
    const auto cpus = free_of(&Host::free_cpu_milli);
    const auto memory = free_of(&Host::free_memory);
    const auto ratio = [&](DomainIndex domain) {
      constexpr double kNothingFree = 1000;
      double most = 0;
      const auto add = [&](std::int64_t wanted, std::int64_t free) {
        if (wanted <= 0) return;
        most = std::max(
            most, free <= 0 ? kNothingFree
                            : static_cast<double>(wanted * job.pods) / static_cast<double>(free));
      };
      add(job.gpus, gpus[domain]);
      add(job.cpu_milli, cpus[domain]);
      add(job.memory.count >> 20, memory[domain] >> 20);
      return most;
    };
    std::vector<std::vector<DomainIndex>> levels{{0}};
    while (levels.size() <= preferred_) {
      std::vector<DomainIndex> next;
      for (const DomainIndex parent : levels.back()) {
        std::vector<std::pair<double, DomainIndex>> children;
        for (const DomainIndex child : tree_.domain(parent).children)
          children.emplace_back(ratio(child), child);
        std::stable_sort(children.begin(), children.end(),
                         [](const auto& a, const auto& b) { return a.first > b.first; });
        for (const auto& child : children)
          next.push_back(child.second);
      }
      levels.push_back(std::move(next));
    }
    return levels;
  }

  [[nodiscard]] std::vector<HostShare> inside(DomainIndex domain, std::size_t level,
                                              const std::vector<DomainIndex>& preferred,
                                              const Cluster& cluster, const Job& job) const {
    struct Candidate {
      std::int64_t score;
      HostIndex host;
    };
    std::vector<Candidate> candidates;
    for (std::size_t i = 0; i < preferred.size(); ++i) {
      if (!is_below(preferred[i], preferred_, domain, level)) continue;
      const auto score = static_cast<std::int64_t>((i + 1) * 10 / preferred.size());
      for (const DomainIndex host : tree_.domain(preferred[i]).children)
        candidates.push_back({score, tree_.host(host)});
    }
    // A host that was chosen has fewer free GPUs than before and stays the choice until it is full.
    std::stable_sort(candidates.begin(), candidates.end(), [&](const auto& a, const auto& b) {
      const auto& hosts = cluster.hosts();
      return std::tuple(-a.score, hosts[a.host].free_gpus, a.host) <
             std::tuple(-b.score, hosts[b.host].free_gpus, b.host);
    });
    std::vector<HostShare> shares;
    auto left = static_cast<std::int32_t>(job.pods);
    for (const Candidate& candidate : candidates) {
      const std::int32_t pods = std::min(left, cluster.slots(candidate.host, job));
      if (pods > 0) shares.push_back({candidate.host, pods});
      left -= pods;
      if (left == 0) break;
    }
    return shares;
  }

  [[nodiscard]] bool is_below(DomainIndex domain, std::size_t level, DomainIndex above,
                              std::size_t above_level) const {
    for (; level > above_level; --level)
      domain = tree_.domain(domain).parent;
    return domain == above;
  }

  TopologyTree tree_;
  std::size_t preferred_;  // level
};

}  // namespace

PolicyInstance make_kai(const PolicyInputs& inputs) {
  return {nullptr, std::make_unique<KaiTightestDomain>(inputs.cluster)};
}

}  // namespace rankward::sim
