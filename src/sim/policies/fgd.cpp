// Fragmentation gradient descent (Weng et al., USENIX ATC 2023; hkust-adsl/
// kubernetes-scheduler-simulator, pkg/simulator/plugin/fgd_score.go): the host whose fragmentation
// grows least, scored as the sigmoid of the change in GPUs, 0 to 100, whole numbers.
#include <cmath>

#include "best_score.hpp"

namespace rankward::sim {
namespace {

class Fgd : public PodPolicy {
 public:
  explicit Fgd(const PolicyInputs& inputs)
      : fragmentation_(inputs.fragmentation), random_(inputs.seed) {}

  std::optional<HostIndex> choose(const JobInfo& info, const Cluster& cluster) override {
    const Job& job = *info.job;
    return best_score(info, cluster, random_, [&](HostIndex i) {
      const Host& host = cluster.hosts()[i];
      const double before = fragmentation_.of(host);
      const double after =
          fragmentation_.of(host, {host.free_gpus - job.gpus, host.free_cpu_milli - job.cpu_milli,
                                   host.free_memory - job.memory.count});
      return static_cast<std::int64_t>(100 / (1 + std::exp(after - before)));
    });
  }

 private:
  const Fragmentation& fragmentation_;
  Random random_;
};

}  // namespace

PolicyInstance make_fgd(const PolicyInputs& inputs) {
  return {std::make_unique<Fgd>(inputs), nullptr};
}

}  // namespace rankward::sim
