#include "rankward/placement/ranking.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using testing::Cluster;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using testing::hgx;
using testing::leaf;
using testing::node;
using testing::pod;
using testing::running_on;
using ::testing::StartsWith;

const testing::Counts kHgxDevices{{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}};

kube::Pod rank_of(std::string gang, int rank, int size, std::int64_t gpus = 8) {
  return pod(gang + "-" + std::to_string(rank), {{"nvidia.com/gpu", gpus}, {"rdma/ib", 1}},
             {{"rankward.io/gang", gang},
              {"rankward.io/gang-size", std::to_string(size)},
              {"rankward.io/rank", std::to_string(rank)}});
}

// As kube-scheduler would bind them one by one.
std::vector<std::string> place(Cluster& cluster, const std::string& gang, int size,
                               std::int64_t gpus = 8) {
  std::vector<std::string> placed;
  for (int rank = 0; rank < size; ++rank) {
    const kube::Pod next = rank_of(gang, rank, size, gpus);
    const auto ranked = cluster.rank(next, {}, Use::kExplain);
    if (ranked.order.empty()) return placed;
    placed.push_back(ranked.order.front());
    cluster.add(running_on(placed.back(), next));
  }
  return placed;
}

TEST(Rank, EqualNodesComeByNameWithTen) {
  Cluster cluster;
  for (const char* name : {"c", "a", "b"})
    cluster.add(node(name, kHgxDevices), hgx());
  const auto ranked = cluster.rank(pod("p", {{"nvidia.com/gpu", 1}}), {"c", "b", "a"});
  EXPECT_THAT(ranked.order, ElementsAre("a", "b", "c"));
  for (const auto& [name, each] : ranked.by_name)
    EXPECT_EQ(each.score, 10) << name;
}

// round(10 * T_best / T).
TEST(Rank, ScoresAreTheRatioToTheBest) {
  Cluster cluster;
  for (const auto& [name, rate] : {std::pair("n100", 100.0), std::pair("n50", 50.0),
                                   std::pair("n33", 33.0), std::pair("n4", 4.0)}) {
    topology::NodeTopology machine = hgx();
    topology::testing::set_nics(machine, rate);
    cluster.add(node(name, kHgxDevices), machine);
  }
  const auto ranked = cluster.rank(pod("p", {{"nvidia.com/gpu", 1}, {"rdma/ib", 1}}));
  EXPECT_THAT(ranked.order, ElementsAre("n100", "n50", "n33", "n4"));
  EXPECT_EQ(ranked.by_name.at("n100").score, 10);
  EXPECT_EQ(ranked.by_name.at("n50").score, 5);
  EXPECT_EQ(ranked.by_name.at("n33").score, 3);
  EXPECT_EQ(ranked.by_name.at("n4").score, 0);
}

TEST(Rank, TwoPercentAreNoDifference) {
  Cluster cluster;
  const auto add = [&cluster](std::string name, double rate, std::int64_t free) {
    topology::NodeTopology machine = hgx();
    topology::testing::set_nics(machine, rate);
    cluster.add(node(name, kHgxDevices), machine);
    if (free < 8) cluster.add(running_on(name, pod("on-" + name, {{"nvidia.com/gpu", 8 - free}})));
  };
  add("a-fast", 50, 8);
  add("b-slower-by-1-percent", 49.5, 2);
  add("c-slower-by-4-percent", 48, 1);
  EXPECT_THAT(cluster.rank(pod("p", {{"nvidia.com/gpu", 1}, {"rdma/ib", 1}})).order,
              ElementsAre("b-slower-by-1-percent", "a-fast", "c-slower-by-4-percent"));
}

TEST(Rank, KnownNodesComeBeforeUnknownOnesUnlessAllowed) {
  Cluster cluster;
  cluster.add(node("a-silent", {{"nvidia.com/gpu", 2}}));
  topology::NodeTopology slow = topology::testing::machine({"X SYS", "SYS X"});
  cluster.add(node("b-known", {{"nvidia.com/gpu", 2}}), slow);
  const kube::Pod two = pod("p", {{"nvidia.com/gpu", 2}});
  EXPECT_THAT(cluster.rank(two).order, ElementsAre("b-known", "a-silent")) << "at equal seconds";
  Options allow;
  allow.unknown_topology = UnknownTopology::kAllow;
  EXPECT_THAT(cluster.rank(two, {}, Use::kFilter, allow).order, ElementsAre("a-silent", "b-known"));
}

