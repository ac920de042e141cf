// NodeResourcesFit with scoringStrategy MostAllocated (kubernetes/kubernetes,
// pkg/scheduler/framework/plugins/noderesources/most_allocated.go): the fullest host that takes the
// pod (bin packing), with GPUs at the same weight as CPU and memory.
#include "best_score.hpp"
#include "resource_score.hpp"

namespace rankward::sim {
namespace {

class MostAllocated : public PodPolicy {
 public:
  explicit MostAllocated(std::uint64_t seed) : random_(seed) {}
  std::optional<HostIndex> choose(const JobInfo& job, const Cluster& cluster) override {
    return best_score(job, cluster, random_, [&](HostIndex i) {
      return resource_score(
          *job.job, cluster.hosts()[i],
          [](std::int64_t requested, std::int64_t capacity) { return requested * 100 / capacity; });
    });
  }

 private:
  Random random_;
};

}  // namespace

PolicyInstance make_most_allocated(const PolicyInputs& inputs) {
  return {std::make_unique<MostAllocated>(inputs.seed), nullptr};
}

}  // namespace rankward::sim
