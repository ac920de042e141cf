// Gangs as a Snapshot shows them: pods without a node, what owners say, and who shares what.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "clusters.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::node;
using testing::pod;
using testing::running_on;
using ::testing::UnorderedElementsAre;

constexpr std::string_view kG = "team-a/Gang/g";

kube::Pod waiting(const std::string& name, const std::string& gang, const std::string& rank = "") {
  kube::Pod member = pod(name, {{"nvidia.com/gpu", 1}}, {{"rankward.io/gang", gang}});
  if (!rank.empty()) member.metadata.annotations["rankward.io/rank"] = rank;
  return member;
}

std::vector<std::string> pods_of(const GangState* gang) {
  std::vector<std::string> names;
  if (gang == nullptr) return names;
  for (const PendingMember& member : gang->pending)
    names.push_back(member.pod);
  return names;
}

std::vector<std::string> pending_gangs(const Snapshot& snapshot) {
  std::vector<std::string> keys;
  snapshot.for_each_pending_gang([&keys](const GangState& gang) { keys.push_back(gang.key); });
  return keys;
}

GangFacts facts_of(std::string key, std::int32_t pods, std::string role = "") {
  GangFacts facts;
  facts.gang_key = std::move(key);
  facts.sizes.push_back({std::move(role), pods, 0});
  return facts;
}

class SnapshotGang : public ::testing::Test {
 protected:
  SnapshotGang() {
    for (const char* name : {"a", "b"})
      builder_.put_node(node(name, {{"nvidia.com/gpu", 8}}), {});
  }
  SnapshotBuilder builder_;
};

TEST_F(SnapshotGang, HasItsPendingPodsByRankThenName) {
  builder_.put_pod(waiting("z", "g", "2"));
  builder_.put_pod(waiting("y", "g", "10"));
  builder_.put_pod(waiting("x", "g"));
  builder_.put_pod(waiting("w", "g"));
  builder_.put_pod(waiting("v", "h", "0"));
  const auto snapshot = builder_.build();
  EXPECT_THAT(pods_of(snapshot->gang(kG)),
              ElementsAre("team-a/z", "team-a/y", "team-a/w", "team-a/x"));
  EXPECT_THAT(pods_of(snapshot->gang("team-a/Gang/h")), ElementsAre("team-a/v"));
  EXPECT_EQ(snapshot->gang("team-a/Gang/other"), nullptr);
  EXPECT_THAT(pending_gangs(*snapshot), UnorderedElementsAre(kG, "team-a/Gang/h"));
  EXPECT_EQ(snapshot->gang(kG)->pending[1].rank(), 10);
}

TEST_F(SnapshotGang, KeepsWhatItsPodsAskForWithoutTheirEnvironment) {
  kube::Pod member = waiting("p", "g", "0");
  member.spec.containers[0].env.push_back({"TOKEN", "secret", ""});
  member.spec.node_selector["pool"] = "train";
  member.spec.scheduling_gates = {"rankward.io/gang", "kueue.x-k8s.io/admission"};
  member.status.nominated_node_name = "b";
  builder_.put_pod(member);
  const auto snapshot = builder_.build();
  const PendingMember& kept = snapshot->gang(kG)->pending.at(0);
  EXPECT_EQ(kept.uid, "uid-p");
  EXPECT_EQ(kept.request->gpus(), 1);
  EXPECT_EQ(kept.spec->node_selector.at("pool"), "train");
  EXPECT_THAT(kept.spec->containers[0].env, IsEmpty());
  EXPECT_EQ(kept.nominated_node, "b");
  EXPECT_TRUE(kept.gated);
  EXPECT_TRUE(kept.gated_by_others);
  EXPECT_FALSE(kept.deleting);
}

TEST_F(SnapshotGang, TellsItsOwnGateFromOthers) {
  const auto gates_of = [this](std::vector<std::string> gates) {
    kube::Pod member = waiting("p", "g");
    member.spec.scheduling_gates = std::move(gates);
    builder_.put_pod(member);
    const auto snapshot = builder_.build();
    const PendingMember& kept = snapshot->gang(kG)->pending.at(0);
    return std::pair(kept.gated, kept.gated_by_others);
  };
  EXPECT_EQ(gates_of({}), std::pair(false, false));
  EXPECT_EQ(gates_of({"rankward.io/gang"}), std::pair(true, false));
  EXPECT_EQ(gates_of({"kueue.x-k8s.io/admission"}), std::pair(false, true));
}

