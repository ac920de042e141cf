#include "rankward/placement/gang_call.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "clusters.hpp"
#include "rankward/placement/plan_tiers.hpp"

namespace rankward::placement {
namespace {

using ::testing::Each;
using ::testing::ElementsAre;
using testing::hgx;
using ::testing::IsEmpty;
using testing::leaf;
using testing::node;
using testing::pod;
using testing::running_on;
using ::testing::SizeIs;
using ::testing::StartsWith;

const testing::Counts kHgxDevices{{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}};

kube::Pod member(const std::string& gang, int number, int size, std::int64_t gpus = 8) {
  return pod(gang + "-" + std::to_string(number), {{"nvidia.com/gpu", gpus}, {"rdma/ib", 1}},
             {{"rankward.io/gang", gang}, {"rankward.io/gang-size", std::to_string(size)}});
}

kube::Pod ranked(const std::string& gang, int rank, int size, std::int64_t gpus = 8) {
  kube::Pod made = member(gang, rank, size, gpus);
  made.metadata.annotations["rankward.io/rank"] = std::to_string(rank);
  return made;
}

// Two leaves, and what a scheduler and its extender do with them.
class GangCallTest : public ::testing::Test {
 protected:
  GangCallTest() {
    cluster_.add_two_leaves();
    see();
  }

  // The watch catches up.
  void see(std::int64_t at = 0) {
    now_ = {at};
    auto reservations = view_ ? view_->reservations : std::make_shared<const Reservations>();
    const auto before = view_ ? view_ : make_view(cluster_.snapshot(), reservations);
    view_ = advance(*before, cluster_.snapshot(), now_, {}, &ended_);
  }

  // The scheduler's own filter comes first.
  [[nodiscard]] std::vector<std::string> with_room_for(const Request& request) const {
    std::vector<std::string> names;
    for (const std::string& name : all_) {
      const auto index = view_->snapshot->find(name);
      if (index && view_->snapshot->node(*index).free("nvidia.com/gpu") >= request.gpus()) {
        names.push_back(name);
      }
    }
    return names;
  }

  CallAnswer call(const kube::Pod& asked, std::vector<std::string> names = {}) {
    const Request request = make_request(asked, {}).value();
    if (names.empty()) names = with_room_for(request);
    names_ = std::move(names);
    const std::vector<std::string_view> views(names_.begin(), names_.end());
    CallAnswer answer = answer_call(*view_, request, asked, views, now_, {});
    if (answer.next) view_ = make_view(view_->snapshot, answer.next);
    return answer;
  }

  [[nodiscard]] std::vector<std::string> fits(const CallAnswer& answer) const {
    std::vector<std::string> order;
    for (const Ranked& each : answer.ranking.fits)
      order.push_back(names_[each.candidate]);
    return order;
  }
  // Nodes of the gang's slots.
  [[nodiscard]] static std::vector<std::string> plan(const CallAnswer& answer) {
    std::vector<std::string> nodes;
    if (!answer.gang.reservation) return nodes;
    for (const Slot& slot : answer.gang.reservation->parts.front().slots)
      nodes.push_back(slot.node);
    return nodes;
  }
  std::vector<std::string> places(const kube::Pod& asked, std::vector<std::string> names = {}) {
    return fits(call(asked, std::move(names)));
  }
  // Reason by node, for a call after which nothing fits.
  std::vector<std::string> reasons(const CallAnswer& answer) {
    std::vector<std::string> codes;
    for (const auto& code : answer.ranking.reasons)
      codes.emplace_back(code ? reason(*code).name : "");
    return codes;
  }
  // As the scheduler does with a pod: asks, binds to the best, and the watch shows it.
  std::string place(const kube::Pod& asked) {
    const auto order = places(asked);
    if (order.empty()) return "";
    cluster_.add(running_on(order.front(), asked));
    see(now_.milliseconds);
    return order.front();
  }

