// How a scheduler chooses hosts. Written anew from what each project documents and does; each file
// names its source.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "../cluster.hpp"
#include "../fragmentation.hpp"
#include "../random.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::sim {

// Chooses for one pod after the other, as kube-scheduler does: a gang may stay half placed.
class PodPolicy {
 public:
  virtual ~PodPolicy() = default;
  // A host that takes one more pod of the job; nothing where none does.
  virtual std::optional<HostIndex> choose(const JobInfo& job, const Cluster& cluster) = 0;
};

// Chooses for all pods of a job at once, or for none.
class GangPolicy {
 public:
  virtual ~GangPolicy() = default;
  // Shares that add up to job.pods, each host once, in the order in which ranks fill them.
  virtual std::optional<std::vector<HostShare>> place(const JobInfo& job, Cluster& cluster) = 0;
};

// All that a policy may want to know before it starts. Outlives the policy.
struct PolicyInputs {
  const Cluster& cluster;
  const Fragmentation& fragmentation;
  const placement::Options& options;
  std::uint64_t seed = 1;
};

// One of the two is set.
struct PolicyInstance {
  std::unique_ptr<PodPolicy> pods;
  std::unique_ptr<GangPolicy> gangs;
};

PolicyInstance make_random(const PolicyInputs& inputs);
PolicyInstance make_least_allocated(const PolicyInputs& inputs);
PolicyInstance make_most_allocated(const PolicyInputs& inputs);
PolicyInstance make_fgd(const PolicyInputs& inputs);
PolicyInstance make_kueue_best_fit(const PolicyInputs& inputs);
PolicyInstance make_kueue_least_free_capacity(const PolicyInputs& inputs);
PolicyInstance make_kueue_balanced(const PolicyInputs& inputs);
PolicyInstance make_kai(const PolicyInputs& inputs);
PolicyInstance make_koordinator(const PolicyInputs& inputs);
PolicyInstance make_rankward(const PolicyInputs& inputs);

}  // namespace rankward::sim
