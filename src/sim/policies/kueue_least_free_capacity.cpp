// Kueue's LeastFreeCapacity, its default for podset-unconstrained-topology (profile Mixed): the
// smallest host that takes all pods, else hosts from the least free upwards (kubernetes-sigs/kueue,
// pkg/cache/scheduler/tas_flavor_snapshot.go, findLevelWithFitDomains).
#include "kueue.hpp"

namespace rankward::sim {
namespace {

class KueueLeastFreeCapacity : public GangPolicy {
 public:
  explicit KueueLeastFreeCapacity(const Cluster& cluster) : tree_(cluster.empty()) {}
  std::optional<std::vector<HostShare>> place(const JobInfo& job, Cluster& cluster) override {
    using kueue::Order;
    const auto counts = kueue::count_pods(tree_, cluster, *job.job);
    const auto hosts =
        kueue::sorted(tree_, counts, tree_.levels()[tree_.host_level()], Order::kLeastFirst);
    for (const DomainIndex host : hosts) {
      if (counts[host] >= job.job->pods) {
        return kueue::on_hosts(tree_, {{host, job.job->pods}});
      }
    }
    const auto shares = kueue::fill(counts, hosts, job.job->pods, Order::kLeastFirst);
    if (!shares) return std::nullopt;
    return kueue::on_hosts(tree_, *shares);
  }

 private:
  TopologyTree tree_;
};

}  // namespace

PolicyInstance make_kueue_least_free_capacity(const PolicyInputs& inputs) {
  return {nullptr, std::make_unique<KueueLeastFreeCapacity>(inputs.cluster)};
}

}  // namespace rankward::sim