  std::vector<std::string> all_{"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"};
  std::vector<std::string> names_;
  testing::Cluster cluster_;
  std::shared_ptr<const ClusterView> view_;
  Instant now_{};
  std::vector<Ended> ended_;
};

TEST_F(GangCallTest, ThePlansTierIsToldBesideTheOneThatWasAskedFor) {
  const auto tiers = [this](int size, const char* key, const char* value) {
    auto asked = ranked("job", 0, size);
    if (*key != '\0') asked.metadata.annotations[key] = value;
    const auto answer = call(asked);
    EXPECT_TRUE(answer.planned_now);
    const PlanTiers out = tiers_of(*answer.gang.reservation, *view_->snapshot);
    view_ = make_view(view_->snapshot, std::make_shared<const Reservations>());
    return out;
  };
  EXPECT_EQ(tiers(4, "", ""), (PlanTiers{std::nullopt, 1}));
  EXPECT_EQ(tiers(1, "", ""), (PlanTiers{std::nullopt, 0}));
  EXPECT_EQ(tiers(4, "rankward.io/topology-required", "spine"), (PlanTiers{2, 1}));
  EXPECT_EQ(tiers(8, "rankward.io/topology-preferred", "leaf"), (PlanTiers{1, 2}));
  EXPECT_EQ(tiers(8, "rankward.io/topology-preferred", "fabric.topograph.run/tier-0"),
            (PlanTiers{1, 2}));
  EXPECT_EQ(tiers(4, "rankward.io/topology-preferred", "example.com/row"),
            (PlanTiers{std::nullopt, 1}));
}

TEST_F(GangCallTest, TheFirstCallPlansAllRanksUnderOneLeaf) {
  const CallAnswer answer = call(ranked("job", 0, 4));
  EXPECT_TRUE(answer.planned_now);
  EXPECT_EQ(answer.gang.standing, GangStanding::kPlanned);
  EXPECT_THAT(plan(answer), ElementsAre("a0", "a1", "a2", "a3"));
  EXPECT_THAT(fits(answer), ElementsAre("a0"));
  EXPECT_EQ(answer.ranking.fits.front().score, 10);
  EXPECT_EQ(answer.ranking.fits.front().prediction.tier, 1U);
  EXPECT_EQ(answer.ranking.fits.front().prediction.nodes, 4U);
}

TEST_F(GangCallTest, TheSameCallGetsTheSameAnswerAndChangesNothing) {
  const auto first = places(ranked("job", 2, 4));
  const CallAnswer again = call(ranked("job", 2, 4));
  EXPECT_EQ(fits(again), first);
  EXPECT_EQ(again.next, nullptr);
  EXPECT_FALSE(again.planned_now);
}

TEST_F(GangCallTest, TheOrderOfNamesChangesNothing) {
  const auto one = places(ranked("job", 1, 4));
  view_ = make_view(view_->snapshot, std::make_shared<const Reservations>());
  EXPECT_EQ(places(ranked("job", 1, 4), {"b3", "a2", "b0", "a3", "b2", "a0", "b1", "a1"}), one);
}

TEST_F(GangCallTest, EachRankHasItsOwnSlotInTheOrderOfTheTree) {
  for (int rank = 3; rank >= 0; --rank)
    EXPECT_EQ(places(ranked("job", rank, 4)).front(), "a" + std::to_string(rank));
}

TEST_F(GangCallTest, WithoutRanksSlotsGoInTheOrderOfArrival) {
  EXPECT_EQ(places(member("job", 7, 4)).front(), "a0");
  EXPECT_EQ(places(member("job", 3, 4)).front(), "a1");
  EXPECT_EQ(places(member("job", 7, 4)).front(), "a0") << "the same pod again";
}

TEST_F(GangCallTest, APodIsToldItsOwnPlaceAlone) {
  call(ranked("job", 0, 4));
  call(ranked("job", 1, 4));
  EXPECT_THAT(places(ranked("job", 3, 4)), ElementsAre("a3"));
}

TEST_F(GangCallTest, ARetryOfARankTakesThePlaceOfTheLastTry) {
  EXPECT_EQ(places(ranked("job", 1, 4)).front(), "a1");
  kube::Pod retry = ranked("job", 1, 4);
  retry.metadata.name = "job-1-again";
  retry.metadata.uid = "uid-again";
  EXPECT_EQ(places(retry).front(), "a1");
}

TEST_F(GangCallTest, NoGangIsStartedThatCannotBeHeldWhole) {
  for (const int rank : {0, 1, 2, 3, 4})
    place(ranked("first", rank, 5));
  const CallAnswer answer = call(ranked("second", 0, 4));
  EXPECT_EQ(answer.gang.standing, GangStanding::kRefused);
  EXPECT_THAT(fits(answer), IsEmpty());
  EXPECT_EQ(answer.next, nullptr);
  EXPECT_EQ(answer.gang.refusal.room, 3);
  EXPECT_FALSE(answer.gang.refusal.note.empty());
  EXPECT_THAT(reasons(answer), Each("GangDoesNotFit"));
}

TEST_F(GangCallTest, TwoGangsNeverHoldHalfEach) {
  EXPECT_THAT(plan(call(ranked("first", 0, 8))), SizeIs(8));
  const CallAnswer answer = call(ranked("second", 0, 8));
  EXPECT_THAT(fits(answer), IsEmpty());
  EXPECT_THAT(reasons(answer), Each("ReservedForGang"));
  // The first goes, the second can start.
  cluster_.add(ranked("first", 0, 8));
  see();
  cluster_.remove("uid-first-0");
  see();
  EXPECT_THAT(plan(call(ranked("second", 0, 8))), SizeIs(8));
}

TEST_F(GangCallTest, ASinglePodKeepsOffPlacesThatAreHeld) {
  EXPECT_THAT(plan(call(ranked("job", 0, 4))), ElementsAre("a0", "a1", "a2", "a3"));
  const CallAnswer answer = call(pod("single", {{"nvidia.com/gpu", 8}}));
  auto order = fits(answer);
  std::sort(order.begin(), order.end());
  EXPECT_THAT(order, ElementsAre("b0", "b1", "b2", "b3"));
  EXPECT_THAT(reasons(answer), ElementsAre("ReservedForGang", "ReservedForGang", "ReservedForGang",
                                           "ReservedForGang", "", "", "", ""));
}

TEST_F(GangCallTest, WhatThePlanLeavesOfANodeIsFree) {
  // Three of four GPUs each on one node: two are left.
  EXPECT_THAT(places(ranked("job", 0, 2, 3)), ElementsAre("a0"));
  EXPECT_THAT(places(pod("small", {{"nvidia.com/gpu", 2}}), {"a0"}), ElementsAre("a0"));
  EXPECT_THAT(places(pod("large", {{"nvidia.com/gpu", 3}}), {"a0"}), IsEmpty());
}

TEST_F(GangCallTest, AReplacedRankComesBackNearTheOthers) {
  std::vector<std::string> stood;
  for (const int rank : {0, 1, 2, 3})
    stood.push_back(place(ranked("job", rank, 4)));
  EXPECT_THAT(stood, ElementsAre("a0", "a1", "a2", "a3"));
  EXPECT_TRUE(view_->reservations->empty()) << "a whole gang holds nothing";
  cluster_.remove("uid-job-2");
  cluster_.add(running_on("a2", pod("squatter", {{"nvidia.com/gpu", 8}})));
  see();
  kube::Pod replacement = ranked("job", 2, 4);
  replacement.metadata.uid = "uid-replacement";
  EXPECT_THAT(places(replacement).front(), StartsWith("b")) << "leaf-a is full now";
  cluster_.remove("uid-squatter");
  see();
  view_ = make_view(view_->snapshot, std::make_shared<const Reservations>());
  EXPECT_EQ(places(replacement).front(), "a2");
}

TEST_F(GangCallTest, ARankTooManyIsPlacedByItself) {
  for (const int rank : {0, 1})
    place(ranked("job", rank, 2));
  const CallAnswer extra = call(ranked("job", 2, 2));
  EXPECT_EQ(extra.gang.standing, GangStanding::kWhole);
  EXPECT_EQ(fits(extra).front(), "a2");
  EXPECT_TRUE(view_->reservations->empty());
}

TEST_F(GangCallTest, AfterARestartTheRestLandsWhereItWouldHave) {
  for (const int rank : {0, 1})
    place(ranked("job", rank, 4));
  view_ = make_view(view_->snapshot, std::make_shared<const Reservations>());
  EXPECT_EQ(place(ranked("job", 2, 4)), "a2");
  EXPECT_EQ(place(ranked("job", 3, 4)), "a3");
}

TEST_F(GangCallTest, WherePlannedNodesAreNotOfferedTheUnboundRanksArePlannedAnew) {
  EXPECT_EQ(place(ranked("job", 0, 2)), "a0");
  EXPECT_EQ(view_->reservations->all().begin()->second->parts.front().slots[1].node, "a1");
  const CallAnswer missed = call(ranked("job", 1, 2), {"a3", "b0", "b1"});
  EXPECT_TRUE(missed.plan_missed);
  EXPECT_TRUE(missed.planned_now);
  EXPECT_THAT(fits(missed), ElementsAre("a3"));
  EXPECT_EQ(missed.gang.reservation->plan_number, 2U);
}

TEST_F(GangCallTest, APodThatHasToTakeAnotherPlaceGivesItsOwnBack) {
  EXPECT_EQ(places(ranked("job", 0, 3)).front(), "a0");
  EXPECT_THAT(places(ranked("job", 0, 3), {"a1", "a2"}), ElementsAre("a1"));
  const auto& slots = view_->reservations->all().begin()->second->parts.front().slots;
  EXPECT_EQ(slots[0].uid, "");
  EXPECT_EQ(slots[1].uid, "uid-job-0");
}

TEST_F(GangCallTest, OfALargePlanAnyOpenPlaceThatIsOfferedWillDo) {
  std::vector<std::string> many;
  for (int i = 0; i < 40; ++i) {
    many.push_back("z" + std::to_string(10 + i));
    cluster_.add(node(many.back(), kHgxDevices, leaf("leaf-z")), hgx());
  }
  see();
  call(ranked("large", 0, 40), many);
  EXPECT_THAT(places(ranked("large", 39, 40), many), ElementsAre("z49"));
  EXPECT_THAT(places(ranked("large", 38, 40), {"z30", "z31"}), ElementsAre("z30"));
}

TEST_F(GangCallTest, TheNominatedNodeAloneIsNoReasonToPlanAnew) {
  call(ranked("job", 0, 4));
  kube::Pod nominated = ranked("job", 1, 4);
  nominated.status.nominated_node_name = "b2";
  const CallAnswer off = call(nominated, {"b2"});
  EXPECT_THAT(reasons(off), ElementsAre("PlannedElsewhere"));
  EXPECT_FALSE(off.planned_now);
  nominated.status.nominated_node_name = "a1";
  EXPECT_THAT(places(nominated, {"a1"}), ElementsAre("a1"));
}

TEST_F(GangCallTest, TooFewNodesOfferedAreJoinedByOthersThatWeKnow) {
  // kube-scheduler samples: two of the eight nodes were looked at.
  const CallAnswer answer = call(ranked("job", 0, 4), {"a1", "a2"});
  EXPECT_EQ(answer.gang.standing, GangStanding::kPlanned);
  EXPECT_THAT(plan(answer), SizeIs(4));
  EXPECT_THAT(fits(answer), ElementsAre(::testing::AnyOf("a1", "a2")));
}

TEST_F(GangCallTest, CallsOfANativeGroupNeverChangeThePlan) {
  std::vector<kube::Pod> group;
  for (const int number : {0, 1, 2, 3}) {
    kube::Pod each = pod("g-" + std::to_string(number), {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}});
    each.spec.pod_group_name = "g";
    cluster_.add(each);
    group.push_back(each);
  }
  cluster_.add_facts("PodGroup/team-a/g", {{"team-a/PodGroup/g", {{"", 4, 4}}, "", false}});
  see();
  // One domain after the other is simulated; the plan is for leaf-a.
  const CallAnswer other = call(group[0], {"b0", "b1", "b2", "b3"});
  EXPECT_THAT(reasons(other), Each("PlannedElsewhere"));
  const auto plan = view_->reservations->find("team-a/PodGroup/g")->parts.front().slots;
  EXPECT_EQ(plan.front().node, "a0");
  EXPECT_EQ(places(group[0], {"a0", "a1", "a2", "a3"}).front(), "a0");
  EXPECT_EQ(places(group[1], {"a1", "a2", "a3"}).front(), "a1");
  EXPECT_THAT(reasons(call(group[2], {"b0", "b1", "b2", "b3"})), Each("PlannedElsewhere"));
  EXPECT_EQ(view_->reservations->find("team-a/PodGroup/g")->plan_number, 1U);
}

TEST_F(GangCallTest, WithoutASizePodsArePlacedOneByOne) {
  kube::Pod unknown = ranked("job", 0, 4);
  unknown.metadata.annotations.erase("rankward.io/gang-size");
  const CallAnswer answer = call(unknown);
  EXPECT_EQ(answer.gang.standing, GangStanding::kNotPlannable);
  EXPECT_THAT(fits(answer), SizeIs(8));
  ASSERT_NE(answer.next, nullptr);  // remembers that it was let go
  EXPECT_TRUE(answer.next->empty());
}

TEST_F(GangCallTest, TheOwnersWordIsASize) {
  kube::Pod unknown = ranked("job", 0, 4);
  unknown.metadata.annotations.erase("rankward.io/gang-size");
  cluster_.add_facts("Job/x", {{"team-a/Gang/job", {{"", 4, 0}}, "", false}});
  see();
  EXPECT_THAT(plan(call(unknown)), ElementsAre("a0", "a1", "a2", "a3"));
}

TEST_F(GangCallTest, ElasticGangsAreNotPlanned) {
  cluster_.add_facts("PyTorchJob/x", {{"team-a/Gang/job", {{"", 4, 2}}, "", true}});
  see();
  EXPECT_EQ(call(ranked("job", 0, 4)).gang.standing, GangStanding::kNotPlannable);
}

TEST_F(GangCallTest, ForeignGatesAndPinsAreLeftToTheirOwners) {
  kube::Pod gated = ranked("job", 1, 4);
  gated.spec.scheduling_gates = {"kueue.x-k8s.io/topology"};
  cluster_.add(gated);
  see();
  EXPECT_EQ(call(ranked("job", 0, 4)).gang.standing, GangStanding::kGatedByOthers);
  EXPECT_EQ(plan_gang(*view_, "team-a/Gang/job", now_, false, {}).standing,
            GangStanding::kGatedByOthers);
  cluster_.remove("uid-job-1");
  see();
  kube::Pod pinned = ranked("job", 0, 4);
  pinned.spec.node_selector["kubernetes.io/hostname"] = "b1";
  const CallAnswer answer = call(pinned, {"b1"});
  EXPECT_EQ(answer.gang.standing, GangStanding::kPinned);
  EXPECT_THAT(fits(answer), ElementsAre("b1"));
  EXPECT_TRUE(view_->reservations->empty());
}

TEST_F(GangCallTest, NominationsInTheWatchAreThePlan) {
  for (const int rank : {0, 1}) {
    kube::Pod nominated = ranked("job", rank, 2);
    nominated.status.nominated_node_name = rank == 0 ? "b3" : "b1";
    cluster_.add(nominated);
  }
  see();
  const GangOutcome outcome = plan_gang(*view_, "team-a/Gang/job", now_, true, {});
  ASSERT_EQ(outcome.standing, GangStanding::kPlanned);
  EXPECT_EQ(outcome.reservation->parts.front().slots[0].node, "b3");
  EXPECT_EQ(outcome.reservation->parts.front().slots[1].node, "b1");
  EXPECT_EQ(places(ranked("job", 1, 2)).front(), "b1");
}

TEST_F(GangCallTest, FromTheWatchAGangIsPlannedOnceItIsComplete) {
  cluster_.add(ranked("job", 0, 2));
  see();
  EXPECT_EQ(plan_gang(*view_, "team-a/Gang/job", now_, true, {}).standing,
            GangStanding::kIncomplete);
  cluster_.add(ranked("job", 1, 2));
  see();
  const GangOutcome outcome = plan_gang(*view_, "team-a/Gang/job", now_, true, {});
  ASSERT_EQ(outcome.standing, GangStanding::kPlanned);
  EXPECT_EQ(outcome.reservation->parts.front().slots.size(), 2U);
}

TEST_F(GangCallTest, APlannedNodeThatIsGoneIsReplacedFromTheWatch) {
  for (const int rank : {0, 1})
    cluster_.add(ranked("job", rank, 2));
  see();
  call(ranked("job", 0, 2));
  cluster_.remove_node("a1");
  see();
  const GangOutcome outcome = plan_gang(*view_, "team-a/Gang/job", now_, true, {});
  ASSERT_EQ(outcome.standing, GangStanding::kPlanned);
  EXPECT_EQ(outcome.reservation->plan_number, 2U);
  EXPECT_EQ(outcome.reservation->parts.front().slots[0].node, "a0") << "told already, so kept";
  EXPECT_NE(outcome.reservation->parts.front().slots[1].node, "a1");
}

TEST_F(GangCallTest, LeadersWithoutGpusAreNoRanks) {
  kube::Pod leader = member("job", 9, 5);
  leader.spec.containers.front().resources = {};
  cluster_.add(leader);
  see();
  const CallAnswer answer = call(ranked("job", 0, 5));
  EXPECT_EQ(answer.gang.reservation->parts.front().slots.size(), 4U);
  EXPECT_THAT(plan(answer), ElementsAre("a0", "a1", "a2", "a3"));
}

TEST_F(GangCallTest, RolesAreSubGangsAndStandOrFallTogether) {
  const auto of_role = [](std::string role, int number, std::int64_t gpus) {
    kube::Pod made = pod("rl-" + role + std::to_string(number), {{"nvidia.com/gpu", gpus}});
    made.metadata.labels = {{"training.kubeflow.org/job-name", "rl"},
                            {"training.kubeflow.org/replica-type", role},
                            {"training.kubeflow.org/replica-index", std::to_string(number)}};
    return made;
  };
  std::vector<kube::Pod> pods{of_role("master", 0, 4), of_role("worker", 0, 8),
                              of_role("worker", 1, 8), of_role("worker", 2, 8)};
  for (const kube::Pod& each : pods)
    cluster_.add(each);
  cluster_.add_facts("PyTorchJob/rl",
                     {{"team-a/TrainingJob/rl", {{"master", 1, 0}, {"worker", 3, 0}}, "", false}});
  see();
  const CallAnswer answer = call(pods[0]);
  ASSERT_EQ(answer.gang.standing, GangStanding::kPlanned);
  const auto& parts = answer.gang.reservation->parts;
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[0].role, "worker") << "largest first";
  EXPECT_EQ(parts[0].slots.size(), 3U);
  EXPECT_EQ(parts[1].slots.size(), 1U);
  for (const Slot& slot : parts[0].slots)
    EXPECT_NE(slot.node, parts[1].slots.front().node);
  // With room for the workers alone none of them starts.
  view_ = make_view(view_->snapshot, std::make_shared<const Reservations>());
  for (const char* name : {"a3", "b0", "b1", "b2", "b3"})
    cluster_.add(running_on(name, pod(std::string("full-") + name, {{"nvidia.com/gpu", 8}})));
  see();
  EXPECT_THAT(reasons(call(pods[1])), ::testing::Contains("GangDoesNotFit"));
  EXPECT_TRUE(view_->reservations->empty());
}