TEST(Rank, NamesWithoutANodeComeLast) {
  Cluster cluster;
  cluster.add(node("known", {{"nvidia.com/gpu", 8}}));
  const std::vector<std::string> names{"gone-b", "a-gone", "known"};
  EXPECT_THAT(cluster.rank(pod("p", {{"nvidia.com/gpu", 1}}), names).order,
              ElementsAre("known", "a-gone", "gone-b"));
  EXPECT_THAT(cluster.rank(pod("p", {{"nvidia.com/gpu", 4}, {"rdma/ib", 1}}), names).order,
              ElementsAre("known", "a-gone", "gone-b"));
  EXPECT_THAT(cluster.rank(pod("p", {}), names).order, ElementsAre("known", "a-gone", "gone-b"));
}

TEST(Rank, LeavesWholeFreeNodesWholeThenFillsTheFullest) {
  Cluster cluster;
  cluster.add(node("a-whole", {{"nvidia.com/gpu", 4}}), {});
  for (const auto& [name, held] : {std::pair("b-5-free", 3), std::pair("c-2-free", 6)}) {
    cluster.add(node(name, {{"nvidia.com/gpu", 8}}));
    cluster.add(running_on(name, pod(std::string("on-") + name, {{"nvidia.com/gpu", held}})));
  }
  EXPECT_THAT(cluster.rank(pod("p", {{"nvidia.com/gpu", 1}})).order,
              ElementsAre("c-2-free", "b-5-free", "a-whole"))
      << "though a-whole would have fewer left than b-5-free";
  EXPECT_THAT(cluster.rank(pod("p", {{"nvidia.com/gpu", 4}}), {"a-whole", "b-5-free"}).order,
              ElementsAre("a-whole", "b-5-free"))
      << "taken whole it is not broken";
}

TEST(Rank, NodesThatDoNotHoldThePodByOurCountComeAfterThoseThatDo) {
  Cluster cluster;
  cluster.add(node("a-full", {{"nvidia.com/gpu", 8}})).add(node("b", {{"nvidia.com/gpu", 8}}));
  cluster.add(running_on("a-full", pod("q", {{"nvidia.com/gpu", 8}})));
  EXPECT_THAT(cluster.rank(pod("p", {{"nvidia.com/gpu", 1}})).order, ElementsAre("b", "a-full"));
}

TEST(Rank, GoesToALeafThatHoldsTheWholeGang) {
  Cluster cluster;
  for (const char* name : {"a-0", "a-1", "a-2"}) {
    cluster.add(node(name, kHgxDevices, leaf("leaf-a")), hgx());
  }
  for (const char* name : {"b-0", "b-1", "b-2", "b-3"}) {
    cluster.add(node(name, kHgxDevices, leaf("leaf-b")), hgx());
  }
  EXPECT_THAT(place(cluster, "job", 4), ElementsAre("b-0", "b-1", "b-2", "b-3"));
  EXPECT_THAT(place(cluster, "next", 3), ElementsAre("a-0", "a-1", "a-2"));
}

TEST(Rank, StaysUnderOneSpineWhereNoLeafWillDo) {
  Cluster cluster;
  for (const auto& [name, under, spine] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"a-0", "leaf-a", "spine-1"},
           {"a-1", "leaf-a", "spine-1"},
           {"b-0", "leaf-b", "spine-2"},
           {"b-1", "leaf-b", "spine-2"},
           {"c-0", "leaf-c", "spine-2"}}) {
    cluster.add(node(name, kHgxDevices, leaf(under, spine)), hgx());
  }
  const auto placed = place(cluster, "job", 3);
  EXPECT_THAT(placed, ::testing::UnorderedElementsAre("b-0", "b-1", "c-0"));
}

TEST(Rank, FillsOneNodeBeforeItCrossesTheNetwork) {
  Cluster cluster;
  for (const char* name : {"a", "b", "c"})
    cluster.add(node(name, kHgxDevices, leaf("l")), hgx());
  cluster.add(running_on("a", pod("q", {{"nvidia.com/gpu", 2}})));
  EXPECT_THAT(place(cluster, "job", 4, 2), Each("b")) << "a has room for three only";
}

