#include "nominations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

namespace rankward::cluster {
namespace {

using placement::GangState;
using placement::Instant;
using placement::PendingMember;
using placement::Reservation;
using placement::ReservedPart;
using placement::Slot;
using testing::ElementsAre;

PendingMember member(const std::string& name, std::optional<std::int32_t> rank = std::nullopt,
                     const std::string& nominated = "", const std::string& role = "") {
  auto request = std::make_shared<placement::Request>();
  request->gang.emplace();
  request->gang->rank = rank;
  request->gang->role = role;
  return {.uid = name, .pod = "team/" + name, .request = request, .nominated_node = nominated};
}

Reservation reservation(std::vector<Slot> slots) {
  Reservation out;
  out.parts.push_back({.slots = std::move(slots)});
  return out;
}

TEST(NodesOfMembers, ASlotGoesToItsPodThenToItsRankThenToWhoIsNominatedThereThenInOrder) {
  const auto plan = reservation({{.node = "n0"},
                                 {.node = "n1", .uid = "known"},
                                 {.node = "n2"},
                                 {.node = "n3", .uid = "stands", .bound = true},
                                 {.node = "n4"}});
  EXPECT_THAT(nodes_of_members({.pending = {member("next"), member("known"),
                                            member("there", {}, "n4"), member("ranked", 2)}},
                               plan),
              ElementsAre("n0", "n1", "n4", "n2"));
}

TEST(NodesOfMembers, ANewTryOfARankTakesThePlaceOfTheLastOne) {
  const auto plan = reservation({{.node = "n0", .uid = "first-try"}, {.node = "n1"}});
  EXPECT_THAT(nodes_of_members({.pending = {member("second-try", 0)}}, plan), ElementsAre("n0"));
}

TEST(NodesOfMembers, NobodyGetsASlotThatIsBoundOrTwice) {
  const auto plan = reservation({{.node = "n0", .uid = "x", .bound = true}, {.node = "n1"}});
  EXPECT_THAT(nodes_of_members({.pending = {member("a", 0), member("b", 1), member("c", 1)}}, plan),
              ElementsAre("", "n1", ""));
}

TEST(NodesOfMembers, RolesAndPodsOnTheirWayOutAreKeptApart) {
  Reservation plan;
  plan.parts.push_back({.role = "worker", .slots = {{.node = "w0"}}});
  plan.parts.push_back({.role = "leader", .slots = {{.node = "l0"}}});
  GangState gang{.pending = {member("old", 0, "", "worker"), member("w", 0, "", "worker"),
                             member("l", 0, "", "leader"), member("none", 0, "", "other")}};
  gang.pending.front().deleting = true;
  EXPECT_THAT(nodes_of_members(gang, plan), ElementsAre("", "w0", "l0", ""));
}

class NominationsTest : public testing::Test {
 protected:
  NominationStep decide(const std::string& shown, const std::string& wanted) {
    nominations_.begin_look();
    const auto decision = nominations_.decide(member("p", {}, shown), wanted, now_);
    nominations_.end_look();
    seen_ = decision.seen;
    return decision.step;
  }
  void at(std::int64_t milliseconds) { now_ = {milliseconds}; }
  // We wrote it, and the watch has shown it.
  void made(const std::string& node) {
    ASSERT_EQ(decide("", node), NominationStep::kSet);
    nominations_.written("p", node, now_);
    ASSERT_EQ(decide(node, node), NominationStep::kStands);
  }