TEST_F(SnapshotGang, TakesThePodsOptionsForItsRequests) {
  RequestOptions options;
  options.message_size = topology::Bytes{1 << 20};
  SnapshotBuilder builder(options);
  builder.put_pod(waiting("p", "g"));
  EXPECT_EQ(builder.build()->gang(kG)->pending.at(0).request->message_size.count, 1 << 20);
}

TEST_F(SnapshotGang, HasAPodEitherPendingOrBound) {
  builder_.put_pod(waiting("p", "g", "0"));
  const auto before = builder_.build();
  builder_.put_pod(running_on("a", waiting("p", "g", "0")));
  const auto after = builder_.build();
  EXPECT_THAT(pods_of(before->gang(kG)), ElementsAre("team-a/p")) << "a snapshot never changes";
  EXPECT_EQ(after->gang(kG), nullptr);
  EXPECT_THAT(after->bound_members(kG), ElementsAre(NodeIndex{0}));
  EXPECT_THAT(pending_gangs(*after), IsEmpty());
  // As after a restore of an older state.
  builder_.put_pod(waiting("p", "g", "0"));
  const auto again = builder_.build();
  EXPECT_THAT(pods_of(again->gang(kG)), ElementsAre("team-a/p"));
  EXPECT_THAT(again->bound_members(kG), IsEmpty());
}

TEST_F(SnapshotGang, KeepsNoPodThatHasEndedOrIsGoneOrAlone) {
  kube::Pod failed = waiting("failed", "g");
  failed.status.phase = "Failed";
  kube::Pod unreadable = waiting("unreadable", "g");
  unreadable.metadata.annotations["rankward.io/transport"] = "by pigeon";
  builder_.put_pod(failed);
  builder_.put_pod(unreadable);
  builder_.put_pod(pod("alone", {{"nvidia.com/gpu", 1}}));
  builder_.put_pod(waiting("gone", "g"));
  builder_.remove_pod("uid-gone");
  EXPECT_THAT(pending_gangs(*builder_.build()), IsEmpty());
  builder_.put_pod(waiting("p", "g"));
  (void)builder_.build();
  kube::Pod ended = waiting("p", "g");
  ended.status.phase = "Succeeded";
  builder_.put_pod(ended);
  EXPECT_EQ(builder_.build()->gang(kG), nullptr);
}

TEST_F(SnapshotGang, KeepsNoPodsOfAJobWithoutDevicesUnlessTheyWaitForUs) {
  kube::Pod plain = pod("plain", {{"cpu", 1}});
  plain.metadata.labels = {{"batch.kubernetes.io/job-name", "work"},
                           {"batch.kubernetes.io/job-completion-index", "0"}};
  builder_.put_pod(plain);
  EXPECT_THAT(pending_gangs(*builder_.build()), IsEmpty());
  kube::Pod gated = plain;
  gated.spec.scheduling_gates = {"rankward.io/gang"};
  builder_.put_pod(gated);
  EXPECT_THAT(pending_gangs(*builder_.build()), ElementsAre("team-a/Job/work"));
  kube::Pod claims = plain;
  claims.spec.containers[0].resources.claims = {"gpus"};
  builder_.put_pod(claims);
  EXPECT_THAT(pending_gangs(*builder_.build()), ElementsAre("team-a/Job/work"));
  // A leader without devices is part of its gang.
  kube::Pod leader = pod("leader", {{"cpu", 1}});
  leader.metadata.labels = {{"training.kubeflow.org/job-name", "mpi"},
                            {"training.kubeflow.org/job-role", "launcher"}};
  builder_.put_pod(leader);
  EXPECT_NE(builder_.build()->gang("team-a/TrainingJob/mpi"), nullptr);
}

TEST_F(SnapshotGang, MarksPendingPodsThatAreBeingDeleted) {
  kube::Pod leaving = waiting("p", "g");
  leaving.metadata.deleting = true;
  builder_.put_pod(leaving);
  EXPECT_TRUE(builder_.build()->gang(kG)->pending.at(0).deleting);
}

TEST_F(SnapshotGang, ForgetsPendingPodsWithAllOthers) {
  builder_.put_pod(waiting("p", "g"));
  builder_.put_pod(running_on("a", waiting("q", "g")));
  builder_.put_gang_facts("Job/team-a/g", {facts_of(std::string(kG), 2)});
  (void)builder_.build();
  builder_.clear_pods();
  const auto snapshot = builder_.build();
  ASSERT_NE(snapshot->gang(kG), nullptr) << "its owner is still there";
  EXPECT_THAT(snapshot->gang(kG)->pending, IsEmpty());
  EXPECT_THAT(snapshot->bound_members(kG), IsEmpty());
}

