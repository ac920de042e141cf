// A node a reason, judged once for people and once for the scheduler.
#include <gtest/gtest.h>

#include <set>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using testing::Cluster;
using testing::Counts;
using testing::node;
using testing::pod;
using testing::with_capacity;

struct Row {
  std::string name;
  kube::Node node;
  topology::NodeTopology report;
  kube::Pod pod;
  std::string explain;  // "" where the node takes the pod
  std::string filter;
};

kube::StringMap gfd(std::string product, std::string replicas, std::string count = "8") {
  return {{"nvidia.com/gpu.product", std::move(product)},
          {"nvidia.com/gpu.replicas", std::move(replicas)},
          {"nvidia.com/gpu.memory", "81559"},
          {"nvidia.com/gpu.count", std::move(count)}};
}

kube::StringMap mig(std::string state) {
  kube::StringMap labels = gfd("NVIDIA-H100-80GB-HBM3", "1");
  labels["nvidia.com/mig.capable"] = "true";
  labels["nvidia.com/mig.config"] = "all-1g.10gb";
  labels["nvidia.com/mig.config.state"] = std::move(state);
  return labels;
}

topology::NodeTopology one_gpu_fewer() {
  topology::NodeTopology report = testing::hgx();
  report.gpus.pop_back();
  report.nics.clear();
  report.gpu_paths.clear();
  report.nvlinks.clear();
  report.nic_paths.clear();
  return report;
}

topology::NodeTopology with_unhealthy(std::size_t count) {
  topology::NodeTopology report = testing::hgx();
  for (std::size_t i = 0; i < count; ++i)
    report.gpus[i].health = topology::Health::kUnhealthy;
  return report;
}

topology::NodeTopology ports_down() {
  topology::NodeTopology report = testing::hgx();
  for (topology::Nic& nic : report.nics)
    nic.state = topology::PortState::kDown;
  return report;
}

topology::NodeTopology one_numa_node() {
  topology::NodeTopology report = testing::hgx();
  report.topology_manager = topology::TopologyManagerPolicy::kSingleNumaNode;
  report.topology_manager_pod_scope = true;
  return report;
}

kube::Node cordoned() {
  kube::Node node = testing::node("n", {{"nvidia.com/gpu", 8}});
  node.unschedulable = true;
  return node;
}

const Counts kEight{{"nvidia.com/gpu", 8}};
const Counts kNone{{"nvidia.com/gpu", 0}};
const kube::StringMap kH100 = gfd("NVIDIA-H100-80GB-HBM3", "1");
const kube::StringMap kShared = gfd("NVIDIA-A100-SXM4-80GB-SHARED", "4");
const kube::StringMap kSingle = gfd("NVIDIA-A100-SXM4-80GB-MIG-1g.10gb", "1", "56");

