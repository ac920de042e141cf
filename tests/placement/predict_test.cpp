// What a pod's collective takes on a node: the formula of placement.md with hand-made numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using testing::Cluster;
using ::testing::HasSubstr;
using testing::hgx;
using testing::leaf;
using testing::node;
using testing::pod;
using testing::running_on;

constexpr double kGiB = 1073741824.0;
constexpr double kNvSwitch = 18 * 20.6e9;

const testing::Counts kHgxDevices{{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}};

Prediction on(Cluster& cluster, const kube::Pod& pod, std::string_view name,
              const Options& options = {}) {
  const auto snapshot = cluster.snapshot();
  return predict(make_request(pod, {}).value(), snapshot->find(name).value(), *snapshot, options);
}

kube::Pod member(std::string name, std::int64_t gpus, kube::StringMap more = {}) {
  kube::StringMap annotations{{"rankward.io/gang", "g"}};
  annotations.merge(more);
  return pod(std::move(name), {{"nvidia.com/gpu", gpus}, {"rdma/ib", 1}}, std::move(annotations));
}

TEST(Predict, OneGpuAloneTakesNoTimeAnywhere) {
  Cluster cluster;
  cluster.add(node("silent", {{"nvidia.com/gpu", 8}})).add(node("hgx", kHgxDevices), hgx());
  for (const char* name : {"silent", "hgx"}) {
    const Prediction prediction = on(cluster, pod("p", {{"nvidia.com/gpu", 1}}), name);
    EXPECT_EQ(prediction.seconds.value, 0);
    EXPECT_TRUE(std::isinf(prediction.bandwidth.value));
    EXPECT_EQ(prediction.bottleneck, "one GPU: nothing to send");
    EXPECT_EQ(prediction.nodes, 1U);
    EXPECT_TRUE(prediction.topology_known) << "nothing is missing";
  }
}

TEST(Predict, WholeNodeOverNvSwitch) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}), hgx());
  const Prediction prediction = on(cluster, pod("p", {{"nvidia.com/gpu", 8}}), "n");
  EXPECT_NEAR(prediction.seconds.value, 14.0 / 8 * kGiB / kNvSwitch + 14 * 3.4e-6, 1e-9);
  EXPECT_EQ(prediction.bottleneck, "NVSwitch");
  EXPECT_EQ(prediction.tier, 0U);
}

TEST(Predict, MessageSizeIsTheirs) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}), hgx());
  const kube::Pod small = pod("p", {{"nvidia.com/gpu", 8}}, {{"rankward.io/message-size", "1Mi"}});
  EXPECT_NEAR(on(cluster, small, "n").seconds.value, 14.0 / 8 * 1048576 / kNvSwitch + 14 * 3.4e-6,
              1e-12);
}

// 16 GPUs on two nodes: 2 * 15/16 * 2^30 / B, B = min(370.8, 8 * 50) = 370.8; with 4 GPUs a pod
// 8 on two nodes, B = 200.
TEST(Predict, ALonePodWithRdmaIsOneOfTwo) {
  Cluster cluster;
  cluster.add(node("n", kHgxDevices), hgx());
  const Prediction eight = on(cluster, pod("p", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}}), "n");
  EXPECT_NEAR(eight.seconds.value, 30.0 / 16 * kGiB / kNvSwitch + 2 * 14e-6 + 2 * 14 * 3.4e-6,
              1e-9);
  EXPECT_EQ(eight.nodes, 2U);
  EXPECT_EQ(eight.transport, topology::Transport::kInfiniBand);
  const Prediction four = on(cluster, pod("p", {{"nvidia.com/gpu", 4}, {"rdma/ib", 1}}), "n");
  EXPECT_NEAR(four.seconds.value, 14.0 / 8 * kGiB / 200e9 + 2 * 14e-6 + 2 * 6 * 3.4e-6, 1e-9);
  EXPECT_DOUBLE_EQ(four.bandwidth.value, 200);
  const Prediction one = on(cluster, pod("p", {{"nvidia.com/gpu", 1}, {"rdma/ib", 1}}), "n");
  EXPECT_NEAR(one.seconds.value, kGiB / 50e9 + 2 * 14e-6, 1e-9);
}

