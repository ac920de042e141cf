// What one plan costs: 1,024 pods on 5,000 and 100,000 nodes of a three-tier fabric, half of the
// nodes free, a quarter partly and a quarter wholly taken. Goals: 2 ms and 40 ms.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "rankward/placement/plan.hpp"
#include "rankward/topology/sources.hpp"

namespace {

using namespace rankward;
using placement::NodeIndex;

constexpr int kNodesPerLeaf = 32;
constexpr int kLeavesPerSpine = 16;
constexpr int kSpinesPerCore = 8;
constexpr int kGpus = 8;

// HGX H100: NVSwitch, one 400 Gb/s port a GPU behind its own PCIe switch.
topology::NodeTopology hgx() {
  topology::NodeTopology machine;
  machine.product = "NVIDIA-H100-80GB-HBM3";
  machine.gpus.resize(kGpus);
  machine.nics.resize(kGpus);
  for (std::uint32_t i = 0; i < kGpus; ++i) {
    machine.gpus[i].index = i;
    machine.gpus[i].numa_node = i / 4;
    machine.gpus[i].health = topology::Health::kHealthy;
    machine.nics[i].device = "mlx5_" + std::to_string(i);
    machine.nics[i].rate = topology::GigabytesPerSecond{50};
    machine.nics[i].link_layer = topology::LinkLayer::kInfiniBand;
    machine.nics[i].state = topology::PortState::kActive;
    for (std::uint32_t j = 0; j < kGpus; ++j) {
      machine.gpu_paths.push_back(i == j ? topology::PathType::kSelf : topology::PathType::kNvLink);
      machine.nvlinks.push_back(i == j ? 0 : 18);
      machine.nic_paths.push_back(i == j           ? topology::PathType::kPix
                                  : i / 4 == j / 4 ? topology::PathType::kNode
                                                   : topology::PathType::kSys);
    }
  }
  return machine;
}

kube::Pod pod_of(std::string name, std::int64_t gpus, std::int64_t rdma) {
  kube::Pod pod;
  pod.metadata.name = std::move(name);
  pod.metadata.namespace_ = "team-a";
  pod.metadata.uid = "uid-" + pod.metadata.name;
  kube::Container container;
  container.name = "train";
  container.resources.limits = {{"cpu", kube::Quantity(4)},
                                {"memory", kube::Quantity(std::int64_t{32} << 30)},
                                {"nvidia.com/gpu", kube::Quantity(gpus)},
                                {"rdma/ib", kube::Quantity(rdma)}};
  container.resources.requests = container.resources.limits;
  pod.spec.containers.push_back(std::move(container));
  return pod;
}

kube::Node node_of(int number) {
  kube::Node node;
  std::string digits = std::to_string(number);
  node.metadata.name = "gpu-" + std::string(6 - digits.size(), '0') + digits;
  const int leaf = number / kNodesPerLeaf;
  const int spine = leaf / kLeavesPerSpine;
  node.metadata.labels = {
      {"network.topology.nvidia.com/leaf", "leaf-" + std::to_string(leaf)},
      {"network.topology.nvidia.com/spine", "spine-" + std::to_string(spine)},
      {"network.topology.nvidia.com/core", "core-" + std::to_string(spine / kSpinesPerCore)}};
  node.ready = kube::Readiness::kReady;
  node.allocatable = {{"cpu", kube::Quantity(192)},
                      {"memory", kube::Quantity(std::int64_t{2} << 40)},
                      {"pods", kube::Quantity(110)},
                      {"nvidia.com/gpu", kube::Quantity(kGpus)},
                      {"rdma/ib", kube::Quantity(1000)}};
  node.capacity = node.allocatable;
  return node;
}

std::shared_ptr<const placement::Snapshot> cluster(int nodes) {
  static std::map<int, std::shared_ptr<const placement::Snapshot>> made;
  auto& snapshot = made[nodes];
  if (snapshot) return snapshot;
  std::mt19937_64 random(7);
  placement::SnapshotBuilder builder;
  const topology::NodeTopology machine = hgx();
  for (int i = 0; i < nodes; ++i) {
    kube::Node node = node_of(i);
    const std::string name = node.metadata.name;
    auto labels = topology::from_labels(node, {});
    builder.put_node(std::move(node), topology::merge(machine, labels));
    const auto kind = random() % 4;
    if (kind < 2) continue;
    const int taken = kind == 2 ? static_cast<int>(random() % kGpus) : kGpus;
    if (taken == 0) continue;
    std::vector<int> gpus(kGpus);
    std::iota(gpus.begin(), gpus.end(), 0);
    std::shuffle(gpus.begin(), gpus.end(), random);
    std::string indexes;
    for (int gpu = 0; gpu < taken; ++gpu)
      indexes += (gpu == 0 ? "" : ",") + std::to_string(gpus[static_cast<std::size_t>(gpu)]);
    kube::Pod pod = pod_of("on-" + name, taken, 1);
    pod.metadata.annotations.emplace("rankward.io/assigned-gpus", indexes);
    pod.spec.node_name = name;
    pod.status.phase = "Running";
    builder.put_pod(pod);
  }
  snapshot = builder.build();
  return snapshot;
}

// Arguments: nodes, pods, GPUs a pod, Use.
void plan(benchmark::State& state) {
  const auto snapshot = cluster(static_cast<int>(state.range(0)));
  kube::Pod pod = pod_of("g-0", state.range(2), 1);
  pod.metadata.annotations.emplace("rankward.io/gang", "g");
  const placement::Request request = placement::make_request(pod, {}).value();
  placement::PlanQuestion question;
  question.request = &request;
  question.spec = &pod.spec;
  question.pods = static_cast<std::int32_t>(state.range(1));
  question.use = state.range(3) == 0 ? placement::Use::kFilter : placement::Use::kExplain;
  placement::PlanResult result;
  for (auto _ : state) {
    result = placement::make_plan(question, *snapshot, {}, {});
    benchmark::DoNotOptimize(result);
  }
  if (!result.found()) {
    state.SkipWithError(result.refusal.note.c_str());
    return;
  }
  state.counters["h"] = result.plan->prediction.nodes;
  state.counters["tier"] = result.plan->prediction.tier;
  state.counters["T_ms"] = result.plan->prediction.seconds.value * 1e3;
}

void arguments(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"nodes", "pods", "gpus", "explain"})->Unit(benchmark::kMillisecond);
  for (const int nodes : {5'000, 100'000}) {
    for (const int gpus : {8, 4, 2, 1})
      bench->Args({nodes, 1024, gpus, 0});
    bench->Args({nodes, 1024, 8, 1});
    bench->Args({nodes, 8, 8, 0});
    bench->Args({nodes, 37, 1, 0});
    bench->Args({nodes, 1, 1, 0});
  }
}
BENCHMARK(plan)->Apply(arguments);

}  // namespace
