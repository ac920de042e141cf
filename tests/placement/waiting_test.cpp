#include "rankward/placement/waiting.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using testing::Cluster;
using testing::Counts;
using ::testing::ElementsAre;
using testing::hgx;
using ::testing::IsEmpty;
using testing::node;
using ::testing::Pair;
using testing::running_on;
using ::testing::SizeIs;

kube::Pod sleeper(const std::string& name, const Counts& limits = {{"nvidia.com/gpu", 8}}) {
  auto pod = testing::pod(name, limits);
  pod.status.unschedulable = true;
  return pod;
}

std::vector<std::string> waiting(const Snapshot& snapshot) {
  std::vector<std::string> names;
  for (const auto& [uid, pod] : snapshot.waiting_pods())
    names.push_back(pod->pod);
  return names;
}

WaitingOutlook look(Cluster& cluster) {
  const auto view = make_view(cluster.snapshot(), std::make_shared<const Reservations>());
  return outlook(*view, *view->snapshot->waiting_pods().begin()->second, {});
}

std::vector<std::pair<std::string, std::size_t>> named(const WaitingOutlook& outlook) {
  std::vector<std::pair<std::string, std::size_t>> out;
  for (const auto& each : outlook.reasons)
    out.emplace_back(reason(each.code).name, each.nodes);
  return out;
}

TEST(WaitingPods, AreThoseWithDevicesThatTheSchedulerKeepsAside) {
  Cluster cluster;
  cluster.add(sleeper("ours"));
  auto fresh = sleeper("fresh");
  fresh.status.unschedulable = false;
  auto member = sleeper("member");
  member.metadata.annotations["rankward.io/gang"] = "job";
  auto leaving = sleeper("leaving");
  leaving.metadata.deleting = true;
  auto ended = sleeper("ended");
  ended.status.phase = "Failed";
  for (const auto& pod : {fresh, member, leaving, ended, sleeper("plain", {{"cpu", 4}})})
    cluster.add(pod);
  EXPECT_THAT(waiting(*cluster.snapshot()), ElementsAre("team-a/ours"));
}

TEST(WaitingPods, WaitNoMoreOnceBoundGoneOrTriedAgain) {
  Cluster cluster;
  for (const char* name : {"bound", "gone", "again", "stays"})
    cluster.add(sleeper(name));
  const auto before = cluster.snapshot();
  cluster.add(running_on("a", testing::pod("bound", {{"nvidia.com/gpu", 8}})));
  cluster.remove("uid-gone");
  cluster.add(testing::pod("again", {{"nvidia.com/gpu", 8}}));
  EXPECT_THAT(waiting(*cluster.snapshot()), ElementsAre("team-a/stays"));
  EXPECT_THAT(waiting(*before), SizeIs(4)) << "what was published does not change";
  cluster.remove("uid-stays");
  EXPECT_THAT(waiting(*cluster.snapshot()), IsEmpty());
}

TEST(WaitingPods, AreFollowedSoManyAtATimeAndTheOthersOnceThoseAreGone) {
  SnapshotBuilder builder;
  for (std::size_t i = 0; i < kMostKeptWaitingPods + 5; ++i)
    builder.put_pod(sleeper("p" + std::to_string(i)));
  const auto first = builder.build();
  EXPECT_EQ(first->waiting_pods().size(), kMostWaitingPods);
  for (const auto& [uid, pod] : first->waiting_pods())
    builder.remove_pod(uid);
  const auto second = builder.build();
  EXPECT_EQ(second->waiting_pods().size(), kMostWaitingPods);
  EXPECT_EQ(first->waiting_pods().size(), kMostWaitingPods);
  builder.clear_pods();
  EXPECT_TRUE(builder.changed());
  EXPECT_THAT(builder.build()->waiting_pods(), IsEmpty());
}

TEST(WaitingPods, OneNodeWithRoomIsEnough) {
  Cluster cluster;
  cluster.add(node("a", {}));
  cluster.add(node("b", {{"nvidia.com/gpu", 8}}), hgx());
  cluster.add(sleeper("pod"));
  EXPECT_TRUE(look(cluster).has_room);
  cluster.add(running_on("b", testing::pod("other", {{"nvidia.com/gpu", 1}})));
  EXPECT_FALSE(look(cluster).has_room);
}

TEST(WaitingPods, NoRoomIsCountedByReasonTheMostFrequentFirst) {
  Cluster cluster;
  const auto without = [](const char* name) {
    auto out = testing::with_capacity(node(name, {{"nvidia.com/gpu", 0}}), {{"nvidia.com/gpu", 8}});
    return out;
  };
  for (const char* name : {"a", "b"})
    cluster.add(without(name), hgx());
  cluster.add(node("c", {{"nvidia.com/gpu", 8}}), hgx());
  cluster.add(running_on("c", testing::pod("other", {{"nvidia.com/gpu", 8}})));
  for (const char* name : {"d", "e", "f"})
    cluster.add(node(name, {}));
  auto cordoned = node("g", {{"nvidia.com/gpu", 8}});
  cordoned.unschedulable = true;
  cluster.add(std::move(cordoned), hgx());
  cluster.add(sleeper("pod"));
  const auto outlook = look(cluster);
  EXPECT_FALSE(outlook.has_room);
  EXPECT_EQ(outlook.nodes, 7U);
  EXPECT_THAT(named(outlook), ElementsAre(Pair("NotAGpuNode", 3), Pair("NothingAllocatable", 2),
                                          Pair("InsufficientGpu", 1), Pair("NodeUnavailable", 1)));
}

TEST(WaitingPods, WhatAGangHoldsIsNoRoom) {
  Cluster cluster;
  cluster.add(node("a", {{"nvidia.com/gpu", 8}}), hgx());
  cluster.add(sleeper("pod"));
  const auto snapshot = cluster.snapshot();
  auto held = std::make_shared<Reservation>();
  held->gang_key = "team-b/Gang/job";
  auto& part = held->parts.emplace_back();
  part.request = std::make_shared<const Request>(
      make_request(testing::pod("rank", {{"nvidia.com/gpu", 8}}), {}).value());
  part.slots.push_back({.node = "a"});
  const auto view = make_view(snapshot, std::make_shared<const Reservations>(Reservations().with(
                                            std::shared_ptr<const Reservation>(held))));
  const auto outlook = placement::outlook(*view, *snapshot->waiting_pods().begin()->second, {});
  EXPECT_FALSE(outlook.has_room);
  EXPECT_THAT(named(outlook), ElementsAre(Pair("ReservedForGang", 1)));
}

}  // namespace
}  // namespace rankward::placement