// A leader with one GPU beside workers with eight: a plan of one GPU a rank would start the leader
// and leave the workers without room.
TEST_F(GangCallTest, AGangWhoseRanksDifferIsPlannedByTheLargest) {
  const std::vector<kube::Pod> pods{ranked("job", 0, 3, 1), ranked("job", 1, 3),
                                    ranked("job", 2, 3)};
  for (const char* name : {"a1", "a2", "a3", "b0", "b1", "b2", "b3"})
    cluster_.add(running_on(name, pod(std::string("busy-") + name, {{"nvidia.com/gpu", 4}})));
  for (const kube::Pod& each : pods)
    cluster_.add(each);
  see();
  EXPECT_THAT(reasons(call(pods[0])), ::testing::Contains("GangDoesNotFit"));
  EXPECT_TRUE(view_->reservations->empty());
  for (const char* name : {"a1", "a2"})
    cluster_.remove(std::string("uid-busy-") + name);
  see();
  const CallAnswer answer = call(pods[0]);
  EXPECT_THAT(plan(answer), ElementsAre("a0", "a1", "a2"));
  for (const kube::Pod& each : {pods[1], pods[2]})
    EXPECT_EQ(fits(call(each)).size(), 1U);
}

TEST_F(GangCallTest, ARankThatAsksForMoreThanWasKnownIsPlannedAnew) {
  cluster_.add(running_on("a1", pod("busy", {{"nvidia.com/gpu", 4}})));
  const std::vector<kube::Pod> pods{ranked("job", 0, 3, 1), ranked("job", 1, 3),
                                    ranked("job", 2, 3)};
  cluster_.add(pods[0]);
  see();
  ASSERT_EQ(call(pods[0]).gang.standing, GangStanding::kPlanned);
  for (const kube::Pod& each : {pods[1], pods[2]})
    cluster_.add(each);
  see();
  std::vector<std::string> places;
  for (const kube::Pod& each : {pods[1], pods[2]}) {
    const auto fitting = fits(call(each));
    ASSERT_EQ(fitting.size(), 1U);
    places.push_back(fitting.front());
  }
  EXPECT_NE(places[0], places[1]);
  EXPECT_THAT(places, ::testing::Each(::testing::Ne("a1")));
}

