#include "expectations.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <regex>
#include <set>

namespace rankward::cases {
namespace {

using placement::Details;
using placement::Verdict;
using ::testing::Contains;
using ::testing::HasSubstr;

std::int64_t mebibytes(const std::optional<topology::Bytes>& bytes) {
  return bytes ? bytes->count / topology::kMebibyte : -1;
}

std::vector<std::string> offers_of(const YAML::Node& value) {
  std::vector<std::string> out;
  for (const auto& offer : value) {
    out.push_back(offer.first.Scalar() + ": " + offer.second.Scalar());
  }
  return out;
}

void expect_number(const YAML::Node& value, const std::optional<std::int64_t>& actual) {
  ASSERT_TRUE(actual.has_value());
  EXPECT_EQ(*actual, value.as<std::int64_t>());
}

using Check = std::function<void(const YAML::Node&, const Verdict&)>;

Check number(std::optional<std::int64_t> Details::*field) {
  return [field](const YAML::Node& value, const Verdict& verdict) {
    expect_number(value, verdict.details.*field);
  };
}

Check size(std::optional<topology::Bytes> Details::*field) {
  return [field](const YAML::Node& value, const Verdict& verdict) {
    EXPECT_EQ(mebibytes(verdict.details.*field), value.as<std::int64_t>());
  };
}

Check noted() {
  return [](const YAML::Node& value, const Verdict& verdict) {
    EXPECT_THAT(verdict.details.note, HasSubstr(value.Scalar()));
  };
}

const std::map<std::string, Check>& checks() {
  static const std::map<std::string, Check> all = {
      {"fit", [](const YAML::Node& value,
                 const Verdict& verdict) { EXPECT_EQ(verdict.fits(), value.as<bool>()); }},
      {"code",
       [](const YAML::Node& value, const Verdict& verdict) {
         ASSERT_TRUE(verdict.reason) << "fits";
         EXPECT_EQ(placement::reason(*verdict.reason).name, value.Scalar());
       }},
      {"also",
       [](const YAML::Node& value, const Verdict& verdict) {
         std::vector<std::string> names;
         for (const auto code : verdict.details.also) {
           names.emplace_back(placement::reason(code).name);
         }
         EXPECT_THAT(names, Contains(value.Scalar()));
       }},
      {"stage",
       [](const YAML::Node& value, const Verdict& verdict) {
         ASSERT_TRUE(verdict.reason) << "fits";
         EXPECT_EQ(placement::to_string(placement::reason(*verdict.reason).stage), value.Scalar());
       }},
      {"need", number(&Details::need)},
      {"capacity", number(&Details::capacity)},
      {"allocatable", number(&Details::allocatable)},
      {"used", number(&Details::used)},
      {"free", number(&Details::free)},
      {"free_replicas", number(&Details::free)},
      {"unhealthy", number(&Details::unhealthy)},
      {"labels_say", number(&Details::labels_say)},
      {"undeclared_cotenants", number(&Details::undeclared_cotenants)},
      {"need_mib", size(&Details::need_memory)},
      {"gpu_mib", size(&Details::has_memory)},
      {"slice_mib", size(&Details::has_memory)},
      {"declared_by_others_mib", size(&Details::declared_by_others)},
      {"allocatable_key",
       [](const YAML::Node& value, const Verdict& verdict) {
         ASSERT_EQ(value.Scalar(), "absent");
         EXPECT_FALSE(verdict.details.allocatable.has_value());
       }},
      {"free_per_numa",
       [](const YAML::Node& value, const Verdict& verdict) {
         EXPECT_EQ(verdict.details.free_per_numa, value.as<std::vector<std::int64_t>>());
       }},
      {"offers",
       [](const YAML::Node& value, const Verdict& verdict) {
         EXPECT_THAT(verdict.details.offers,
                     ::testing::UnorderedElementsAreArray(offers_of(value)));
       }},
      {"suggest",
       [](const YAML::Node& value, const Verdict& verdict) {
         std::vector<std::string> names;
         for (const std::string& offer : verdict.details.offers) {
           names.push_back(offer.substr(0, offer.find(':')));
         }
         EXPECT_THAT(names,
                     ::testing::UnorderedElementsAreArray(value.as<std::vector<std::string>>()));
       }},
      {"taint", noted()},
      {"failed", noted()},
      // The advice is ours to word; what it must name is the leftover label.
      {"hint",
       [](const YAML::Node& value, const Verdict& verdict) {
         ASSERT_THAT(value.Scalar(), HasSubstr("paused-for-mig-change"));
         EXPECT_THAT(verdict.details.note, HasSubstr("paused-for-mig-change"));
       }},
  };
  return all;
}

void expect_nodes(const Judged& judged, const YAML::Node& nodes) {
  for (const auto& item : nodes) {
    const std::string name = item.first.Scalar();
    const auto found =
        std::find_if(judged.candidates.begin(), judged.candidates.end(),
                     [&](const placement::Candidate& candidate) { return candidate.name == name; });
    ASSERT_NE(found, judged.candidates.end()) << name << " is no node of the case";
    const Verdict& verdict =
        judged.ranking.verdicts[static_cast<std::size_t>(found - judged.candidates.begin())];
    for (const auto& word : item.second) {
      SCOPED_TRACE(name + ": " + word.first.Scalar());
      const auto check = checks().find(word.first.Scalar());
      ASSERT_NE(check, checks().end()) << "no check for this word";
      check->second(word.second, verdict);
    }
  }
}

std::set<std::string> rules_in(const std::string& text) {
  static const std::regex kRule("\\b[A-Z]{2,4}-[0-9]{2}\\b");
  std::set<std::string> rules;
  for (std::sregex_iterator it(text.begin(), text.end(), kRule), end; it != end; ++it) {
    rules.insert(it->str());
  }
  return rules;
}

}  // namespace

void expect_placement(const Case& from, const kube::Pod& pod, const YAML::Node& expected) {
  const Judged judged = judge(from, pod);
  if (const YAML::Node schedulable = expected["schedulable"]) {
    EXPECT_EQ(!judged.ranking.fits.empty(), schedulable.as<bool>());
  }
  if (const YAML::Node choose = expected["choose"]) {
    ASSERT_FALSE(judged.ranking.fits.empty());
    EXPECT_EQ(judged.candidates[judged.ranking.fits.front().candidate].name, choose.Scalar());
  }
  if (const YAML::Node effective = expected["effective"]) {
    EXPECT_EQ(judged.request.gpus(), effective.as<std::int64_t>());
  }
  if (const YAML::Node nodes = expected["nodes"]) expect_nodes(judged, nodes);
  if (const YAML::Node stage = expected["stage"]) {
    const Verdict& first = judged.ranking.verdicts.front();
    ASSERT_TRUE(first.reason);
    EXPECT_EQ(placement::to_string(placement::reason(*first.reason).stage), stage.Scalar());
  }
  for (const auto& phrase : expected["must_not_say"]) {
    for (const Verdict& verdict : judged.ranking.verdicts) {
      if (!verdict.reason) continue;
      const placement::Reason& reason = placement::reason(*verdict.reason);
      EXPECT_THAT(std::string(reason.text) + reason.next_step.data(),
                  ::testing::Not(HasSubstr(phrase.Scalar())));
    }
  }
}

void expect_admission(const admission::Judgement& judgement, const std::string& expected) {
  // What stands in brackets says why, or what a configuration would change.
  const std::string verdict = expected.substr(0, expected.find(" ("));
  std::set<std::string> found;
  for (const admission::Finding& finding : judgement.findings)
    found.emplace(finding.rule);
  for (const std::string& rule : rules_in(verdict)) {
    EXPECT_THAT(found, Contains(rule)) << judgement.message;
  }
  if (const auto at = verdict.find(" at "); at != std::string::npos) {
    for (const admission::Finding& finding : judgement.findings)
      EXPECT_THAT(finding.field, ::testing::StartsWith(verdict.substr(at + 4)));
  }
  if (verdict.rfind("deny", 0) == 0) {
    EXPECT_FALSE(judgement.allowed);
    EXPECT_THAT(judgement.message, HasSubstr("Fix:"));
  } else if (verdict.rfind("warn", 0) == 0) {
    EXPECT_TRUE(judgement.allowed) << judgement.message;
    EXPECT_THAT(judgement.warnings, ::testing::Not(::testing::IsEmpty()));
  } else {
    ASSERT_EQ(verdict.rfind("admit", 0), 0U) << "no check for: " << expected;
    EXPECT_TRUE(judgement.allowed) << judgement.message;
    EXPECT_THAT(judgement.warnings, ::testing::IsEmpty());
  }
}

}  // namespace rankward::cases
