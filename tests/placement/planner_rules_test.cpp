// What a plan must keep to beside the least time: classes, domains, ranks that stand, places that
// others hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "planner_clusters.hpp"

namespace rankward::placement {
namespace {

using ::testing::AnyOf;
using ::testing::ElementsAre;
using testing::gang_pod;
using ::testing::HasSubstr;
using testing::leaf;
using testing::node;
using ::testing::Pair;
using testing::Planning;
using testing::pod;
using testing::rail_machine;
using testing::running_on;

const testing::Counts kEight{{"nvidia.com/gpu", 8}, {"rdma/ib", 100}};

kube::StringMap in_zone(std::string zone, kube::StringMap labels = {}) {
  labels.emplace("zone", std::move(zone));
  return labels;
}

kube::StringMap in_clique(char number, kube::StringMap labels = {}) {
  labels.emplace("nvidia.com/gpu.clique",
                 std::string("6f1c0000-0000-4000-8000-00000000000") + number + ".1");
  return labels;
}

Planning racks(std::initializer_list<std::pair<const char*, int>> free_by_rack) {
  Planning planning;
  int number = 0;
  for (const auto& [rack, free] : free_by_rack) {
    planning.add(node("n" + std::to_string(number++), kEight, leaf(rack)), rail_machine(8), free);
  }
  return planning;
}

TEST(PlanTier, StaysUnderOneLeafAtEqualTime) {
  Planning planning = racks({{"a", 8}, {"b", 8}, {"b", 8}, {"c", 8}});
  const auto plan = planning.plan(gang_pod(8), 2);
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("n1", "n2"));
  EXPECT_EQ(plan.plan->prediction.tier, 1U);
}

TEST(PlanTier, EqualLeafNamesUnderOtherSpinesAreOtherLeaves) {
  Planning planning;
  planning.add(node("a", kEight, leaf("l", "s1")), rail_machine(8));
  planning.add(node("b", kEight, leaf("l", "s2")), rail_machine(8));
  planning.add(node("c", kEight, leaf("m", "s2")), rail_machine(8));
  const auto plan = planning.plan(gang_pod(8), 2);
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("b", "c"));
  EXPECT_EQ(plan.plan->prediction.tier, 2U);
}

TEST(PlanTier, ACliqueReplacesTheNicsByNvLink) {
  Planning planning;
  for (const auto& [name, clique] : {std::pair("a", '1'), std::pair("b", '2'), std::pair("c", '2')})
    planning.add(node(name, kEight, in_clique(clique, leaf("l"))), rail_machine(8, 25));
  const auto plan = planning.plan(gang_pod(8), 2);
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("b", "c"));
  EXPECT_EQ(plan.plan->prediction.tier, 0U);
  EXPECT_NEAR(plan.plan->prediction.bandwidth.value, 371, 1);
}

TEST(PlanTier, RanksOfOneLeafFollowEachOther) {
  Planning planning = racks({{"a", 8}, {"b", 8}, {"a", 8}, {"b", 8}});
  const auto plan = planning.plan(gang_pod(8), 4);
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("n0", "n2", "n1", "n3"));
}

// The preferred rack is slower to fill up, but no slower to run in.
TEST(PlanPreferred, DecidesAtEqualTimeOnly) {
  Planning planning;
  planning.add(node("a", kEight, in_zone("x", leaf("l"))), rail_machine(8));
  planning.add(node("b", kEight, in_zone("y", leaf("l"))), rail_machine(8));
  planning.add(node("c", kEight, in_zone("y", leaf("l"))), rail_machine(8));
  const auto plan = planning.plan(gang_pod(8, {{"rankward.io/topology-preferred", "zone"}}), 2);
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("b", "c"));
  // One node holds two such pods, much faster than two nodes of one zone.
  const auto alone = planning.plan(gang_pod(4, {{"rankward.io/topology-preferred", "zone"}}), 2);
  ASSERT_TRUE(alone.found());
  EXPECT_EQ(planning.shares(alone).size(), 1U);
}

