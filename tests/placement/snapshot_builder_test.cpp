#include <gtest/gtest.h>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using testing::node;
using testing::pod;
using testing::running_on;

constexpr std::string_view kGpu = "nvidia.com/gpu";

const NodeState& state(const std::shared_ptr<const Snapshot>& snapshot, std::string_view name) {
  return snapshot->node(snapshot->find(name).value());
}

class SnapshotBuilderTest : public ::testing::Test {
 protected:
  SnapshotBuilderTest() {
    for (const std::string name : {"a", "b", "c"})
      builder_.put_node(node(name, {{"nvidia.com/gpu", 8}}), {});
  }
  std::int64_t free_on(std::string_view name) {
    return state(builder_.build(), name).free(kGpu).value();
  }

  SnapshotBuilder builder_;
};

TEST_F(SnapshotBuilderTest, CountsAPodThatIsSentTwiceOnce) {
  const kube::Pod first = running_on("a", pod("p", {{"nvidia.com/gpu", 2}}));
  builder_.put_pod(first);
  builder_.put_pod(first);
  EXPECT_EQ(free_on("a"), 6);
  kube::Pod resized = first;
  resized.spec.containers[0].resources.limits.insert_or_assign(std::string(kGpu),
                                                               kube::Quantity(3));
  resized.spec.containers[0].resources.requests = resized.spec.containers[0].resources.limits;
  builder_.put_pod(resized);
  EXPECT_EQ(free_on("a"), 5);
  builder_.put_pod(running_on("b", resized));
  EXPECT_EQ(free_on("a"), 8);
  EXPECT_EQ(free_on("b"), 5);
}

TEST_F(SnapshotBuilderTest, TakesPodsOfOneNameAndTwoUidsForTwo) {
  kube::Pod remade = running_on("a", pod("p", {{"nvidia.com/gpu", 1}}));
  builder_.put_pod(remade);
  remade.metadata.uid = "uid-of-the-next";
  builder_.put_pod(remade);
  EXPECT_EQ(free_on("a"), 6);
}

TEST_F(SnapshotBuilderTest, LetsOnlyBoundPodsThatAreNotTerminalHold) {
  struct Row {
    std::string phase;
    std::string node;
    bool deleting;
    std::int64_t free;
  };
  for (const Row& row :
       {Row{"Pending", "a", false, 6}, Row{"Running", "a", false, 6},
        Row{"Succeeded", "a", false, 8}, Row{"Failed", "a", false, 8}, Row{"Running", "a", true, 6},
        Row{"Failed", "a", true, 8}, Row{"Pending", "", false, 8}}) {
    kube::Pod held = running_on(row.node, pod("p", {{"nvidia.com/gpu", 2}}));
    held.status.phase = row.phase;
    held.metadata.deleting = row.deleting;
    builder_.put_pod(held);
    EXPECT_EQ(free_on("a"), row.free) << row.phase << " deleting " << row.deleting;
  }
}

TEST_F(SnapshotBuilderTest, GivesDevicesBackOnceAPodEnds) {
  kube::Pod held = running_on("a", pod("p", {{"nvidia.com/gpu", 2}}));
  builder_.put_pod(held);
  EXPECT_EQ(free_on("a"), 6);
  held.status.phase = "Succeeded";
  builder_.put_pod(held);
  EXPECT_EQ(free_on("a"), 8);
}

// Case 24: devices that became unhealthy under running pods.
TEST_F(SnapshotBuilderTest, LeavesNothingFreeWhereLessIsAllocatableThanUsed) {
  builder_.put_pod(running_on("a", pod("p", {{"nvidia.com/gpu", 8}})));
  builder_.put_node(testing::with_capacity(node("a", {{"nvidia.com/gpu", 5}}), {}), {});
  EXPECT_EQ(free_on("a"), 0);
}

TEST_F(SnapshotBuilderTest, TellsAnAbsentResourceFromNoneFree) {
  const auto snapshot = builder_.build();
  EXPECT_FALSE(state(snapshot, "a").free("amd.com/gpu").has_value());
  EXPECT_EQ(state(snapshot, "a").device("amd.com/gpu"), nullptr);
}

TEST_F(SnapshotBuilderTest, SharesWhatHasNotChangedWithTheLastSnapshot) {
  const auto before = builder_.build();
  builder_.put_pod(running_on("b", pod("p", {{"nvidia.com/gpu", 2}})));
  const auto after = builder_.build();
  EXPECT_EQ(after->number(), before->number() + 1);
  EXPECT_EQ(&state(before, "a"), &state(after, "a"));
  EXPECT_EQ(&state(before, "c"), &state(after, "c"));
  EXPECT_NE(&state(before, "b"), &state(after, "b"));
  EXPECT_EQ(state(before, "b").free(kGpu), 8) << "a snapshot never changes";
  EXPECT_EQ(state(after, "b").free(kGpu), 6);
}