TEST(Rank, KeepsWithTheRanksThatAreBoundWhenOneIsReplaced) {
  Cluster cluster;
  for (const char* name : {"a-0", "a-1", "b-0", "b-1"}) {
    cluster.add(node(name, kHgxDevices, leaf(std::string("leaf-") + name[0])), hgx());
  }
  cluster.add(running_on("b-1", rank_of("job", 1, 2)));
  EXPECT_THAT(cluster.rank(rank_of("job", 0, 2), {}, Use::kExplain).order,
              ElementsAre("b-0", "a-0", "a-1"));
}

TEST(Rank, LeadersWithoutGpusStandNearTheirWorkers) {
  Cluster cluster;
  for (const char* name : {"a-0", "b-0", "b-1"}) {
    cluster.add(node(name, kHgxDevices, leaf(std::string("leaf-") + name[0])), hgx());
  }
  cluster.add(running_on("b-1", rank_of("job", 0, 1)));
  const auto ranked = cluster.rank(pod("leader", {{"cpu", 1}}, {{"rankward.io/gang", "job"}}));
  EXPECT_THAT(ranked.order, ElementsAre("b-1", "b-0", "a-0"));
}

struct RandomCluster {
  Cluster cluster;
  std::vector<std::string> names;
};

RandomCluster random_cluster(std::mt19937& random) {
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  RandomCluster made;
  const std::vector<topology::NodeTopology> machines{
      hgx(), topology::testing::far_nics(), topology::testing::hgx_h100(), {}};
  for (unsigned i = 0; i < 12; ++i) {
    const std::string name = "n" + std::to_string(i);
    made.cluster.add(
        node(name, kHgxDevices,
             below(4) == 0 ? kube::StringMap{} : leaf("leaf-" + std::to_string(below(3)))),
        machines[below(4)]);
    made.names.push_back(name);
    if (below(2) == 0) {
      made.cluster.add(running_on(name, pod("on-" + name, {{"nvidia.com/gpu", 1 + below(7)}})));
    }
    if (below(4) == 0)
      made.cluster.add(running_on(name, rank_of("job", static_cast<int>(i), 16, 1)));
  }
  made.names.push_back("gone");
  return made;
}

