// Verdicts beyond the published cases: what filter may use, host and sharing checks, the network.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using testing::Cluster;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::hgx;
using testing::node;
using testing::pod;
using testing::running_on;
using testing::with_capacity;

const kube::StringMap kExclusive{{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                                 {"nvidia.com/gpu.count", "8"},
                                 {"nvidia.com/gpu.replicas", "1"}};

kube::StringMap time_sliced(std::string count, std::string replicas, std::string strategy) {
  return {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-SHARED"},
          {"nvidia.com/gpu.count", std::move(count)},
          {"nvidia.com/gpu.memory", "81920"},
          {"nvidia.com/gpu.replicas", std::move(replicas)},
          {"nvidia.com/gpu.sharing-strategy", std::move(strategy)}};
}

struct Refusal {
  std::string name;
  kube::Node node;
  kube::Pod pod;
  std::string explained;
  std::string filtered;  // "" where filter lets it pass
};

std::vector<Refusal> refusals() {
  const auto gpus = [](std::int64_t count) { return pod("p", {{"nvidia.com/gpu", count}}); };
  kube::Node cordoned = node("n", {{"nvidia.com/gpu", 8}});
  cordoned.unschedulable = true;
  kube::Node mig_named = node("n", {{"nvidia.com/gpu", 8}},
                              {{"nvidia.com/mig.capable", "true"},
                               {"nvidia.com/mig.config", "all-1g.10gb"},
                               {"nvidia.com/mig.config.state", "success"}});
  const kube::Pod slice = pod("p", {{"nvidia.com/mig-1g.10gb", 1}});
  kube::Pod exclusive = gpus(1);
  exclusive.metadata.annotations["rankward.io/sharing"] = "exclusive";
  kube::Pod large = gpus(1);
  large.metadata.annotations["rankward.io/gpu-memory"] = "100Gi";
  return {
      {"absent_key", node("n", {}, kExclusive), gpus(1), "NotAdvertised", ""},
      {"no_gpus", node("n", {}), gpus(1), "NotAGpuNode", ""},
      {"none_healthy", with_capacity(node("n", {{"nvidia.com/gpu", 0}}), {{"nvidia.com/gpu", 8}}),
       gpus(1), "NothingAllocatable", ""},
      {"one_unhealthy", with_capacity(node("n", {{"nvidia.com/gpu", 7}}), {{"nvidia.com/gpu", 8}}),
       gpus(8), "DevicesUnhealthy", ""},
      {"too_small", node("n", {{"nvidia.com/gpu", 4}}), gpus(8), "InsufficientGpu", ""},
      {"other_name", node("n", {{"amd.com/gpu", 8}}), gpus(1), "WrongResourceName", ""},
      {"slices_not_made", mig_named, slice, "MigNotApplied", ""},
      {"cordoned", cordoned, gpus(1), "NodeUnavailable", ""},
      {"shared", node("n", {{"nvidia.com/gpu", 32}}, time_sliced("8", "4", "time-slicing")),
       exclusive, "SharedNotExclusive", "SharedNotExclusive"},
      {"replicas", node("n", {{"nvidia.com/gpu", 32}}, time_sliced("8", "4", "time-slicing")),
       gpus(2), "ReplicasNotGpus", "ReplicasNotGpus"},
      {"memory", node("n", {{"nvidia.com/gpu", 32}}, time_sliced("8", "4", "time-slicing")), large,
       "MemoryTooSmall", "MemoryTooSmall"},
      {"labels_say_unshared", node("n", {{"nvidia.com/gpu", 32}}, kExclusive), exclusive,
       "SharingMismatch", "SharingMismatch"},
      {"labels_say_shared", node("n", {{"nvidia.com/gpu", 8}}, time_sliced("8", "4", "mps")),
       exclusive, "SharingMismatch", "SharingMismatch"},
  };
}

// placement.md: the scheduler has fitted the request on every node that it offers, so a filter call
// never refuses for a count.
TEST(Judge, RefusesForCountsInExplainAlone) {
  for (const Refusal& each : refusals()) {
    Cluster cluster;
    cluster.add(each.node);
    EXPECT_EQ(cluster.code(each.pod, "n"), each.explained) << each.name;
    EXPECT_EQ(cluster.code(each.pod, "n", Use::kFilter), each.filtered) << each.name;
  }
}

TEST(Judge, FillsDetailsInExplainAloneAndAlsoForNodesThatFit) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}, kExclusive));
  cluster.add(running_on("n", pod("q", {{"nvidia.com/gpu", 3}})));
  const kube::Pod asked = pod("p", {{"nvidia.com/gpu", 2}});
  const Verdict explained = cluster.judge(asked, "n");
  EXPECT_TRUE(explained.fits());
  EXPECT_EQ(explained.details.resource, "nvidia.com/gpu");
  EXPECT_EQ(explained.details.need, 2);
  EXPECT_EQ(explained.details.free, 5);
  const Verdict filtered = cluster.judge(asked, "n", Use::kFilter);
  EXPECT_FALSE(filtered.details.need.has_value());
  EXPECT_TRUE(filtered.details.resource.empty());
}

