// NodeResourcesFit with scoringStrategy LeastAllocated (kubernetes/kubernetes,
// pkg/scheduler/framework/plugins/noderesources/least_allocated.go): the emptiest host, so that
// load spreads. The default of kube-scheduler for CPU and memory; GPUs are added here at the same
// weight.
#include "best_score.hpp"
#include "resource_score.hpp"

namespace rankward::sim {
namespace {

class LeastAllocated : public PodPolicy {
 public:
  explicit LeastAllocated(std::uint64_t seed) : random_(seed) {}
  std::optional<HostIndex> choose(const JobInfo& job, const Cluster& cluster) override {
    return best_score(job, cluster, random_, [&](HostIndex i) {
      return resource_score(*job.job, cluster.hosts()[i],
                            [](std::int64_t requested, std::int64_t capacity) {
                              return (capacity - requested) * 100 / capacity;
                            });
    });
  }

 private:
  Random random_;
};

}  // namespace

PolicyInstance make_least_allocated(const PolicyInputs& inputs) {
  return {std::make_unique<LeastAllocated>(inputs.seed), nullptr};
}

}  // namespace rankward::sim
