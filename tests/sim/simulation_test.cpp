#include "rankward/sim/simulation.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "small_cluster.hpp"

namespace rankward::sim {
namespace {

using testing::gang;
using testing::machines;

Job at(double arrival, double duration, std::int64_t pods, std::int64_t gpus) {
  Job job = gang(pods, gpus);
  job.name = "job-" + std::to_string(arrival);
  job.arrival = arrival;
  job.duration = duration;
  return job;
}

SimulationResult run(std::string_view policy, const std::vector<SimulatedNode>& nodes,
                     const std::vector<Job>& jobs, const SimulationOptions& options = {}) {
  auto result = simulate(policy, nodes, jobs, options);
  EXPECT_TRUE(result);
  return std::move(*result);
}

TEST(SimulationTest, JobsWaitForThoseBeforeThem) {
  const auto result =
      run("kueue-best-fit", machines({8}), {at(0, 100, 1, 8), at(10, 100, 1, 8), at(20, 50, 1, 8)});
  EXPECT_EQ(result.jobs[0].waited, 0);
  EXPECT_EQ(result.jobs[1].waited, 90);
  EXPECT_EQ(result.jobs[2].waited, 180);
}

TEST(SimulationTest, OnlyBackfillingOvertakes) {
  const std::vector<Job> jobs = {at(0, 100, 1, 6), at(10, 100, 1, 8), at(20, 10, 1, 2)};
  SimulationOptions strict;
  strict.backfill = false;
  const auto nodes = machines({8});
  EXPECT_EQ(run("koordinator", nodes, jobs).jobs[2].waited, 0);
  EXPECT_EQ(run("koordinator", nodes, jobs, strict).jobs[2].waited, 180);
}

TEST(SimulationTest, AHalfPlacedGangHoldsAndThenGivesBack) {
  // One GPU of four is busy until 1,000 s, so the gang of four has three and waits for the last.
  const std::vector<Job> jobs = {at(0, 1'000, 1, 1), at(0, 100, 4, 1), at(100, 50, 1, 1)};
  const auto nodes = machines({2, 2});
  const auto by_pod = run("most-allocated", nodes, jobs);
  EXPECT_TRUE(by_pod.jobs[1].half_placed);
  // The hold ends at 600 s; only then is there room for the third.
  EXPECT_EQ(by_pod.jobs[2].waited, 500);
  EXPECT_EQ(by_pod.jobs[1].waited, 1'000);

  const auto whole = run("kueue-best-fit", nodes, jobs);
  EXPECT_FALSE(whole.jobs[1].half_placed);
  EXPECT_EQ(whole.jobs[2].waited, 0);
  EXPECT_EQ(whole.jobs[1].waited, 1'000);
}

TEST(SimulationTest, RunningAndHeldGpusAreMeansUpToTheLastArrival) {
  const auto result = run("most-allocated", machines({2, 2}),
                          {at(0, 50, 1, 2), at(0, 100, 4, 1), at(100, 1, 1, 1)});
  // 2 of 4 for 50 s, while two of the gang's four hold theirs; then 4 for 50 s.
  EXPECT_DOUBLE_EQ(result.running_gpus, 3);
  EXPECT_DOUBLE_EQ(result.idle_held_gpus, 1);
}

TEST(SimulationTest, AGangThatNoClusterHoldsNeverStarts) {
  for (const PolicyName& policy : policies()) {
    const auto result = run(policy.name, machines({2}), {at(0, 10, 3, 1), at(1, 10, 1, 1)});
    EXPECT_FALSE(result.jobs[0].started) << policy.name;
    EXPECT_TRUE(result.jobs[1].started) << policy.name;
  }
}

TEST(SimulationTest, UnknownPoliciesAreToldWhatIsKnown) {
  const auto result = simulate("best", machines({1}), {at(0, 1, 1, 1)}, {});
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message().find("kueue-balanced"), std::string::npos);
}

TEST(SimulationTest, SlowCollectivesLengthenAGangByTheirShare) {
  const std::vector<Job> jobs = {at(0, 100, 2, 1), at(0, 100, 1, 1)};
  SimulationOptions options;
  const auto nodes = machines({4});
  const double seconds = run("kai", nodes, jobs).jobs[0].seconds;
  options.communication = 0.25;
  options.best = {seconds / 3, 0};
  const auto result = run("kai", nodes, jobs, options);
  EXPECT_DOUBLE_EQ(result.jobs[0].ran, 150);
  EXPECT_DOUBLE_EQ(result.jobs[1].ran, 100);
}

TEST(SimulationTest, MixedTransportIsSeen) {
  std::vector<SimulatedNode> nodes = {make_host("ib", {}, {"a", "spine", ""})};
  formats::MachineModel tcp;
  tcp.nics = 0;
  nodes.push_back(make_host("tcp", tcp, {"a", "spine", ""}));
  Job job = at(0, 10, 2, 8);
  job.network = JobNetwork::kHostNetwork;
  const auto mixed = run("kueue-best-fit", nodes, {job});
  EXPECT_TRUE(mixed.jobs[0].started);
  EXPECT_TRUE(mixed.jobs[0].mixed_transport);
  // The pod that requests the device is kept off by the scheduler's own filter.
  job.network = JobNetwork::kRdmaDevices;
  EXPECT_FALSE(run("kueue-best-fit", nodes, {job}).jobs[0].started);
}

class EveryPolicyTest : public ::testing::TestWithParam<PolicyName> {};

TEST_P(EveryPolicyTest, FinishesAWorkloadAndIsTheSameEachTime) {
  formats::ClusterModel model = *built_in_cluster("fabric-850");
  model.spines = {{3, 24}, {2, 12}};
  const auto nodes = hosts_of(model, 3);
  WorkloadOptions work;
  work.seed = 3;
  work.gangs = 60;
  work.singles = 60;
  work.cluster_gpus = 36 * 8;
  work.largest_gang_gpus = 72;
  const auto jobs = synthetic_jobs(work);
  const auto first = run(GetParam().name, nodes, jobs);
  const auto second = run(GetParam().name, nodes, jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ASSERT_TRUE(first.jobs[i].started) << jobs[i].name;
    EXPECT_EQ(first.jobs[i].waited, second.jobs[i].waited);
    EXPECT_EQ(first.jobs[i].seconds, second.jobs[i].seconds);
    EXPECT_FALSE(first.jobs[i].mixed_transport);
    EXPECT_FALSE(GetParam().whole_gangs && first.jobs[i].half_placed);
  }
  EXPECT_GT(first.running_gpus, 0);
  EXPECT_LE(first.running_gpus + first.idle_held_gpus, static_cast<double>(first.gpus));
}

TEST_P(EveryPolicyTest, NoGangIsFasterThanTheBestByMoreThanTheTieOfPicks) {
  formats::ClusterModel model = *built_in_cluster("fabric-850");
  model.spines = {{2, 16}};
  const auto nodes = hosts_of(model, 5);
  WorkloadOptions work;
  work.gangs = 40;
  work.singles = 0;
  work.cluster_gpus = 16 * 8;
  work.largest_gang_gpus = 64;
  const auto jobs = synthetic_jobs(work);
  const auto best = best_seconds(nodes, jobs, {});
  const auto result = run(GetParam().name, nodes, jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    ASSERT_TRUE(std::isfinite(best[i]));
    // The planner may give up 2 % for a lower tier or fewer nodes.
    EXPECT_GE(result.jobs[i].seconds, best[i] / 1.02) << jobs[i].name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, EveryPolicyTest, ::testing::ValuesIn(policies()),
                         [](const auto& param) {
                           std::string name(param.param.name);
                           std::erase(name, '-');
                           return name;
                         });

TEST(SimulationTest, RankwardMixesNoTransportWhereOthersDo) {
  formats::ClusterModel model = *built_in_cluster("fabric-850");
  model.spines = {{3, 24}};
  model.machines[3].weight = 40;  // hosts without RDMA
  const auto nodes = hosts_of(model, 3);
  WorkloadOptions work;
  work.gangs = 60;
  work.cluster_gpus = 24 * 8;
  work.largest_gang_gpus = 48;
  work.network = JobNetwork::kHostNetwork;
  const auto jobs = synthetic_jobs(work);
  std::size_t mixed_by_kueue = 0;
  const auto kueue = run("kueue-best-fit", nodes, jobs);
  const auto ours = run("rankward", nodes, jobs);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    mixed_by_kueue += kueue.jobs[i].mixed_transport ? 1 : 0;
    EXPECT_FALSE(ours.jobs[i].mixed_transport) << jobs[i].name;
    EXPECT_TRUE(ours.jobs[i].started) << jobs[i].name;
  }
  EXPECT_GT(mixed_by_kueue, 0U);
}

}  // namespace
}  // namespace rankward::sim