TEST(Judge, TakesTheReasonNearestToTheSilicon) {
  Cluster cluster;
  topology::NodeTopology seven = hgx();
  seven.gpus.resize(7);
  seven.gpu_paths.clear();
  seven.nvlinks.clear();
  seven.nic_paths.clear();
  kube::Node broken = node("n", {{"nvidia.com/gpu", 8}}, kExclusive);
  broken.metadata.labels["nvidia.com/mig.config.state"] = "pending";
  cluster.add(broken, seven);
  const Verdict verdict = cluster.judge(pod("p", {{"nvidia.com/gpu", 8}}), "n");
  EXPECT_EQ(verdict.reason, ReasonCode::kHostCountMismatch);
  EXPECT_THAT(verdict.details.note, HasSubstr("7 GPUs"));
}

TEST(Judge, ListsAShortageBesideTheDevicesReason) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 4}, {"cpu", 1}}));
  const Verdict both = cluster.judge(pod("p", {{"nvidia.com/gpu", 8}, {"cpu", 2}}), "n");
  EXPECT_EQ(both.reason, ReasonCode::kInsufficientGpu);
  EXPECT_THAT(both.details.also, ElementsAre(ReasonCode::kNodeUnavailable));
  const Verdict cpu = cluster.judge(pod("p", {{"nvidia.com/gpu", 4}, {"cpu", 2}}), "n");
  EXPECT_EQ(cpu.reason, ReasonCode::kNodeUnavailable);
  EXPECT_THAT(cpu.details.note, HasSubstr("cpu"));
}

TEST(Judge, AddsUpCpuInThousandths) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}, {"cpu", 1}}));
  kube::Pod half = pod("half", {{"nvidia.com/gpu", 1}});
  half.spec.containers[0].resources.requests["cpu"] = testing::quantity("500m");
  cluster.add(running_on("n", half));
  kube::Pod other = half;
  other.metadata.uid = "uid-other";
  EXPECT_EQ(cluster.code(other, "n"), "");
  other.spec.containers[0].resources.requests["cpu"] = testing::quantity("501m");
  EXPECT_EQ(cluster.code(other, "n"), "NodeUnavailable");
}

TEST(Judge, CountsPodSlots) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}, {"pods", 1}}));
  const kube::Pod asked = pod("p", {{"nvidia.com/gpu", 1}});
  EXPECT_EQ(cluster.code(asked, "n"), "");
  cluster.add(running_on("n", pod("q", {})));
  EXPECT_EQ(cluster.code(asked, "n"), "NodeUnavailable");
}

TEST(Judge, LetsPodsThatTolerateACordonIn) {
  Cluster cluster;
  kube::Node cordoned = node("n", {{"nvidia.com/gpu", 8}});
  cordoned.unschedulable = true;
  cordoned.taints = {{"node.kubernetes.io/unschedulable", "", "NoSchedule"}};
  cluster.add(cordoned);
  kube::Pod asked = pod("p", {{"nvidia.com/gpu", 1}});
  EXPECT_EQ(cluster.code(asked, "n"), "NodeUnavailable");
  asked.spec.tolerations = {{"node.kubernetes.io/unschedulable", "Exists", "", "NoSchedule"}};
  EXPECT_EQ(cluster.code(asked, "n"), "");
}

