// One folder of tests/cases: a small cluster, pods, and the right answer beside them.
#pragma once

#include <yaml-cpp/yaml.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "rankward/admission/judge.hpp"
#include "rankward/formats/documents.hpp"
#include "rankward/formats/judged_object.hpp"
#include "rankward/kube/node.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/placement/ranking.hpp"

namespace rankward::cases {

struct CasePod {
  kube::Pod pod;
  std::string json;
};

struct Case {
  std::string name;
  std::filesystem::path folder;
  std::vector<CasePod> pods;                  // of pod.yaml
  std::vector<formats::JudgedObject> others;  // what else pod.yaml has: objects that make pods
  std::vector<std::string> node_names;
  // As nodes.yaml has them, with a topology annotation where the case names a matrix.
  std::vector<kube::Node> nodes;
  std::shared_ptr<const placement::Snapshot> snapshot;  // nodes.yaml with existing-pods.yaml
  YAML::Node expected;                                  // the fenced block of expected.md
};

// Whether its nodes name a published matrix of nvidia-smi.
[[nodiscard]] bool names_a_matrix(const std::filesystem::path& folder);
// False where the case rests on published files, which are read from RANKWARD_CORPUS and belong to
// their publishers, and that is not set.
[[nodiscard]] bool can_be_read(const std::filesystem::path& folder);

// Reads the folder; what the case states as rankward.io/case-* becomes what the product reads.
// Throws std::runtime_error where a file cannot be read: the test fails with its text.
[[nodiscard]] Case read_case(const std::filesystem::path& folder);

// The pod judged against every node of the case, as `plan` does.
struct Judged {
  placement::Request request;
  placement::Ranking ranking;
  std::vector<placement::Candidate> candidates;
};
[[nodiscard]] Judged judge(const Case& from, const kube::Pod& pod);

// What the webhook says of the CREATE of a pod, or of an object that makes pods.
[[nodiscard]] admission::Judgement admit(const kube::Pod& pod);
[[nodiscard]] admission::Judgement admit(const formats::JudgedObject& object);

}  // namespace rankward::cases
