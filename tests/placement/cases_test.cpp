// The published cases as literals: what each node answers, and with which numbers.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using testing::Cluster;
using testing::Counts;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::hgx;
using testing::node;
using testing::pod;
using testing::running_on;
using testing::with_capacity;

constexpr std::int64_t kMiB = topology::kMebibyte;

const kube::Pod& asks(std::int64_t gpus) {
  static std::map<std::int64_t, kube::Pod> pods;
  return pods.try_emplace(gpus, pod("p", {{"nvidia.com/gpu", gpus}})).first->second;
}

TEST(Case01, AllDevicesUnhealthyIsNotInUse) {
  Cluster cluster;
  cluster.add(with_capacity(node("gpu-a", {{"nvidia.com/gpu", 0}}), {{"nvidia.com/gpu", 16}}));
  const Verdict verdict = cluster.judge(asks(1), "gpu-a");
  EXPECT_EQ(verdict.reason, ReasonCode::kNothingAllocatable);
  EXPECT_EQ(verdict.details.capacity, 16);
  EXPECT_EQ(verdict.details.allocatable, 0);
  EXPECT_EQ(verdict.details.unhealthy, 16);
  EXPECT_EQ(verdict.details.used, 0);
}

TEST(Case02, OneUnhealthyDeviceOfEight) {
  Cluster cluster;
  cluster.add(with_capacity(node("gpu-a", {{"nvidia.com/gpu", 7}}), {{"nvidia.com/gpu", 8}}));
  cluster.add(node("gpu-b", {{"nvidia.com/gpu", 8}}));
  const Verdict verdict = cluster.judge(asks(8), "gpu-a");
  EXPECT_EQ(verdict.reason, ReasonCode::kDevicesUnhealthy);
  EXPECT_EQ(verdict.details.need, 8);
  EXPECT_EQ(verdict.details.allocatable, 7);
  EXPECT_EQ(verdict.details.unhealthy, 1);
  EXPECT_THAT(cluster.rank(asks(8), {}, Use::kExplain).order, ElementsAre("gpu-b"));
  EXPECT_EQ(cluster.code(asks(7), "gpu-a"), "");
}

TEST(Case03, AbsentKeyIsNotZero) {
  Cluster cluster;
  cluster.add(node("gpu-a", {},
                   {{"nvidia.com/gpu.count", "8"},
                    {"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"},
                    {"nvidia.com/gpu.memory", "81920"}}));
  cluster.add(node("cpu-a", {}));
  const Verdict verdict = cluster.judge(asks(1), "gpu-a");
  EXPECT_EQ(verdict.reason, ReasonCode::kNotAdvertised);
  EXPECT_EQ(verdict.details.labels_say, 8);
  EXPECT_FALSE(verdict.details.allocatable.has_value());
  EXPECT_EQ(cluster.code(asks(1), "cpu-a"), "NotAGpuNode");
}

TEST(Case04, NotReadyCordonedAndFullAreThreeReasons) {
  Cluster cluster;
  kube::Node not_ready = node("gpu-notready", {{"nvidia.com/gpu", 8}});
  not_ready.ready = kube::Readiness::kNotReady;
  kube::Node cordoned = node("gpu-cordoned", {{"nvidia.com/gpu", 8}});
  cordoned.unschedulable = true;
  cluster.add(not_ready).add(cordoned).add(node("gpu-full", {{"nvidia.com/gpu", 8}}));
  cluster.add(running_on("gpu-full", pod("a", {{"nvidia.com/gpu", 4}})));
  cluster.add(running_on("gpu-full", pod("b", {{"nvidia.com/gpu", 2}})));
  EXPECT_EQ(cluster.judge(asks(4), "gpu-notready").details.note, "not ready");
  EXPECT_EQ(cluster.judge(asks(4), "gpu-cordoned").details.note, "cordoned");
  EXPECT_EQ(cluster.code(asks(4), "gpu-notready"), "NodeUnavailable");
  EXPECT_EQ(cluster.code(asks(4), "gpu-cordoned"), "NodeUnavailable");
  const Verdict full = cluster.judge(asks(4), "gpu-full");
  EXPECT_EQ(full.reason, ReasonCode::kInsufficientGpu);
  EXPECT_EQ(full.details.need, 4);
  EXPECT_EQ(full.details.allocatable, 8);
  EXPECT_EQ(full.details.used, 6);
  EXPECT_EQ(full.details.free, 2);
}

