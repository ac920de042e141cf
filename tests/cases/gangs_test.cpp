// The cases about whole gangs: what each says of the gang, judged by the planner.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "case.hpp"
#include "gang_need.hpp"
#include "rankward/placement/plan.hpp"

namespace rankward::cases {
namespace {

using placement::NodeIndex;
using placement::PlanQuestion;
using placement::PlanResult;
using ::testing::HasSubstr;

class GangCaseTest : public ::testing::Test {
 protected:
  void read(const std::string& name) {
    case_ = read_case(std::filesystem::path(RANKWARD_SOURCE_DIR) / "tests" / "cases" / name);
  }

  [[nodiscard]] const kube::Pod& pod(const std::string& prefix) const {
    for (const CasePod& each : case_.pods) {
      if (each.pod.metadata.name.rfind(prefix, 0) == 0) return each.pod;
    }
    throw std::runtime_error("the case has no pod " + prefix);
  }

  // All ranks of the pod's gang on the case's cluster.
  PlanResult plan(const kube::Pod& asked) {
    const placement::Request request = placement::make_request(asked, {}).value();
    PlanQuestion question;
    question.request = &request;
    question.spec = &asked.spec;
    question.pods = request.gang->size.value();
    return placement::make_plan(question, *case_.snapshot, {}, {});
  }

  [[nodiscard]] std::vector<std::string> names(const PlanResult& result) const {
    std::vector<std::string> out;
    for (const NodeIndex index : result.plan->slots)
      out.push_back(case_.snapshot->node(index).node->metadata.name);
    return out;
  }

  Case case_;
};

TEST_F(GangCaseTest, RetriesOfARankAreOneRank) {
  read("23-job-retries-counted-once");
  const YAML::Node expected = case_.expected["gang"];
  const kube::Pod& asked = case_.pods.front().pod;
  const placement::Request request = placement::make_request(asked, {}).value();
  const placement::Caller caller{request, asked};
  const auto need = placement::need_of(*case_.snapshot, request.gang->key, &caller);
  ASSERT_EQ(need.parts.size(), 1U);
  EXPECT_EQ(need.parts.front().bound.size(), expected["bound_ranks"].size());
  std::int64_t used = 0;
  std::set<std::int32_t> ranks;
  for (std::uint32_t i = 0; i < case_.snapshot->size(); ++i) {
    for (const placement::Holder& holder : case_.snapshot->node({i}).holders) {
      used += holder.gpus;
      ranks.insert(holder.rank.value());
    }
  }
  EXPECT_EQ(used, case_.expected["used_total"].as<std::int64_t>());
  for (const auto& rank : expected["bound_ranks"])
    EXPECT_TRUE(ranks.contains(rank.as<std::int32_t>()));
  EXPECT_EQ(request.gang->rank, expected["missing"][0].as<std::int32_t>());
  EXPECT_EQ(ranks.size() + 1, expected["size"].as<std::size_t>());
  const auto ranking = judge(case_, asked).ranking;
  ASSERT_FALSE(ranking.fits.empty());
  EXPECT_EQ(case_.node_names[ranking.fits.front().candidate], case_.expected["choose"].Scalar());
}

TEST_F(GangCaseTest, OneRankWithoutRdmaRefusesTheGang) {
  read("26-rank-falls-to-socket-no-efa");
  const PlanResult result = plan(pod("pretrain-0"));
  EXPECT_EQ(result.found(), case_.expected["schedulable"].as<bool>());
  EXPECT_EQ(result.refusal.room, case_.expected["gang"]["eligible"].as<int>());
  const auto index = case_.snapshot->find("p5en-0");
  const kube::Pod& asked = pod("pretrain-0");
  const auto verdict = placement::judge(placement::make_request(asked, {}).value(), asked.spec,
                                        case_.snapshot->node(*index), {}, placement::Use::kFilter);
  ASSERT_TRUE(verdict.reason);
  EXPECT_EQ(placement::reason(*verdict.reason).name,
            case_.expected["nodes"]["p5en-0"]["code"].Scalar());
}

TEST_F(GangCaseTest, ARequiredLeafWithThreeOfFourIsNotEnough) {
  read("31-gang-of-4-only-3-free-in-block");
  const YAML::Node expected = case_.expected["gang"];
  kube::Pod asked = pod("g-0");
  const PlanResult result = plan(asked);
  EXPECT_FALSE(result.found());
  EXPECT_EQ(result.refusal.reason, placement::ReasonCode::kOutsideFabricDomain);
  EXPECT_EQ(result.refusal.room, expected["free_in_best"].as<int>());
  EXPECT_THAT(result.refusal.note, HasSubstr(expected["best_domain"].Scalar()));
  for (const auto& blocked : expected["blocked"]) {
    const auto index = case_.snapshot->find(blocked.first.Scalar());
    const auto verdict =
        placement::judge(placement::make_request(asked, {}).value(), asked.spec,
                         case_.snapshot->node(*index), {}, placement::Use::kExplain);
    ASSERT_TRUE(verdict.reason);
    EXPECT_EQ(placement::reason(*verdict.reason).name, blocked.second.Scalar());
  }
  // Preferred in place of required: three in leaf-a, one in leaf-b.
  asked.metadata.annotations["rankward.io/topology-preferred"] =
      asked.metadata.annotations.at("rankward.io/topology-required");
  asked.metadata.annotations.erase("rankward.io/topology-required");
  const PlanResult preferred = plan(asked);
  ASSERT_TRUE(preferred.found());
  std::map<std::string, int> leaves;
  for (const NodeIndex index : preferred.plan->slots)
    ++leaves[case_.snapshot->node(index).topology->fabric.domains.front()];
  EXPECT_THAT(leaves,
              ::testing::ElementsAre(::testing::Pair("leaf-a", 3), ::testing::Pair("leaf-b", 1)));
}

TEST_F(GangCaseTest, CliquesAreComparedByTheWholeLabel) {
  read("32-clique-mismatch-4-nodes-2-racks");
  for (const auto& item : case_.expected["gangs"]) {
    const std::string gang = item.first.Scalar();
    SCOPED_TRACE(gang);
    const PlanResult result = plan(pod(gang + "-"));
    ASSERT_EQ(result.found(), item.second["schedulable"].as<bool>());
    if (!result.found()) {
      EXPECT_EQ(result.refusal.reason, placement::ReasonCode::kCliqueMismatch);
      EXPECT_EQ(result.refusal.room, item.second["largest_clique"].as<int>());
      continue;
    }
    std::vector<std::vector<std::string>> allowed;
    for (const auto& each : item.second["choose_any_of"])
      allowed.push_back(each.as<std::vector<std::string>>());
    EXPECT_THAT(allowed, ::testing::Contains(::testing::UnorderedElementsAreArray(names(result))));
  }
}

}  // namespace
}  // namespace rankward::cases
