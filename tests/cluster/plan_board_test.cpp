#include "rankward/cluster/plan_board.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "fake_clock.hpp"
#include "rankward/cluster/inventory.hpp"

namespace rankward::cluster {
namespace {

using placement::Reservation;
using placement::Reservations;

std::shared_ptr<const Reservation> reservation(std::string key, std::int64_t at = 0) {
  auto made = std::make_shared<Reservation>();
  made->gang_key = std::move(key);
  made->made = made->touched = {at};
  placement::ReservedPart part;
  part.slots.push_back({.node = "n0"});
  made->parts.push_back(std::move(part));
  return made;
}

class PlanBoardTest : public ::testing::Test {
 protected:
  bool put(std::string key, const std::shared_ptr<const placement::ClusterView>& seen) {
    return board_.replace(seen, std::make_shared<const Reservations>(seen->reservations->with(
                                    reservation(std::move(key), board_.now().milliseconds))));
  }

  static kube::Node node(std::string name) {
    kube::Node made;
    made.metadata.name = std::move(name);
    return made;
  }

  FakeClock clock_{std::chrono::system_clock::time_point{}};
  InventorySource source_{{node("n0")}, {}};
  PlanBoard board_{source_, clock_};
};

TEST_F(PlanBoardTest, OnlyWhoSawTheCurrentViewMayReplaceIt) {
  const auto seen = board_.view();
  EXPECT_TRUE(put("first", seen));
  EXPECT_FALSE(put("second", seen));
  EXPECT_TRUE(put("second", board_.view()));
  EXPECT_EQ(board_.view()->reservations->all().size(), 2U);
}

TEST_F(PlanBoardTest, AViewIsNeverOlderThanTheSnapshot) {
  const auto seen = board_.view();
  source_.put_node(node("n1"));
  EXPECT_EQ(board_.view()->snapshot, source_.current());
  EXPECT_FALSE(put("late", seen)) << "planned on a Snapshot that is replaced";
}

TEST_F(PlanBoardTest, WhatExpiresIsTakenInAndToldOnce) {
  put("job", board_.view());
  clock_.advance(std::chrono::seconds(59));
  EXPECT_FALSE(board_.view()->reservations->empty());
  clock_.advance(std::chrono::seconds(3));
  EXPECT_TRUE(board_.view()->reservations->empty());
  const auto ended = board_.take_ended();
  ASSERT_EQ(ended.size(), 1U);
  EXPECT_EQ(ended.front().reservation->gang_key, "job");
  EXPECT_TRUE(board_.take_ended().empty());
}

TEST_F(PlanBoardTest, NoPlanIsLostBetweenThreads) {
  constexpr int kThreads = 4;
  constexpr int kEach = 100;
  std::atomic<bool> running{true};
  std::thread watch([&] {
    for (int i = 0; running; ++i)
      source_.put_node(node("n" + std::to_string(i % 8)));
  });
  std::vector<std::thread> planners;
  for (int thread = 0; thread < kThreads; ++thread) {
    planners.emplace_back([&, thread] {
      for (int i = 0; i < kEach; ++i) {
        const std::string key = std::to_string(thread) + "/" + std::to_string(i);
        while (!put(key, board_.view())) {
        }
      }
    });
  }
  for (std::thread& planner : planners)
    planner.join();
  running = false;
  watch.join();
  EXPECT_EQ(board_.view()->reservations->all().size(), std::size_t{kThreads * kEach});
}

}  // namespace
}  // namespace rankward::cluster
