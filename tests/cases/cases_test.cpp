// Every folder of tests/cases that can be judged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>

#include "expectations.hpp"
#include "extender.hpp"
#include "rankward/cluster/inventory.hpp"
#include "rankward/cluster/plan_board.hpp"
#include "rankward/formats/caller.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::cases {
namespace {

namespace fs = std::filesystem;

const fs::path kFolder = fs::path(RANKWARD_SOURCE_DIR) / "tests" / "cases";

std::vector<std::string> folders() {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(kFolder)) {
    if (entry.is_directory() && can_be_read(entry.path())) {
      names.push_back(entry.path().filename());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

class CaseTest : public ::testing::TestWithParam<std::string> {
 protected:
  Case case_ = read_case(kFolder / GetParam());

  const kube::Pod& pod(const std::string& name) {
    for (const CasePod& candidate : case_.pods) {
      if (candidate.pod.metadata.name == name) return candidate.pod;
    }
    throw std::runtime_error("the case has no pod " + name);
  }
  const std::string& json(const std::string& name) {
    for (const CasePod& candidate : case_.pods) {
      if (candidate.pod.metadata.name == name) return candidate.json;
    }
    throw std::runtime_error("the case has no pod " + name);
  }
  admission::Judgement admitted(const std::string& name) {
    for (const formats::JudgedObject& object : case_.others) {
      if (object.metadata.name == name) return admit(object);
    }
    return admit(pod(name));
  }
  std::unique_ptr<cluster::InventorySource> inventory() {
    return std::make_unique<cluster::InventorySource>(case_.nodes, std::vector<kube::Pod>());
  }
};

TEST_P(CaseTest, IsPlacedAsExpected) {
  const YAML::Node& expected = case_.expected;
  // Whole gangs: gangs_test.cpp.
  if (expected["gang"] || expected["gangs"]) return;
  if (const YAML::Node pods = expected["pods"]) {
    for (const auto& item : pods) {
      SCOPED_TRACE(item.first.Scalar());
      expect_placement(case_, pod(item.first.Scalar()), item.second);
    }
  } else if (!case_.node_names.empty()) {
    expect_placement(case_, case_.pods.front().pod, expected);
  }
}

TEST_P(CaseTest, IsAdmittedAsExpected) {
  const YAML::Node webhook = case_.expected["webhook"];
  if (!webhook) return;
  if (webhook.IsMap()) {
    for (const auto& item : webhook) {
      SCOPED_TRACE(item.first.Scalar() + ": " + item.second.Scalar());
      expect_admission(admitted(item.first.Scalar()), item.second.Scalar());
    }
    return;
  }
  for (const CasePod& candidate : case_.pods) {
    SCOPED_TRACE(candidate.pod.metadata.name);
    expect_admission(admit(candidate.pod), webhook.Scalar());
  }
}

TEST_P(CaseTest, NamesEveryRuleAndPathOnce) {
  const YAML::Node codes = case_.expected["codes"];
  if (!codes) return;
  std::string all;
  for (const CasePod& candidate : case_.pods)
    all += admit(candidate.pod).message;
  for (const auto& code : codes) {
    // "ENV-01 where the variable is set": this pod sets none.
    if (code.Scalar().find(" where ") != std::string::npos) continue;
    EXPECT_THAT(all,
                ::testing::HasSubstr("[" + code.Scalar().substr(0, code.Scalar().find(' ')) + "]"));
  }
  for (const auto& path : case_.expected["paths"]) {
    EXPECT_THAT(all, ::testing::HasSubstr(path.Scalar()));
  }
}

TEST_P(CaseTest, IsFilteredAndScoredAsExpected) {
  const YAML::Node filter = case_.expected["filter"];
  const YAML::Node score = case_.expected["score"];
  if (!filter && !score) return;
  const auto source = inventory();
  server::ExtenderOptions options;
  options.managed_resources = {"nvidia.com/gpu"};
  cluster::PlanBoard board(*source, cluster::machine_clock());
  const server::Extender extender(options, &board);
  const std::string pod_json =
      filter && filter.IsMap() ? json(filter.begin()->first.Scalar()) : case_.pods.front().json;
  const std::string body = formats::write_extender_args(pod_json, case_.node_names);
  if (filter) {
    std::string out;
    static_cast<void>(extender.filter(body, out));
    EXPECT_THAT(formats::read_filter_answer(out).value().node_names,
                ::testing::UnorderedElementsAreArray(case_.node_names));
  }
  if (score) {
    std::string out;
    static_cast<void>(extender.prioritize(body, out));
    std::map<std::string, std::int64_t> scores;
    for (const auto& [node, value] : formats::read_host_priorities(out).value()) {
      scores[node] = value;
    }
    const std::string text = score.Scalar();
    const auto greater = text.find(" > ");
    ASSERT_NE(greater, std::string::npos) << text;
    EXPECT_GT(scores.at(text.substr(0, greater)), scores.at(text.substr(greater + 3)));
  }
}

TEST_P(CaseTest, AnswersTheRequestOfTheCase) {
  const YAML::Node body = case_.expected["body"];
  if (!body) return;
  std::ifstream file(case_.folder / "extender-args.json");
  const std::string args((std::istreambuf_iterator<char>(file)), {});
  const auto source = inventory();
  cluster::PlanBoard board(*source, cluster::machine_clock());
  const server::Extender extender({}, &board);
  std::string out;
  const server::Answer answer = extender.filter(args, out);
  EXPECT_EQ(answer.status, case_.expected["http_status"].as<int>());
  const auto result = formats::read_filter_answer(out).value();
  EXPECT_THAT(result.node_names, ::testing::UnorderedElementsAreArray(
                                     body["NodeNames"].as<std::vector<std::string>>()));
  EXPECT_EQ(result.node_names.front() + " first", case_.expected["order"].Scalar());
  EXPECT_TRUE(result.failed.empty());
  EXPECT_TRUE(result.failed_and_unresolvable.empty());
  EXPECT_EQ(result.error, body["Error"].Scalar());
  std::vector<placement::Candidate> candidates;
  std::vector<std::string> names;
  for (const auto& item : case_.expected["plan"])
    names.push_back(item.first.Scalar());
  for (const std::string& name : names)
    candidates.push_back({name, case_.snapshot->find(name)});
  const kube::Pod& asked = case_.pods.front().pod;
  const auto ranking = placement::rank(placement::make_request(asked, {}).value(), asked.spec,
                                       *case_.snapshot, candidates, {}, placement::Use::kExplain);
  for (std::size_t i = 0; i < names.size(); ++i) {
    ASSERT_TRUE(ranking.verdicts[i].reason) << names[i];
    EXPECT_EQ(placement::reason(*ranking.verdicts[i].reason).name,
              case_.expected["plan"][names[i]].Scalar());
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, CaseTest, ::testing::ValuesIn(folders()), [](const auto& of) {
  std::string name = of.param;
  for (char& c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
  }
  return name;
});

}  // namespace
}  // namespace rankward::cases