TEST(PlanRequired, KeepsAllRanksInOneDomain) {
  const kube::Pod pod = gang_pod(8, {{"rankward.io/topology-required", "leaf"}});
  Planning planning = racks({{"a", 8}, {"b", 8}, {"b", 8}, {"b", 8}});
  const auto plan = planning.plan(pod, 3);
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("n1", "n2", "n3"));
  const auto refused = planning.plan(pod, 4);
  ASSERT_FALSE(refused.found());
  EXPECT_EQ(refused.refusal.reason, ReasonCode::kOutsideFabricDomain);
  EXPECT_EQ(refused.refusal.room, 3);
  EXPECT_EQ(refused.refusal.note, "4 ranks; leaf spine-1/b of 2 has the most room, 3");
}

TEST(PlanRequired, TakesTheLabelOfATierAndAnyOtherLabel) {
  Planning planning;
  planning.add(node("a", kEight, in_zone("x", leaf("l", "s1"))), rail_machine(8));
  planning.add(node("b", kEight, in_zone("y", leaf("l", "s2"))), rail_machine(8));
  planning.add(node("c", kEight, in_zone("y", leaf("m", "s1"))), rail_machine(8));
  const auto by_tier = planning.plan(
      gang_pod(8, {{"rankward.io/topology-required", "fabric.topograph.run/tier-1"}}), 2);
  ASSERT_TRUE(by_tier.found());
  EXPECT_THAT(planning.slots(by_tier), ElementsAre("a", "c"));
  const auto by_leaf = planning.plan(
      gang_pod(8, {{"rankward.io/topology-required", "fabric.topograph.run/tier-0"}}), 2);
  EXPECT_FALSE(by_leaf.found()) << "leaf names repeat";
  const auto by_label = planning.plan(gang_pod(8), 2, {}, {}, {}, "zone");
  ASSERT_TRUE(by_label.found());
  EXPECT_THAT(planning.slots(by_label), ElementsAre("c", "b")) << "spine s1 before s2";
}

// Rack b has room for three, but of two transport classes.
TEST(PlanRequired, RoomIsThatOfOneClassInOneDomain) {
  const kube::Pod pod = gang_pod(8, {{"rankward.io/topology-required", "leaf"}});
  Planning planning = racks({{"a", 8}, {"b", 8}, {"b", 8}});
  planning.add(node("slow", kEight, leaf("b")), rail_machine(8, 25));
  const auto refused = planning.plan(pod, 3);
  ASSERT_FALSE(refused.found());
  EXPECT_EQ(refused.refusal.reason, ReasonCode::kOutsideFabricDomain);
  EXPECT_EQ(refused.refusal.room, 2);
  EXPECT_EQ(refused.refusal.note, "3 ranks; leaf spine-1/b of 2 has the most room, 2");
}

TEST(PlanRequired, ACliqueIsRefusedByName) {
  Planning planning;
  for (const auto& [name, clique] : {std::pair("a", '1'), std::pair("b", '2')})
    planning.add(node(name, kEight, in_clique(clique)), rail_machine(8));
  for (const char* level : {"clique", "nvidia.com/gpu.clique"}) {
    const auto refused = planning.plan(gang_pod(8, {{"rankward.io/topology-required", level}}), 2);
    ASSERT_FALSE(refused.found());
    EXPECT_EQ(refused.refusal.reason, ReasonCode::kCliqueMismatch) << level;
    EXPECT_EQ(refused.refusal.room, 1);
  }
}

TEST(PlanClass, NeverMixesTransports) {
  Planning planning;
  planning.add(node("a", kEight, leaf("l")), rail_machine(8));
  planning.add(node("b", kEight, leaf("l")), rail_machine(8));
  topology::NodeTopology down = rail_machine(8);
  for (topology::Nic& nic : down.nics)
    nic.state = topology::PortState::kDown;
  planning.add(node("c", kEight, leaf("l")), down);
  topology::NodeTopology other = rail_machine(8, 25);
  planning.add(node("d", kEight, leaf("l")), other);
  const auto two = planning.plan(gang_pod(8), 2);
  ASSERT_TRUE(two.found());
  EXPECT_THAT(planning.slots(two), ElementsAre("a", "b"));
  const auto three = planning.plan(gang_pod(8), 3);
  ASSERT_FALSE(three.found());
  EXPECT_EQ(three.refusal.reason, ReasonCode::kTransportMismatch);
  EXPECT_EQ(three.refusal.room, 2);
  EXPECT_THAT(three.refusal.note, HasSubstr("3 ranks"));
}

