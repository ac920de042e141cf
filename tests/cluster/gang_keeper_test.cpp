// What the keeper writes, in which order, and what it leaves alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "gang_keeper_rounds.hpp"
#include "gang_world.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;
using testing::SizeIs;

const std::string kGate(placement::kGangGate);

class GangKeeperTest : public testing::Test {
 protected:
  GangKeeperTest() {
    options_.clock = &clock_;
    options_.on_event = [this](const WatchEvent& event) {
      log_.push_back(std::string(event.message) + ": " + std::string(event.object));
    };
  }

  void restart() {
    rounds_.emplace(
        board_, world_, options_, [this] { return leading_; }, "test", [] { return 0.5; });
  }
  // The keeper's thread for that long: a look every 100 ms, the watch 50 ms behind the writes.
  std::vector<std::string> pass(milliseconds time) {
    if (!rounds_) restart();
    for (milliseconds passed{0}; passed < time; passed += milliseconds(100)) {
      while (rounds_->run()) {
      }
      clock_.advance(milliseconds(50));
      if (watching_) world_.publish();
      clock_.advance(milliseconds(50));
    }
    return world_.take_log();
  }
  // In no gang, and kept aside by the scheduler.
  void put_single(const std::string& name, std::int64_t gpus) {
    auto pod = placement::testing::pod(name, {{"nvidia.com/gpu", gpus}});
    pod.status.unschedulable = true;
    world_.put_pod(std::move(pod));
  }
  std::vector<std::string> settle() { return pass(milliseconds(1'000)); }

  FakeClock clock_{std::chrono::system_clock::time_point(std::chrono::hours(24 * 365 * 56))};
  GangWorld world_;
  PlanBoard board_{world_, clock_};
  GangKeeperOptions options_;
  bool leading_ = true;
  bool watching_ = true;
  std::vector<std::string> log_;
  std::optional<GangRounds> rounds_;
};

TEST_F(GangKeeperTest, EveryRankOfACompleteGangIsNominatedInRankOrder) {
  world_.put_gang("job", 4);
  EXPECT_THAT(settle(), ElementsAre("nominate job-0 a0", "nominate job-1 a1", "nominate job-2 a2",
                                    "nominate job-3 a3"));
  EXPECT_THAT(settle(), IsEmpty()) << "nothing is written twice";
  EXPECT_EQ(rounds_->stats().nominations_made, 4U);
}

TEST_F(GangKeeperTest, GangsOfOtherSchedulersAreLeftToThem) {
  options_.scheduler_names = {"rankward"};
  world_.put_gang("theirs", 2);
  world_.put_gang("gated", 2, {kGate});
  EXPECT_THAT(settle(), IsEmpty());
  EXPECT_TRUE(board_.view()->reservations->empty());
  for (int rank : {0, 1}) {
    auto ours = GangWorld::member("ours", rank, 2);
    ours.spec.scheduler_name = "rankward";
    world_.put_pod(ours);
  }
  EXPECT_THAT(settle(), SizeIs(2));
}

TEST_F(GangKeeperTest, AnIncompleteGangIsNeitherPlannedNorNominated) {
  for (int rank : {0, 1, 3})
    world_.put_pod(GangWorld::member("job", rank, 4));
  EXPECT_THAT(settle(), IsEmpty());
  EXPECT_TRUE(board_.view()->reservations->empty());
  world_.put_pod(GangWorld::member("job", 2, 4));
  EXPECT_THAT(settle(), SizeIs(4));
}

// The scheduler hears of a new node as soon as we do, asks at once and is told what the Snapshot
// still says; then its pods sleep until something else happens.
TEST_F(GangKeeperTest, AnIncompleteGangThatWasRefusedIsWokenOnceItHasRoom) {
  for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2"})
    world_.remove_node(name);
  for (int rank : {0, 1})
    world_.put_pod(GangWorld::member("job", rank, 3));
  world_.set_unschedulable("job-0");
  EXPECT_THAT(settle(), IsEmpty());
  EXPECT_TRUE(board_.view()->reservations->empty());
  world_.put_node("b1");
  EXPECT_THAT(settle(), IsEmpty()) << "two nodes are no room for three ranks";
  world_.put_node("b2");
  EXPECT_THAT(pass(milliseconds(3'000)), ElementsAre("wake"));
  EXPECT_FALSE(board_.view()->reservations->empty());
  EXPECT_THAT(settle(), IsEmpty()) << "once is enough";
}

TEST_F(GangKeeperTest, NothingIsWrittenWithoutTheLease) {
  leading_ = false;
  world_.put_gang("job", 4);
  world_.put_gang("gated", 2, {kGate});
  EXPECT_THAT(settle(), IsEmpty());
  leading_ = true;
  EXPECT_THAT(settle(), SizeIs(4 + 2 + 2));
}

TEST_F(GangKeeperTest, AReplicaWithoutTheLeaseReadsThePlanBackFromTheNominations) {
  leading_ = false;
  world_.put_gang("job", 2);
  world_.nominated_before("job-0", "b2");
  world_.nominated_before("job-1", "b3");
  settle();
  const auto* plan = board_.view()->reservations->find("team-a/Gang/job");
  ASSERT_NE(plan, nullptr);
  EXPECT_EQ(plan->parts.front().slots[0].node, "b2");
  EXPECT_EQ(plan->parts.front().slots[1].node, "b3");
}

TEST_F(GangKeeperTest, ANewLeaderAdoptsTheNominationsOfTheLastOne) {
  world_.put_gang("job", 2);
  world_.nominated_before("job-0", "b2");
  world_.nominated_before("job-1", "b3");
  EXPECT_THAT(settle(), IsEmpty());
  EXPECT_THAT(world_.events(), IsEmpty()) << "who made the plan has told of it";
  world_.fail_attempt("job-1");
  EXPECT_THAT(settle(), ElementsAre("nominate job-1 b3"));
  EXPECT_EQ(rounds_->stats().nominations_made, 1U) << "the first that this process wrote";
}

TEST_F(GangKeeperTest, ANominationOfAnotherIsLeftAloneAndTheRestIsNominated) {
  world_.put_gang("job", 2);
  world_.set_nomination("job-1", "b3");
  const auto written = settle();
  EXPECT_EQ(world_.nomination_of("job-1"), "b3");
  EXPECT_THAT(written, Each(Not(HasSubstr("job-1"))));
  settle();
  EXPECT_EQ(world_.nomination_of("job-1"), "b3");
}

TEST_F(GangKeeperTest, AForeignNominationOffThePlanIsAskedForOnceAndCounted) {
  world_.put_gang("job", 2);
  settle();
  world_.take_log();
  world_.set_nomination("job-1", "b0");
  pass(milliseconds(5'000));
  EXPECT_EQ(world_.nomination_of("job-1"), "b0");
  EXPECT_THAT(world_.asked_, ElementsAre("job-1"));
  EXPECT_EQ(rounds_->stats().nominations_foreign, 1U);
}

TEST_F(GangKeeperTest, AClearedNominationIsRenewedEverMoreSlowly) {
  world_.put_gang("job", 2);
  settle();
  std::vector<int> renewals;
  for (int second = 0; second < 60; ++second) {
    if (world_.nomination_of("job-0").empty() == false) world_.fail_attempt("job-0");
    renewals.push_back(static_cast<int>(pass(milliseconds(1'000)).size()));
  }
  const int all = std::accumulate(renewals.begin(), renewals.end(), 0);
  EXPECT_GE(all, 5);
  EXPECT_LE(all, 10) << "200 ms, doubling up to 30 s";
  EXPECT_EQ(renewals.front(), 1);
}

TEST_F(GangKeeperTest, WithinFiveSecondsNoPodKeepsTheNameOfADeletedNode) {
  world_.put_gang("job", 8);
  settle();
  ASSERT_EQ(world_.nomination_of("job-3"), "a3");
  world_.remove_node("a3");
  EXPECT_THAT(pass(milliseconds(4'000)), Contains("clear job-3"));
  for (int rank = 0; rank < 8; ++rank)
    EXPECT_EQ(world_.nomination_of("job-" + std::to_string(rank)), "") << rank;
}

TEST_F(GangKeeperTest, WithinFiveSecondsAGangMovesOffANodeThatIsNotReady) {
  world_.put_gang("job", 2);
  settle();
  ASSERT_EQ(world_.nomination_of("job-1"), "a1");
  world_.put_node("a1", kube::Readiness::kNotReady);
  pass(milliseconds(4'000));
  for (int rank = 0; rank < 2; ++rank) {
    const auto node = world_.nomination_of("job-" + std::to_string(rank));
    EXPECT_NE(node, "a1");
    EXPECT_NE(node, "");
  }
}

TEST_F(GangKeeperTest, AGangIsNotLetGoWhileANodeOfItsPlanHasNoReadyCondition) {
  for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"})
    world_.put_node(name, kube::Readiness::kUnknown);
  world_.put_gang("gated", 2, {kGate});
  EXPECT_THAT(pass(milliseconds(30'000)), IsEmpty());
  for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"})
    world_.put_node(name);
  EXPECT_THAT(settle(), ElementsAre("nominate gated-0 a0", "nominate gated-1 a1", "lift gated-0",
                                    "lift gated-1"));
}

TEST_F(GangKeeperTest, APolicyAgainstNominationsHoldsAGatedGangNoLongerThanItsMostHold) {
  world_.answers_["nominate"] = {WriteResult::kConflict, "denied by a policy", {}};
  world_.put_gang("gated", 2, {kGate});
  EXPECT_THAT(pass(milliseconds(59'000)), IsEmpty());
  EXPECT_THAT(pass(milliseconds(3'000)), IsSupersetOf({"lift gated-0", "lift gated-1"}));
}

TEST_F(GangKeeperTest, AStaleNominationOfTheLastLeaderIsClearedByItsManagedFields) {
  world_.put_gang("job", 9);  // more than there are nodes: no plan
  world_.nominated_before("job-0", "gone");
  world_.set_nomination("job-1", "gone");
  pass(milliseconds(4'000));
  EXPECT_EQ(world_.nomination_of("job-0"), "");
  EXPECT_EQ(world_.nomination_of("job-1"), "gone") << "not written by us";
}

TEST_F(GangKeeperTest, WritesKeepToTheirRate) {
  options_.rate = {.per_second = 10, .burst = 2};
  world_.put_gang("job", 8);
  EXPECT_LE(pass(milliseconds(300)).size(), 5U);
  EXPECT_THAT(pass(milliseconds(1'000)), SizeIs(testing::Gt(2U)));
  EXPECT_NE(world_.nomination_of("job-7"), "");
}

// At this rate the last gates go two minutes after the plan, of which nobody has called.
TEST_F(GangKeeperTest, APlanDoesNotEndAndNoGateGoesEarlyWhileOurOwnRateHoldsItUp) {
  options_.rate = {.per_second = 0.125, .burst = 1};
  world_.put_gang("gated", 8, {kGate});
  const auto written = pass(milliseconds(140'000));
  EXPECT_THAT(world_.events(), Not(Contains(HasSubstr("GangPlaceExpired"))));
  ASSERT_THAT(written, SizeIs(16));
  for (int rank = 0; rank < 8; ++rank) {
    EXPECT_THAT(written[rank], testing::StartsWith("nominate gated-" + std::to_string(rank)));
    EXPECT_EQ(written[8 + rank], "lift gated-" + std::to_string(rank));
  }
  EXPECT_EQ(rounds_->stats().planned, 1U);
}

TEST_F(GangKeeperTest, WithoutNominationTheRestWorks) {
  options_.nominate = false;
  world_.put_gang("job", 2);
  world_.put_gang("gated", 2, {kGate});
  EXPECT_THAT(settle(), ElementsAre("lift gated-0", "lift gated-1"));
  EXPECT_NE(board_.view()->reservations->find("team-a/Gang/job"), nullptr);
}

TEST_F(GangKeeperTest, ARefusedNominationIsWarnedOfOnceAndTriedAgainLater) {
  world_.answers_["nominate"] = {WriteResult::kRefused, "forbidden", {}};
  world_.put_gang("gated", 2, {kGate});
  EXPECT_THAT(pass(milliseconds(10'000)), ElementsAre("lift gated-0", "lift gated-1"));
  EXPECT_EQ(world_.calls_["nominate"], 1);
  EXPECT_EQ(rounds_->stats().nominate_failures, 1U);
  EXPECT_THAT(log_, Contains(HasSubstr("may not nominate")).Times(1));
}

TEST_F(GangKeeperTest, AFailedWriteIsTriedAgainAfterAWait) {
  world_.answers_["nominate"] = {WriteResult::kFailed, "no answer", milliseconds(3'000)};
  world_.put_gang("job", 2);
  pass(milliseconds(2'000));
  EXPECT_EQ(world_.calls_["nominate"], 1) << "Retry-After holds the others back too";
  world_.answers_.clear();
  EXPECT_THAT(pass(milliseconds(3'000)), SizeIs(2));
}

TEST_F(GangKeeperTest, AGatedGangIsNominatedAndThenLetGoInRankOrder) {
  for (int rank : {0, 2})
    world_.put_pod(GangWorld::member("job", rank, 3, {kGate}));
  EXPECT_THAT(pass(milliseconds(120'000)), IsEmpty()) << "held until all ranks exist";
  world_.put_pod(GangWorld::member("job", 1, 3, {kGate}));
  EXPECT_THAT(settle(), ElementsAre("nominate job-0 a0", "nominate job-1 a1", "nominate job-2 a2",
                                    "lift job-0", "lift job-1", "lift job-2"));
  EXPECT_EQ(rounds_->stats().gates_lifted_planned, 3U);
  EXPECT_THAT(settle(), IsEmpty());
}

TEST_F(GangKeeperTest, WhileARankIsGatedByAnotherNothingIsDone) {
  world_.put_gang("job", 2, {kGate});
  world_.put_pod(GangWorld::member("job", 1, 2, {kGate, "kueue.x-k8s.io/admission"}));
  EXPECT_THAT(pass(milliseconds(120'000)), IsEmpty());
  EXPECT_TRUE(board_.view()->reservations->empty());
  world_.put_pod(GangWorld::member("job", 1, 2, {kGate}));
  EXPECT_THAT(settle(), SizeIs(4));
}

TEST_F(GangKeeperTest, WithoutCapacityGatesAreLiftedAfterTheHoldAndNothingIsNominated) {
  options_.timing.gate_max_hold = milliseconds(20'000);
  world_.put_gang("job", 9, {kGate});
  EXPECT_THAT(pass(milliseconds(19'000)), IsEmpty());
  EXPECT_THAT(pass(milliseconds(3'000)), SizeIs(9));
  for (int rank = 0; rank < 9; ++rank) {
    EXPECT_EQ(world_.gates_of("job-" + std::to_string(rank)), 0U);
    EXPECT_EQ(world_.nomination_of("job-" + std::to_string(rank)), "");
  }
  EXPECT_EQ(rounds_->stats().gates_lifted_unplanned, 9U);
  EXPECT_THAT(world_.events(),
              ElementsAre("GangWaiting job-0", "GangWaiting job-1", "GangWaiting job-2",
                          "GangWaiting job-3", "GangWaiting job-4"));
  EXPECT_THAT(world_.events_.front().note, HasSubstr("rankward.io/gang"));
}

TEST_F(GangKeeperTest, RanksThatAnotherControllerPinnedAreLetGoAndNotNominated) {
  for (int rank = 0; rank < 2; ++rank) {
    auto pod = GangWorld::member("job", rank, 2, {kGate});
    pod.spec.node_selector["kubernetes.io/hostname"] = "b" + std::to_string(rank);
    world_.put_pod(std::move(pod));
  }
  EXPECT_THAT(settle(), ElementsAre("lift job-0", "lift job-1"));
}

TEST_F(GangKeeperTest, ThePlanIsToldOnRankZeroWithNodesAndSeconds) {
  world_.put_gang("job", 2);
  pass(milliseconds(10'000));
  ASSERT_THAT(world_.events(), ElementsAre("GangPlanned job-0"));
  const auto& event = world_.events_.front();
  EXPECT_FALSE(event.warning);
  EXPECT_THAT(event.note, testing::StartsWith("2 ranks on 2 nodes (a0: 1, a1: 1), "));
  EXPECT_THAT(event.note, HasSubstr(" ms predicted for an all-reduce of 1.00 GiB"));
  EXPECT_EQ(event.time.size(), std::string("2026-01-31T12:00:00.000000Z").size());
}

TEST_F(GangKeeperTest, PlacesThatAreNotTakenEndWithAnEventAWakeAndARest) {
  world_.put_gang("job", 2);
  settle();
  world_.bind("job-0", "a0");
  const auto written = pass(milliseconds(70'000));
  EXPECT_THAT(written, Contains("wake"));
  EXPECT_THAT(written, Contains("clear job-1"));
  ASSERT_THAT(world_.events(), Contains("GangPlaceExpired job-1"));
  EXPECT_THAT(world_.events_.back().note, HasSubstr("1 of 2 ranks"));
  EXPECT_THAT(world_.events_.back().note, HasSubstr("1 (a1)"));
  EXPECT_EQ(board_.view()->reservations->find("team-a/Gang/job"), nullptr)
      << "it is left to its own calls for a minute";
  pass(milliseconds(60'000));
  EXPECT_NE(board_.view()->reservations->find("team-a/Gang/job"), nullptr);
}

TEST_F(GangKeeperTest, AGangThatGoesAwayWakesWhoWaitsForItsPlaces) {
  world_.put_gang("first", 8);
  settle();
  world_.put_gang("second", 8);
  EXPECT_THAT(settle(), IsEmpty());
  for (int rank = 0; rank < 8; ++rank)
    world_.remove_pod("first-" + std::to_string(rank));
  const auto written = pass(milliseconds(4'000));
  EXPECT_THAT(written, IsSupersetOf({"wake", "nominate second-0 a0", "nominate second-7 b3"}));
}

TEST_F(GangKeeperTest, ManyReasonsToWakeAreOneWakeASecond) {
  for (int i = 0; i < 4; ++i)
    world_.put_gang("job" + std::to_string(i), 2);
  settle();
  for (int i = 0; i < 4; ++i) {
    for (int rank = 0; rank < 2; ++rank)
      world_.remove_pod("job" + std::to_string(i) + "-" + std::to_string(rank));
  }
  EXPECT_THAT(pass(milliseconds(3'000)), ElementsAre("wake"));
}

TEST_F(GangKeeperTest, BetweenAWriteAndItsEchoNothingIsWrittenAgain) {
  world_.put_gang("job", 2, {kGate});
  settle();
  world_.put_gang("late", 2, {kGate});
  world_.publish();
  watching_ = false;
  EXPECT_THAT(pass(milliseconds(1'500)), SizeIs(4));
}

TEST_F(GangKeeperTest, ABoundRankIsLeftAloneAndItsPlaceMadeAgainIsNominated) {
  world_.put_gang("job", 3);
  settle();
  world_.bind("job-0", "a0");
  world_.bind("job-1", "a1");
  world_.remove_pod("job-2");
  EXPECT_THAT(settle(), IsEmpty());
  auto again = GangWorld::member("job", 2, 3);
  again.metadata.name = "job-2-again";
  again.metadata.uid = "uid-job-2-again";
  world_.put_pod(std::move(again));
  EXPECT_THAT(settle(), ElementsAre("nominate job-2-again a2"));
}

// Another replica's reservation, say, has kept it from a place, and ends without an event.
TEST_F(GangKeeperTest, APodThatSleepsThoughItFitsIsWokenEverMoreSlowly) {
  put_single("sleeper", 8);
  EXPECT_THAT(pass(milliseconds(4'500)), IsEmpty()) << "it may have been refused this very moment";
  EXPECT_THAT(pass(milliseconds(5'000)), ElementsAre("wake"));
  EXPECT_THAT(pass(milliseconds(10'000)), IsEmpty());
  EXPECT_THAT(pass(milliseconds(600'000)),
              SizeIs(testing::AllOf(testing::Ge(4U), testing::Le(6U))));
  world_.bind("sleeper", "a0");
  EXPECT_THAT(pass(milliseconds(600'000)), IsEmpty());
  EXPECT_THAT(world_.events(), IsEmpty());
}

// Volumes or affinity are against them, which we do not know: each wake costs the scheduler an
// attempt at all of them.
TEST_F(GangKeeperTest, ManyThatSleepThoughTheyFitAreWokenTogetherAndEverMoreSlowly) {
  for (int i = 0; i < 200; ++i)
    put_single("sleeper-" + std::to_string(i), 1);
  EXPECT_THAT(pass(milliseconds(60'000)), SizeIs(testing::Le(4U)));
  pass(milliseconds(1'800'000));
  EXPECT_THAT(pass(milliseconds(600'000)), SizeIs(testing::Le(2U)));
  // Of the old ones nothing is expected any more; a new one is woken like the first.
  put_single("fresh", 1);
  EXPECT_THAT(pass(milliseconds(25'000)), Contains("wake"));
}

TEST_F(GangKeeperTest, NobodyIsWokenForPlacesThatAGangHoldsUntilTheyAreFree) {
  world_.put_gang("job", 8);
  settle();
  put_single("sleeper", 8);
  EXPECT_THAT(pass(milliseconds(30'000)), IsEmpty());
  EXPECT_THAT(world_.events(), ElementsAre("GangPlanned job-0"));
  for (int rank = 0; rank < 8; ++rank)
    world_.remove_pod("job-" + std::to_string(rank));
  EXPECT_THAT(pass(milliseconds(2'000)), ElementsAre("wake"));
}

// The scheduler says "Insufficient nvidia.com/gpu" and never asks.
TEST_F(GangKeeperTest, APodThatNoNodeTakesIsToldOnceWhatTheSchedulerCannotSee) {
  for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"}) {
    auto node = GangWorld::make_node(name);
    node.allocatable.insert_or_assign("nvidia.com/gpu", kube::Quantity(0));
    world_.put_node(std::move(node));
  }
  put_single("sleeper", 8);
  EXPECT_THAT(pass(milliseconds(600'000)), IsEmpty());
  ASSERT_THAT(world_.events(), ElementsAre("PodWaiting sleeper"));
  const auto& event = world_.events_.front();
  EXPECT_TRUE(event.warning);
  EXPECT_THAT(event.note, testing::StartsWith("no node of 8 takes it: 8: registered devices are"));
  EXPECT_THAT(event.note, HasSubstr("(NothingAllocatable)"));
  EXPECT_THAT(event.note, HasSubstr("device plugin's log"));
}

TEST_F(GangKeeperTest, WhatCouldNotBeToldIsToldLater) {
  world_.answers_["event"] = {WriteResult::kRefused, "forbidden", {}};
  world_.put_gang("job", 2);
  settle();
  world_.answers_.clear();
  for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"}) {
    auto node = GangWorld::make_node(name);
    node.allocatable.insert_or_assign("nvidia.com/gpu", kube::Quantity(0));
    world_.put_node(std::move(node));
  }
  put_single("sleeper", 8);
  pass(milliseconds(200'000));
  EXPECT_THAT(world_.events(), IsEmpty()) << "after a refusal Events rest for five minutes";
  pass(milliseconds(500'000));
  EXPECT_THAT(world_.events(), Contains("PodWaiting sleeper").Times(1));
}

TEST_F(GangKeeperTest, PodsOfOtherSchedulersAreNeitherWokenNorTold) {
  options_.scheduler_names = {"rankward"};
  put_single("sleeper", 8);
  EXPECT_THAT(pass(milliseconds(60'000)), IsEmpty());
}

TEST_F(GangKeeperTest, WhoWaitsForUsedGpusIsNotTold) {
  for (const char* name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"}) {
    put_single(std::string("on-") + name, 8);
    world_.bind(std::string("on-") + name, name);
  }
  put_single("sleeper", 8);
  EXPECT_THAT(pass(milliseconds(600'000)), IsEmpty());
  EXPECT_THAT(world_.events(), IsEmpty()) << "the scheduler's own event says so";
}

}  // namespace
}  // namespace rankward::cluster
