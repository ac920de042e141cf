// The worked examples of the planner's specification, small enough to check by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "planner_clusters.hpp"

namespace rankward::placement {
namespace {

using testing::bridged_machine;
using ::testing::ElementsAre;
using testing::gang_pod;
using ::testing::HasSubstr;
using testing::node;
using ::testing::Pair;
using testing::Planning;
using testing::rail_machine;
using ::testing::UnorderedElementsAre;

// One GPU a pod, one 50 GB/s port a GPU.
TEST(PlanExample, SevenPodsOnThreeThreeTwoOneAreSplitThreeTwoTwo) {
  Planning planning;
  for (const auto& [name, gpus] :
       {std::pair("a", 3), std::pair("b", 3), std::pair("c", 2), std::pair("d", 1)}) {
    planning.add(node(name, {{"nvidia.com/gpu", gpus}, {"rdma/ib", 100}}, testing::leaf("l")),
                 rail_machine(8), gpus);
  }
  const auto plan = planning.plan(gang_pod(1), 7);
  ASSERT_TRUE(plan.found()) << plan.refusal.note;
  EXPECT_THAT(planning.shares(plan), ElementsAre(Pair("a", 3), Pair("b", 2), Pair("c", 2)));
  EXPECT_EQ(plan.plan->prediction.nodes, 3U);
  EXPECT_DOUBLE_EQ(plan.plan->prediction.bandwidth.value, 100);
  EXPECT_NEAR(plan.plan->prediction.seconds.value, 18.5e-3, 0.05e-3);
}

// Swapping the smallest of the largest four for a smaller one does not find it.
TEST(PlanExample, TwentyThreePodsFillFourNodesWithLeastLeftOver) {
  Planning planning;
  int number = 0;
  for (const int gpus : {8, 7, 7, 5, 5, 5, 3, 1}) {
    planning.add(node("n" + std::to_string(number++), {{"nvidia.com/gpu", gpus}, {"rdma/ib", 100}},
                      testing::leaf("l")),
                 rail_machine(8), gpus);
  }
  const auto plan = planning.plan(gang_pod(1), 23);
  ASSERT_TRUE(plan.found()) << plan.refusal.note;
  const auto shares = planning.shares(plan);
  EXPECT_EQ(shares.size(), 4U);
  std::int64_t least = 99;
  for (const auto& [name, pods] : shares)
    least = std::min<std::int64_t>(least, pods);
  EXPECT_GE(least, 5);
}

// Pairs talk over a bridge, four of one node over PCIe and between sockets.
TEST(PlanExample, BridgedPairsAreSplitIntoSharesOfTwo) {
  Planning planning;
  for (const char* name : {"a", "b"}) {
    planning.add(node(name, {{"nvidia.com/gpu", 4}, {"rdma/ib", 100}}, testing::leaf("l")),
                 bridged_machine(50), 4);
  }
  const auto plan = planning.plan(gang_pod(1), 4);
  ASSERT_TRUE(plan.found()) << plan.refusal.note;
  EXPECT_THAT(planning.shares(plan), ElementsAre(Pair("a", 2), Pair("b", 2)));
}

}  // namespace
}  // namespace rankward::placement