TEST(Case05, AProfilesNameIsNotItsSize) {
  Cluster cluster;
  cluster.add(node("gpu-a",
                   {{"nvidia.com/gpu", 0},
                    {"nvidia.com/mig-1g.10gb", 2},
                    {"nvidia.com/mig-2g.20gb", 1},
                    {"nvidia.com/mig-3g.40gb", 1}},
                   {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                    {"nvidia.com/gpu.replicas", "0"},
                    {"nvidia.com/mig.config.state", "success"},
                    {"nvidia.com/mig-1g.10gb.memory", "9984"},
                    {"nvidia.com/mig-2g.20gb.memory", "20096"},
                    {"nvidia.com/mig-3g.40gb.memory", "40320"}}));
  const Verdict verdict = cluster.judge(
      pod("p", {{"nvidia.com/mig-1g.10gb", 1}}, {{"rankward.io/gpu-memory", "12Gi"}}), "gpu-a");
  EXPECT_EQ(verdict.reason, ReasonCode::kMemoryTooSmall);
  EXPECT_EQ(verdict.details.need_memory->count, 12288 * kMiB);
  EXPECT_EQ(verdict.details.has_memory->count, 9984 * kMiB);
  EXPECT_THAT(verdict.details.offers,
              ElementsAre("nvidia.com/mig-2g.20gb: 1", "nvidia.com/mig-3g.40gb: 1"));
}

kube::Node mig_node(std::string name, std::string state) {
  return node(std::move(name), {{"nvidia.com/mig-1g.10gb", 56}},
              {{"nvidia.com/mig.capable", "true"},
               {"nvidia.com/mig.config", "all-1g.10gb"},
               {"nvidia.com/mig.config.state", std::move(state)},
               {"nvidia.com/gpu.count", "8"}});
}

TEST(Case06, AWedgedMigManagerIsNamed) {
  Cluster cluster;
  kube::Node wedged = mig_node("gpu-a", "pending");
  wedged.metadata.labels["nvidia.com/gpu.deploy.dcgm"] = "paused-for-mig-change";
  cluster.add(wedged);
  const Verdict verdict = cluster.judge(pod("p", {{"nvidia.com/mig-1g.5gb", 1}}), "gpu-a");
  EXPECT_EQ(verdict.reason, ReasonCode::kMigReconfiguring);
  EXPECT_THAT(verdict.details.note, HasSubstr("paused-for-mig-change"));
}

TEST(Case07, MigStatesOfFourNodes) {
  Cluster cluster;
  kube::Node rebooting = mig_node("mig-rebooting", "rebooting");
  rebooting.ready = kube::Readiness::kNotReady;
  cluster.add(mig_node("mig-pending", "pending")).add(rebooting);
  cluster.add(mig_node("mig-failed", "failed")).add(mig_node("mig-ok", "success"));
  const kube::Pod asked = pod("p", {{"nvidia.com/mig-1g.10gb", 1}});
  EXPECT_EQ(cluster.code(asked, "mig-pending"), "MigReconfiguring");
  EXPECT_EQ(cluster.code(asked, "mig-failed"), "MigConfigFailed");
  EXPECT_EQ(cluster.code(asked, "mig-ok"), "");
  const Verdict verdict = cluster.judge(asked, "mig-rebooting");
  EXPECT_EQ(verdict.reason, ReasonCode::kNodeUnavailable);
  EXPECT_THAT(verdict.details.also, ElementsAre(ReasonCode::kMigReconfiguring));
  EXPECT_THAT(cluster.rank(asked).order, ElementsAre("mig-ok"));
}

