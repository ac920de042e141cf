// FGD's measure of fragmentation (Weng et al., USENIX ATC 2023; kubernetes-scheduler-simulator,
// pkg/utils/frag.go): the free GPUs of a host that the typical pods of the workload cannot use.
#pragma once

#include <vector>

#include "cluster.hpp"

namespace rankward::sim {

// What a host would have free.
struct FreeAmounts {
  std::int64_t gpus = 0;
  std::int64_t cpu_milli = 0;
  std::int64_t memory = 0;
};

class Fragmentation {
 public:
  // The most frequent pods of the jobs that ask for GPUs, until they are 95 % of all.
  explicit Fragmentation(const std::vector<Job>& jobs);

  // Expected number of GPUs that stay idle: over the typical pods, how often times all free GPUs
  // where the pod does not fit. Whole GPUs only, so a GPU is never too small for a pod that fits.
  [[nodiscard]] double of(const Host& host, const FreeAmounts& free) const;
  [[nodiscard]] double of(const Host& host) const {
    return of(host, {host.free_gpus, host.free_cpu_milli, host.free_memory});
  }

 private:
  struct TypicalPod {
    Job job;  // any that asks for this much
    double frequency = 0;
  };
  std::vector<TypicalPod> typical_;
};

}  // namespace rankward::sim
