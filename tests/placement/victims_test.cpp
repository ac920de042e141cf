#include <gtest/gtest.h>

#include "clusters.hpp"
#include "rankward/placement/preemption.hpp"

namespace rankward::placement {
namespace {

using testing::Cluster;
using testing::node;
using testing::pod;
using testing::running_on;

// Two whole GPUs a socket, Topology Manager single-numa-node with pod scope; one GPU of each socket
// is held, so that two are free but never on one socket.
class SplitNode : public ::testing::Test {
 protected:
  SplitNode() {
    topology::NodeTopology report;
    for (std::uint32_t i = 0; i < 4; ++i) {
      topology::Gpu gpu;
      gpu.index = i;
      gpu.numa_node = i / 2;
      report.gpus.push_back(gpu);
    }
    report.topology_manager = topology::TopologyManagerPolicy::kSingleNumaNode;
    report.topology_manager_pod_scope = true;
    cluster_.add(node("n", {{"nvidia.com/gpu", 4}}), report);
    cluster_.add(running_on(
        "n", pod("left", {{"nvidia.com/gpu", 1}}, {{"rankward.io/assigned-gpus", "0"}})));
    cluster_.add(running_on(
        "n", pod("right", {{"nvidia.com/gpu", 1}}, {{"rankward.io/assigned-gpus", "2"}})));
    snapshot_ = cluster_.snapshot();
  }
  bool fits_without(const std::vector<std::string_view>& victims) {
    return fits_after_preemption(make_request(asked_, {}).value(), asked_.spec,
                                 snapshot_->node({0}), victims, {}, {});
  }
  bool could_help(Use use) {
    const Request request = make_request(asked_, {}).value();
    const NodeState& where = snapshot_->node({0});
    const Verdict verdict = judge(request, asked_.spec, where, {}, use);
    return !verdict.fits() &&
           preemption_could_help(*verdict.reason, request, asked_.spec, where, {});
  }

  Cluster cluster_;
  std::shared_ptr<const Snapshot> snapshot_;
  kube::Pod asked_ = pod("p", {{"nvidia.com/gpu", 2}});
};

TEST_F(SplitNode, FitsOnceAVictimFreesOneSocket) {
  EXPECT_EQ(cluster_.code(asked_, "n", Use::kFilter), "NumaCannotAlign");
  EXPECT_TRUE(fits_without({"uid-left"}));
  EXPECT_TRUE(fits_without({"uid-right"}));
  EXPECT_TRUE(fits_without({"uid-left", "uid-right"}));
}

TEST_F(SplitNode, IsJudgedAsItStandsWithoutVictims) {
  EXPECT_FALSE(fits_without({}));
  EXPECT_FALSE(fits_without({"uid-of-nobody"}));
  asked_ = pod("p", {{"nvidia.com/gpu", 1}});
  EXPECT_TRUE(fits_without({}));
  EXPECT_TRUE(fits_without({"uid-of-nobody", "uid-left"}));
}

TEST_F(SplitNode, KeepsItsHoldersAfterTheQuestion) {
  EXPECT_TRUE(fits_without({"uid-left"}));
  EXPECT_EQ(snapshot_->node({0}).holders.size(), 2U);
  EXPECT_FALSE(fits_without({}));
}

TEST_F(SplitNode, CouldBeHelpedAsFarAsTheEmptyNodeFits) {
  EXPECT_TRUE(could_help(Use::kFilter));
  EXPECT_TRUE(could_help(Use::kExplain));
  asked_ = pod("p", {{"nvidia.com/gpu", 3}});
  EXPECT_FALSE(could_help(Use::kFilter)) << "no socket has three GPUs";
}

TEST(PreemptionCouldHelp, IsForOccupancyAloneAndMakesNoNodeLarger) {
  Cluster cluster;
  cluster.add(node("full", {{"nvidia.com/gpu", 4}}))
      .add(node("dead", testing::Counts{{"nvidia.com/gpu", 0}}))
      .add(node("cpu", {}))
      .add(running_on("full", pod("holder", {{"nvidia.com/gpu", 3}})));
  const auto snapshot = cluster.snapshot();
  struct Row {
    std::string node;
    std::int64_t gpus;
    std::string code;
    bool helps;
  };
  for (const Row& row :
       {Row{"full", 1, "", false}, Row{"full", 2, "InsufficientGpu", true},
        Row{"full", 4, "InsufficientGpu", true}, Row{"full", 5, "InsufficientGpu", false},
        Row{"dead", 1, "NotAdvertised", false}, Row{"cpu", 1, "NotAGpuNode", false}}) {
    const kube::Pod asked = pod("p", {{"nvidia.com/gpu", row.gpus}});
    const Request request = make_request(asked, {}).value();
    const NodeState& where = snapshot->node(snapshot->find(row.node).value());
    const Verdict verdict = judge(request, asked.spec, where, {}, Use::kExplain);
    EXPECT_EQ(cluster.code(asked, row.node), row.code) << row.node << " " << row.gpus;
    if (verdict.fits()) continue;
    EXPECT_EQ(preemption_could_help(*verdict.reason, request, asked.spec, where, {}), row.helps)
        << row.node << " " << row.gpus;
  }
}

}  // namespace
}  // namespace rankward::placement
