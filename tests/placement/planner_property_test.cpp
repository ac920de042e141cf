// What holds of every plan, whatever the cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "random_clusters.hpp"

namespace rankward::placement {
namespace {

using testing::random_case;
using testing::RandomCase;

constexpr std::uint64_t kCases = 1'500;
constexpr int kNodes = 12;

struct Planned {
  std::shared_ptr<const Snapshot> snapshot;
  Request request;
  PlanResult result;

  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> names;
    if (!result.plan) return names;
    for (const NodeIndex index : result.plan->slots)
      names.push_back(snapshot->node(index).node->metadata.name);
    return names;
  }
};

Planned plan(const RandomCase& random) {
  Planned planned{random.snapshot(), make_request(random.pod, {}).value(), {}};
  std::vector<NodeIndex> fixed;
  for (const std::string& name : random.fixed)
    fixed.push_back(planned.snapshot->find(name).value());
  PlanQuestion question;
  question.request = &planned.request;
  question.spec = &random.pod.spec;
  question.pods = random.ranks;
  question.fixed = fixed;
  question.required_topology = random.required;
  planned.result = make_plan(question, *planned.snapshot,
                             HeldPlaces(random.reserved, *planned.snapshot), random.options);
  return planned;
}

TEST(PlanProperty, TheOrderInWhichNodesAndPodsComeChangesNothing) {
  int found = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    RandomCase random = random_case(seed, kNodes);
    const Planned first = plan(random);
    std::mt19937_64 shuffle(seed);
    std::shuffle(random.nodes.begin(), random.nodes.end(), shuffle);
    std::shuffle(random.bound.begin(), random.bound.end(), shuffle);
    std::shuffle(random.fixed.begin(), random.fixed.end(), shuffle);
    const Planned second = plan(random);
    ASSERT_EQ(first.names(), second.names()) << "seed " << seed;
    ASSERT_EQ(first.result.refusal.note, second.result.refusal.note) << "seed " << seed;
    if (!first.result.found()) continue;
    ++found;
    ASSERT_EQ(first.result.plan->prediction.seconds, second.result.plan->prediction.seconds);
    ASSERT_EQ(first.result.plan->prediction.bottleneck, second.result.plan->prediction.bottleneck);
  }
  EXPECT_GT(found, static_cast<int>(kCases / 2));
}

TEST(PlanProperty, AnotherNodeNeverMakesThePlanWorse) {
  int compared = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase all = random_case(seed, kNodes);
    // A node on which nobody stands and nobody holds a place is left out.
    RandomCase fewer = all;
    fewer.reserved = {};
    RandomCase more = fewer;
    const std::string left_out = all.nodes.back().first.metadata.name;
    if (std::count(all.fixed.begin(), all.fixed.end(), left_out) > 0) continue;
    fewer.nodes.pop_back();
    const Planned before = plan(fewer);
    const Planned after = plan(more);
    if (!before.result.found()) continue;
    ++compared;
    ASSERT_TRUE(after.result.found()) << "seed " << seed;
    ASSERT_LE(after.result.plan->prediction.seconds.value,
              before.result.plan->prediction.seconds.value * 1.02 * (1 + 1e-12))
        << "seed " << seed;
  }
  EXPECT_GT(compared, static_cast<int>(kCases / 2));
}

// Counted here from the objects themselves.
TEST(PlanProperty, NeverTakesMoreThanTheNodesHave) {
  int slots = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const RandomCase random = random_case(seed, kNodes);
    const Planned planned = plan(random);
    if (!planned.result.found()) continue;
    ASSERT_EQ(static_cast<std::int32_t>(planned.result.plan->slots.size()), random.ranks);
    std::map<std::string, int> shares;
    for (const std::string& name : planned.names())
      ++shares[name];
    for (const auto& [name, pods] : shares) {
      const NodeState& node = planned.snapshot->node(planned.snapshot->find(name).value());
      std::int64_t unseen = std::count(random.fixed.begin(), random.fixed.end(), name);
      for (const Holder& holder : node.holders) {
        if (holder.pod.find("/fixed-") != std::string::npos) --unseen;
      }
      kube::ResourceList needs = planned.request.resources;
      needs.insert_or_assign("pods", kube::Quantity(1));
      for (const auto& [resource, need] : needs) {
        kube::Quantity sum;
        const auto used = node.used.find(resource);
        if (used != node.used.end()) sum += used->second;
        for (std::int64_t i = 0; i < pods + unseen; ++i)
          sum += need;
        for (const auto& [gang, reservation] : random.reserved.all()) {
          for (const ReservedPart& part : reservation->parts) {
            const auto held = part.request->resources.find(resource);
            for (const Slot& slot : part.slots) {
              if (slot.node != name) continue;
              if (resource == "pods") sum += kube::Quantity(1);
              if (held != part.request->resources.end()) sum += held->second;
            }
          }
        }
        const auto has = node.node->allocatable.find(resource);
        ASSERT_TRUE(has != node.node->allocatable.end()) << resource;
        ASSERT_TRUE(sum <= has->second)
            << "seed " << seed << ": " << name << " " << resource << " " << sum.to_string();
      }
      slots += pods;
    }
  }
  EXPECT_GT(slots, static_cast<int>(kCases));
}

}  // namespace
}  // namespace rankward::placement