TEST_F(GangCallTest, ARankIsNeverPutOnAnotherTransportThanTheRest) {
  for (const int rank : {0, 1})
    place(ranked("job", rank, 2));
  topology::NodeTopology sockets = hgx();
  sockets.nics.clear();
  cluster_.add(node("a2", {{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}}, leaf("leaf-a")), sockets);
  see();
  const CallAnswer extra = call(ranked("job", 2, 2), {"a2", "b0"});
  EXPECT_THAT(reasons(extra), ElementsAre("TransportMismatch", ""));
  EXPECT_THAT(fits(extra), ElementsAre("b0"));
}

TEST_F(GangCallTest, RanksOnSlicesNeedThePodsConsent) {
  kube::Pod slice = pod("slice-0", {{"nvidia.com/mig-1g.10gb", 1}},
                        {{"rankward.io/gang", "slice"}, {"rankward.io/gang-size", "2"}});
  cluster_.add(node("a0", {{"nvidia.com/mig-1g.10gb", 7}}));
  see();
  EXPECT_THAT(reasons(call(slice, {"a0"})), ElementsAre("GangIncompatible"));
  slice.metadata.annotations["rankward.io/sharing"] = "mig";
  EXPECT_THAT(places(slice, {"a0"}), ElementsAre("a0"));
  slice.metadata.annotations.erase("rankward.io/sharing");
  slice.metadata.annotations.erase("rankward.io/gang-size");
  EXPECT_THAT(places(slice, {"a0"}), ElementsAre("a0")) << "nobody says that it is one of several";
}