TEST(Case09, UnderTheSingleStrategyAGpuIsASlice) {
  Cluster cluster;
  cluster.add(node("gpu-mig", {{"nvidia.com/gpu", 7}},
                   {{"nvidia.com/gpu.product", "A100-PCIE-40GB-MIG-1g.5gb"},
                    {"nvidia.com/gpu.count", "7"},
                    {"nvidia.com/gpu.memory", "4864"},
                    {"nvidia.com/mig.strategy", "single"}}));
  const Verdict verdict =
      cluster.judge(pod("wants-two", {{"nvidia.com/gpu", 2}},
                        {{"rankward.io/sharing", "exclusive"}, {"rankward.io/gpu-memory", "20Gi"}}),
                    "gpu-mig");
  EXPECT_EQ(verdict.reason, ReasonCode::kSliceNotWholeGpu);
  EXPECT_EQ(verdict.details.has_memory->count, 4864 * kMiB);
  EXPECT_EQ(verdict.details.need_memory->count, 20480 * kMiB);
  EXPECT_EQ(cluster.code(pod("small", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", "4Gi"}}),
                         "gpu-mig"),
            "");
  EXPECT_EQ(cluster.code(asks(2), "gpu-mig"), "SliceNotWholeGpu");
  EXPECT_EQ(cluster.code(pod("consents", {{"nvidia.com/gpu", 2}}, {{"rankward.io/sharing", "mig"}}),
                         "gpu-mig"),
            "");
}

TEST(Case10, TheNodeOffersTheGpuUnderAnotherName) {
  Cluster cluster;
  cluster.add(node("gpu-a",
                   {{"nvidia.com/gpu", 0},
                    {"nvidia.com/mig-1g.5gb", 2},
                    {"nvidia.com/mig-2g.10gb", 1},
                    {"nvidia.com/mig-3g.20gb", 0}},
                   {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB"},
                    {"nvidia.com/gpu.count", "1"},
                    {"nvidia.com/gpu.replicas", "0"},
                    {"nvidia.com/mig.config.state", "success"}}));
  const Verdict whole = cluster.judge(asks(1), "gpu-a");
  EXPECT_EQ(whole.reason, ReasonCode::kWrongResourceName);
  EXPECT_THAT(whole.details.offers,
              ElementsAre("nvidia.com/mig-1g.5gb: 2", "nvidia.com/mig-2g.10gb: 1"));
  const Verdict left_over = cluster.judge(pod("p", {{"nvidia.com/mig-3g.20gb", 1}}), "gpu-a");
  EXPECT_EQ(left_over.reason, ReasonCode::kWrongResourceName);
  EXPECT_EQ(left_over.details.allocatable, 0);
}

TEST(Case13, ReplicasOfOneGpuShareItsMemory) {
  Cluster cluster;
  cluster.add(node("gpu-ts", {{"nvidia.com/gpu", 4}},
                   {{"nvidia.com/gpu.product", "NVIDIA-A10G-SHARED"},
                    {"nvidia.com/gpu.count", "1"},
                    {"nvidia.com/gpu.memory", "23028"},
                    {"nvidia.com/gpu.replicas", "4"},
                    {"nvidia.com/gpu.sharing-strategy", "time-slicing"}}));
  const kube::StringMap four{{"rankward.io/gpu-memory", "4Gi"}};
  cluster.add(running_on("gpu-ts", pod("a", {{"nvidia.com/gpu", 1}}, four)));
  cluster.add(running_on("gpu-ts", pod("b", {{"nvidia.com/gpu", 1}}, four)));
  cluster.add(running_on("gpu-ts", pod("c", {{"nvidia.com/gpu", 1}})));
  const auto needs = [](std::string memory) {
    return pod("p", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", std::move(memory)}});
  };
  const Verdict verdict = cluster.judge(needs("16Gi"), "gpu-ts");
  EXPECT_EQ(verdict.reason, ReasonCode::kMemoryTooSmall);
  EXPECT_EQ(verdict.details.free, 1);
  EXPECT_EQ(verdict.details.has_memory->count, 23028 * kMiB);
  EXPECT_EQ(verdict.details.need_memory->count, 16384 * kMiB);
  EXPECT_EQ(verdict.details.declared_by_others->count, 8192 * kMiB);
  EXPECT_EQ(verdict.details.undeclared_cotenants, 1);
  EXPECT_EQ(cluster.code(needs("14836Mi"), "gpu-ts"), "") << "8192 + 14836 = 23028";
  EXPECT_EQ(cluster.code(needs("14837Mi"), "gpu-ts"), "MemoryTooSmall");
}

TEST(Case14, ExclusivePodsKeepOffSharedNodes) {
  Cluster cluster;
  cluster.add(node("gpu-shared", {{"nvidia.com/gpu", 32}},
                   {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-SHARED"},
                    {"nvidia.com/gpu.count", "8"},
                    {"nvidia.com/gpu.replicas", "4"},
                    {"nvidia.com/gpu.sharing-strategy", "time-slicing"}}));
  cluster.add(node("gpu-excl", {{"nvidia.com/gpu", 8}},
                   {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"},
                    {"nvidia.com/gpu.count", "8"},
                    {"nvidia.com/gpu.replicas", "1"}}));
  const kube::Pod asked = pod("p", {{"nvidia.com/gpu", 2}}, {{"rankward.io/sharing", "exclusive"}});
  EXPECT_EQ(cluster.code(asked, "gpu-shared"), "SharedNotExclusive");
  EXPECT_THAT(cluster.rank(asked).order, ElementsAre("gpu-excl"));
}

TEST(Case15, RenamedReplicas) {
  Cluster cluster;
  cluster.add(node("gpu-a", {{"nvidia.com/gpu", 0}, {"nvidia.com/gpu.shared", 128}}));
  const Verdict verdict = cluster.judge(asks(1), "gpu-a");
  EXPECT_EQ(verdict.reason, ReasonCode::kWrongResourceName);
  EXPECT_THAT(verdict.details.offers, ElementsAre("nvidia.com/gpu.shared: 128"));
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu.shared", 1}}), "gpu-a"), "");
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu.shared", 2}}), "gpu-a"), "ReplicasNotGpus");
}

TEST(Case19, PodsWithoutGpusFitEverywhereAndBetterWithoutGpus) {
  Cluster cluster;
  cluster.add(node("gpu-a", {{"nvidia.com/gpu", 8}})).add(node("zcpu-a", {}));
  const auto ranked = cluster.rank(pod("etl", {{"cpu", 4}}), {}, Use::kExplain);
  EXPECT_THAT(ranked.order, ElementsAre("zcpu-a", "gpu-a"));
  EXPECT_EQ(ranked.by_name.at("zcpu-a").score, 10);
  EXPECT_EQ(ranked.by_name.at("gpu-a").score, 0);
}

TEST(Case22, FinishedPodsHoldNothing) {
  Cluster cluster;
  cluster.add(node("gpu-a", {{"nvidia.com/gpu", 4}}));
  kube::Pod done = running_on("gpu-a", pod("done", {{"nvidia.com/gpu", 4}}));
  done.status.phase = "Succeeded";
  kube::Pod leaving = running_on("gpu-a", pod("leaving", {{"nvidia.com/gpu", 1}}));
  leaving.metadata.deleting = true;
  cluster.add(done).add(leaving).add(running_on("gpu-a", pod("live", {{"nvidia.com/gpu", 2}})));
  EXPECT_EQ(cluster.code(asks(1), "gpu-a"), "");
  const Verdict verdict = cluster.judge(asks(2), "gpu-a");
  EXPECT_EQ(verdict.reason, ReasonCode::kInsufficientGpu);
  EXPECT_EQ(verdict.details.free, 1);
}

TEST(Case23, ARetryIsNoSecondRank) {
  Cluster cluster;
  const auto attempt = [](std::string name, std::string index, std::string on, std::string phase) {
    kube::Pod pod = testing::pod(std::move(name), {{"nvidia.com/gpu", 8}});
    pod.metadata.labels = {{"batch.kubernetes.io/job-name", "train"},
                           {"batch.kubernetes.io/job-completion-index", std::move(index)}};
    pod.spec.node_name = std::move(on);
    pod.status.phase = std::move(phase);
    return pod;
  };
  for (const char* name : {"gpu-0", "gpu-1", "gpu-2", "gpu-3"}) {
    cluster.add(node(name, {{"nvidia.com/gpu", 8}}));
  }
  cluster.add(attempt("train-0-a", "0", "gpu-0", "Running"));
  cluster.add(attempt("train-1-a", "1", "gpu-3", "Failed"));
  cluster.add(attempt("train-1-b", "1", "gpu-1", "Running"));
  cluster.add(attempt("train-2-a", "2", "gpu-2", "Running"));
  cluster.add(attempt("train-3-a", "3", "gpu-0", "Failed"));
  EXPECT_THAT(cluster.snapshot()->bound_members("team-a/Job/train"),
              ElementsAre(NodeIndex{0}, NodeIndex{1}, NodeIndex{2}));
  const auto ranked = cluster.rank(attempt("train-3-b", "3", "", ""), {}, Use::kExplain);
  EXPECT_THAT(ranked.order, ElementsAre("gpu-3"));
  EXPECT_EQ(ranked.by_name.at("gpu-3").prediction.nodes, 4U);
}

TEST(Case24, LessAllocatableThanUsedLeavesNothing) {
  Cluster cluster;
  cluster.add(with_capacity(node("gpu-a", {{"nvidia.com/gpu", 3}}), {{"nvidia.com/gpu", 4}}));
  cluster.add(running_on("gpu-a", pod("big", {{"nvidia.com/gpu", 4}})));
  const Verdict verdict = cluster.judge(asks(1), "gpu-a");
  EXPECT_EQ(verdict.reason, ReasonCode::kInsufficientGpu);
  EXPECT_EQ(verdict.details.allocatable, 3);
  EXPECT_EQ(verdict.details.used, 4);
  EXPECT_EQ(verdict.details.free, 0);
  EXPECT_EQ(verdict.details.unhealthy, 1);
}

TEST(Case26, ARankThatWouldFallToSockets) {
  Cluster cluster;
  cluster.add(node("p5-0", {{"nvidia.com/gpu", 8}, {"vpc.amazonaws.com/efa", 32}}));
  cluster.add(node("p5en-0", {{"nvidia.com/gpu", 8}}));
  const kube::Pod required = pod("pretrain-0", {{"nvidia.com/gpu", 8}},
                                 {{"rankward.io/gang", "pretrain"},
                                  {"rankward.io/gang-size", "2"},
                                  {"rankward.io/transport", "rdma-required"}});
  for (const Use use : {Use::kFilter, Use::kExplain}) {
    EXPECT_EQ(cluster.code(required, "p5-0", use), "");
    EXPECT_EQ(cluster.code(required, "p5en-0", use), "RdmaMissing");
  }
  kube::Pod preferred = required;
  preferred.metadata.annotations["rankward.io/transport"] = "rdma-preferred";
  EXPECT_EQ(cluster.code(preferred, "p5en-0"), "");
  EXPECT_EQ(cluster.rank(preferred).by_name.at("p5en-0").prediction.transport,
            topology::Transport::kSocket);
}

TEST(Case28, FreeGpusSplitOverNumaNodes) {
  Cluster cluster;
  topology::NodeTopology p5 = hgx();
  p5.topology_manager = topology::TopologyManagerPolicy::kSingleNumaNode;
  p5.topology_manager_pod_scope = true;
  cluster.add(node("p5-a", {{"nvidia.com/gpu", 8}}), p5);
  cluster.add(node("p5-b", {{"nvidia.com/gpu", 8}}), p5);
  const auto holder = [&cluster](std::string on, std::string name, std::int64_t count,
                                 std::string gpus) {
    cluster.add(running_on(std::move(on), pod(std::move(name), {{"nvidia.com/gpu", count}},
                                              {{"rankward.io/assigned-gpus", std::move(gpus)}})));
  };
  holder("p5-a", "u0", 1, "2");
  holder("p5-a", "u1", 1, "5");
  holder("p5-b", "u2", 2, "0,1");
  holder("p5-b", "u3", 2, "2,3");
  const Verdict split = cluster.judge(asks(4), "p5-a");
  EXPECT_EQ(split.reason, ReasonCode::kNumaCannotAlign);
  EXPECT_EQ(split.details.free, 6);
  EXPECT_EQ(split.details.need, 4);
  EXPECT_THAT(split.details.free_per_numa, ElementsAre(3, 3));
  const Verdict whole = cluster.judge(asks(4), "p5-b");
  EXPECT_TRUE(whole.fits());
  EXPECT_EQ(whole.details.free, 4);
  EXPECT_THAT(whole.details.free_per_numa, ElementsAre(0, 4));
  EXPECT_THAT(cluster.rank(asks(4)).order, ElementsAre("p5-b"));
}

TEST(Case29, NicsOnTheOtherSocketCostTime) {
  Cluster cluster;
  topology::NodeTopology far = topology::testing::far_nics();
  topology::testing::set_nics(far, 50);
  far.product = "NVIDIA-A100-PCIE-40GB";
  cluster.add(node("node-far", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}}), far);
  cluster.add(node("node-near", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}}), hgx());
  const auto ranked = cluster.rank(pod("p", {{"nvidia.com/gpu", 4}, {"rdma/ib", 1}},
                                       {{"rankward.io/transport", "rdma-preferred"}}));
  EXPECT_THAT(ranked.order, ElementsAre("node-near", "node-far"));
  EXPECT_EQ(ranked.by_name.at("node-near").score, 10);
  EXPECT_LT(ranked.by_name.at("node-far").score, 5);
  EXPECT_THAT(ranked.by_name.at("node-far").prediction.bottleneck, HasSubstr("SYS"));
}

