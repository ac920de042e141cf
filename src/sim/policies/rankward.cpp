// This project: gangs by make_plan(), single pods by rank() as the filter call does it.
#include "rankward/placement/plan.hpp"
#include "rankward/placement/ranking.hpp"

#include "policy.hpp"

namespace rankward::sim {
namespace {

class Rankward : public GangPolicy {
 public:
  explicit Rankward(const placement::Options& options) : options_(options) {}

  std::optional<std::vector<HostShare>> place(const JobInfo& info, Cluster& cluster) override {
    if (info.job->pods == 1) return single(info, cluster);
    placement::PlanQuestion question;
    question.request = &info.request;
    question.spec = &info.pod.spec;
    question.pods = static_cast<std::int32_t>(info.job->pods);
    const auto snapshot = cluster.snapshot();
    const auto result = placement::make_plan(question, *snapshot, {}, options_);
    if (!result.found()) return std::nullopt;
    // Slots of one node follow each other.
    std::vector<HostShare> shares;
    for (const placement::NodeIndex node : result.plan->slots) {
      if (shares.empty() || shares.back().host != node.value) shares.push_back({node.value, 0});
      ++shares.back().pods;
    }
    return shares;
  }

 private:
  // kube-scheduler has judged what a host has room for before it asks.
  std::optional<std::vector<HostShare>> single(const JobInfo& info, Cluster& cluster) const {
    const auto snapshot = cluster.snapshot();
    std::vector<placement::Candidate> candidates;
    for (HostIndex i = 0; i < cluster.hosts().size(); ++i) {
      if (cluster.takes(i, *info.job)) {
        candidates.push_back({cluster.hosts()[i].name, placement::NodeIndex{i}});
      }
    }
    const auto ranking = placement::rank(info.request, info.pod.spec, *snapshot, candidates,
                                         options_, placement::Use::kFilter);
    if (ranking.fits.empty()) return std::nullopt;
    return std::vector<HostShare>{{candidates[ranking.fits.front().candidate].index->value, 1}};
  }

  const placement::Options& options_;
};

}  // namespace

PolicyInstance make_rankward(const PolicyInputs& inputs) {
  return {nullptr, std::make_unique<Rankward>(inputs.options)};
}

}  // namespace rankward::sim