TEST_F(GangCallTest, CallsSlideTheLimit) {
  call(ranked("job", 0, 4));
  cluster_.add(ranked("job", 0, 4));
  for (std::int64_t at = 50'000; at <= 500'000; at += 50'000) {
    see(at);
    ASSERT_FALSE(view_->reservations->empty()) << at;
    call(ranked("job", 0, 4));
  }
  see(601'000);
  EXPECT_TRUE(view_->reservations->empty()) << "ten minutes in all";
}

// The leader is offered every rack that no other Job has; the others are made once it is bound, and
// tied to its rack by a selector.
TEST_F(GangCallTest, AJobOfASetWithExclusiveTopologyIsPlannedInTheRackOfItsLeader) {
  for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"}) {
    kube::Node rack = node(name, kHgxDevices);
    rack.metadata.labels["example.com/rack"] = name[0];
    cluster_.add(std::move(rack), hgx());
  }
  const auto of_job = [](int job, int index) {
    kube::Pod made = member("x", index, 1);
    made.metadata.name = "js-w-" + std::to_string(job) + "-" + std::to_string(index);
    made.metadata.uid = "uid-" + made.metadata.name;
    made.metadata.annotations = {
        {"alpha.jobset.sigs.k8s.io/exclusive-topology", "example.com/rack"}};
    made.metadata.labels = {{"jobset.sigs.k8s.io/jobset-name", "js"},
                            {"jobset.sigs.k8s.io/replicatedjob-name", "w"},
                            {"batch.kubernetes.io/job-name", "js-w-" + std::to_string(job)},
                            {"batch.kubernetes.io/job-completion-index", std::to_string(index)}};
    return made;
  };
  for (int job = 0; job < 2; ++job) {
    const auto ref = gang_of(of_job(job, 0)).value().value();
    GangFacts facts{.gang_key = ref.key};
    facts.sizes.push_back({ref.role, 4, 0});
    cluster_.add_facts("Job/" + ref.name, {facts});
  }
  // By the watch alone it is not known which racks the scheduler will let it have.
  cluster_.add(of_job(0, 0));
  see();
  EXPECT_EQ(plan_gang(*view_, gang_of(of_job(0, 0)).value()->key, now_, false, {}).standing,
            GangStanding::kNotPlannable);
  // Not all of the first rack can be had: the gang of the first leader goes to the other.
  cluster_.add(running_on("a2", pod("other", {{"nvidia.com/gpu", 1}})));
  see();
  EXPECT_EQ(place(of_job(0, 0)), "b0");
  EXPECT_THAT(reasons(call(of_job(1, 0), {"a0", "a1", "a3"})), Each("GangDoesNotFit"));
  cluster_.remove("uid-other");
  see();
  EXPECT_EQ(places(of_job(1, 0), {"a0", "a1", "a2", "a3"}), std::vector<std::string>{"a0"});
  for (int index = 1; index < 4; ++index) {
    kube::Pod follower = of_job(0, index);
    follower.spec.node_selector["example.com/rack"] = "b";
    EXPECT_EQ(places(follower, {"b1", "b2", "b3"}),
              std::vector<std::string>{"b" + std::to_string(index)});
  }
}