TEST_F(SnapshotGang, SaysWhatItsOwnersSayInTheirOrder) {
  GangFacts constrained = facts_of(std::string(kG), 3);
  constrained.required_topology = "rack";
  builder_.put_gang_facts("PodGroup/team-a/g", {constrained});
  builder_.put_gang_facts("JobSet/team-a/g",
                          {facts_of(std::string(kG), 1, "driver"), facts_of("team-a/Gang/h", 2),
                           facts_of(std::string(kG), 4, "workers")});
  auto snapshot = builder_.build();
  ASSERT_NE(snapshot->gang(kG), nullptr) << "though no pod of it has been seen";
  const auto& facts = snapshot->gang(kG)->facts;
  ASSERT_EQ(facts.size(), 3U);
  EXPECT_EQ(facts[0].sizes, (std::vector<RoleSize>{{"driver", 1, 0}}));
  EXPECT_EQ(facts[1].sizes, (std::vector<RoleSize>{{"workers", 4, 0}}));
  EXPECT_EQ(facts[2].required_topology, "rack");
  EXPECT_THAT(pending_gangs(*snapshot), IsEmpty());

  // What an owner says replaces all that it said before.
  builder_.put_gang_facts("JobSet/team-a/g", {facts_of(std::string(kG), 5)});
  snapshot = builder_.build();
  EXPECT_EQ(snapshot->gang(kG)->facts.size(), 2U);
  EXPECT_EQ(snapshot->gang("team-a/Gang/h"), nullptr);
  builder_.remove_gang_facts("JobSet/team-a/g");
  builder_.remove_gang_facts("JobSet/team-a/never-seen");
  snapshot = builder_.build();
  ASSERT_EQ(snapshot->gang(kG)->facts.size(), 1U);
  EXPECT_EQ(snapshot->gang(kG)->facts[0], constrained);
}

TEST_F(SnapshotGang, ClearsTheFactsOfOneKindOfOwner) {
  builder_.put_gang_facts("Job/team-a/g", {facts_of(std::string(kG), 1)});
  builder_.put_gang_facts("JobSet/team-a/g", {facts_of(std::string(kG), 2)});
  builder_.put_gang_facts("JobSet/team-a/h", {facts_of("team-a/Gang/h", 2)});
  builder_.clear_gang_facts("JobSet/");
  auto snapshot = builder_.build();
  EXPECT_EQ(snapshot->gang(kG)->facts.size(), 1U);
  EXPECT_EQ(snapshot->gang("team-a/Gang/h"), nullptr);
  builder_.clear_gang_facts("");
  EXPECT_EQ(builder_.build()->gang(kG), nullptr);
}

TEST_F(SnapshotGang, IsSharedBetweenSnapshotsWhileItStaysTheSame) {
  builder_.put_pod(waiting("p", "g"));
  builder_.put_gang_facts("Job/team-a/g", {facts_of(std::string(kG), 2)});
  const auto before = builder_.build();
  // Neither another gang nor a node, nor the same word once more, nor a rank that is bound.
  builder_.put_pod(waiting("q", "h"));
  builder_.put_gang_facts("Job/team-a/g", {facts_of(std::string(kG), 2)});
  builder_.put_pod(running_on("a", waiting("r", "g")));
  const auto same_nodes = builder_.build();
  builder_.put_node(node("0", {}), {});
  const auto other_nodes = builder_.build();
  EXPECT_EQ(before->gang(kG), same_nodes->gang(kG));
  EXPECT_EQ(before->gang(kG), other_nodes->gang(kG));
  EXPECT_THAT(other_nodes->bound_members(kG), ElementsAre(NodeIndex{1}));
  builder_.put_pod(waiting("s", "g"));
  EXPECT_NE(before->gang(kG), builder_.build()->gang(kG));
}

