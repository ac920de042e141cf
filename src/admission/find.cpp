// Runs the rules over one pod and applies modes and exemptions.
#include <algorithm>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "finding_key.hpp"
#include "owner_kind.hpp"
#include "rankward/admission/judge.hpp"
#include "rule.hpp"

namespace rankward::admission {
namespace {

Finding make_finding(const RuleInfo& info, Mode mode, Observation observation) {
  Finding finding;
  finding.rule = info.id;
  finding.mode = mode;
  finding.field = std::move(observation.field);
  finding.container = std::move(observation.container);
  finding.subject = std::move(observation.subject);
  finding.value = std::move(observation.value);
  finding.what = std::move(observation.what);
  finding.why = observation.why.empty() ? info.why : observation.why;
  finding.fix = observation.fix.empty() ? std::string(info.fix) : std::move(observation.fix);
  return finding;
}

// The rule's findings under the modes that hold here, each once: of two that are the same the
// stricter one.
std::vector<Finding> run(const Rule& rule, const PodFacts& pod) {
  if (rule.observe == nullptr) return {};  // judges something else than pods
  const RuleInfo& info = rule.info;
  const std::optional<Mode> set = pod.policy().mode(info.id, pod.subject().namespace_);
  if (set == Mode::kOff) return {};
  Observations observations;
  rule.observe(pod, observations);
  std::stable_partition(observations.begin(), observations.end(),
                        [](const Observation& observation) { return !observation.milder; });
  std::vector<Finding> out;
  for (Observation& observation : observations) {
    const Mode own = observation.milder ? info.milder_mode : info.default_mode;
    const Mode mode = set.value_or(own);
    if (mode != Mode::kOff) out.push_back(make_finding(info, mode, std::move(observation)));
  }
  std::set<FindingKey> seen;
  std::vector<Finding> once;
  once.reserve(out.size());
  for (Finding& finding : out) {
    // The key is made of the finding at its final place, since it refers to its strings.
    once.push_back(std::move(finding));
    if (!seen.insert(key_of(once.back())).second) once.pop_back();
  }
  return once;
}

// Names that only ephemeral containers of the pod have.
std::set<std::string_view> ephemeral_names(const kube::PodSpec& spec) {
  std::set<std::string_view> names;
  for (const kube::Container& container : spec.ephemeral_containers)
    names.insert(container.name);
  for (const auto* others : {&spec.containers, &spec.init_containers})
    for (const kube::Container& container : *others)
      names.erase(container.name);
  return names;
}

// EPH-01: the configured mode is the strictest for what ephemeral containers do.
void cap_ephemeral(std::vector<Finding>& findings, const Policy& policy, const Subject& subject) {
  if (findings.empty() || subject.spec.ephemeral_containers.empty()) return;
  const std::optional<Mode> cap = policy.mode("EPH-01", subject.namespace_);
  if (!cap) return;
  const std::set<std::string_view> names = ephemeral_names(subject.spec);
  for (Finding& finding : findings)
    if (names.count(finding.container) > 0) finding.mode = std::min(finding.mode, *cap);
  std::erase_if(findings, [](const Finding& finding) { return finding.mode == Mode::kOff; });
}

std::string_view service_account(const kube::PodSpec& spec) {
  return spec.service_account_name.empty() ? std::string_view("default")
                                           : std::string_view(spec.service_account_name);
}

std::string owner_kind(const Subject& subject) {
  if (!subject.workload_kind.empty()) return owner_kind_of_pods(subject.workload_kind);
  const kube::OwnerReference* owner = subject.metadata.controller();
  return owner != nullptr ? owner->kind : std::string();
}

}  // namespace

Findings find(const Policy& policy, const Subject& subject, UnixSeconds now) {
  PodFacts pod(policy, subject);
  const std::span<const Rule* const> all = rules();
  std::vector<std::vector<Finding>> by_rule(all.size());
  for (const bool first_pass : {true, false}) {
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i]->first_pass != first_pass) continue;
      by_rule[i] = run(*all[i], pod);
      if (first_pass && !by_rule[i].empty()) pod.note_signal();
      cap_ephemeral(by_rule[i], policy, subject);
    }
  }
  const std::string owner = owner_kind(subject);
  Findings found;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const RuleInfo& info = all[i]->info;
    const Exemption* exemption = info.exemptible && !by_rule[i].empty()
                                     ? policy.exemption(info.id, subject.namespace_,
                                                        service_account(subject.spec), owner, now)
                                     : nullptr;
    for (Finding& finding : by_rule[i]) {
      if (exemption == nullptr) {
        found.standing.push_back(std::move(finding));
      } else {
        found.exempt.push_back({std::move(finding), exemption->name});
      }
    }
  }
  return found;
}

}  // namespace rankward::admission