TEST(Case35, SelectorsAndTaintsAreNamed) {
  Cluster cluster;
  const auto a100 = [](std::string name, std::string product, std::string memory) {
    return node(std::move(name), {{"nvidia.com/gpu", 8}},
                {{"kubernetes.io/arch", "amd64"},
                 {"nvidia.com/gpu.product", std::move(product)},
                 {"nvidia.com/gpu.memory", std::move(memory)}});
  };
  kube::Node tainted = a100("n-taint", "NVIDIA-A100-SXM4-80GB", "81920");
  tainted.taints = {{"team", "b", "NoSchedule"}};
  kube::Node tolerated = a100("n-prefer", "NVIDIA-A100-SXM4-80GB", "81920");
  tolerated.taints = {{"nvidia.com/gpu", "present", "NoSchedule"},
                      {"maint", "", "PreferNoSchedule"}};
  cluster.add(tainted).add(tolerated);
  cluster.add(a100("n-shared", "NVIDIA-A100-SXM4-80GB-SHARED", "81920"));
  cluster.add(a100("n-40gb", "NVIDIA-A100-SXM4-80GB", "40960"));
  kube::Pod asked = asks(1);
  asked.spec.tolerations = {{"nvidia.com/gpu", "Exists", "", "NoSchedule"}};
  asked.spec.required_node_affinity = std::vector<kube::NodeSelectorTerm>{
      {{{"nvidia.com/gpu.product", "In", {"NVIDIA-A100-SXM4-80GB", "NVIDIA-H100-80GB-HBM3"}},
        {"nvidia.com/gpu.memory", "Gt", {"80000"}}},
       {}}};
  EXPECT_THAT(cluster.judge(asked, "n-taint").details.note, HasSubstr("team=b:NoSchedule"));
  EXPECT_THAT(cluster.judge(asked, "n-40gb").details.note,
              HasSubstr("nvidia.com/gpu.memory Gt 80000"));
  EXPECT_THAT(cluster.judge(asked, "n-shared").details.note, HasSubstr("-SHARED"));
  EXPECT_EQ(cluster.code(asked, "n-shared"), "NodeUnavailable");
  EXPECT_THAT(cluster.rank(asked, {}, Use::kExplain).order, ElementsAre("n-prefer"));
}