TEST(PlanClass, StaysInTheClassOfRanksThatStand) {
  Planning planning;
  planning.add(node("a", kEight, leaf("l")), rail_machine(8, 25));
  for (const char* name : {"b", "c", "d"})
    planning.add(node(name, kEight, leaf("l")), rail_machine(8));
  kube::Pod first = gang_pod(8);
  first.metadata.name = "g-1";
  first.metadata.uid = "uid-g-1";
  planning.add(running_on("a", first));
  const auto refused = planning.plan(gang_pod(8), 2, {}, {"a"});
  ASSERT_FALSE(refused.found());
  EXPECT_EQ(refused.refusal.reason, ReasonCode::kTransportMismatch);
  EXPECT_EQ(refused.refusal.room, 0);
}

TEST(PlanClass, AbsentRoomIsToldApart) {
  Planning planning = racks({{"a", 8}, {"a", 3}});
  const auto refused = planning.plan(gang_pod(4), 3);
  ASSERT_FALSE(refused.found());
  EXPECT_EQ(refused.refusal.reason, ReasonCode::kGangDoesNotFit);
  EXPECT_EQ(refused.refusal.room, 2);
  EXPECT_EQ(refused.refusal.note, "3 ranks; all nodes together have room for 2");
}

TEST(PlanFixed, NewRanksGoBesideThoseThatStand) {
  Planning planning = racks({{"a", 8}, {"b", 8}, {"b", 8}});
  kube::Pod first = gang_pod(8);
  first.metadata.name = "g-1";
  first.metadata.uid = "uid-g-1";
  planning.add(running_on("n2", first));
  const auto plan = planning.plan(gang_pod(8), 1, {}, {"n2"});
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("n1"));
  EXPECT_EQ(plan.plan->prediction.nodes, 2U);
  EXPECT_EQ(plan.plan->prediction.tier, 1U);
}

// Two of four GPUs of a share count for the ranks that stand.
TEST(PlanFixed, RanksThatNobodyHasSeenYetTakeRoom) {
  Planning planning = racks({{"a", 8}});
  EXPECT_TRUE(planning.plan(gang_pod(4), 1, {}, {"n0"}).found());
  EXPECT_FALSE(planning.plan(gang_pod(4), 2, {}, {"n0"}).found());
}

Reservations holding(std::string gang, std::string node, int pods, std::int64_t gpus) {
  kube::Pod other = gang_pod(gpus);
  other.metadata.annotations.insert_or_assign("rankward.io/gang", std::move(gang));
  auto reservation = std::make_shared<Reservation>();
  ReservedPart part;
  part.request = std::make_shared<const Request>(make_request(other, {}).value());
  for (int i = 0; i < pods; ++i) {
    part.slots.emplace_back();
    part.slots.back().node = node;
  }
  reservation->gang_key = part.request->gang->key;
  reservation->parts.push_back(std::move(part));
  return Reservations().with(std::move(reservation));
}

TEST(PlanHeld, PlacesOfOthersAreTakenAndOwnOnesAreFree) {
  Planning planning = racks({{"a", 8}, {"b", 8}});
  const auto beside = planning.plan(gang_pod(4), 2, {}, {}, holding("other", "n0", 1, 4));
  ASSERT_TRUE(beside.found());
  EXPECT_THAT(planning.slots(beside), ElementsAre("n1", "n1"));
  const auto own = planning.plan(gang_pod(8), 2, {}, {}, holding("g", "n0", 1, 8));
  EXPECT_TRUE(own.found());
  for (const Use use : {Use::kExplain, Use::kFilter}) {
    const auto refused =
        planning.plan(gang_pod(8), 2, {}, {}, holding("other", "n0", 1, 1), {}, use);
    EXPECT_FALSE(refused.found());
    EXPECT_EQ(refused.refusal.room, 1);
  }
}

