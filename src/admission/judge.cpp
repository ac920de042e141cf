#include "rankward/admission/judge.hpp"

#include <algorithm>
#include <map>
#include <set>

#include "answer_text.hpp"
#include "finding_key.hpp"

namespace rankward::admission {
namespace {

// Written by the kubelet on the API server's copy of a static pod. Such a pod runs already, and the
// kubelet runs no pod that carries it in vain: denying it only hides it.
constexpr std::string_view kMirrorAnnotation = "kubernetes.io/config.mirror";

constexpr std::size_t kAuditLength = 1024;

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

// The old object's findings, exempt ones too: an exemption that ended makes nothing new.
class KnownFindings {
 public:
  explicit KnownFindings(Findings findings) : findings_(std::move(findings)) {
    for (const Finding& finding : findings_.standing)
      keys_.insert(key_of(finding));
    for (const ExemptFinding& exempt : findings_.exempt)
      keys_.insert(key_of(exempt.finding));
  }
  KnownFindings(const KnownFindings&) = delete;
  KnownFindings& operator=(const KnownFindings&) = delete;

  [[nodiscard]] bool has(const Finding& finding) const { return keys_.count(key_of(finding)) > 0; }

 private:
  Findings findings_;
  std::set<FindingKey> keys_;
};

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
  const KnownFindings known(find(policy, as_seen_now(*old, review.operation), now));
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

Mode applied_mode(const Policy& policy, const Finding& finding, bool is_workload) {
  const bool spared = finding.mode == Mode::kEnforce && is_workload && !policy.denies_workloads();
  return spared ? Mode::kWarn : finding.mode;
}

void add_to_list(std::string& list, std::string_view item) {
  if (list.size() + item.size() + 1 > kAuditLength) return;
  if (!list.empty()) list += ',';
  list += item;
}

// Everything that the answer is made of, sorted by what it leads to.
struct Sorted {
  std::vector<const Finding*> denying;
  std::vector<const Finding*> spared;  // would deny the pods of this workload
  std::vector<const Finding*> warning;
};

Sorted sort_out(const Policy& policy, const std::vector<Finding>& findings, bool is_workload) {
  Sorted out;
  for (const Finding& finding : findings) {
    const Mode applied = applied_mode(policy, finding, is_workload);
    if (applied == Mode::kEnforce) {
      out.denying.push_back(&finding);
    } else if (finding.mode == Mode::kEnforce) {
      out.spared.push_back(&finding);
    } else if (applied == Mode::kWarn) {
      out.warning.push_back(&finding);
    }
  }
  return out;
}

void count(const Policy& policy, bool is_workload, Judgement& judgement) {
  std::map<std::pair<std::string_view, Mode>, std::uint32_t> counts;
  for (const Finding& finding : judgement.findings)
    ++counts[{finding.rule, applied_mode(policy, finding, is_workload)}];
  for (const auto& [key, number] : counts)
    judgement.counts.push_back({key.first, key.second, number});
}

void annotate(std::string_view skipped, Judgement& judgement) {
  auto& out = judgement.audit_annotations;
  out.emplace_back("decision", judgement.allowed ? "allow" : "deny");
  if (!judgement.counts.empty()) {
    Mode strictest = Mode::kOff;
    std::string rules;
    std::set<std::string_view> named;
    for (const RuleCount& counted : judgement.counts) {
      strictest = std::max(strictest, counted.mode);
      if (named.insert(counted.rule).second) add_to_list(rules, counted.rule);
    }
    out.emplace_back("mode", to_string(strictest));
    out.emplace_back("rules", std::move(rules));
  }
  if (!judgement.exempt.empty()) {
    std::string by;
    std::set<std::string> named;
    for (const ExemptFinding& exempt : judgement.exempt) {
      const std::string item = exempt.exempted_by + ":" + std::string(exempt.finding.rule);
      if (named.insert(item).second) add_to_list(by, item);
    }
    out.emplace_back("exempted-by", std::move(by));
  }
  if (!skipped.empty()) out.emplace_back("skipped", skipped);
}

void compose(const Policy& policy, const std::string& workload_kind, Judgement& judgement) {
  const bool is_workload = !workload_kind.empty();
  const Sorted sorted = sort_out(policy, judgement.findings, is_workload);
  judgement.allowed = sorted.denying.empty();
  count(policy, is_workload, judgement);
  if (!judgement.allowed) judgement.message = denial_message(sorted.denying, sorted.warning);
  for (const Finding* finding : sorted.denying) {
    if (judgement.causes.size() == kMaxCauses) break;
    judgement.causes.push_back({finding->field, finding->message(), std::string(finding->rule)});
  }
  std::vector<const Finding*> warned = sorted.spared;
  warned.insert(warned.end(), sorted.warning.begin(), sorted.warning.end());
  const std::string heading =
      sorted.spared.empty() ? "" : "The pods of this " + workload_kind + " will be denied:";
  judgement.warnings = warning_lines(heading, warned);
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
  compose(policy, workload_kind, judgement);
  annotate(skipped, judgement);
  return judgement;
}

}  // namespace rankward::admission
