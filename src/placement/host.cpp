#include <algorithm>

#include "checks.hpp"

namespace rankward::placement {

namespace {

std::int64_t healthy_gpus(const topology::NodeTopology& topology) {
  return std::count_if(topology.gpus.begin(), topology.gpus.end(), [](const topology::Gpu& gpu) {
    return gpu.health != topology::Health::kUnhealthy;
  });
}

}  // namespace

// A GPU that has fallen off the bus leaves the plugin's count as it was, and from then on every
// Allocate on the node fails (k8s-device-plugin 231). More in the report than advertised is no
// fault: a plugin may be told to leave devices alone.
bool host_sees_fewer_gpus_than_advertised(const Question& question) {
  if (!question.reported() || question.shared() || question.sliced()) return false;
  const auto seen = static_cast<std::int64_t>(question.topology.gpus.size());
  return question.capacity.value_or(0) > seen || question.topology.gpu_count.value_or(0) > seen;
}

bool too_few_gpus_are_healthy(const Question& question) {
  if (!question.reported() || question.shared() || question.sliced()) return false;
  const auto total = static_cast<std::int64_t>(question.topology.gpus.size());
  const std::int64_t healthy = healthy_gpus(question.topology);
  if (healthy == total) return false;
  if (healthy < question.device.count) return true;
  if (!question.node.free_gpu_mask) return false;
  // The scheduler counts an unhealthy GPU as free as long as its plugin advertises it.
  const std::int64_t held = [&question] {
    std::int64_t sum = 0;
    for (const Holder& holder : question.node.holders)
      sum += holder.gpus;
    return sum;
  }();
  const auto free_and_healthy = static_cast<std::int64_t>(question.node.free_gpus().size());
  return free_and_healthy < question.device.count && total - held >= question.device.count;
}

}  // namespace rankward::placement
