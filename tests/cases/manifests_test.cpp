// Published manifests, each against the verdict that tests/manifests_expected.yaml states. They
// belong to their publishers and are read from RANKWARD_CORPUS, where that is set.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <sstream>

#include "rankward/admission/judge.hpp"
#include "rankward/formats/documents.hpp"
#include "rankward/formats/judged_object.hpp"

namespace rankward::cases {
namespace {

namespace fs = std::filesystem;
using Rules = std::set<std::string>;

struct Found {
  bool readable = true;
  Rules denied_by;
  Rules warned_by;

  [[nodiscard]] std::string verdict() const {
    if (!readable) return "unreadable";
    if (!denied_by.empty()) return "denied";
    return warned_by.empty() ? "clean" : "warned";
  }
};

// `placeholder`: what stands for the namespace that the file leaves open; "" for none.
Found judge_file(const fs::path& path, const std::string& placeholder) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  Found found;
  const auto documents = formats::read_documents(text.str(), path.filename().string());
  if (!documents) return {.readable = false};
  const admission::Policy policy;
  for (const formats::Document& document : *documents) {
    const auto object =
        formats::read_judged_object(document.api_version, document.kind, document.json);
    if (!object) return {.readable = false};
    const std::string namespace_ = !placeholder.empty()          ? placeholder
                                   : document.namespace_.empty() ? "default"
                                                                 : document.namespace_;
    if (policy.excludes(namespace_)) continue;
    for (const admission::Subject& subject : object->subjects(namespace_)) {
      for (const admission::Finding& finding : admission::find(policy, subject, 0).standing) {
        if (finding.mode == admission::Mode::kEnforce) found.denied_by.emplace(finding.rule);
        if (finding.mode == admission::Mode::kWarn) found.warned_by.emplace(finding.rule);
        EXPECT_TRUE(document.line_of(finding.field)) << finding.field;
      }
    }
  }
  return found;
}

Rules rules_of(const YAML::Node& list) {
  Rules rules;
  for (const auto& rule : list)
    rules.insert(rule.Scalar());
  return rules;
}

TEST(PublishedManifests, AreJudgedAsStated) {
  const YAML::Node expected = YAML::LoadFile(
      (fs::path(RANKWARD_SOURCE_DIR) / "tests" / "manifests_expected.yaml").string());
  ASSERT_GT(expected.size(), 40U);
  const char* corpus = std::getenv("RANKWARD_CORPUS");
  if (corpus == nullptr) {
    std::cout << "not run: " << expected.size() << " files (RANKWARD_CORPUS is not set)\n";
    return;
  }
  const fs::path folder = fs::path(corpus) / "manifests";
  std::size_t judged = 0;
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename();
    SCOPED_TRACE(name);
    const YAML::Node verdict = expected[name];
    if (!verdict.IsDefined()) {
      ADD_FAILURE() << "no verdict is stated for this file";
      continue;
    }
    const Found found =
        judge_file(entry.path(), verdict["namespace"] ? verdict["namespace"].Scalar() : "");
    EXPECT_EQ(found.verdict(), verdict["verdict"].Scalar());
    EXPECT_EQ(found.denied_by, rules_of(verdict["denied_by"]));
    EXPECT_EQ(found.warned_by, rules_of(verdict["warned_by"]));
    ++judged;
  }
  EXPECT_EQ(judged, expected.size());
  std::cout << "judged: " << judged << " files\n";
}

}  // namespace
}  // namespace rankward::cases