TEST_F(SnapshotBuilderTest, SeesNoChangeInAPodThatHoldsTheSameAsBefore) {
  kube::Pod held = running_on("a", pod("p", {{"nvidia.com/gpu", 2}}));
  builder_.put_pod(held);
  EXPECT_TRUE(builder_.changed());
  const auto before = builder_.build();
  EXPECT_FALSE(builder_.changed());
  held.metadata.resource_version = "2";
  held.status.phase = "Pending";
  builder_.put_pod(held);
  EXPECT_FALSE(builder_.changed());
  EXPECT_EQ(&state(before, "a"), &state(builder_.build(), "a"));
  held.metadata.annotations["rankward.io/assigned-gpus"] = "0,1";
  builder_.put_pod(held);
  EXPECT_TRUE(builder_.changed());
  held.spec.node_name = "b";
  builder_.put_pod(held);
  EXPECT_EQ(free_on("a"), 8);
  EXPECT_EQ(free_on("b"), 6);
}

TEST_F(SnapshotBuilderTest, SharesUnchangedNodesThoughTheirNumbersMove) {
  const auto before = builder_.build();
  builder_.put_node(node("aa", {}), {});
  builder_.remove_node("b");
  const auto after = builder_.build();
  EXPECT_EQ(after->size(), 3U);
  EXPECT_FALSE(after->find("b").has_value());
  EXPECT_EQ(&state(before, "a"), &state(after, "a"));
  EXPECT_EQ(&state(before, "c"), &state(after, "c"));
}

TEST_F(SnapshotBuilderTest, KeepsPodsThatComeBeforeTheirNode) {
  builder_.put_pod(running_on("late", pod("p", {{"nvidia.com/gpu", 3}})));
  EXPECT_FALSE(builder_.build()->find("late").has_value());
  builder_.put_node(node("late", {{"nvidia.com/gpu", 8}}), {});
  EXPECT_EQ(free_on("late"), 5);
}

TEST_F(SnapshotBuilderTest, KeepsThePodsOfANodeThatGoesAndComesBack) {
  builder_.put_pod(running_on("a", pod("p", {{"nvidia.com/gpu", 3}})));
  builder_.remove_node("a");
  EXPECT_FALSE(builder_.build()->find("a").has_value());
  builder_.put_node(node("a", {{"nvidia.com/gpu", 8}}), {});
  EXPECT_EQ(free_on("a"), 5);
}

TEST_F(SnapshotBuilderTest, ForgetsWhatIsRemoved) {
  builder_.put_pod(running_on("a", pod("p", {{"nvidia.com/gpu", 3}})));
  builder_.remove_pod("uid-of-nobody");
  EXPECT_EQ(free_on("a"), 5);
  builder_.remove_pod("uid-p");
  EXPECT_EQ(free_on("a"), 8);
  builder_.remove_node("a");
  builder_.remove_node("a");
  EXPECT_EQ(builder_.build()->size(), 2U);
  builder_.clear_nodes();
  EXPECT_EQ(builder_.build()->size(), 0U);
}

TEST_F(SnapshotBuilderTest, ClearsAllPodsAtOnce) {
  builder_.put_pod(running_on("a", pod("p", {{"nvidia.com/gpu", 3}}, {{"rankward.io/gang", "g"}})));
  EXPECT_EQ(builder_.build()->bound_members("team-a/Gang/g").size(), 1U);
  builder_.clear_pods();
  EXPECT_EQ(free_on("a"), 8);
  EXPECT_TRUE(builder_.build()->bound_members("team-a/Gang/g").empty());
}

TEST_F(SnapshotBuilderTest, ListsTheNodesOfAGangOnceAMember) {
  const kube::StringMap gang{{"rankward.io/gang", "g"}};
  builder_.put_pod(running_on("c", pod("p0", {{"nvidia.com/gpu", 1}}, gang)));
  builder_.put_pod(running_on("a", pod("p1", {{"nvidia.com/gpu", 1}}, gang)));
  builder_.put_pod(running_on("a", pod("p2", {{"nvidia.com/gpu", 1}}, gang)));
  const auto snapshot = builder_.build();
  EXPECT_EQ(snapshot->bound_members("team-a/Gang/g"), (std::vector<NodeIndex>{{0}, {0}, {2}}));
  kube::Pod leaving = running_on("a", pod("p2", {{"nvidia.com/gpu", 1}}, gang));
  leaving.metadata.deleting = true;
  builder_.put_pod(leaving);
  EXPECT_EQ(builder_.build()->bound_members("team-a/Gang/g"), (std::vector<NodeIndex>{{0}, {2}}));
  EXPECT_EQ(free_on("a"), 6) << "it still holds its GPU";
}

TEST_F(SnapshotBuilderTest, KnowsFreeGpusOnlyWhereHoldersSayTheirs) {
  builder_.put_node(node("hgx", {{"nvidia.com/gpu", 8}}), testing::hgx());
  EXPECT_EQ(state(builder_.build(), "hgx").free_gpu_mask, 0xFFU);
  builder_.put_pod(
      running_on("hgx", pod("p", {{"nvidia.com/gpu", 2}}, {{"rankward.io/assigned-gpus", "0,5"}})));
  EXPECT_EQ(state(builder_.build(), "hgx").free_gpus(),
            (std::vector<std::uint32_t>{1, 2, 3, 4, 6, 7}));
  // Two pods on one GPU: somebody is wrong, so nothing is known.
  builder_.put_pod(
      running_on("hgx", pod("q", {{"nvidia.com/gpu", 1}}, {{"rankward.io/assigned-gpus", "5"}})));
  EXPECT_FALSE(state(builder_.build(), "hgx").free_gpu_mask.has_value());
}

}  // namespace
}  // namespace rankward::placement