std::vector<Row> rows() {
  const auto gpus = [](std::int64_t count, kube::StringMap annotations = {}) {
    return pod("p", {{"nvidia.com/gpu", count}}, std::move(annotations));
  };
  const kube::StringMap exclusive{{"rankward.io/sharing", "exclusive"}};
  return {
      {"fits", node("n", kEight, kH100), testing::hgx(), gpus(8), "", ""},
      {"unhealthy_by_report", node("n", kEight, kH100), with_unhealthy(1), gpus(8), "GpuUnhealthy",
       "GpuUnhealthy"},
      {"enough_are_healthy", node("n", kEight, kH100), with_unhealthy(1), gpus(7), "", ""},
      {"off_the_bus", node("n", kEight, kH100), one_gpu_fewer(), gpus(1), "HostCountMismatch",
       "HostCountMismatch"},
      {"labels_say_gpus", node("n", {}, kH100), {}, gpus(1), "NotAdvertised", ""},
      {"key_with_no_device", node("n", kNone), {}, gpus(1), "NotAdvertised", ""},
      {"all_lost",
       with_capacity(node("n", kNone, kH100), kEight),
       {},
       gpus(1),
       "NothingAllocatable",
       ""},
      {"one_lost",
       with_capacity(node("n", {{"nvidia.com/gpu", 7}}, kH100), kEight),
       {},
       gpus(8),
       "DevicesUnhealthy",
       ""},
      {"mig_pending",
       node("n", kEight, mig("pending")),
       {},
       gpus(1),
       "MigReconfiguring",
       "MigReconfiguring"},
      {"mig_rebooting",
       node("n", kEight, mig("rebooting")),
       {},
       gpus(1),
       "MigReconfiguring",
       "MigReconfiguring"},
      {"mig_failed",
       node("n", kEight, mig("failed")),
       {},
       gpus(1),
       "MigConfigFailed",
       "MigConfigFailed"},
      {"mig_promised",
       node("n", kEight, mig("success")),
       {},
       pod("p", {{"nvidia.com/mig-1g.10gb", 1}}),
       "MigNotApplied",
       ""},
      {"mig_concerns_nvidia_alone",
       node("n", {{"amd.com/gpu", 8}}, mig("failed")),
       {},
       pod("p", {{"amd.com/gpu", 1}}),
       "",
       ""},
      {"more_than_labels_allow",
       node("n", {{"nvidia.com/gpu", 32}}, kH100),
       {},
       gpus(2),
       "SharingMismatch",
       "SharingMismatch"},
      {"cpu_node", node("n", {}), {}, gpus(1), "NotAGpuNode", ""},
      {"another_name",
       node("n", {{"nvidia.com/gpu.shared", 4}}),
       {},
       gpus(1),
       "WrongResourceName",
       ""},
      {"shared",
       node("n", {{"nvidia.com/gpu", 32}}, kShared),
       {},
       gpus(1, exclusive),
       "SharedNotExclusive",
       "SharedNotExclusive"},
      {"two_replicas",
       node("n", {{"nvidia.com/gpu", 32}}, kShared),
       {},
       gpus(2),
       "ReplicasNotGpus",
       "ReplicasNotGpus"},
      {"one_replica", node("n", {{"nvidia.com/gpu", 32}}, kShared), {}, gpus(1), "", ""},
      {"two_slices",
       node("n", {{"nvidia.com/gpu", 56}}, kSingle),
       {},
       gpus(2),
       "SliceNotWholeGpu",
       "SliceNotWholeGpu"},
      {"two_slices_on_purpose",
       node("n", {{"nvidia.com/gpu", 56}}, kSingle),
       {},
       gpus(2, {{"rankward.io/sharing", "mig"}}),
       "",
       ""},
      {"memory",
       node("n", kEight, kH100),
       {},
       gpus(1, {{"rankward.io/gpu-memory", "80Gi"}}),
       "MemoryTooSmall",
       "MemoryTooSmall"},
      {"memory_to_the_last_mebibyte",
       node("n", kEight, kH100),
       {},
       gpus(1, {{"rankward.io/gpu-memory", "81559Mi"}}),
       "",
       ""},
      {"no_rdma",
       node("n", kEight, kH100),
       {},
       gpus(1, {{"rankward.io/transport", "rdma-required"}}),
       "RdmaMissing",
       "RdmaMissing"},
      {"ports_down", node("n", {{"nvidia.com/gpu", 8}, {"rdma/ib", 8}}, kH100), ports_down(),
       pod("p", {{"nvidia.com/gpu", 1}, {"rdma/ib", 1}},
           {{"rankward.io/transport", "rdma-required"}}),
       "RdmaMissing", "RdmaMissing"},
      {"too_few_nics", node("n", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}}, kH100), testing::hgx(),
       pod("p", {{"nvidia.com/gpu", 1}, {"rdma/ib", 2}}), "InsufficientNic", ""},
      {"too_few_gpus", node("n", kEight, kH100), {}, gpus(9), "InsufficientGpu", ""},
      {"five_of_a_socket_of_four", node("n", kEight, kH100), one_numa_node(), gpus(5),
       "NumaCannotAlign", "NumaCannotAlign"},
      {"four_of_a_socket_of_four", node("n", kEight, kH100), one_numa_node(), gpus(4), "", ""},
      {"cordoned", cordoned(), {}, gpus(1), "NodeUnavailable", ""},
      {"too_little_cpu",
       node("n", kEight, kH100),
       {},
       pod("p", {{"nvidia.com/gpu", 1}, {"cpu", 65}}),
       "NodeUnavailable",
       ""},
  };
}

class VerdictTable : public ::testing::TestWithParam<Row> {};