TEST(UnhealthyGpus, RefuseWhatTheHealthyOnesCannotServe) {
  Cluster cluster;
  topology::NodeTopology report = hgx();
  report.gpus[2].health = topology::Health::kUnhealthy;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}, kExclusive), report);
  for (const Use use : {Use::kFilter, Use::kExplain}) {
    EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 8}}), "n", use), "GpuUnhealthy");
    EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 7}}), "n", use), "");
  }
  EXPECT_EQ(cluster.judge(pod("p", {{"nvidia.com/gpu", 8}}), "n").details.unhealthy, 1);
  // The scheduler counts 4 free, one of which is the broken one.
  cluster.add(running_on(
      "n", pod("q", {{"nvidia.com/gpu", 4}}, {{"rankward.io/assigned-gpus", "4,5,6,7"}})));
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 4}}), "n", Use::kFilter), "GpuUnhealthy");
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 3}}), "n", Use::kFilter), "");
  // 5 are beyond what is free by count: none of the report's business.
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 5}}), "n"), "InsufficientGpu");
}

TEST(UnhealthyGpus, MayBeTheOnesThatOthersHoldWhereNobodySays) {
  Cluster cluster;
  topology::NodeTopology report = hgx();
  report.gpus[2].health = topology::Health::kUnhealthy;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}, kExclusive), report);
  cluster.add(running_on("n", pod("q", {{"nvidia.com/gpu", 4}})));
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 4}}), "n", Use::kFilter), "");
}

TEST(HostCount, MayBeLargerThanWhatIsAdvertised) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 6}}), hgx());
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 1}}), "n", Use::kFilter), "")
      << "a plugin may be told to leave devices alone";
}

TEST(Sharing, IsNoMatterToPodsThatDoNotCare) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 32}}, kExclusive));
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 1}}), "n"), "")
      << "labels and status disagree";
}

TEST(Sharing, LetsEachContainerHaveOneReplica) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 32}}, time_sliced("8", "4", "time-slicing")));
  kube::Pod two = pod("p", {{"nvidia.com/gpu", 1}});
  two.spec.containers.push_back(two.spec.containers[0]);
  EXPECT_EQ(cluster.code(two, "n"), "");
  two.spec.containers[0].resources.limits["nvidia.com/gpu"] = kube::Quantity(2);
  two.spec.containers[0].resources.requests = two.spec.containers[0].resources.limits;
  two.metadata.annotations["rankward.io/sharing"] = "shared";
  EXPECT_EQ(cluster.code(two, "n"), "ReplicasNotGpus") << "consent makes no second GPU";
}

TEST(Memory, IsDividedEquallyByMps) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 4}}, time_sliced("1", "4", "mps")));
  const auto needs = [](std::string memory) {
    return pod("p", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", std::move(memory)}});
  };
  EXPECT_EQ(cluster.code(needs("20480Mi"), "n"), "");
  EXPECT_EQ(cluster.code(needs("20481Mi"), "n"), "MemoryTooSmall");
  cluster.add(running_on("n", needs("20480Mi")));
  kube::Pod second = needs("20480Mi");
  second.metadata.uid = "uid-second";
  EXPECT_EQ(cluster.code(second, "n"), "") << "a part of one's own";
}

