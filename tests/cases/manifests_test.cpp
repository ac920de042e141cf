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

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

void add(const admission::Finding& finding, Found& found) {
  if (finding.mode == admission::Mode::kEnforce) found.denied_by.emplace(finding.rule);
  if (finding.mode == admission::Mode::kWarn) found.warned_by.emplace(finding.rule);
}

// `placeholder`: what stands for the namespace that the file leaves open; "" for none.
Found judge_file(const fs::path& path, const std::string& placeholder,
                 const admission::Policy& policy) {
  Found found;
  const auto documents = formats::read_documents(text_of(path), path.filename().string());
  if (!documents) return {.readable = false};
  for (const formats::Document& document : *documents) {
    const auto object =
        formats::read_judged_object(document.api_version, document.kind, document.json);
    if (!object) return {.readable = false};
    const std::string namespace_ = !placeholder.empty()          ? placeholder
                                   : document.namespace_.empty() ? "default"
                                                                 : document.namespace_;
    if (object->volume)
      for (const admission::Finding& finding :
           admission::find_in_volume(policy, *object->volume).standing)
        add(finding, found);
    if (policy.excludes(namespace_)) continue;
    for (const admission::Subject& subject : object->subjects(namespace_))
      for (const admission::Finding& finding : admission::find(policy, subject, 0).standing)
        add(finding, found);
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
        judge_file(entry.path(), verdict["namespace"] ? verdict["namespace"].Scalar() : "",
                   admission::Policy());
    EXPECT_EQ(found.verdict(), verdict["verdict"].Scalar());
    EXPECT_EQ(found.denied_by, rules_of(verdict["denied_by"]));
    EXPECT_EQ(found.warned_by, rules_of(verdict["warned_by"]));
    ++judged;
  }
  EXPECT_EQ(judged, expected.size());
  std::cout << "judged: " << judged << " files\n";
}

// A node agent's own manifest, where its preset says that it runs. kube-system counts too here.
struct Agent {
  const char* file;
  const char* preset;
  const char* namespace_;
};

TEST(PublishedManifests, OfNodeAgentsAreSparedByTheirPresets) {
  const char* corpus = std::getenv("RANKWARD_CORPUS");
  if (corpus == nullptr) {
    std::cout << "not run: RANKWARD_CORPUS is not set\n";
    return;
  }
  for (const Agent& agent : {
           Agent{"20-ds-nvidia-device-plugin.yaml", "nvidia-device-plugin", "kube-system"},
           {"21-ds-device-plugin-privileged-cpumanager.yaml", "nvidia-device-plugin",
            "nvidia-device-plugin"},
           {"22-ds-gpu-feature-discovery.yaml", "gpu-feature-discovery", "node-feature-discovery"},
           {"23-ds-gfd-mig-mixed.yaml", "gpu-feature-discovery", "gpu-feature-discovery"},
           {"42-ds-amd-device-plugin.yaml", "amd-device-plugin", "kube-system"},
           {"44-ds-gpu-operator-validator-visible-devices-all.yaml", "gpu-operator",
            "gpu-operator"},
           {"45-ds-gpu-operator-driver-void.yaml", "gpu-operator", "nvidia-gpu-operator"},
       }) {
    SCOPED_TRACE(agent.file);
    const fs::path path = fs::path(corpus) / "manifests" / agent.file;
    admission::PolicyOptions options;
    options.excluded_namespaces = {};
    options.presets = {};
    EXPECT_NE(
        judge_file(path, agent.namespace_, admission::Policy::make(options).value()).verdict(),
        "clean");
    options.presets = {{agent.preset, {}}};
    EXPECT_EQ(
        judge_file(path, agent.namespace_, admission::Policy::make(options).value()).verdict(),
        "clean");
  }
}

}  // namespace
}  // namespace rankward::cases
