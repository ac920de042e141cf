// Any host that takes the pod, all alike.
#include "best_score.hpp"

namespace rankward::sim {
namespace {

class RandomFit : public PodPolicy {
 public:
  explicit RandomFit(std::uint64_t seed) : random_(seed) {}
  std::optional<HostIndex> choose(const JobInfo& job, const Cluster& cluster) override {
    return best_score(job, cluster, random_, [](HostIndex) { return 0; });
  }

 private:
  Random random_;
};

}  // namespace

PolicyInstance make_random(const PolicyInputs& inputs) {
  return {std::make_unique<RandomFit>(inputs.seed), nullptr};
}

}  // namespace rankward::sim