// placement.md: 3+2+2 against 3+3+1.
TEST(Predict, TheSlowestShareDecides) {
  Cluster cluster;
  for (const char* name : {"n0", "n1", "n2"}) {
    cluster.add(node(name, kHgxDevices, leaf("leaf-a")), hgx());
  }
  const auto bind = [&cluster](std::string name, std::string on) {
    cluster.add(running_on(std::move(on), member(std::move(name), 1)));
  };
  for (const char* name : {"a", "b", "c"})
    bind(name, "n0");
  for (const char* name : {"d", "e"})
    bind(name, "n1");
  bind("f", "n2");
  const kube::Pod last = member("last", 1);
  const Prediction even = on(cluster, last, "n2");
  EXPECT_NEAR(even.seconds.value, 18.4902e-3, 1e-7);
  EXPECT_EQ(even.nodes, 3U);
  EXPECT_EQ(even.tier, 1U);
  const Prediction uneven = on(cluster, last, "n1");
  EXPECT_NEAR(uneven.seconds.value, 36.8972e-3, 1e-7);
  EXPECT_THAT(uneven.bottleneck, HasSubstr("n2: ")) << "names whose share it is";
}

TEST(Predict, CountsBoundRanksOnceAndNotTheirLeader) {
  Cluster cluster;
  for (const char* name : {"n0", "n1"})
    cluster.add(node(name, kHgxDevices, leaf("a")), hgx());
  cluster.add(running_on("n0", member("r0", 8)));
  kube::Pod leader = pod("leader", {{"cpu", 1}}, {{"rankward.io/gang", "g"}});
  cluster.add(running_on("n0", leader));
  // The pod itself may be in the snapshot already when a call comes late.
  const kube::Pod self = member("r1", 8);
  cluster.add(running_on("n1", self));
  const Prediction prediction = on(cluster, self, "n1");
  EXPECT_EQ(prediction.nodes, 2U);
  EXPECT_NEAR(prediction.seconds.value, 30.0 / 16 * kGiB / kNvSwitch + 2 * 14e-6 + 2 * 14 * 3.4e-6,
              1e-9);
}

TEST(Predict, TiersTakeTheirShare) {
  Cluster cluster;
  cluster.add(node("bound", kHgxDevices, leaf("leaf-a")), hgx());
  cluster.add(node("same-leaf", kHgxDevices, leaf("leaf-a")), hgx());
  cluster.add(node("same-spine", kHgxDevices, leaf("leaf-b")), hgx());
  cluster.add(node("other-spine", kHgxDevices, leaf("leaf-c", "spine-2")), hgx());
  cluster.add(node("unlabelled", kHgxDevices), hgx());
  cluster.add(running_on("bound", member("r0", 4)));
  const kube::Pod next = member("r1", 4);
  EXPECT_DOUBLE_EQ(on(cluster, next, "same-leaf").bandwidth.value, 200);
  EXPECT_DOUBLE_EQ(on(cluster, next, "same-spine").bandwidth.value, 180);
  EXPECT_DOUBLE_EQ(on(cluster, next, "other-spine").bandwidth.value, 166);
  EXPECT_DOUBLE_EQ(on(cluster, next, "unlabelled").bandwidth.value, 166);
  EXPECT_EQ(on(cluster, next, "same-leaf").tier, 1U);
  EXPECT_EQ(on(cluster, next, "same-spine").tier, 2U);
  EXPECT_EQ(on(cluster, next, "other-spine").tier, 3U);
  Options options;
  options.phi = {1.0, 0.5};
  EXPECT_DOUBLE_EQ(on(cluster, next, "same-spine", options).bandwidth.value, 100);
}

TEST(Predict, AnNvLinkCliqueReplacesTheNetwork) {
  Cluster cluster;
  topology::NodeTopology gb200;
  gb200.gpu_count = 4;
  kube::StringMap rack{{"nvidia.com/gpu.product", "NVIDIA-GB200"},
                       {"nvidia.com/gpu.count", "4"},
                       {"nvidia.com/gpu.clique", "3183419e-9edc-4f0e-86e8-d895a9fb06be.1"}};
  cluster.add(node("a0", {{"nvidia.com/gpu", 4}}, rack));
  cluster.add(node("a1", {{"nvidia.com/gpu", 4}}, rack));
  rack["nvidia.com/gpu.clique"] = "bbc2edac-6ffb-43a0-9053-cae96152c90a.1";
  cluster.add(node("b0", {{"nvidia.com/gpu", 4}}, rack));
  const kube::StringMap gang{{"rankward.io/gang", "g"}};
  cluster.add(running_on("a0", pod("r0", {{"nvidia.com/gpu", 4}}, gang)));
  const kube::Pod next = pod("r1", {{"nvidia.com/gpu", 4}}, gang);
  const Prediction inside = on(cluster, next, "a1");
  EXPECT_NEAR(inside.bandwidth.value, 18 * 40.1, 1e-9);
  EXPECT_EQ(inside.tier, 0U);
  EXPECT_EQ(inside.nodes, 2U);
  EXPECT_LT(on(cluster, next, "b0").bandwidth.value, 15);
}

