#include "rankward/admission/judge.hpp"

#include <algorithm>
#include <set>

#include "answer.hpp"
#include "known_findings.hpp"

namespace rankward::admission {
namespace {

// Written by the kubelet on the API server's copy of a static pod. Such a pod runs already, and the
// kubelet runs no pod that carries it in vain: denying it only hides it.
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

// Why the subject is admitted without judgement; "" where it is judged.
std::string_view reason_to_skip(const Policy& policy, const Review& review,
                                const Subject& subject) {
  if (policy.excludes(subject.namespace_)) return "excluded namespace";
  if (review.deleting || subject.metadata.deleting) return "being deleted";
  const bool is_pod = subject.workload_kind.empty();
  if (is_pod && kube::find(subject.metadata.annotations, kMirrorAnnotation) != nullptr)
    return "mirror pod";
  return {};
}

// A template has no scheduler that could have set its nodeName, however old it is.
Subject as_seen_now(const Subject& subject, Operation operation) {
  Subject out = subject;
  const bool is_pod = subject.workload_kind.empty();
  out.stands = is_pod && (subject.stands || operation == Operation::kUpdate);
  return out;
}

const Subject* old_version(const Review& review, const Subject& subject) {
  const auto old = std::find_if(
      review.old_subjects.begin(), review.old_subjects.end(),
      [&](const Subject& candidate) { return candidate.path_prefix == subject.path_prefix; });
  return old == review.old_subjects.end() ? nullptr : &*old;
}

std::set<std::string_view> new_ephemeral_containers(const Subject& subject, const Subject& old) {
  std::set<std::string_view> names;
  for (const kube::Container& container : subject.spec.ephemeral_containers)
    names.insert(container.name);
  for (const kube::Container& container : old.spec.ephemeral_containers)
    names.erase(container.name);
  return names;
}

// Drops what is not new. Adding an ephemeral container is judged by that container alone.
void keep_new(Findings& findings, const Policy& policy, const Review& review,
              const Subject& subject, UnixSeconds now) {
  const Subject* old = old_version(review, subject);
  if (old == nullptr) return;
  Subject before = as_seen_now(*old, review.operation);
  before.cluster = subject.cluster;  // what the cluster changed is not this update's doing
  const KnownFindings known(find(policy, before, now));
  const bool only_ephemeral = review.sub_resource == "ephemeralcontainers";
  std::set<std::string_view> added;
  if (only_ephemeral) added = new_ephemeral_containers(subject, *old);
  const auto is_old = [&](const Finding& finding) {
    return known.has(finding) || (only_ephemeral && added.count(finding.container) == 0);
  };
  std::erase_if(findings.standing, is_old);
  std::erase_if(findings.exempt,
                [&](const ExemptFinding& exempt) { return is_old(exempt.finding); });
}

}  // namespace

Judgement judge(const Policy& policy, const Review& review, UnixSeconds now) {
  Judgement judgement;
  std::string_view skipped;
  std::string workload_kind;
  const bool judged =
      review.operation == Operation::kCreate || review.operation == Operation::kUpdate;
  for (const Subject& given : review.subjects) {
    if (!judged) break;
    if (const std::string_view reason = reason_to_skip(policy, review, given); !reason.empty()) {
      skipped = reason;
      continue;
    }
    workload_kind = given.workload_kind;
    Findings findings = find(policy, as_seen_now(given, review.operation), now);
    if (review.operation == Operation::kUpdate) keep_new(findings, policy, review, given, now);
    for (Finding& finding : findings.standing)
      judgement.findings.push_back(std::move(finding));
    for (ExemptFinding& exempt : findings.exempt)
      judgement.exempt.push_back(std::move(exempt));
  }
  complete(policy, workload_kind, skipped, judgement);
  return judgement;
}

}  // namespace rankward::admission
