#include <algorithm>
#include <functional>
#include <numeric>

#include "checks.hpp"

namespace rankward::placement {

namespace {

using topology::TopologyManagerPolicy;

// GPUs by NUMA node that the kubelet counts when it asks how few NUMA nodes could ever do.
std::vector<std::int64_t> gpus_per_numa(const topology::NodeTopology& topology) {
  std::vector<std::int64_t> gpus;
  for (const topology::Gpu& gpu : topology.gpus) {
    constexpr std::uint32_t kMaxNumaNodes = 1024;
    if (!gpu.numa_node || *gpu.numa_node >= kMaxNumaNodes) return {};
    if (gpus.size() <= *gpu.numa_node) gpus.resize(*gpu.numa_node + 1);
    if (gpu.health != topology::Health::kUnhealthy) ++gpus[*gpu.numa_node];
  }
  return gpus;
}

// How few NUMA nodes hold that many; 0 where all together do not.
std::size_t fewest_numa_nodes(std::vector<std::int64_t> gpus, std::int64_t need) {
  std::sort(gpus.begin(), gpus.end(), std::greater<>());
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    need -= gpus[i];
    if (need <= 0) return i + 1;
  }
  return 0;
}

// What may be free at best where nobody says which GPUs the holders have.
std::vector<std::int64_t> free_at_best(std::vector<std::int64_t> gpus, std::int64_t free) {
  for (std::int64_t& count : gpus)
    count = std::min(count, free);
  return gpus;
}

}  // namespace

// single-numa-node wants one NUMA node; restricted wants as few as an empty node would need. With
// container scope each container is aligned for itself. Source: kubelet cm/topologymanager,
// policy_single_numa_node.go and policy_restricted.go; pytorch/ci-infra 696.
bool numa_cannot_align(const Question& question) {
  const TopologyManagerPolicy policy = question.topology.topology_manager;
  if (!question.reported() || question.shared() || question.sliced() ||
      (policy != TopologyManagerPolicy::kSingleNumaNode &&
       policy != TopologyManagerPolicy::kRestricted)) {
    return false;
  }
  const std::vector<std::int64_t> all = gpus_per_numa(question.topology);
  if (all.empty()) return false;
  const std::int64_t need = question.topology.topology_manager_pod_scope
                                ? question.device.count
                                : question.device.largest_container;
  const auto counted = question.node.free(question.device.resource);
  std::vector<std::int64_t> free = free_per_numa(question);
  const std::int64_t known_free = std::accumulate(free.begin(), free.end(), std::int64_t{0});
  if (question.use == Use::kFilter &&
      (counted.value_or(0) < question.device.count || (!free.empty() && known_free < need))) {
    // The scheduler has found room that our snapshot does not show yet: only the shape counts.
    free = all;
  } else if (free.empty()) {
    free = free_at_best(all, counted.value_or(0));
  }
  const std::size_t ever = fewest_numa_nodes(all, need);
  const std::size_t now = fewest_numa_nodes(free, need);
  if (ever == 0 || now == 0) {
    // Too few altogether is a matter of counting, not of geometry.
    return false;
  }
  const std::size_t allowed = policy == TopologyManagerPolicy::kSingleNumaNode ? 1 : ever;
  return now > allowed;
}

}  // namespace rankward::placement
