// The judgement of one object: findings, modes and exemptions made into an answer.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankward/admission/cluster_facts.hpp"
#include "rankward/admission/finding.hpp"
#include "rankward/admission/policy.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/kube/volume.hpp"

namespace rankward::admission {

// A part of a pod that its object keeps elsewhere than in {metadata, spec}.
struct PlacedField {
  std::string in_pod;     // "spec.containers[0]"
  std::string in_object;  // from the object's root: "spec.templates[2].container"
};

// One pod, or one pod template of a workload object. Refers to what it judges.
struct Subject {
  const kube::ObjectMeta& metadata;  // the pod's, or the template's
  const kube::PodSpec& spec;
  std::string namespace_;
  std::string path_prefix;    // "" for a pod, "spec.template" for a Deployment
  std::string workload_kind;  // "" for a pod, else the kind of the object: "Deployment"
  // True for a pod that stands already: its nodeName may be the scheduler's work.
  bool stands = false;
  // The workload object's own metadata; nullptr for a pod.
  const kube::ObjectMeta* object_metadata = nullptr;
  // The template's role and number of pods in its workload object ("Worker", 4), where it has them.
  std::string role{};
  std::optional<std::int64_t> replicas{};
  // nullptr: nothing is known beyond the object.
  const ClusterFacts* cluster = nullptr;
  // Where the fields stand that are not below path_prefix as a pod has them; of several that hold
  // the same field the longest counts. nullptr: none.
  const std::vector<PlacedField>* placed = nullptr;
};

// A finding that an exemption covers.
struct ExemptFinding {
  Finding finding;
  std::string exempted_by;  // "gpu-operator"
};

struct Findings {
  std::vector<Finding> standing;  // audit, warn and enforce, in the order of the catalogue
  std::vector<ExemptFinding> exempt;
};

// Everything that the rules find in one pod, after modes and exemptions, whatever its namespace.
[[nodiscard]] Findings find(const Policy& policy, const Subject& subject, UnixSeconds now);

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };

// A request about one object. An object with several templates (a RayCluster) has several
// subjects; an old one belongs to the subject with the same path_prefix.
struct Review {
  Operation operation = Operation::kCreate;
  std::string sub_resource;  // "ephemeralcontainers", "resize", or ""
  // The object has a deletionTimestamp: never denied, or its finalizers could not be removed.
  bool deleting = false;
  std::vector<Subject> subjects;
  std::vector<Subject> old_subjects;  // of oldObject, on UPDATE
};

struct Cause {
  std::string field;
  std::string message;
  std::string reason;  // the rule
};

struct RuleCount {
  std::string_view rule;
  Mode mode = Mode::kEnforce;  // as it was applied: kWarn for a workload that is only warned
  std::uint32_t count = 0;
};

// Characters, as the API server's documentation asks (contracts of AdmissionResponse).
inline constexpr std::size_t kWarningLength = 120;
inline constexpr std::size_t kWarningsLength = 4096;
inline constexpr std::size_t kMessageLength = 1024;
inline constexpr std::size_t kMaxCauses = 64;

struct Judgement {
  bool allowed = true;
  // On a denial: a line a finding, the denying ones first; what no longer fits is counted.
  std::string message;
  std::vector<Cause> causes;          // the denying findings, at most kMaxCauses
  std::vector<std::string> warnings;  // each at most kWarningLength long, kWarningsLength in all
  // Keys: decision, mode, rules, exempted-by, skipped; only those that have something to say.
  std::vector<std::pair<std::string, std::string>> audit_annotations;
  std::vector<RuleCount> counts;
  // What stands behind it, for tables and logs. New ones only, on UPDATE.
  std::vector<Finding> findings;
  std::vector<ExemptFinding> exempt;
};

// Admits without judging: excluded namespaces, objects that are being deleted, mirror pods, DELETE
// and CONNECT. On UPDATE counts only what the old object did not have.
[[nodiscard]] Judgement judge(const Policy& policy, const Review& review, UnixSeconds now);

// HP-06: what a PersistentVolume reaches on the host. Cluster-scoped, so no exemption by namespace
// holds; field paths start at the volume's root.
[[nodiscard]] Findings find_in_volume(const Policy& policy, const kube::PersistentVolume& volume);

struct VolumeReview {
  Operation operation = Operation::kCreate;
  bool deleting = false;
  const kube::PersistentVolume& volume;
  const kube::PersistentVolume* old_volume = nullptr;  // on UPDATE
};
[[nodiscard]] Judgement judge_volume(const Policy& policy, const VolumeReview& review);

}  // namespace rankward::admission
