#include "rankward/placement/reservations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::node;
using testing::pod;
using testing::running_on;

constexpr std::string_view kKey = "team-a/Gang/job";
constexpr ReservationLimits kLimits;

kube::Pod rank(int number, std::string name = {}) {
  if (name.empty()) name = "job-" + std::to_string(number);
  return pod(std::move(name), {{"nvidia.com/gpu", 4}},
             {{"rankward.io/gang", "job"},
              {"rankward.io/gang-size", "3"},
              {"rankward.io/rank", std::to_string(number)}});
}

std::shared_ptr<const Request> request() {
  return std::make_shared<const Request>(make_request(rank(0), {}).value());
}

Slot given(std::string on, std::string name) {
  return {.node = std::move(on), .uid = "uid-" + std::move(name), .asked = true};
}

// A plan of three ranks: two on n0, one on n1.
Reservations plan(std::vector<Slot> slots, Instant made = {}, bool seen = false) {
  auto reservation = std::make_shared<Reservation>();
  reservation->gang_key = kKey;
  reservation->made = reservation->touched = made;
  reservation->seen = seen;
  reservation->parts.push_back({"", request(), std::move(slots), {}});
  return Reservations().with(std::move(reservation));
}

class ReservationsTest : public ::testing::Test {
 protected:
  ReservationsTest() {
    for (const char* name : {"n0", "n1", "n2"})
      cluster_.add(node(name, {{"nvidia.com/gpu", 8}}));
  }

  void hold(Reservations reservations) {
    view_ = make_view(cluster_.snapshot(),
                      std::make_shared<const Reservations>(std::move(reservations)));
  }
  void look(std::int64_t at = 0) {
    view_ = advance(*view_, cluster_.snapshot(), {at}, kLimits, &ended_);
  }
  // "uid on node", "bound" behind it.
  [[nodiscard]] std::vector<std::string> slots() const {
    std::vector<std::string> texts;
    const Reservation* reservation = view_->reservations->find(kKey);
    if (reservation == nullptr) return texts;
    for (const Slot& slot : reservation->parts.front().slots) {
      std::string& text = texts.emplace_back(slot.uid.empty() ? "nobody" : slot.uid);
      text += " on " + slot.node;
      if (slot.bound) text += " bound";
    }
    return texts;
  }

  testing::Cluster cluster_;
  std::shared_ptr<const ClusterView> view_;
  std::vector<Ended> ended_;
};

TEST_F(ReservationsTest, APodThatTheWatchShowsOnItsNodeBindsItsSlot) {
  hold(plan({given("n0", "job-0"), given("n0", "job-1"), given("n1", "job-2")}));
  cluster_.add(running_on("n0", rank(1)));
  look();
  EXPECT_THAT(slots(), ElementsAre("uid-job-0 on n0", "uid-job-1 on n0 bound", "uid-job-2 on n1"));
}

TEST_F(ReservationsTest, PodsThatTheSchedulerSwappedSwapSlots) {
  hold(plan({given("n0", "job-0"), given("n0", "job-1"), given("n1", "job-2")}));
  cluster_.add(running_on("n1", rank(0)));
  look();
  EXPECT_THAT(slots(), ElementsAre("uid-job-2 on n0", "uid-job-1 on n0", "uid-job-0 on n1 bound"));
}

TEST_F(ReservationsTest, AnOpenSlotGoesToWhoeverIsBoundThere) {
  hold(plan({{.node = "n0"}, {.node = "n0"}, {.node = "n1"}}));
  cluster_.add(running_on("n1", rank(2)));
  look();
  EXPECT_THAT(slots(), ElementsAre("nobody on n0", "nobody on n0", "uid-job-2 on n1 bound"));
}

TEST_F(ReservationsTest, APodOffThePlanTakesItsSlotAlong) {
  hold(plan({given("n0", "job-0"), given("n0", "job-1"), given("n1", "job-2")}));
  cluster_.add(running_on("n2", rank(2)));
  look();
  EXPECT_THAT(slots(), ElementsAre("uid-job-0 on n0", "uid-job-1 on n0", "uid-job-2 on n2 bound"));
  EXPECT_THAT(view_->held.on({1}), IsEmpty());
}

