// Gangs whose owner is seen later than their first pod: the watches of Pods and of each kind of
// owner are streams of their own, and a server that has just started is behind on all of them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <random>
#include <set>

#include "clusters.hpp"
#include "rankward/placement/gang_call.hpp"

namespace rankward::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::hgx;
using ::testing::IsEmpty;
using testing::leaf;
using testing::node;
using testing::pod;
using testing::running_on;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kKey = "team-a/JobSet/job";

kube::Pod member(int number) {
  kube::Pod made =
      pod("job-" + std::to_string(number), {{"nvidia.com/gpu", 8}, {"rdma/ib", 1}}, {});
  made.metadata.labels["jobset.sigs.k8s.io/jobset-name"] = "job";
  made.metadata.labels["jobset.sigs.k8s.io/global-replicas"] = "1";
  made.metadata.labels["batch.kubernetes.io/job-completion-index"] = std::to_string(number);
  return made;
}

class GangLateWordTest : public ::testing::Test {
 protected:
  GangLateWordTest() {
    cluster_.add_two_leaves();
    view_ = make_view(cluster_.snapshot(), std::make_shared<const Reservations>());
  }

  void look(std::int64_t at) {
    now_ = {at};
    view_ = advance(*view_, cluster_.snapshot(), now_, {});
  }
  void owner_speaks(std::int32_t pods = 4) {
    cluster_.add_facts("jobsets/team-a/job", {{std::string(kKey), {{"", pods, 0}}, "", false}});
  }

  CallAnswer call(const kube::Pod& asked) {
    const Request request = make_request(asked, {}).value();
    names_.clear();
    for (const std::string_view name : {"a0", "a1", "a2", "a3", "b0", "b1", "b2", "b3"}) {
      if (!taken_.contains(std::string(name))) names_.push_back(name);
    }
    CallAnswer answer = answer_call(*view_, request, asked, names_, now_, {});
    if (answer.next) view_ = make_view(view_->snapshot, answer.next);
    return answer;
  }
  [[nodiscard]] std::vector<std::string> fits(const CallAnswer& answer) const {
    std::vector<std::string> order;
    for (const Ranked& each : answer.ranking.fits)
      order.emplace_back(names_[each.candidate]);
    return order;
  }
  // The scheduler knows; the watch shows it only once seen() is called.
  void bind(const std::string& on) { taken_.insert(on); }
  void seen(const kube::Pod& bound, const std::string& on) {
    cluster_.add(running_on(on, bound));
    look(now_.milliseconds);
  }

  testing::Cluster cluster_;
  std::shared_ptr<const ClusterView> view_;
  std::vector<std::string_view> names_;
  std::set<std::string> taken_;
  Instant now_{};
};

