// What NodeResourcesFit's two strategies have in common.
#pragma once

#include <cstdint>

#include "policy.hpp"

namespace rankward::sim {

// Mean over CPU, memory and GPUs, weight 1 each, of part(requested, capacity): requested with the
// pod on the host. Resources that the host does not have count for nothing, as in
// pkg/scheduler/framework/plugins/noderesources/resource_allocation.go.
template <class Part>
std::int64_t resource_score(const Job& job, const Host& host, Part&& part) {
  std::int64_t sum = 0;
  std::int64_t weights = 0;
  const auto add = [&](std::int64_t capacity, std::int64_t free, std::int64_t wanted) {
    if (capacity == 0) return;
    sum += part(capacity - free + wanted, capacity);
    ++weights;
  };
  add(host.cpu_milli, host.free_cpu_milli, job.cpu_milli);
  add(host.memory >> 20, host.free_memory >> 20, job.memory.count >> 20);
  add(host.gpus, host.free_gpus, job.gpus);
  return weights == 0 ? 0 : sum / weights;
}

}  // namespace rankward::sim