TEST(Case36, AMemoryLabelInBytes) {
  Cluster cluster;
  cluster.add(node("gpu-a", {{"nvidia.com/gpu", 1}},
                   {{"nvidia.com/gpu.product", "A100-SXM4-40GB"},
                    {"nvidia.com/gpu.memory", "42505273344"},
                    {"nvidia.com/gpu.count", "1"}}));
  cluster.add(node("gpu-b", {{"nvidia.com/gpu", 1}},
                   {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB"},
                    {"nvidia.com/gpu.memory", "81920"},
                    {"nvidia.com/gpu.count", "1"}}));
  const kube::Pod asked = pod("p", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", "60Gi"}});
  const Verdict verdict = cluster.judge(asked, "gpu-a");
  EXPECT_EQ(verdict.reason, ReasonCode::kMemoryTooSmall);
  EXPECT_EQ(verdict.details.has_memory->count, 42505273344);
  EXPECT_EQ(cluster.judge(asked, "gpu-b").details.has_memory->count, 81920 * kMiB);
  EXPECT_THAT(cluster.rank(asked).order, ElementsAre("gpu-b"));
}

TEST(Case43, ClaimsPassEveryNode) {
  Cluster cluster;
  cluster.add(node("dra-node", {})).add(node("plugin-node", {{"nvidia.com/gpu", 8}}));
  kube::Pod claims = pod("dra", {});
  claims.spec.resource_claims.push_back({"gpus", "", "4-gpus"});
  claims.spec.containers[0].resources.claims = {"gpus"};
  for (const Use use : {Use::kFilter, Use::kExplain}) {
    EXPECT_THAT(cluster.rank(claims, {}, use).order, ElementsAre("dra-node", "plugin-node"));
  }
  EXPECT_THAT(cluster.judge(claims, "dra-node").details.note, HasSubstr("ResourceSlices"));
}

TEST(Case45, FilterRefusesNoOfferedNodeForACount) {
  Cluster cluster;
  cluster.add(node("gpu-a", {{"nvidia.com/gpu", 8}}));
  cluster.add(with_capacity(node("gpu-b", {{"nvidia.com/gpu", 0}}), {{"nvidia.com/gpu", 8}}));
  const std::vector<std::string> names{"gpu-a", "gpu-b", "gone"};
  EXPECT_THAT(cluster.rank(asks(1), names).order, ElementsAre("gpu-a", "gpu-b", "gone"));
  const auto planned = cluster.rank(asks(1), names, Use::kExplain);
  EXPECT_THAT(planned.order, ElementsAre("gpu-a"));
  EXPECT_EQ(planned.verdicts.at("gpu-b").reason, ReasonCode::kNothingAllocatable);
  EXPECT_EQ(planned.verdicts.at("gone").reason, ReasonCode::kTopologyUnknown);
}

}  // namespace
}  // namespace rankward::placement