// AliyunContainerService/gpushare-scheduler-extender 188: four cards of 23 GiB.
TEST(Memory, OfSeveralTimeSlicedCardsAddsUp) {
  Cluster cluster;
  kube::StringMap labels = time_sliced("4", "4", "time-slicing");
  labels["nvidia.com/gpu.memory"] = "23552";
  cluster.add(node("n", {{"nvidia.com/gpu", 16}}, labels));
  const kube::StringMap ten{{"rankward.io/gpu-memory", "10Gi"}};
  for (int i = 0; i < 8; ++i) {
    const kube::Pod next = pod("p" + std::to_string(i), {{"nvidia.com/gpu", 1}}, ten);
    EXPECT_EQ(cluster.code(next, "n"), "") << i;
    cluster.add(running_on("n", next));
  }
  EXPECT_EQ(cluster.code(
                pod("ninth", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", "13Gi"}}), "n"),
            "MemoryTooSmall")
      << "80 + 13 > 92";
}

TEST(Memory, OfASliceComesFromTheTableOnlyWithoutALabel) {
  Cluster cluster;
  // H200: 1g.18gb is 16.00 GiB by the table (mig-parted 120).
  kube::StringMap labels{{"nvidia.com/gpu.product", "NVIDIA-H200"},
                         {"nvidia.com/mig.config.state", "success"}};
  cluster.add(node("table", {{"nvidia.com/mig-1g.18gb", 7}}, labels));
  labels["nvidia.com/mig-1g.18gb.memory"] = "17000";
  cluster.add(node("label", {{"nvidia.com/mig-1g.18gb", 7}}, labels));
  const auto needs = [](std::string memory) {
    return pod("p", {{"nvidia.com/mig-1g.18gb", 1}},
               {{"rankward.io/gpu-memory", std::move(memory)}});
  };
  EXPECT_EQ(cluster.code(needs("16Gi"), "table"), "");
  EXPECT_EQ(cluster.code(needs("16500Mi"), "table"), "MemoryTooSmall");
  EXPECT_EQ(cluster.code(needs("16500Mi"), "label"), "");
}

TEST(Memory, ThatNobodyKnowsRefusesNobody) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}));
  EXPECT_EQ(
      cluster.code(pod("p", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", "900Gi"}}), "n"),
      "");
}

TEST(Rdma, IsMissingWhereAllPortsAreDownThoughTheResourceIsThere) {
  Cluster cluster;
  topology::NodeTopology down = hgx();
  for (topology::Nic& nic : down.nics)
    nic.state = topology::PortState::kDown;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}}), down);
  const kube::StringMap required{{"rankward.io/transport", "rdma-required"}};
  for (const Use use : {Use::kFilter, Use::kExplain}) {
    EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}}, required), "n", use),
              "RdmaMissing");
    EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 8}}, required), "n", use), "RdmaMissing");
    EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}}), "n", use), "")
        << "preferred only";
  }
}

TEST(Rdma, OfAnOfferedNodeIsThereWhereThePodRequestsIt) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}}));
  const kube::Pod asked = pod("p", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}},
                              {{"rankward.io/transport", "rdma-required"}});
  EXPECT_EQ(cluster.code(asked, "n", Use::kFilter), "");
  EXPECT_EQ(cluster.code(asked, "n"), "RdmaMissing");
}

TEST(Rdma, DevicesAreCountedInExplain) {
  Cluster cluster;
  cluster.add(node("n", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}}));
  cluster.add(running_on("n", pod("q", {{"rdma/ib", 1}})));
  const kube::Pod asked = pod("p", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}});
  const Verdict verdict = cluster.judge(asked, "n");
  EXPECT_EQ(verdict.reason, ReasonCode::kInsufficientNic);
  EXPECT_EQ(verdict.details.resource, "rdma/ib");
  EXPECT_EQ(verdict.details.free, 0);
  EXPECT_EQ(cluster.code(asked, "n", Use::kFilter), "");
}

TEST(UnknownTopology, FollowsThePolicyWhereLinksMatter) {
  Cluster cluster;
  cluster.add(node("silent", {{"nvidia.com/gpu", 8}}));
  cluster.add(node("reported", {{"nvidia.com/gpu", 8}}), hgx());
  Options reject;
  reject.unknown_topology = UnknownTopology::kReject;
  const kube::Pod two = pod("p", {{"nvidia.com/gpu", 2}});
  EXPECT_EQ(cluster.code(two, "silent", Use::kFilter, reject), "TopologyUnknown");
  EXPECT_EQ(cluster.code(two, "reported", Use::kFilter, reject), "");
  EXPECT_EQ(cluster.code(two, "silent", Use::kFilter), "");
  EXPECT_EQ(cluster.code(pod("p", {{"nvidia.com/gpu", 1}}), "silent", Use::kFilter, reject), "")
      << "one GPU sends nothing";
  const std::vector<std::string> names{"gone", "reported"};
  EXPECT_THAT(cluster.rank(two, names, Use::kFilter, reject).order, ElementsAre("reported"));
}

}  // namespace
}  // namespace rankward::placement
