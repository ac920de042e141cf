// The price of a placement that somebody else chose is the planner's own price.
#include "rankward/placement/evaluate.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <map>

#include "random.hpp"
#include "rankward/placement/plan.hpp"
#include "small_cluster.hpp"

namespace rankward::sim {
namespace {

using placement::Share;

std::vector<Share> shares_of(const std::vector<placement::NodeIndex>& slots) {
  std::map<std::uint32_t, std::int32_t> pods;
  for (const placement::NodeIndex node : slots)
    ++pods[node.value];
  std::vector<Share> shares;
  for (const auto& [node, count] : pods)
    shares.push_back({{node}, count, {}});
  return shares;
}

TEST(EvaluateTest, AgreesWithThePlannerOnItsOwnPlans) {
  const auto model = *built_in_cluster("fabric-850");
  Random random(11);
  int planned = 0;
  for (int round = 0; round < 200; ++round) {
    formats::ClusterModel small = model;
    small.spines = {{2, 5}, {1, 3}};
    const auto nodes = hosts_of(small, random.next());
    Cluster cluster(nodes, true);
    for (HostIndex host = 0; host < nodes.size(); ++host) {
      Job busy;
      busy.name = "busy-" + std::to_string(host);
      busy.gpus = static_cast<std::int64_t>(random.below(9));
      if (busy.gpus > 0) cluster.bind(describe(busy), 0, host);
    }
    const Job job = testing::gang(2 + static_cast<std::int64_t>(random.below(8)),
                                  std::int64_t{1} << random.below(4));
    const JobInfo info = describe(job);
    const auto snapshot = cluster.snapshot();
    placement::PlanQuestion question;
    question.request = &info.request;
    question.spec = &info.pod.spec;
    question.pods = static_cast<std::int32_t>(job.pods);
    const auto result = placement::make_plan(question, *snapshot, {}, {});
    if (!result.found()) continue;
    ++planned;
    const auto evaluation =
        placement::evaluate(info.request, shares_of(result.plan->slots), *snapshot, {});
    const placement::Prediction& expected = result.plan->prediction;
    EXPECT_DOUBLE_EQ(evaluation.prediction.seconds.value, expected.seconds.value);
    EXPECT_EQ(evaluation.prediction.nodes, expected.nodes);
    EXPECT_EQ(evaluation.prediction.tier, expected.tier);
    EXPECT_FALSE(evaluation.mixed_transport);
  }
  EXPECT_GT(planned, 100);
}

TEST(EvaluateTest, TheGpusThatPodsReallyHaveAreNoWorseThanThoseForetold) {
  const auto nodes = hosts_of(*built_in_cluster("nvl72"), 1);
  const Cluster cluster({nodes.begin(), nodes.begin() + 2}, false);
  const JobInfo info = describe(testing::gang(2, 2));
  const std::vector<Share> foretold = {{{0}, 1, {}}, {{1}, 1, {}}};
  const std::vector<Share> held = {{{0}, 1, 0b0011}, {{1}, 1, 0b0011}};
  const auto seconds = [&](const std::vector<Share>& shares) {
    return placement::evaluate(info.request, shares, cluster.empty(), {}).prediction.seconds.value;
  };
  EXPECT_LE(seconds(held), seconds(foretold));
  // One GPU by itself sends nothing; two pods on one node cross no network.
  EXPECT_EQ(placement::evaluate(describe(testing::gang(1)).request, std::vector<Share>{{{0}, 1, 1}},
                                cluster.empty(), {})
                .prediction.seconds.value,
            0);
}

TEST(EvaluateTest, NoShareSendsNothing) {
  const Cluster cluster(testing::machines({1}), false);
  const auto evaluation =
      placement::evaluate(describe(testing::gang(2)).request, {}, cluster.empty(), {});
  EXPECT_EQ(evaluation.prediction.seconds.value, 0);
  EXPECT_EQ(evaluation.prediction.nodes, 0U);
}

TEST(PickTest, ThePluginsBestSetIsTaken) {
  formats::MachineModel pairs;
  pairs.links = formats::GpuLinks::kPairs;
  const Cluster cluster({make_host("pairs", pairs, {})}, false);
  const auto& node = cluster.empty().node({0});
  // 0 and 1 are bridged; with 1 gone the next whole pair is 2 and 3.
  EXPECT_EQ(placement::pick_gpus(node, 0xff, 2), 0b0011U);
  EXPECT_EQ(placement::pick_gpus(node, 0xfd, 2), 0b1100U);
  EXPECT_EQ(placement::pick_gpus(node, 0x01, 2), std::nullopt);
}

}  // namespace
}  // namespace rankward::sim
