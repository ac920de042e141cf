// Each baseline where its project's own documents or code say what comes out.
#include <gtest/gtest.h>

#include "rankward/placement/evaluate.hpp"
#include "small_cluster.hpp"

namespace rankward::sim {
namespace {

using testing::gang;
using testing::hosts;
using testing::Make;
using testing::placed;
using testing::SmallHost;
using Shares = std::map<HostIndex, std::int32_t>;

struct Case {
  const char* name;
  Make make;
  std::vector<SmallHost> cluster;
  Job job;
  Shares want;
};

// KEP-2724's example of the algorithms: hosts with room for 3, 3, 2 and 1 pods, 7 pods.
const std::vector<SmallHost> kKep = {{3, ""}, {3, ""}, {2, ""}, {1, ""}};
// Two leaves with 8+8 and 4+4 below one spine.
const std::vector<SmallHost> kLeaves = {{8, "a"}, {8, "a"}, {4, "b"}, {4, "b"}};

class PolicyTest : public ::testing::TestWithParam<Case> {};

TEST_P(PolicyTest, PlacesTheGangAsItsProjectSays) {
  const Case& test = GetParam();
  EXPECT_EQ(placed(test.make, test.cluster, test.job), test.want);
}

INSTANTIATE_TEST_SUITE_P(
    Documented, PolicyTest,
    ::testing::Values(
        // The last host is the smallest that takes the rest.
        Case{"KueueBestFit", make_kueue_best_fit, kKep, gang(7), {{0, 3}, {1, 3}, {3, 1}}},
        Case{"KueueBestFitTakesOneHost", make_kueue_best_fit, kKep, gang(2), {{2, 2}}},
        Case{"KueueBestFitTakesTheTighterLeaf", make_kueue_best_fit, kLeaves, gang(6), {{0, 6}}},
        Case{
            "KueueBestFitStaysInOneLeaf", make_kueue_best_fit, kLeaves, gang(10), {{0, 8}, {1, 2}}},
        Case{"KueueBestFitRefuses", make_kueue_best_fit, kKep, gang(10), {}},
        // From the least free upwards.
        Case{"KueueLeastFree",
             make_kueue_least_free_capacity,
             kKep,
             gang(7),
             {{3, 1}, {2, 2}, {0, 3}, {1, 1}}},
        Case{"KueueLeastFreeTakesOneHost", make_kueue_least_free_capacity, kKep, gang(2), {{2, 2}}},
        // Threshold floor(7 / 3) = 2; 3, 3 and 2 are the fewest hosts with at least 2.
        Case{"KueueBalanced", make_kueue_balanced, kKep, gang(7), {{0, 3}, {1, 2}, {2, 2}}},
        // 3 + 3 of three hosts with 4, 3 and 3: the least capacity that holds six on two hosts.
        Case{"KueueBalancedTakesTheTightestSet",
             make_kueue_balanced,
             {{4, ""}, {3, ""}, {3, ""}},
             gang(6),
             {{1, 3}, {2, 3}}},
        // The leaf that the job fills most; its hosts packed.
        Case{"KaiTakesTheFullerLeaf", make_kai, kLeaves, gang(8), {{2, 4}, {3, 4}}},
        Case{"KaiPacksInsideTheLeaf",
             make_kai,
             {{8, "a"}, {4, "a"}, {8, "b"}, {8, "b"}},
             gang(6),
             {{1, 4}, {0, 2}}},
        Case{"KaiRefuses", make_kai, kKep, gang(10), {}},
        // The lowest layer that holds all; no node offers more slots than there are pods, so hosts
        // of 8 and 4 are alike to a gang of 4.
        Case{"KoordinatorTakesOneHost", make_koordinator, kLeaves, gang(4), {{0, 4}}},
        Case{"KoordinatorTakesTheTighterLeaf",
             make_koordinator,
             {{5, "a"}, {5, "a"}, {5, "a"}, {4, "b"}, {5, "b"}},
             gang(9),
             {{4, 5}, {3, 4}}},
        Case{"KoordinatorFillsTheLargestFirst",
             make_koordinator,
             {{2, "a"}, {3, "a"}, {3, "a"}, {1, "a"}},
             gang(7),
             {{1, 3}, {2, 3}, {0, 1}}},
        // Pods one by one: the emptiest host in turn, or the fullest until it is full.
        Case{"LeastAllocatedSpreads",
             make_least_allocated,
             {{4, ""}, {4, ""}},
             gang(4),
             {{0, 2}, {1, 2}}},
        Case{"MostAllocatedPacks", make_most_allocated, {{8, ""}, {2, ""}}, gang(2), {{1, 2}}},
        // A pod of four leaves a host of six with two that no typical pod can use.
        Case{"FgdLeavesNothingUseless", make_fgd, {{6, ""}, {4, ""}}, gang(1, 4), {{1, 1}}},
        Case{"RandomPlacesAllThatFits", make_random, {{1, ""}, {1, ""}}, gang(2), {{0, 1}, {1, 1}}},
        // placement.md's example: 3 + 2 + 2, one NIC a GPU.
        Case{"Rankward", make_rankward, kKep, gang(7), {{0, 3}, {1, 2}, {2, 2}}}),
    [](const auto& param) { return std::string(param.param.name); });

TEST(PriceTest, BestFitsShareOfOneHalvesTheBandwidth) {
  const Job job = gang(7);
  const JobInfo info = describe(job);
  const auto seconds = [&](Make make) {
    const Cluster cluster(hosts(kKep), false);
    std::vector<placement::Share> shares;
    for (const auto& [host, pods] : placed(make, kKep, job))
      shares.push_back({{host}, pods, {}});
    return placement::evaluate(info.request, shares, cluster.empty(), {}).prediction.seconds.value;
  };
  // One NIC against two as the bottleneck, phi 0.83 for hosts without fabric labels, 1 GiB.
  EXPECT_NEAR(seconds(make_kueue_best_fit), 2.0 * 6 / 7 * 1.073741824 / (50 * 0.83), 1e-3);
  EXPECT_NEAR(seconds(make_rankward), 2.0 * 6 / 7 * 1.073741824 / (100 * 0.83), 1e-3);
}

TEST(PolicyInvariantTest, NoPolicyGivesAHostMoreThanItHas) {
  const std::vector<SmallHost> wanted = {{8, "a"}, {3, "a"}, {5, "b"},
                                         {8, "b"}, {1, "c"}, {8, "c"}};
  for (const Make make : {make_random, make_least_allocated, make_most_allocated, make_fgd,
                          make_kueue_best_fit, make_kueue_least_free_capacity, make_kueue_balanced,
                          make_kai, make_koordinator, make_rankward}) {
    for (std::int64_t gpus : {1, 2, 4, 8}) {
      for (std::int64_t pods = 1; pods <= 33; ++pods) {
        const Job job = gang(pods, gpus);
        Cluster cluster(hosts(wanted), false);
        testing::occupy(cluster, wanted);
        std::int64_t room = 0;
        for (HostIndex i = 0; i < wanted.size(); ++i)
          room += cluster.slots(i, job);
        std::int64_t sum = 0;
        for (const auto& [host, share] : placed(make, wanted, job)) {
          EXPECT_LE(share, cluster.slots(host, job));
          sum += share;
        }
        EXPECT_EQ(sum, room >= pods ? pods : 0) << pods << " pods of " << gpus;
      }
    }
  }
}

}  // namespace
}  // namespace rankward::sim