TEST_P(VerdictTable, IsGivenInFullToPeopleAndWithoutCountsToTheScheduler) {
  const Row& row = GetParam();
  Cluster cluster;
  cluster.add(row.node, row.report);
  EXPECT_EQ(cluster.code(row.pod, "n", Use::kExplain), row.explain);
  EXPECT_EQ(cluster.code(row.pod, "n", Use::kFilter), row.filter);
}

TEST_P(VerdictTable, NeverRefusesInFilterForWhatTheSchedulerCounts) {
  Cluster cluster;
  cluster.add(GetParam().node, GetParam().report);
  const Verdict verdict = cluster.judge(GetParam().pod, "n", Use::kFilter);
  if (verdict.reason) {
    EXPECT_TRUE(reason(*verdict.reason).usable_in_filter) << reason(*verdict.reason).name;
  }
}

INSTANTIATE_TEST_SUITE_P(EachReason, VerdictTable, ::testing::ValuesIn(rows()),
                         [](const auto& row) { return row.param.name; });

TEST(VerdictRows, ReachEveryReasonThatOneNodeAloneCanGive) {
  std::set<std::string> reached;
  for (const Row& row : rows())
    reached.insert(row.explain);
  // Those of gangs, reservations and other parts of the product, and those that a policy switches
  // on: below.
  const std::set<std::string> elsewhere{
      "TopologyStale",       "TopologyUnknown", "MixedGpuModels",   "TransportMismatch",
      "OutsideFabricDomain", "CliqueMismatch",  "GangIncompatible", "ReservedForGang",
      "GangDoesNotFit",      "GpuLinkTooFar",   "NoGpuDirect",      "RuntimeRejected"};
  for (const Reason& row : reasons()) {
    const std::string name(row.name);
    EXPECT_NE(reached.count(name), elsewhere.count(name)) << name;
  }
}

TEST(UnknownLinks, AreRefusedOnlyByThePolicyRejectAndWhereLinksMatter) {
  Cluster cluster;
  cluster.add(node("n", kEight, kH100));
  const kube::Pod several = pod("p", {{"nvidia.com/gpu", 2}});
  const kube::Pod one = pod("p", {{"nvidia.com/gpu", 1}});
  for (const Use use : {Use::kFilter, Use::kExplain}) {
    EXPECT_EQ(cluster.code(several, "n", use, {UnknownTopology::kAllow}), "");
    EXPECT_EQ(cluster.code(several, "n", use, {UnknownTopology::kPenalise}), "");
    EXPECT_EQ(cluster.code(several, "n", use, {UnknownTopology::kReject}), "TopologyUnknown");
    EXPECT_EQ(cluster.code(one, "n", use, {UnknownTopology::kReject}), "");
  }
}

// Since Kubernetes 1.37 a DeviceClass with extendedResourceName serves nvidia.com/gpu on nodes
// whose allocatable has no such key.
TEST(NodesServedByDra, AreLeftToTheSchedulerInFilter) {
  Cluster cluster;
  cluster.add(node("labelled", {}, kH100)).add(node("bare", {}));
  const kube::Pod asked = pod("p", {{"nvidia.com/gpu", 8}});
  EXPECT_EQ(cluster.code(asked, "labelled", Use::kFilter), "");
  EXPECT_EQ(cluster.code(asked, "bare", Use::kFilter), "");
}

TEST(VerdictDetails, AreOfTheNodeAndThePod) {
  Cluster cluster;
  cluster.add(with_capacity(node("n", {{"nvidia.com/gpu", 7}}, kH100), kEight))
      .add(testing::running_on("n", pod("q", {{"nvidia.com/gpu", 3}})));
  const Verdict verdict = cluster.judge(pod("p", {{"nvidia.com/gpu", 8}}), "n");
  EXPECT_EQ(verdict.details.resource, "nvidia.com/gpu");
  EXPECT_EQ(verdict.details.need, 8);
  EXPECT_EQ(verdict.details.capacity, 8);
  EXPECT_EQ(verdict.details.allocatable, 7);
  EXPECT_EQ(verdict.details.used, 3);
  EXPECT_EQ(verdict.details.free, 4);
  EXPECT_EQ(verdict.details.unhealthy, 1);
  EXPECT_EQ(verdict.details.labels_say, 8);
}

}  // namespace
}  // namespace rankward::placement