// A retry of a rank is another pod of the same rank and role: whoever counts ranks can tell.
TEST_F(SnapshotGang, KeepsRankAndRoleOfPendingAndBoundPods) {
  const auto member = [](const std::string& name) {
    kube::Pod made = pod(name, {{"nvidia.com/gpu", 1}});
    made.metadata.labels = {{"training.kubeflow.org/job-name", "pt"},
                            {"training.kubeflow.org/replica-type", "worker"},
                            {"training.kubeflow.org/replica-index", "1"}};
    return made;
  };
  kube::Pod failed = running_on("a", member("first"));
  failed.status.phase = "Failed";
  builder_.put_pod(failed);
  builder_.put_pod(running_on("b", member("second")));
  builder_.put_pod(member("third"));
  const auto snapshot = builder_.build();
  const GangState* gang = snapshot->gang("team-a/TrainingJob/pt");
  ASSERT_NE(gang, nullptr);
  ASSERT_EQ(gang->pending.size(), 1U);
  EXPECT_EQ(gang->pending[0].rank(), 1);
  EXPECT_EQ(gang->pending[0].role(), "worker");
  EXPECT_THAT(snapshot->node({0}).holders, IsEmpty()) << "the failed one holds nothing";
  ASSERT_EQ(snapshot->node({1}).holders.size(), 1U);
  const Holder& holder = snapshot->node({1}).holders[0];
  EXPECT_EQ(holder.gang_key, "team-a/TrainingJob/pt");
  EXPECT_EQ(holder.rank, 1);
  EXPECT_EQ(holder.role, "worker");
}

std::string described(const Snapshot& snapshot, const std::vector<std::string>& gangs) {
  std::string text;
  for (const std::string& key : gangs) {
    text += key + ":";
    for (const NodeIndex index : snapshot.bound_members(key))
      text += " " + snapshot.node(index).node->metadata.name;
    if (const GangState* gang = snapshot.gang(key)) {
      for (const PendingMember& member : gang->pending)
        text += " " + member.uid + (member.deleting ? "-" : "+");
      for (const GangFacts& facts : gang->facts)
        text += " " + std::to_string(facts.sizes.at(0).pods);
    }
    text += "\n";
  }
  auto pending = pending_gangs(snapshot);
  std::sort(pending.begin(), pending.end());
  for (const std::string& key : pending)
    text += key + " ";
  return text;
}

// Whatever came in which order, gangs are what one made from the end state has.
TEST(SnapshotGangs, DependOnTheEndStateAlone) {
  std::mt19937 random(11);
  const auto below = [&random](unsigned n) { return static_cast<unsigned>(random() % n); };
  const std::vector<std::string> gangs{"team-a/Gang/g0", "team-a/Gang/g1", "team-a/Gang/g2"};
  for (int round = 0; round < 200; ++round) {
    SnapshotBuilder builder;
    std::map<std::string, kube::Node> nodes;
    std::map<std::string, kube::Pod> pods;
    std::map<std::string, std::vector<GangFacts>> owners;
    for (int step = 0; step < 60; ++step) {
      const std::string name = "p" + std::to_string(below(10));
      const std::string on = "n" + std::to_string(below(3));
      const std::string owner = (below(2) == 0 ? "Job/" : "PodGroup/") + std::to_string(below(3));
      switch (below(12)) {
        case 0:
          nodes[on] = node(on, {{"nvidia.com/gpu", 8}});
          builder.put_node(nodes[on], {});
          break;
        case 1:
          nodes.erase(on);
          builder.remove_node(on);
          break;
        case 2:
          pods.erase(name);
          builder.remove_pod("uid-" + name);
          break;
        case 3:
          owners[owner] = {facts_of(gangs[below(3)], static_cast<std::int32_t>(below(9))),
                           facts_of(gangs[below(3)], static_cast<std::int32_t>(below(9)))};
          builder.put_gang_facts(owner, owners[owner]);
          break;
        case 4:
          owners.erase(owner);
          builder.remove_gang_facts(owner);
          break;
        case 5:
          if (below(4) == 0) {
            pods.clear();
            builder.clear_pods();
          } else if (below(4) == 0) {
            builder.clear_gang_facts("Job/");
            std::erase_if(owners, [](const auto& each) { return each.first.starts_with("Job/"); });
          }
          break;
        case 6:
          (void)builder.build();
          break;
        default: {
          kube::Pod member =
              waiting(name, "g" + std::to_string(below(3)), std::to_string(below(4)));
          if (below(2) == 0) member = running_on(on, member);
          member.metadata.deleting = below(5) == 0;
          if (below(6) == 0) member.status.phase = "Failed";
          pods[name] = member;
          builder.put_pod(member);
        }
      }
    }
    SnapshotBuilder fresh;
    for (const auto& [name, each] : owners)
      fresh.put_gang_facts(name, each);
    for (const auto& [name, each] : pods)
      fresh.put_pod(each);
    for (const auto& [name, each] : nodes)
      fresh.put_node(each, {});
    ASSERT_EQ(described(*builder.build(), gangs), described(*fresh.build(), gangs)) << round;
  }
}

}  // namespace
}  // namespace rankward::placement