TEST_F(GangLateWordTest, APodWaitsForItsWatchedOwner) {
  cluster_.hear_owners_of({"Gang", "JobSet"});
  look(1'000);
  const CallAnswer first = call(member(0));
  EXPECT_EQ(first.gang.standing, GangStanding::kWaiting);
  EXPECT_THAT(first.gang.refusal.note, HasSubstr("owns it"));
  EXPECT_THAT(first.ranking.fits, IsEmpty());
  owner_speaks();
  look(1'010);
  const CallAnswer second = call(member(0));
  EXPECT_EQ(second.gang.standing, GangStanding::kPlanned);
  EXPECT_THAT(fits(second), ElementsAre("a0"));
}

TEST_F(GangLateWordTest, AnOwnerThatNeverSpeaksIsNotWaitedForForEver) {
  cluster_.hear_owners_of({"JobSet"});
  look(1'000);
  EXPECT_EQ(call(member(0)).gang.standing, GangStanding::kWaiting);
  look(1'000 + kOwnerPatienceMilliseconds - 1);
  EXPECT_EQ(call(member(1)).gang.standing, GangStanding::kWaiting);
  look(1'000 + kOwnerPatienceMilliseconds);
  const CallAnswer late = call(member(1));
  EXPECT_EQ(late.gang.standing, GangStanding::kNotPlannable);
  EXPECT_THAT(fits(late), SizeIs(8));
}

TEST_F(GangLateWordTest, NobodyWaitsForOwnersThatAreNotWatched) {
  cluster_.hear_owners_of({"Gang", "Job"});
  look(1'000);
  EXPECT_EQ(call(member(0)).gang.standing, GangStanding::kNotPlannable);
}

TEST_F(GangLateWordTest, NobodyWaitsForAnOwnerThatHasSpokenWithoutASize) {
  cluster_.hear_owners_of({"JobSet"});
  cluster_.add_facts("jobsets/team-a/job", {{std::string(kKey), {{"driver", 1, 0}}, "", false}});
  look(1'000);
  EXPECT_EQ(call(member(0)).gang.standing, GangStanding::kNotPlannable);
}

TEST_F(GangLateWordTest, AGangByNameWaitsOnlyWhereSomebodyMadeThePod) {
  cluster_.hear_owners_of({"Gang"});
  look(1'000);
  kube::Pod alone = member(0);
  alone.metadata.annotations["rankward.io/gang"] = "job";
  EXPECT_EQ(call(alone).gang.standing, GangStanding::kNotPlannable);
  kube::Pod owned = alone;
  owned.metadata.name = "other-0";
  owned.metadata.uid = "uid-other-0";
  owned.metadata.annotations["rankward.io/gang"] = "other";
  owned.metadata.owner_references.push_back(
      {.api_version = "batch/v1", .kind = "Job", .name = "other", .uid = "u", .controller = true});
  EXPECT_EQ(call(owned).gang.standing, GangStanding::kWaiting);
}

TEST_F(GangLateWordTest, NoPlanIsMadeBesideARankWhoseNodeIsNotSeen) {
  look(1'000);
  EXPECT_THAT(fits(call(member(0))), SizeIs(8));  // nobody knows that it will have others
  bind("b2");
  owner_speaks();
  look(1'010);
  const CallAnswer early = call(member(1));
  EXPECT_EQ(early.gang.standing, GangStanding::kWaiting);
  EXPECT_THAT(early.gang.refusal.note, HasSubstr("placed a moment ago"));
  EXPECT_THAT(early.ranking.fits, IsEmpty());
  cluster_.add(member(1));
  look(1'020);
  EXPECT_EQ(plan_gang(*view_, kKey, now_, false, {}).standing, GangStanding::kWaiting);
  seen(member(0), "b2");
  const CallAnswer planned = call(member(1));
  ASSERT_EQ(planned.gang.standing, GangStanding::kPlanned);
  std::vector<std::string> nodes;
  for (const Slot& slot : planned.gang.reservation->parts.front().slots)
    nodes.push_back(slot.node);
  EXPECT_THAT(nodes, UnorderedElementsAre("b0", "b1", "b2", "b3"));
}

TEST_F(GangLateWordTest, ARankThatIsNeverSeenHoldsTheOthersUpForSomeSeconds) {
  look(1'000);
  (void)call(member(0));
  owner_speaks();
  look(1'000 + kUnseenRankMilliseconds);
  EXPECT_EQ(call(member(1)).gang.standing, GangStanding::kWaiting);
  look(1'001 + kUnseenRankMilliseconds);
  EXPECT_EQ(call(member(1)).gang.standing, GangStanding::kPlanned);
}

TEST_F(GangLateWordTest, TheRankItselfDoesNotWaitForItself) {
  look(1'000);
  (void)call(member(0));
  owner_speaks();
  look(1'010);
  EXPECT_EQ(call(member(0)).gang.standing, GangStanding::kPlanned);
}

TEST_F(GangLateWordTest, WhatIsRememberedEndsAMinuteAfterTheLastCall) {
  look(1'000);
  (void)call(member(0));
  look(61'000);
  EXPECT_NE(view_->reservations->find_unplanned(kKey), nullptr);
  EXPECT_THAT(view_->reservations->find_unplanned(kKey)->ranks, IsEmpty());
  look(61'001);
  EXPECT_EQ(view_->reservations->find_unplanned(kKey), nullptr);
  EXPECT_TRUE(view_->reservations->at_rest());
}

TEST_F(GangLateWordTest, TheSameCallIsRememberedOnceASecond) {
  look(1'000);
  EXPECT_NE(call(member(0)).next, nullptr);
  look(1'999);
  EXPECT_EQ(call(member(0)).next, nullptr);
  look(2'000);
  EXPECT_NE(call(member(0)).next, nullptr);
  EXPECT_THAT(view_->reservations->find_unplanned(kKey)->ranks, SizeIs(1));
}

TEST_F(GangLateWordTest, BesideRanksThatStandOnlyTheNearestNodesAreOffered) {
  seen(member(0), "b2");
  bind("b2");
  // As fast by the collective's time, but across the fabric.
  EXPECT_THAT(fits(call(member(1))), ElementsAre("b0", "b1", "b3"));
}

// The watch of owners was quicker than that of pods.
TEST_F(GangLateWordTest, APlanStandsThoughTheWatchHasShownNoPodYet) {
  owner_speaks();
  look(1'000);
  EXPECT_EQ(call(member(0)).gang.standing, GangStanding::kPlanned);
  look(1'010);
  EXPECT_NE(view_->reservations->find(kKey), nullptr);
  cluster_.add(member(0));
  look(1'020);
  cluster_.remove("uid-job-0");
  look(1'030);
  EXPECT_EQ(view_->reservations->find(kKey), nullptr);
}

// Pods, their owner and bindings become known in any order and as late as the limits allow; the
// scheduler takes any node that it is offered. An idle cluster in which a leaf holds the gang.
TEST(GangLateWord, NoOrderOfEventsMixesAGang) {
  int planned = 0;
  int waited = 0;
  for (unsigned seed = 0; seed < 2'000; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    testing::Cluster cluster;
    std::vector<std::string> names;
    for (int i = 0; i < 8; ++i) {
      names.push_back("n" + std::to_string(i));
      cluster.add(node(names.back(), {{"nvidia.com/gpu", 8}, {"rdma/ib", 1000}},
                       leaf(i % 2 == 0 ? "leaf-a" : "leaf-b")),
                  hgx());
    }
    const bool heard = below(2) == 0;
    if (heard) cluster.hear_owners_of({"Gang", "JobSet"});
    auto view = make_view(cluster.snapshot(), std::make_shared<const Reservations>());
    Instant now{static_cast<std::int64_t>(below(100'000))};

    // Two streams, each in its own order: pods, and the owner.
    std::deque<std::function<void()>> pods;
    bool spoken = false;
    std::map<int, std::string> bound;
    std::set<std::string> taken;
    for (int i = 0; i < 4; ++i)
      pods.push_back([&, i] { cluster.add(member(i)); });
    const std::uint64_t speaks_at = below(12);
    for (std::uint64_t step = 0; bound.size() < 4; ++step) {
      ASSERT_LT(step, 2'000U);
      now.milliseconds += static_cast<std::int64_t>(below(100));
      if (!spoken && step >= speaks_at) {
        cluster.add_facts("jobsets/team-a/job", {{std::string(kKey), {{"", 4, 0}}, "", false}});
        spoken = true;
      }
      if (!pods.empty() && below(3) == 0) {
        pods.front()();
        pods.pop_front();
      }
      view = advance(*view, cluster.snapshot(), now, {});
      // Without its owner's word a gang is placed pod by pod: one of them for this test.
      const int rank = static_cast<int>(below(4));
      if (bound.contains(rank) || (!spoken && !heard && !bound.empty())) continue;
      std::vector<std::string_view> offered;
      for (const std::string& name : names) {
        if (!taken.contains(name)) offered.push_back(name);
      }
      std::shuffle(offered.begin(), offered.end(), random);
      const kube::Pod asked = member(rank);
      const auto answer =
          answer_call(*view, make_request(asked, {}).value(), asked, offered, now, {});
      if (answer.next) view = make_view(view->snapshot, answer.next);
      planned += answer.gang.standing == GangStanding::kPlanned;
      waited += answer.gang.standing == GangStanding::kWaiting;
      const auto& fits = answer.ranking.fits;
      if (fits.empty()) continue;
      const std::string on(offered[fits[below(fits.size())].candidate]);
      taken.insert(on);
      bound[rank] = on;
      pods.push_back([&cluster, asked, on] { cluster.add(running_on(on, asked)); });
    }
    std::set<bool> leaves;
    for (const auto& [rank, on] : bound)
      leaves.insert((on.back() - '0') % 2 == 0);
    ASSERT_THAT(leaves, SizeIs(1));
  }
  EXPECT_GT(planned, 4'000);
  EXPECT_GT(waited, 1'000);
}

}  // namespace
}  // namespace rankward::placement
