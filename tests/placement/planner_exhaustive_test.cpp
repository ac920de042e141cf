// The planner against every way to place a small gang.
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "exhaustive_planner.hpp"
#include "random_clusters.hpp"

namespace rankward::placement {
namespace {

using testing::ExhaustivePlanner;
using testing::PlanTerms;
using testing::random_case;
using testing::RandomCase;

constexpr std::uint64_t kCases = 12'000;

std::string text(const PlanTerms& terms) {
  return std::to_string(terms.seconds) + " s, unknown " + std::to_string(terms.unknown) +
         ", outside " + std::to_string(terms.outside_preferred) + ", tier " +
         std::to_string(terms.tier) + ", nodes " + std::to_string(terms.nodes) + ", broken " +
         std::to_string(terms.broken) + ", left over " + std::to_string(terms.left_over) +
         ", sets " + std::to_string(terms.gpu_sets);
}

struct Tally {
  int planned = 0;
  int refused = 0;
  int several_nodes = 0;
  int uneven = 0;
};

// Empty where both agree.
std::string compare(std::uint64_t seed, Tally& tally) {
  const RandomCase random = random_case(seed);
  const auto snapshot = random.snapshot();
  const Request request = make_request(random.pod, {}).value();
  std::vector<NodeIndex> fixed;
  for (const std::string& name : random.fixed)
    fixed.push_back(snapshot->find(name).value());
  PlanQuestion question;
  question.request = &request;
  question.spec = &random.pod.spec;
  question.pods = random.ranks;
  question.fixed = fixed;
  question.required_topology = random.required;
  question.use = seed % 2 == 0 ? Use::kExplain : Use::kFilter;
  const HeldPlaces held(random.reserved, *snapshot);

  const ExhaustivePlanner exhaustive(question, *snapshot, held, random.options);
  const auto best = exhaustive.best();
  const PlanResult result = make_plan(question, *snapshot, held, random.options);
  if (!best) {
    ++tally.refused;
    return result.found() ? "a plan where there is none" : "";
  }
  if (!result.found()) return "no plan: " + result.refusal.note + "; " + text(*best);
  ++tally.planned;
  if (best->nodes > 1) ++tally.several_nodes;
  const auto terms = exhaustive.terms_of(result.plan->slots);
  if (!terms) return "not a plan; " + text(*best);
  if (static_cast<std::int32_t>(result.plan->slots.size()) != random.ranks) return "too few slots";
  const Prediction& prediction = result.plan->prediction;
  if (std::abs(prediction.seconds.value - terms->seconds) > 1e-12 + 1e-9 * terms->seconds) {
    return "predicts " + std::to_string(prediction.seconds.value) + " s for " + text(*terms);
  }
  if (terms->seconds > best->seconds * 1.02 * (1 + 1e-12) || terms->rest() != best->rest()) {
    return text(*terms) + "; best " + text(*best);
  }
  return "";
}

TEST(PlanExhaustively, NoPlanOfASmallClusterIsBetterInAnyTerm) {
  Tally tally;
  int differences = 0;
  for (std::uint64_t seed = 0; seed < kCases; ++seed) {
    const std::string difference = compare(seed, tally);
    if (difference.empty()) continue;
    ++differences;
    if (differences <= 5) ADD_FAILURE() << "seed " << seed << ": " << difference;
  }
  EXPECT_EQ(differences, 0);
  // The cases are worth something: many have a plan, many over several nodes, some none.
  EXPECT_GT(tally.planned, static_cast<int>(kCases / 2));
  EXPECT_GT(tally.several_nodes, static_cast<int>(kCases / 4));
  EXPECT_GT(tally.refused, static_cast<int>(kCases / 50));
  RecordProperty("planned", tally.planned);
  RecordProperty("several_nodes", tally.several_nodes);
  RecordProperty("refused", tally.refused);
}

}  // namespace
}  // namespace rankward::placement
