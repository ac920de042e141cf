#include "rankward/placement/snapshot.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using ::testing::ElementsAre;
using testing::hgx;
using ::testing::IsEmpty;
using testing::node;
using testing::pod;
using testing::running_on;

void put(SnapshotBuilder& builder, kube::Node node, topology::NodeTopology report = {}) {
  auto labels = topology::from_labels(node, {});
  builder.put_node(std::move(node), topology::merge(std::move(report), labels));
}

const NodeState& state(const Snapshot& snapshot, std::string_view name) {
  return snapshot.node(snapshot.find(name).value());
}

kube::Pod holder(std::string name, std::string on, std::int64_t gpus) {
  return running_on(std::move(on), pod(std::move(name), {{"nvidia.com/gpu", gpus}}));
}

kube::Pod rank_of(std::string gang, std::string name, std::string on) {
  kube::Pod member = holder(std::move(name), std::move(on), 1);
  member.metadata.annotations["rankward.io/gang"] = std::move(gang);
  return member;
}

TEST(Snapshot, IsEmptyBeforeAnythingWasPut) {
  const Snapshot nothing;
  EXPECT_EQ(nothing.size(), 0U);
  EXPECT_FALSE(nothing.find("a").has_value());
  EXPECT_THAT(nothing.bound_members("g"), IsEmpty());
  SnapshotBuilder builder;
  EXPECT_EQ(builder.build()->size(), 0U);
}

TEST(Snapshot, NumbersNodesByNameAndItselfFromOne) {
  SnapshotBuilder builder;
  for (const char* name : {"c", "a", "b"})
    put(builder, node(name, {}));
  const auto first = builder.build();
  EXPECT_EQ(first->number(), 1U);
  ASSERT_EQ(first->size(), 3U);
  EXPECT_EQ(first->node({0}).node->metadata.name, "a");
  EXPECT_EQ(first->node({2}).node->metadata.name, "c");
  EXPECT_EQ(first->find("b")->value, 1U);
  EXPECT_FALSE(first->find("d").has_value());
  builder.remove_node("a");
  builder.remove_node("never-seen");
  const auto second = builder.build();
  EXPECT_EQ(second->number(), 2U);
  EXPECT_FALSE(second->find("a").has_value());
  EXPECT_EQ(second->find("b")->value, 0U);
  EXPECT_TRUE(first->find("a").has_value()) << "what was published does not change";
}

TEST(Snapshot, SharesWhatHasNotChanged) {
  SnapshotBuilder builder;
  for (const char* name : {"a", "b", "c"})
    put(builder, node(name, {{"nvidia.com/gpu", 8}}));
  const auto before = builder.build();
  builder.put_pod(holder("p", "b", 1));
  const auto after = builder.build();
  EXPECT_EQ(&state(*before, "a"), &state(*after, "a"));
  EXPECT_NE(&state(*before, "b"), &state(*after, "b"));
  EXPECT_EQ(state(*before, "b").node, state(*after, "b").node) << "the Node itself is the same";
  put(builder, node("aa", {}));
  const auto grown = builder.build();
  EXPECT_EQ(&state(*after, "a"), &state(*grown, "a")) << "though indexes have moved";
  EXPECT_EQ(&state(*after, "b"), &state(*grown, "b"));
  EXPECT_EQ(&state(*after, "c"), &state(*grown, "c"));
}

TEST(Snapshot, GivesEqualMachinesOneTopology) {
  SnapshotBuilder builder;
  topology::NodeTopology one = hgx();
  one.gpus[0].uuid = "GPU-1";
  topology::NodeTopology other = hgx();
  other.gpus[0].uuid = "GPU-2";
  other.reported_at = 5;
  topology::NodeTopology broken = hgx();
  broken.nics[3].state = topology::PortState::kDown;
  put(builder, node("a", {}, testing::leaf("l1")), one);
  put(builder, node("b", {}, testing::leaf("l2")), other);
  put(builder, node("c", {}, testing::leaf("l1")), broken);
  put(builder, node("d", {}, testing::leaf("l1")), one);
  const auto snapshot = builder.build();
  EXPECT_EQ(state(*snapshot, "a").machine, state(*snapshot, "b").machine);
  EXPECT_NE(state(*snapshot, "a").machine, state(*snapshot, "c").machine);
  EXPECT_EQ(state(*snapshot, "a").topology, state(*snapshot, "d").topology);
  EXPECT_NE(state(*snapshot, "a").topology, state(*snapshot, "b").topology);
}