// What is worked out once for all nodes of a shape is what each of them gets by itself.
TEST(Rank, JudgesEachNodeAsIfItWereTheOnlyOne) {
  std::mt19937 random(11);
  const kube::Pod small = pod("p", {{"nvidia.com/gpu", 2}}, {{"rankward.io/gpu-memory", "30Gi"}});
  for (int round = 0; round < 200; ++round) {
    RandomCluster made = random_cluster(random);
    for (int i = 0; i < 6; ++i) {
      const std::string name = "shared-" + std::to_string(i);
      kube::StringMap labels{{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-80GB-SHARED"},
                             {"nvidia.com/gpu.count", "1"},
                             {"nvidia.com/gpu.memory", "81920"},
                             {"nvidia.com/gpu.replicas", "4"},
                             {"nvidia.com/gpu.sharing-strategy", "time-slicing"}};
      made.cluster.add(node(name, {{"nvidia.com/gpu", 4}}, std::move(labels)));
      made.names.push_back(name);
      // Of equal shapes, with more or less of the card's memory spoken for.
      const bool large = random() % 2 == 0;
      made.cluster.add(running_on(name, pod("on-" + name, {{"nvidia.com/gpu", 1}},
                                            {{"rankward.io/gpu-memory", large ? "60Gi" : "6Gi"}})));
    }
    const auto snapshot = made.cluster.snapshot();
    for (const kube::Pod& asked :
         {pod("p", {{"nvidia.com/gpu", 2}}), pod("p", {{"nvidia.com/gpu", 4}, {"rdma/ib", 1}}),
          rank_of("new", 0, 1, 2), small, pod("p", {{"cpu", 1}}),
          pod("p", {{"nvidia.com/gpu", 1}}, {{"rankward.io/gpu-memory", "40Gi"}})}) {
      const Request request = make_request(asked, {}).value();
      const auto ranked = made.cluster.rank(asked, made.names);
      for (const std::string& name : made.names) {
        const auto index = snapshot->find(name);
        if (!index) continue;
        const Verdict alone = judge(request, asked.spec, snapshot->node(*index), {}, Use::kFilter);
        ASSERT_EQ(ranked.verdicts.at(name).reason, alone.reason) << name;
        if (!alone.fits()) continue;
        const Prediction predicted = predict(request, *index, *snapshot, {});
        const Prediction& told = ranked.by_name.at(name).prediction;
        ASSERT_EQ(told.seconds, predicted.seconds) << name;
        ASSERT_EQ(told.bottleneck, predicted.bottleneck) << name;
        ASSERT_EQ(told.tier, predicted.tier) << name;
        ASSERT_EQ(told.topology_known, predicted.topology_known) << name;
      }
    }
  }
}

TEST(Rank, TellsTheBestOfManyAsIfItToldAll) {
  std::mt19937 random(17);
  for (int round = 0; round < 100; ++round) {
    RandomCluster made = random_cluster(random);
    const auto snapshot = made.cluster.snapshot();
    std::vector<Candidate> candidates;
    for (const std::string& name : made.names)
      candidates.push_back({name, snapshot->find(name)});
    for (const kube::Pod& asked : {pod("p", {{"nvidia.com/gpu", 2}}), pod("p", {{"cpu", 1}}),
                                   rank_of("job", 99, 16, 1), rank_of("new", 0, 4, 2)}) {
      const Request request = make_request(asked, {}).value();
      const auto told = [&](std::size_t most) {
        return rank(request, asked.spec, *snapshot, candidates, {}, Use::kFilter, nullptr, most);
      };
      const Ranking all = told(SIZE_MAX);
      ASSERT_EQ(all.fitting, all.fits.size());
      for (const std::size_t most : {std::size_t{0}, std::size_t{1}, std::size_t{5}}) {
        const Ranking best = told(most);
        ASSERT_EQ(best.fitting, all.fitting);
        ASSERT_EQ(best.fits.size(), std::min(most, all.fits.size()));
        for (std::size_t i = 0; i < best.fits.size(); ++i) {
          ASSERT_EQ(best.fits[i].candidate, all.fits[i].candidate);
          ASSERT_EQ(best.fits[i].score, all.fits[i].score);
        }
      }
    }
  }
}

TEST(Rank, DoesNotDependOnTheOrderOfCandidates) {
  std::mt19937 random(3);
  for (int round = 0; round < 100; ++round) {
    RandomCluster made = random_cluster(random);
    for (const kube::Pod& asked :
         {pod("p", {{"nvidia.com/gpu", 2}}), pod("p", {{"nvidia.com/gpu", 4}, {"rdma/ib", 1}}),
          rank_of("job", 99, 16, 1), rank_of("new", 0, 4, 2), pod("p", {{"cpu", 1}})}) {
      const auto first = made.cluster.rank(asked, made.names);
      // A rank whose peers stand in one transport class is refused outside of it.
      const auto refused = std::count_if(
          first.verdicts.begin(), first.verdicts.end(),
          [](const auto& each) { return each.second.reason == ReasonCode::kTransportMismatch; });
      ASSERT_EQ(std::ssize(first.order) + refused, std::ssize(made.names));
      std::shuffle(made.names.begin(), made.names.end(), random);
      const auto second = made.cluster.rank(asked, made.names);
      ASSERT_THAT(second.order, ElementsAreArray(first.order));
      for (const auto& [name, each] : first.by_name) {
        const auto& again = second.by_name.at(name);
        ASSERT_EQ(each.score, again.score);
        ASSERT_EQ(each.prediction.seconds, again.prediction.seconds);
        ASSERT_EQ(each.prediction.bottleneck, again.prediction.bottleneck);
        ASSERT_GE(each.score, 0);
        ASSERT_LE(each.score, 10);
        ASSERT_GE(each.score, first.by_name.at("gone").score);
      }
      ASSERT_EQ(first.order.back(), "gone");
      if (!make_request(asked, {}).value().devices.empty()) {
        // Within 2 % of the best another rule may come first, which still rounds to 10.
        ASSERT_EQ(first.by_name.at(first.order.front()).score, 10) << "round " << round;
      }
    }
  }
}

}  // namespace
}  // namespace rankward::placement
