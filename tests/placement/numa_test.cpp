// NumaCannotAlign against an enumeration of what the kubelet would try.
#include <gtest/gtest.h>

#include <bit>
#include <random>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using testing::Cluster;
using testing::node;
using testing::pod;
using testing::running_on;
using topology::TopologyManagerPolicy;

topology::NodeTopology on_numa_nodes(const std::vector<std::uint32_t>& numa,
                                     TopologyManagerPolicy policy, bool pod_scope = true) {
  topology::NodeTopology machine;
  for (std::uint32_t i = 0; i < numa.size(); ++i) {
    topology::Gpu gpu;
    gpu.index = i;
    gpu.numa_node = numa[i];
    machine.gpus.push_back(gpu);
  }
  machine.topology_manager = policy;
  machine.topology_manager_pod_scope = pod_scope;
  return machine;
}

kube::Pod holding(std::string name, const std::vector<std::uint32_t>& gpus) {
  std::string text;
  for (const std::uint32_t gpu : gpus)
    text += (text.empty() ? "" : ",") + std::to_string(gpu);
  return running_on(
      "n", pod(std::move(name), {{"nvidia.com/gpu", static_cast<std::int64_t>(gpus.size())}},
               {{"rankward.io/assigned-gpus", text}}));
}

// As the kubelet's hint providers do: of all masks of NUMA nodes, how few could ever hold `need`
// GPUs, and is there a mask of so few in which that many are free.
bool kubelet_admits(const std::vector<std::uint32_t>& numa, const std::vector<bool>& free,
                    std::size_t need, TopologyManagerPolicy policy) {
  int fewest = 99;
  int fewest_free = 99;
  for (unsigned mask = 1; mask < 16; ++mask) {
    std::size_t all = 0;
    std::size_t available = 0;
    for (std::size_t i = 0; i < numa.size(); ++i) {
      if ((mask >> numa[i] & 1U) == 0) continue;
      ++all;
      available += free[i] ? 1 : 0;
    }
    if (all >= need) fewest = std::min(fewest, std::popcount(mask));
    if (available >= need) fewest_free = std::min(fewest_free, std::popcount(mask));
  }
  if (policy == TopologyManagerPolicy::kSingleNumaNode) return fewest_free == 1;
  return fewest_free == fewest;
}

TEST(NumaAlignment, AgreesWithTheKubeletsHints) {
  std::mt19937 random(11);
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  int refused = 0;
  for (int round = 0; round < 1000; ++round) {
    std::vector<std::uint32_t> numa(2 + below(7));
    for (std::uint32_t& each : numa)
      each = below(4);
    std::vector<bool> free(numa.size());
    std::vector<std::uint32_t> held;
    for (std::uint32_t i = 0; i < numa.size(); ++i) {
      free[i] = below(3) != 0;
      if (!free[i]) held.push_back(i);
    }
    const std::size_t count = numa.size() - held.size();
    if (count == 0) continue;
    const std::size_t need = 1 + below(static_cast<unsigned>(count));
    for (const auto policy :
         {TopologyManagerPolicy::kSingleNumaNode, TopologyManagerPolicy::kRestricted}) {
      Cluster cluster;
      cluster.add(node("n", {{"nvidia.com/gpu", static_cast<std::int64_t>(numa.size())}}),
                  on_numa_nodes(numa, policy));
      if (!held.empty()) cluster.add(holding("held", held));
      const kube::Pod asked = pod("p", {{"nvidia.com/gpu", static_cast<std::int64_t>(need)}});
      const bool admits = kubelet_admits(numa, free, need, policy);
      refused += admits ? 0 : 1;
      for (const Use use : {Use::kFilter, Use::kExplain}) {
        ASSERT_EQ(cluster.code(asked, "n", use), admits ? "" : "NumaCannotAlign")
            << "round " << round;
      }
    }
  }
  EXPECT_GT(refused, 100);
}

TEST(NumaAlignment, IsOfferedByTheOtherPolicies) {
  for (const auto policy : {TopologyManagerPolicy::kUnknown, TopologyManagerPolicy::kNone,
                            TopologyManagerPolicy::kBestEffort}) {
    Cluster cluster;
    cluster.add(node("n", {{"nvidia.com/gpu", 4}}), on_numa_nodes({0, 0, 1, 1}, policy));
    EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 3}}), "n"), "");
  }
}

TEST(NumaAlignment, IsPerContainerInContainerScope) {
  kube::Pod two = pod("p", {{"nvidia.com/gpu", 2}});
  two.spec.containers.push_back(two.spec.containers[0]);
  for (const bool pod_scope : {false, true}) {
    Cluster cluster;
    cluster.add(node("n", {{"nvidia.com/gpu", 4}}),
                on_numa_nodes({0, 0, 1, 1}, TopologyManagerPolicy::kSingleNumaNode, pod_scope));
    EXPECT_EQ(cluster.code(two, "n"), pod_scope ? "NumaCannotAlign" : "");
  }
}

TEST(NumaAlignment, RefusesOnlyTheCertainWhereHoldersAreNotKnown) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}),
              on_numa_nodes({0, 0, 0, 0, 1, 1, 1, 1}, TopologyManagerPolicy::kSingleNumaNode));
  cluster.add(running_on("n", pod("q", {{"nvidia.com/gpu", 2}})));
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 4}}), "n"), "")
      << "both held GPUs may be on one NUMA node";
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 5}}), "n"), "NumaCannotAlign");
}

TEST(NumaAlignment, OfUnknownNumaNodesIsNotJudged) {
  Cluster cluster;
  topology::NodeTopology machine =
      on_numa_nodes({0, 0, 1, 1}, TopologyManagerPolicy::kSingleNumaNode);
  machine.gpus[3].numa_node.reset();
  cluster.add(node("n", {{"nvidia.com/gpu", 4}}), machine);
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 4}}), "n"), "");
}

// The scheduler has seen a pod end that our snapshot still counts.
TEST(NumaAlignment, InFilterIsNotJudgedByALateSnapshot) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 4}}),
              on_numa_nodes({0, 0, 1, 1}, TopologyManagerPolicy::kSingleNumaNode));
  cluster.add(holding("ended", {0, 1, 2}));
  const kube::Pod asked = pod("p", {{"nvidia.com/gpu", 2}});
  EXPECT_EQ(cluster.code(asked, "n", Use::kFilter), "");
  EXPECT_EQ(cluster.code(asked, "n"), "InsufficientGpu");
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 3}}), "n", Use::kFilter), "NumaCannotAlign");
}

}  // namespace
}  // namespace rankward::placement