// Case 22.
TEST(Snapshot, CountsWhatHoldsDevices) {
  SnapshotBuilder builder;
  put(builder, node("gpu-a", {{"nvidia.com/gpu", 4}}));
  kube::Pod done = holder("done", "gpu-a", 4);
  done.status.phase = "Succeeded";
  kube::Pod rejected = holder("rejected", "gpu-a", 2);
  rejected.status.phase = "Failed";
  kube::Pod leaving = holder("leaving", "gpu-a", 1);
  leaving.metadata.deleting = true;
  kube::Pod waiting = pod("waiting", {{"nvidia.com/gpu", 1}});
  for (const kube::Pod& each : {done, rejected, holder("live", "gpu-a", 2), leaving, waiting}) {
    builder.put_pod(each);
  }
  const auto snapshot = builder.build();
  const NodeState& gpu_a = state(*snapshot, "gpu-a");
  EXPECT_EQ(gpu_a.device("nvidia.com/gpu")->used, 3);
  EXPECT_EQ(gpu_a.free("nvidia.com/gpu"), 1);
  EXPECT_EQ(gpu_a.free("pods"), 108);
  EXPECT_EQ(gpu_a.free("amd.com/gpu"), std::nullopt);
}

// Case 24: 3 - 4 is 0, not a huge number.
TEST(Snapshot, NeverHasLessThanNothingFree) {
  SnapshotBuilder builder;
  put(builder, node("gpu-a", {{"nvidia.com/gpu", 3}}));
  builder.put_pod(holder("big", "gpu-a", 4));
  EXPECT_EQ(state(*builder.build(), "gpu-a").free("nvidia.com/gpu"), 0);
  kube::Node negative = node("gpu-a", {{"nvidia.com/gpu", INT64_MIN}});
  put(builder, negative);
  EXPECT_EQ(state(*builder.build(), "gpu-a").free("nvidia.com/gpu"), 0);
}

TEST(Snapshot, CountsAPodOnceByItsUid) {
  SnapshotBuilder builder;
  put(builder, node("a", {{"nvidia.com/gpu", 8}}));
  put(builder, node("b", {{"nvidia.com/gpu", 8}}));
  builder.put_pod(holder("p", "a", 2));
  builder.put_pod(holder("p", "a", 2));
  EXPECT_EQ(state(*builder.build(), "a").free("nvidia.com/gpu"), 6);
  // Deleted and made again under the same name elsewhere: another UID.
  kube::Pod again = holder("p", "b", 3);
  again.metadata.uid = "uid-new";
  builder.put_pod(again);
  builder.remove_pod("uid-p");
  const auto snapshot = builder.build();
  EXPECT_EQ(state(*snapshot, "a").free("nvidia.com/gpu"), 8);
  EXPECT_EQ(state(*snapshot, "b").free("nvidia.com/gpu"), 5);
  again.status.phase = "Succeeded";
  builder.put_pod(again);
  EXPECT_EQ(state(*builder.build(), "b").free("nvidia.com/gpu"), 8);
}

TEST(Snapshot, KnowsPodsWithoutUidByTheirName) {
  SnapshotBuilder builder;
  put(builder, node("a", {{"nvidia.com/gpu", 8}}));
  kube::Pod nameless = holder("p", "a", 2);
  nameless.metadata.uid.clear();
  builder.put_pod(nameless);
  builder.put_pod(nameless);
  EXPECT_EQ(state(*builder.build(), "a").free("nvidia.com/gpu"), 6);
  builder.remove_pod("team-a/p");
  EXPECT_EQ(state(*builder.build(), "a").free("nvidia.com/gpu"), 8);
}

TEST(Snapshot, TakesPodsBeforeTheirNodeAndKeepsThemWhileItIsAway) {
  SnapshotBuilder builder;
  builder.put_pod(holder("p", "a", 2));
  EXPECT_EQ(builder.build()->size(), 0U);
  put(builder, node("a", {{"nvidia.com/gpu", 8}}));
  EXPECT_EQ(state(*builder.build(), "a").free("nvidia.com/gpu"), 6);
  builder.clear_nodes();
  EXPECT_EQ(builder.build()->size(), 0U);
  put(builder, node("a", {{"nvidia.com/gpu", 8}}));
  EXPECT_EQ(state(*builder.build(), "a").free("nvidia.com/gpu"), 6);
  builder.clear_pods();
  EXPECT_EQ(state(*builder.build(), "a").free("nvidia.com/gpu"), 8);
}

TEST(Snapshot, KnowsWhereTheMembersOfAGangAreBound) {
  SnapshotBuilder builder;
  for (const char* name : {"a", "b", "c"})
    put(builder, node(name, {{"nvidia.com/gpu", 8}}));
  builder.put_pod(rank_of("g", "r0", "b"));
  builder.put_pod(rank_of("g", "r1", "c"));
  builder.put_pod(rank_of("g", "r2", "b"));
  builder.put_pod(rank_of("h", "s0", "a"));
  auto snapshot = builder.build();
  EXPECT_THAT(snapshot->bound_members("team-a/Gang/g"),
              ElementsAre(NodeIndex{1}, NodeIndex{1}, NodeIndex{2}));
  EXPECT_THAT(snapshot->bound_members("team-a/Gang/other"), IsEmpty());
  kube::Pod leaving = rank_of("g", "r1", "c");
  leaving.metadata.deleting = true;
  builder.put_pod(leaving);
  put(builder, node("0", {}));
  snapshot = builder.build();
  EXPECT_THAT(snapshot->bound_members("team-a/Gang/g"), ElementsAre(NodeIndex{2}, NodeIndex{2}))
      << "what is being deleted is no rank any more; indexes follow the nodes";
  EXPECT_EQ(state(*snapshot, "c").free("nvidia.com/gpu"), 7);
}