TEST(PlanUnknown, KnownNodesComeFirstAtEqualTimeUnlessAllowed) {
  Planning planning;
  for (const char* name : {"a", "b", "c", "d"}) {
    if (*name < 'c') {
      planning.add(node(name, {{"nvidia.com/gpu", 1}}));
    } else {
      topology::NodeTopology one = topology::testing::machine({"X"});
      planning.add(node(name, {{"nvidia.com/gpu", 1}}), one);
    }
  }
  const kube::Pod socket = gang_pod(1, {}, false);
  EXPECT_THAT(planning.slots(planning.plan(socket, 2)), ElementsAre("c", "d"));
  Options options;
  options.unknown_topology = UnknownTopology::kAllow;
  EXPECT_THAT(planning.slots(planning.plan(socket, 2, options)), ElementsAre("a", "b"));
  options.unknown_topology = UnknownTopology::kReject;
  EXPECT_FALSE(planning.plan(gang_pod(1), 4, options).found());
}

TEST(PlanNuma, APodFitsIntoOneNumaNode) {
  topology::NodeTopology machine = rail_machine(8);
  machine.topology_manager = topology::TopologyManagerPolicy::kSingleNumaNode;
  machine.topology_manager_pod_scope = true;
  for (topology::Gpu& gpu : machine.gpus)
    gpu.numa_node = gpu.index / 4;
  // 4 + 2 are free: two pods of 3 do not fit, though six GPUs are free.
  Planning planning;
  planning.add(node("a", kEight), machine, 6);
  EXPECT_TRUE(planning.plan(gang_pod(2), 3).found());
  EXPECT_FALSE(planning.plan(gang_pod(3), 2).found());
}

// The scheduler has found room there; only one pod is taken for granted.
TEST(PlanFilter, AnOfferedNodeHostsAtLeastOne) {
  Planning planning = racks({{"a", 0}, {"a", 0}});
  EXPECT_FALSE(planning.plan(gang_pod(4), 2).found());
  const auto offered = planning.plan(gang_pod(4), 2, {}, {}, {}, {}, Use::kFilter);
  ASSERT_TRUE(offered.found());
  EXPECT_THAT(planning.slots(offered), ElementsAre("n0", "n1"));
  EXPECT_FALSE(planning.plan(gang_pod(4), 3, {}, {}, {}, {}, Use::kFilter).found());
}

TEST(PlanFilter, OnlyOfferedNodesAreUsed) {
  Planning planning = racks({{"a", 8}, {"a", 8}, {"a", 8}});
  const auto plan = planning.plan(gang_pod(8), 2, {}, {}, {}, {}, Use::kFilter,
                                  std::vector<std::string>{"n1", "n2"});
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("n1", "n2"));
}

TEST(PlanWaste, LeavesWholeFreeNodesWholeThenFillsTheFullest) {
  Planning planning = racks({{"a", 8}, {"a", 6}, {"a", 4}});
  const auto plan = planning.plan(gang_pod(1), 4);
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.shares(plan), ElementsAre(Pair("n2", 4)));
}

// Of two nodes with six GPUs free each share the same four of them.
TEST(PlanRails, TheSameGpusOnEachNode) {
  Planning planning;
  for (const auto& [name, taken] :
       {std::pair("a", "0,1,2,3"), std::pair("b", "4,5,6,7"), std::pair("c", "4,5,6,7")}) {
    planning.add(node(name, kEight, leaf("l")), rail_machine(8));
    planning.add(running_on(name, pod(std::string("on-") + name, {{"nvidia.com/gpu", 4}},
                                      {{"rankward.io/assigned-gpus", taken}})));
  }
  const auto plan = planning.plan(gang_pod(4), 2);
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("b", "c"));
}

TEST(PlanLone, APodThatWantsRdmaGoesWhereItsNicsAreNear) {
  Planning planning;
  topology::NodeTopology far = rail_machine(8);
  for (topology::PathType& path : far.nic_paths)
    path = topology::PathType::kSys;
  planning.add(node("a-far", kEight), far);
  planning.add(node("b-near", kEight), rail_machine(8));
  const auto plan = planning.plan(gang_pod(2), 1);
  ASSERT_TRUE(plan.found());
  EXPECT_THAT(planning.slots(plan), ElementsAre("b-near"));
}

TEST(PlanNothing, NoPodsAndNoNodes) {
  Planning planning;
  EXPECT_TRUE(planning.plan(gang_pod(1), 0).found());
  const auto refused = planning.plan(gang_pod(1), 1);
  EXPECT_FALSE(refused.found());
  EXPECT_EQ(refused.refusal.reason, ReasonCode::kGangDoesNotFit);
}

}  // namespace
}  // namespace rankward::placement
