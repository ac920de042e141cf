// kube-scheduler's choice among scored nodes: the highest, one of the equals at random
// (pkg/scheduler/schedule_one.go, selectHost).
#pragma once

#include <cstdint>
#include <optional>

#include "policy.hpp"

namespace rankward::sim {

// `score` takes a HostIndex that takes the pod and gives an integer.
template <class Score>
std::optional<HostIndex> best_score(const JobInfo& job, const Cluster& cluster, Random& random,
                                    Score&& score) {
  std::optional<HostIndex> best;
  std::int64_t best_of_all = 0;
  std::uint64_t equals = 0;
  for (HostIndex i = 0; i < cluster.hosts().size(); ++i) {
    if (!cluster.takes(i, *job.job)) continue;
    const std::int64_t value = score(i);
    if (!best || value > best_of_all) {
      best = i;
      best_of_all = value;
      equals = 1;
    } else if (value == best_of_all && random.below(++equals) == 0) {
      best = i;
    }
  }
  return best;
}

}  // namespace rankward::sim
