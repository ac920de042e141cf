#include "pod_events.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rankward::cluster {
namespace {

using placement::GangOutcome;
using placement::GangStanding;
using placement::GangState;
using placement::Instant;
using placement::Reservation;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

GangState gang(int pods, const std::string& key = "team/Gang/job") {
  GangState out{.key = key};
  for (int i = 0; i < pods; ++i) {
    const auto name = "p" + std::to_string(i);
    out.pending.push_back({.uid = "uid-" + name, .pod = "team/" + name});
  }
  return out;
}

Reservation reservation(int slots) {
  Reservation out;
  out.parts.emplace_back();
  for (int i = 0; i < slots; ++i)
    out.parts.front().slots.push_back({.node = "n" + std::to_string(i / 2)});
  out.parts.front().prediction.seconds = {0.0369};
  out.parts.front().prediction.bandwidth = {50};
  out.parts.front().prediction.bottleneck = "one NIC for two GPUs";
  return out;
}

TEST(PodEvents, APlanIsToldWithItsNodesSecondsAndBottleneck) {
  EXPECT_EQ(planned_note(reservation(3)),
            "3 ranks on 2 nodes (n0: 2, n1: 1), 36.9 ms predicted for an all-reduce at 50 GB/s; "
            "bottleneck: one NIC for two GPUs");
}

TEST(PodEvents, OfManyNodesTheFirstEightAreNamed) {
  const auto note = planned_note(reservation(40));
  EXPECT_THAT(note, HasSubstr("40 ranks on 20 nodes"));
  EXPECT_THAT(note, HasSubstr(" and 12 more)"));
}

TEST(PodEvents, WhatWasNotTakenIsNamedByRankAndNode) {
  auto plan = reservation(4);
  plan.parts.front().slots[0].bound = plan.parts.front().slots[2].bound = true;
  EXPECT_EQ(expired_note(plan),
            "2 of 4 ranks did not come to their places in time, so the places are given back: "
            "1 (n0), 3 (n1)");
}

TEST(PodEvents, WhatIsMissingIsSaid) {
  GangOutcome refused{.standing = GangStanding::kRefused};
  refused.refusal.reason = placement::ReasonCode::kGangDoesNotFit;
  refused.refusal.note = "room for 12 of 16 ranks";
  EXPECT_THAT(waiting_note(refused, 16, false), HasSubstr("room for 12 of 16 ranks"));
  EXPECT_THAT(waiting_note(refused, 16, false), Not(HasSubstr("rankward.io/gang")));
  EXPECT_THAT(waiting_note(refused, 16, true), HasSubstr("rankward.io/gang"));
  EXPECT_THAT(waiting_note({.standing = GangStanding::kIncomplete}, 3, true),
              HasSubstr("3 pods of the gang exist"));
}

TEST(PodEvents, AtMostTheFirstPodsOfAGangThatAreNotOnTheirWayOut) {
  PodEvents events({});
  auto pods = gang(10);
  pods.pending[0].deleting = true;
  const auto made = events.about(pods, "GangWaiting", true, "why", 5, {0});
  ASSERT_THAT(made, SizeIs(5));
  EXPECT_EQ(made.front().pod, "p1");
  EXPECT_EQ(made.front().name_space, "team");
  EXPECT_EQ(made.front().uid, "uid-p1");
  EXPECT_TRUE(made.front().warning);
}

TEST(PodEvents, NobodyIsToldTheSameTwiceWithinTheInterval) {
  PodEvents events({.interval = 60'000});
  EXPECT_THAT(events.about(gang(1), "GangWaiting", true, "why", 5, {0}), SizeIs(1));
  EXPECT_THAT(events.about(gang(1), "GangWaiting", true, "why else", 5, {59'999}), SizeIs(0));
  EXPECT_THAT(events.about(gang(1), "GangPlanned", false, "where", 1, {59'999}), SizeIs(1));
  EXPECT_THAT(events.about(gang(1, "team/Gang/b"), "GangWaiting", true, "w", 5, {1}), SizeIs(1));
  EXPECT_THAT(events.about(gang(1), "GangWaiting", true, "why", 5, {60'000}), SizeIs(1));
}

TEST(PodEvents, AllTogetherAreBounded) {
  PodEvents events({.per_second = 5, .burst = 25});
  std::size_t made = 0;
  for (int i = 0; i < 100; ++i) {
    made += events.about(gang(5, "g" + std::to_string(i)), "GangWaiting", true, "", 5, {0}).size();
  }
  EXPECT_EQ(made, 25U);
  EXPECT_THAT(events.about(gang(5, "later"), "GangWaiting", true, "", 5, {400}), SizeIs(2));
}

}  // namespace
}  // namespace rankward::cluster