// Its own place was not offered, so it took rank 2's, and is not bound yet.
TEST_F(GangCallTest, ARankIsNotToldThePlaceThatAnotherHadToTake) {
  ASSERT_THAT(plan(call(ranked("job", 0, 4))), ElementsAre("a0", "a1", "a2", "a3"));
  EXPECT_EQ(places(ranked("job", 1, 4), {"a2", "a3"}), std::vector<std::string>{"a2"});
  const auto third = places(ranked("job", 2, 4));
  const auto fourth = places(ranked("job", 3, 4));
  std::vector<std::string> told{"a0", "a2"};
  for (const auto& each : {third, fourth}) {
    ASSERT_THAT(each, SizeIs(1));
    told.push_back(each[0]);
  }
  std::sort(told.begin(), told.end());
  EXPECT_THAT(told, ElementsAre("a0", "a1", "a2", "a3"));
}

TEST_F(GangCallTest, ANewTryOfARankTakesThePlaceOfTheLast) {
  (void)call(ranked("job", 0, 4));
  EXPECT_EQ(places(ranked("job", 2, 4)), std::vector<std::string>{"a2"});
  auto again = ranked("job", 2, 4);
  again.metadata.uid = "uid-again";
  EXPECT_EQ(places(again), std::vector<std::string>{"a2"});
}

