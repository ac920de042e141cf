// Kueue's default for podset-preferred-topology: see best_fit() in kueue.hpp.
#include "kueue.hpp"

namespace rankward::sim {
namespace {

class KueueBestFit : public GangPolicy {
 public:
  explicit KueueBestFit(const Cluster& cluster) : tree_(cluster.empty()) {}
  std::optional<std::vector<HostShare>> place(const JobInfo& job, Cluster& cluster) override {
    return kueue::best_fit(tree_, kueue::count_pods(tree_, cluster, *job.job), job.job->pods);
  }

 private:
  TopologyTree tree_;
};

}  // namespace

PolicyInstance make_kueue_best_fit(const PolicyInputs& inputs) {
  return {nullptr, std::make_unique<KueueBestFit>(inputs.cluster)};
}

}  // namespace rankward::sim