// Where nobody says which GPUs a pod will get, the worst of them is what to count on.
TEST(Predict, CountsOnTheWorstOfThePicks) {
  Cluster cluster;
  const auto bridged = topology::testing::bridged_pairs();
  cluster.add(node("free", {{"nvidia.com/gpu", 4}}), bridged);
  cluster.add(node("split", {{"nvidia.com/gpu", 4}}), bridged);
  cluster.add(node("silent", {{"nvidia.com/gpu", 4}}), bridged);
  for (const auto& [name, gpu] : {std::pair("a", "1"), std::pair("b", "3")}) {
    cluster.add(running_on(
        "split", pod(name, {{"nvidia.com/gpu", 1}}, {{"rankward.io/assigned-gpus", gpu}})));
  }
  cluster.add(running_on("silent", pod("c", {{"nvidia.com/gpu", 1}})));
  const kube::Pod two = pod("p", {{"nvidia.com/gpu", 2}});
  const Prediction pair = on(cluster, two, "free");
  EXPECT_THAT(pair.bottleneck, HasSubstr("NV12"));
  EXPECT_DOUBLE_EQ(pair.bandwidth.value, 240);
  const Prediction split = on(cluster, two, "split");
  EXPECT_EQ(split.bottleneck, "GPU0-GPU2 SYS");
  EXPECT_GT(split.seconds.value, 10 * pair.seconds.value);
  EXPECT_EQ(on(cluster, two, "silent").seconds.value, split.seconds.value);
}

TEST(Predict, WithoutAReportTakesTheWorstConstantsAndSaysSo) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}));
  const Prediction prediction = on(cluster, pod("p", {{"nvidia.com/gpu", 2}}), "n");
  EXPECT_FALSE(prediction.topology_known);
  EXPECT_DOUBLE_EQ(prediction.bandwidth.value, 6) << "the least CPU link";
  EXPECT_NEAR(prediction.seconds.value, kGiB / 6e9 + 2 * 5.7e-6, 1e-9);
}

TEST(Predict, SlicesHaveNoPeerAccess) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 0}, {"nvidia.com/mig-1g.10gb", 7}}), hgx());
  EXPECT_EQ(on(cluster, pod("p", {{"nvidia.com/mig-1g.10gb", 1}}), "n").seconds.value, 0);
  EXPECT_LT(on(cluster, pod("p", {{"nvidia.com/mig-1g.10gb", 2}}), "n").bandwidth.value, 60);
}

TEST(Predict, FirstRankIsPricedAsIfAllNodesWereLikeThisOne) {
  Cluster cluster;
  cluster.add(node("n", kHgxDevices), hgx());
  const kube::StringMap of_four{{"rankward.io/gang-size", "4"}};
  // Four pods of two GPUs fill this node; four of four stand on two.
  const Prediction one_node = on(cluster, member("r0", 2, of_four), "n");
  EXPECT_EQ(one_node.nodes, 1U);
  EXPECT_NEAR(one_node.seconds.value, 14.0 / 8 * kGiB / kNvSwitch + 14 * 3.4e-6, 1e-9);
  const Prediction two_nodes = on(cluster, member("r0", 4, of_four), "n");
  EXPECT_EQ(two_nodes.nodes, 2U);
  EXPECT_NEAR(two_nodes.seconds.value, 30.0 / 16 * kGiB / kNvSwitch + 2 * 14e-6 + 2 * 14 * 3.4e-6,
              1e-9);
}

TEST(Predict, NothingForPodsWithoutGpus) {
  Cluster cluster;
  cluster.add(node("n", kHgxDevices), hgx());
  EXPECT_EQ(on(cluster, pod("p", {{"cpu", 1}}), "n").seconds.value, 0);
  EXPECT_EQ(on(cluster, pod("p", {{"nvidia.com/gpumem", 1000}}), "n").seconds.value, 0);
}

}  // namespace
}  // namespace rankward::placement