// One master and three workers, of eight GPUs each, as training-operator marks them.
kube::Pod of_training_job(const std::string& role, int index) {
  kube::Pod made = pod("pt-" + role + "-" + std::to_string(index), kHgxDevices);
  made.metadata.labels = {{"training.kubeflow.org/job-name", "pt"},
                          {"training.kubeflow.org/replica-type", role},
                          {"training.kubeflow.org/replica-index", std::to_string(index)}};
  made.spec.containers[0].resources = member("x", 0, 1).spec.containers[0].resources;
  return made;
}

class GangOfRolesTest : public GangCallTest {
 protected:
  GangOfRolesTest() {
    GangFacts facts{.gang_key = gang_of(of_training_job("master", 0)).value().value().key};
    for (const auto& [role, pods] : {std::pair("master", 1), std::pair("worker", 3)}) {
      facts.sizes.push_back({role, pods, 0, role_pod(of_training_job(role, 0), 1, {})});
    }
    cluster_.add_facts("PyTorchJob/pt", {facts});
    see();
  }
  void leave(std::size_t nodes) {
    for (std::size_t i = nodes; i < all_.size(); ++i)
      cluster_.remove_node(all_[i]);
    see();
  }
};

TEST_F(GangOfRolesTest, WithoutRoomForARoleThatIsStillToComeNoneIsStarted) {
  leave(3);
  EXPECT_THAT(reasons(call(of_training_job("master", 0))), Each("GangDoesNotFit"));
  cluster_.add(node("a3", kHgxDevices, leaf("leaf-a")), hgx());
  see();
  std::vector<std::string> nodes{place(of_training_job("master", 0))};
  for (int index = 0; index < 3; ++index)
    nodes.push_back(place(of_training_job("worker", index)));
  std::sort(nodes.begin(), nodes.end());
  EXPECT_THAT(nodes, ElementsAre("a0", "a1", "a2", "a3"));
}