TEST(Snapshot, KnowsFreeGpusWhereEveryHolderSaysWhichItHas) {
  SnapshotBuilder builder;
  topology::NodeTopology report = hgx();
  report.gpus[7].health = topology::Health::kUnhealthy;
  put(builder, node("a", {{"nvidia.com/gpu", 8}}), report);
  EXPECT_THAT(state(*builder.build(), "a").free_gpus(), ElementsAre(0, 1, 2, 3, 4, 5, 6));
  kube::Pod known = holder("p", "a", 2);
  known.metadata.annotations["rankward.io/assigned-gpus"] = "1,5";
  builder.put_pod(known);
  EXPECT_THAT(state(*builder.build(), "a").free_gpus(), ElementsAre(0, 2, 3, 4, 6));
  builder.put_pod(running_on("a", pod("cpu-only", {{"cpu", 1}})));
  EXPECT_TRUE(state(*builder.build(), "a").free_gpu_mask.has_value());
  builder.put_pod(holder("silent", "a", 1));
  EXPECT_FALSE(state(*builder.build(), "a").free_gpu_mask.has_value());
}

// volcano 3824: two pods with one index. Whoever is wrong, which GPUs are free is not known.
TEST(Snapshot, DoesNotTrustHoldersThatContradictEachOtherOrTheReport) {
  for (const auto& [one, two] : std::vector<std::pair<std::string, std::string>>{
           {"0,1", "1,2"}, {"0,1", "3"}, {"0,1", "2,8"}, {"0,1", "2,x"}, {"0,1", "2,3,"}}) {
    SnapshotBuilder builder;
    put(builder, node("a", {{"nvidia.com/gpu", 8}}), hgx());
    kube::Pod first = holder("p", "a", 2);
    first.metadata.annotations["rankward.io/assigned-gpus"] = one;
    kube::Pod second = holder("q", "a", 2);
    second.metadata.annotations["rankward.io/assigned-gpus"] = two;
    builder.put_pod(first);
    builder.put_pod(second);
    EXPECT_FALSE(state(*builder.build(), "a").free_gpu_mask.has_value()) << one << " " << two;
  }
}

void expect_equal(const Snapshot& a, const Snapshot& b, const std::vector<std::string>& gangs) {
  ASSERT_EQ(a.size(), b.size());
  for (std::uint32_t i = 0; i < a.size(); ++i) {
    const NodeState& one = a.node({i});
    const NodeState& other = b.node({i});
    ASSERT_EQ(one.node->metadata.name, other.node->metadata.name);
    ASSERT_EQ(one.used, other.used);
    ASSERT_EQ(one.holders.size(), other.holders.size());
    ASSERT_EQ(a.find(one.node->metadata.name)->value, i);
  }
  for (const std::string& gang : gangs)
    ASSERT_EQ(a.bound_members(gang), b.bound_members(gang));
}

// Whatever came in which order, a Snapshot says what one made from the end state says.
TEST(Snapshot, DependsOnTheEndStateAlone) {
  std::mt19937 random(7);
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  const std::vector<std::string> gangs{"team-a/Gang/g0", "team-a/Gang/g1", "team-a/Gang/g2"};
  for (int round = 0; round < 100; ++round) {
    SnapshotBuilder builder;
    std::map<std::string, kube::Node> nodes;
    std::map<std::string, kube::Pod> pods;
    for (int step = 0; step < 60; ++step) {
      const std::string node_name = "n" + std::to_string(below(5));
      const std::string pod_name = "p" + std::to_string(below(10));
      switch (below(8)) {
        case 0:
        case 1:
          nodes[node_name] = node(node_name, {{"nvidia.com/gpu", below(9)}});
          put(builder, nodes[node_name]);
          break;
        case 2:
          nodes.erase(node_name);
          builder.remove_node(node_name);
          break;
        case 3:
          pods.erase(pod_name);
          builder.remove_pod("uid-" + pod_name);
          break;
        case 4:
          if (below(6) == 0) {
            pods.clear();
            builder.clear_pods();
          }
          break;
        case 5:
          (void)builder.build();
          break;
        default: {
          kube::Pod member = rank_of("g" + std::to_string(below(3)), pod_name, node_name);
          if (below(5) == 0) member.status.phase = "Failed";
          pods[pod_name] = member;
          builder.put_pod(member);
          break;
        }
      }
    }
    SnapshotBuilder fresh;
    for (const auto& [name, each] : nodes)
      put(fresh, each);
    for (const auto& [name, each] : pods)
      fresh.put_pod(each);
    expect_equal(*builder.build(), *fresh.build(), gangs);
  }
}

}  // namespace
}  // namespace rankward::placement