  Nominations nominations_;
  Instant now_{1};
  std::string seen_;
};

TEST_F(NominationsTest, WhatWeWroteIsChangedAndClearedWithoutAQuestion) {
  made("a");
  EXPECT_EQ(decide("a", "b"), NominationStep::kChange);
  EXPECT_EQ(seen_, "a");
  EXPECT_EQ(decide("a", ""), NominationStep::kClear);
}

TEST_F(NominationsTest, WhatEqualsThePlanStandsAndIsNotThereforeOurs) {
  EXPECT_EQ(decide("a", "a"), NominationStep::kStands);
  EXPECT_EQ(decide("a", "b"), NominationStep::kAsk);
  nominations_.answered("p", "a", false);
  EXPECT_EQ(decide("a", "b"), NominationStep::kForeign);
  EXPECT_EQ(decide("a", ""), NominationStep::kForeign);
  EXPECT_EQ(decide("a", "a"), NominationStep::kStands) << "the plan came back to it";
  EXPECT_EQ(decide("a", "b"), NominationStep::kForeign);
}

TEST_F(NominationsTest, WhatIsNotKnownIsAskedForAndAnothersIsLeftAlone) {
  EXPECT_EQ(decide("x", "a"), NominationStep::kAsk);
  nominations_.answered("p", "x", false);
  EXPECT_EQ(decide("x", "a"), NominationStep::kForeign);
  EXPECT_EQ(decide("x", ""), NominationStep::kForeign);
  EXPECT_EQ(decide("y", "a"), NominationStep::kAsk) << "another value is another question";
  nominations_.answered("p", "y", true);
  EXPECT_EQ(decide("y", "a"), NominationStep::kChange);
}

TEST_F(NominationsTest, AWriteCountsUntilTheWatchShowsItOrTwoSecondsHavePassed) {
  EXPECT_EQ(decide("", "a"), NominationStep::kSet);
  nominations_.written("p", "a", now_);
  EXPECT_EQ(decide("", "a"), NominationStep::kStands);
  at(1'999);
  EXPECT_EQ(decide("", "a"), NominationStep::kStands);
  at(2'001);
  EXPECT_EQ(decide("", "a"), NominationStep::kWait) << "lost or cleared at once: a renewal";
  at(2'201);
  EXPECT_EQ(decide("", "a"), NominationStep::kRenew);
}

TEST_F(NominationsTest, AClearedValueThatTheWatchStillShowsIsNotClearedTwice) {
  made("a");
  EXPECT_EQ(decide("a", ""), NominationStep::kClear);
  nominations_.written("p", "", now_);
  EXPECT_EQ(decide("a", ""), NominationStep::kStands);
  EXPECT_EQ(decide("", ""), NominationStep::kStands);
  EXPECT_EQ(decide("", "a"), NominationStep::kSet);
}

TEST_F(NominationsTest, RenewalsWaitTwiceAsLongEachTimeAndStartAnewAfterAQuietMinute) {
  made("a");
  std::int64_t time = 10'000;
  std::vector<std::int64_t> waits;
  for (int i = 0; i < 9; ++i) {
    const auto began = time;
    for (at(time); decide("", "a") != NominationStep::kRenew; at(time))
      time += 100;
    waits.push_back(time - began);
    nominations_.written("p", "a", now_);
    decide("a", "a");
  }
  EXPECT_THAT(waits, ElementsAre(200, 400, 800, 1'600, 3'200, 6'400, 12'800, 25'600, 30'000));
  at(time + 60'001);
  decide("a", "a");
  EXPECT_EQ(decide("", "a"), NominationStep::kWait);
  at(time + 60'201);
  EXPECT_EQ(decide("", "a"), NominationStep::kRenew);
}

TEST_F(NominationsTest, AfterAConflictTheWatchIsGivenTimeToCatchUp) {
  EXPECT_EQ(decide("", "a"), NominationStep::kSet);
  nominations_.conflicted("p", now_);
  EXPECT_EQ(decide("", "a"), NominationStep::kWait);
  at(502);
  EXPECT_EQ(decide("", "a"), NominationStep::kSet);
}

TEST_F(NominationsTest, PodsThatWaitNoMoreAreForgotten) {
  decide("", "a");
  EXPECT_EQ(nominations_.size(), 1U);
  nominations_.begin_look();
  nominations_.end_look();
  EXPECT_EQ(nominations_.size(), 0U);
  EXPECT_EQ(decide("", ""), NominationStep::kStands);
  EXPECT_EQ(nominations_.size(), 0U) << "most pods never carry one";
}

}  // namespace
}  // namespace rankward::cluster