// The watch is behind the calls of two roles.
TEST_F(GangOfRolesTest, NobodyIsToldAPlaceThatAnotherRoleWasToldBefore) {
  leave(4);
  std::vector<std::string> nodes;
  for (const auto& each : {of_training_job("worker", 2), of_training_job("master", 0),
                           of_training_job("worker", 0), of_training_job("worker", 1)}) {
    const auto order = places(each);
    ASSERT_THAT(order, SizeIs(1)) << each.metadata.name;
    nodes.push_back(order[0]);
  }
  std::sort(nodes.begin(), nodes.end());
  EXPECT_THAT(nodes, ElementsAre("a0", "a1", "a2", "a3"));
}

// The same where nobody says what roles there are: the second is a new part.
TEST_F(GangCallTest, ARoleThatNobodySpokeOfDoesNotGetThePlaceThatAnotherWasTold) {
  GangFacts facts{.gang_key = gang_of(of_training_job("master", 0)).value().value().key};
  facts.sizes.push_back({"master", 1, 0});
  facts.sizes.push_back({"worker", 3, 0});
  cluster_.add_facts("PyTorchJob/pt", {facts});
  see();
  const auto master = places(of_training_job("master", 0));
  ASSERT_THAT(master, SizeIs(1));
  const CallAnswer answer = call(of_training_job("worker", 0));
  ASSERT_THAT(fits(answer), SizeIs(1));
  std::vector<std::string> slots;
  for (const ReservedPart& part : answer.gang.reservation->parts) {
    for (const Slot& slot : part.slots)
      slots.push_back(slot.node);
  }
  EXPECT_THAT(slots, SizeIs(4));
  EXPECT_THAT(slots, ::testing::Contains(master[0]).Times(1));
}

}  // namespace
}  // namespace rankward::placement