TEST_F(ReservationsTest, TheSlotOfAPodThatIsGoneIsOpenAgain) {
  hold(plan({given("n0", "job-0"), given("n0", "job-1"), given("n1", "job-2")}));
  cluster_.add(rank(0));
  cluster_.add(rank(1));
  cluster_.add(running_on("n1", rank(2)));
  look();
  cluster_.remove("uid-job-0");
  cluster_.remove("uid-job-2");
  look();
  EXPECT_THAT(slots(), ElementsAre("nobody on n0", "uid-job-1 on n0", "nobody on n1"));
}

// A call can be quicker than the watch.
TEST_F(ReservationsTest, APodThatTheWatchHasNotShownYetKeepsItsSlot) {
  hold(plan({given("n0", "job-0"), {.node = "n0"}, {.node = "n1"}}));
  look();
  look();
  EXPECT_THAT(slots(), ElementsAre("uid-job-0 on n0", "nobody on n0", "nobody on n1"));
}

TEST_F(ReservationsTest, AWholeGangHoldsNothing) {
  hold(plan({given("n0", "job-0"), given("n0", "job-1"), given("n1", "job-2")}));
  for (const int number : {0, 1})
    cluster_.add(running_on("n0", rank(number)));
  cluster_.add(running_on("n1", rank(2)));
  look();
  EXPECT_TRUE(view_->reservations->empty());
  EXPECT_THAT(ended_, IsEmpty());
}

TEST_F(ReservationsTest, AGangThatIsDeletedHoldsNothing) {
  hold(plan({given("n0", "job-0"), {.node = "n0"}, {.node = "n1"}}));
  cluster_.add(rank(0));
  look();
  EXPECT_FALSE(view_->reservations->empty());
  cluster_.remove("uid-job-0");
  look();
  EXPECT_TRUE(view_->reservations->empty());
  ASSERT_EQ(ended_.size(), 1U);
  EXPECT_EQ(ended_.front().why, Ended::Why::kGangGone);
}

TEST_F(ReservationsTest, ItEndsAMinuteAfterTheLastCallAndTenAfterThePlan) {
  struct Row {
    std::int64_t made, touched, now;
    bool ends;
  };
  for (const Row& row : {Row{0, 0, 60'000, false}, Row{0, 0, 60'001, true},
                         Row{0, 50'000, 110'000, false}, Row{0, 50'000, 110'001, true},
                         Row{0, 599'000, 600'000, false}, Row{0, 599'000, 600'001, true}}) {
    auto reservation = std::make_shared<Reservation>();
    reservation->gang_key = kKey;
    reservation->made = {row.made};
    reservation->touched = {row.touched};
    reservation->parts.push_back({"", request(), {{.node = "n0"}}, {}});
    hold(Reservations().with(std::move(reservation)));
    ended_.clear();
    look(row.now);
    EXPECT_EQ(view_->reservations->empty(), row.ends) << row.touched << " " << row.now;
    EXPECT_EQ(ended_.size(), row.ends ? 1U : 0U);
  }
}

TEST_F(ReservationsTest, OpenSlotsAreHeldAgainstOthersByTheirWholeRequest) {
  hold(plan({given("n0", "job-0"), given("n0", "job-1"), given("n1", "job-2")}));
  cluster_.add(running_on("n0", rank(1)));
  look();
  const auto on_n0 = view_->held.on({0});
  EXPECT_EQ(held_by_others(on_n0, "other", "nvidia.com/gpu"), 4);
  EXPECT_EQ(held_by_others(on_n0, "other", "pods"), 1);
  EXPECT_EQ(held_by_others(on_n0, "other", "cpu"), 0);
  EXPECT_EQ(held_by_others(on_n0, kKey, "nvidia.com/gpu"), 0) << "its own";
  EXPECT_EQ(held_by_others(view_->held.on({2}), "other", "nvidia.com/gpu"), 0);
}

TEST_F(ReservationsTest, WhatDidNotChangeIsShared) {
  hold(plan({given("n0", "job-0"), {.node = "n0"}, {.node = "n1"}}));
  const auto before = view_->reservations->all().begin()->second;
  cluster_.add(running_on("n2", pod("other", {{"nvidia.com/gpu", 1}})));
  look(10);
  EXPECT_EQ(view_->reservations->all().begin()->second, before);
}

}  // namespace
}  // namespace rankward::placement
