#include "rankward/placement/preemption.hpp"

#include <gtest/gtest.h>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using testing::Cluster;
using testing::hgx;
using testing::node;
using testing::pod;
using testing::running_on;

bool could_help(Cluster& cluster, const kube::Pod& pod, Use use = Use::kExplain) {
  const auto snapshot = cluster.snapshot();
  const NodeState& state = snapshot->node({0});
  const Request request = make_request(pod, {}).value();
  const Verdict verdict = judge(request, pod.spec, state, {}, use);
  return !verdict.fits() && preemption_could_help(*verdict.reason, request, pod.spec, state, {});
}

bool fits_after(Cluster& cluster, const kube::Pod& pod,
                const std::vector<std::string_view>& victims) {
  const auto snapshot = cluster.snapshot();
  return fits_after_preemption(make_request(pod, {}).value(), pod.spec, snapshot->node({0}),
                               victims, {}, {});
}

TEST(PreemptionCouldHelp, WhereOthersHoldWhatTheEmptyNodeHas) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}));
  cluster.add(running_on("n", pod("q", {{"nvidia.com/gpu", 6}})));
  EXPECT_TRUE(could_help(cluster, pod("p", {{"nvidia.com/gpu", 8}})));
  EXPECT_FALSE(could_help(cluster, pod("p", {{"nvidia.com/gpu", 9}})))
      << "no preemption makes a node larger";
  EXPECT_FALSE(could_help(cluster, pod("p", {{"nvidia.com/gpu", 1}}))) << "it fits";
}

TEST(PreemptionCouldHelp, NotForWhatIsPermanent) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}},
                   {{"nvidia.com/gpu.memory", "40960"}, {"nvidia.com/gpu.count", "8"}}));
  EXPECT_FALSE(
      could_help(cluster, pod("p", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", "60Gi"}})));
  EXPECT_FALSE(could_help(cluster, pod("p", {{"amd.com/gpu", 1}})));
}

topology::NodeTopology single_numa() {
  topology::NodeTopology machine = hgx();
  machine.topology_manager = topology::TopologyManagerPolicy::kSingleNumaNode;
  machine.topology_manager_pod_scope = true;
  return machine;
}

TEST(PreemptionCouldHelp, WithGeometryOnlyIfTheEmptyNodeWouldFit) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}), single_numa());
  for (const auto& [name, gpu] : {std::pair("a", "2"), std::pair("b", "5")}) {
    cluster.add(
        running_on("n", pod(name, {{"nvidia.com/gpu", 1}}, {{"rankward.io/assigned-gpus", gpu}})));
  }
  for (const Use use : {Use::kFilter, Use::kExplain}) {
    EXPECT_TRUE(could_help(cluster, pod("p", {{"nvidia.com/gpu", 4}}), use));
    EXPECT_FALSE(could_help(cluster, pod("p", {{"nvidia.com/gpu", 5}}), use));
  }
}

TEST(PreemptionCouldHelp, WithOtherResourcesButNotWithTaints) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}, {"cpu", 4}}));
  cluster.add(running_on("n", pod("q", {{"cpu", 3}})));
  EXPECT_TRUE(could_help(cluster, pod("p", {{"nvidia.com/gpu", 1}, {"cpu", 2}})));
  kube::Node tainted = node("n", {{"nvidia.com/gpu", 8}});
  tainted.taints = {{"team", "b", "NoSchedule"}};
  Cluster other;
  other.add(tainted);
  EXPECT_FALSE(could_help(other, pod("p", {{"nvidia.com/gpu", 1}})));
}

TEST(FitsAfterPreemption, JudgesTheNodeWithoutItsVictims) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}), single_numa());
  for (const auto& [name, gpu] : {std::pair("a", "2"), std::pair("b", "5")}) {
    cluster.add(
        running_on("n", pod(name, {{"nvidia.com/gpu", 1}}, {{"rankward.io/assigned-gpus", gpu}})));
  }
  const kube::Pod four = pod("p", {{"nvidia.com/gpu", 4}});
  EXPECT_FALSE(fits_after(cluster, four, {})) << "no victims: as it stands";
  EXPECT_TRUE(fits_after(cluster, four, {"uid-a"}));
  EXPECT_TRUE(fits_after(cluster, four, {"uid-a", "uid-never-seen"}));
  EXPECT_FALSE(fits_after(cluster, four, {"uid-never-seen"}));
  EXPECT_FALSE(fits_after(cluster, pod("p", {{"nvidia.com/gpu", 5}}), {"uid-a", "uid-b"}));
}

// The scheduler has counted; a victim that we have not seen yet must not turn its choice down.
TEST(FitsAfterPreemption, DoesNotCountAgain) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}));
  cluster.add(running_on("n", pod("a", {{"nvidia.com/gpu", 8}})));
  EXPECT_TRUE(fits_after(cluster, pod("p", {{"nvidia.com/gpu", 4}}), {}));
}

TEST(FitsAfterPreemption, FreesTheMemoryThatVictimsDeclared) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 4}},
                   {{"nvidia.com/gpu.product", "NVIDIA-A10G-SHARED"},
                    {"nvidia.com/gpu.count", "1"},
                    {"nvidia.com/gpu.memory", "23028"},
                    {"nvidia.com/gpu.replicas", "4"}}));
  cluster.add(
      running_on("n", pod("a", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", "20Gi"}})));
  const kube::Pod asked = pod("p", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", "16Gi"}});
  EXPECT_FALSE(fits_after(cluster, asked, {}));
  EXPECT_TRUE(fits_after(cluster, asked, {"uid-a"}));
}

}  // namespace
}  // namespace rankward::placement
