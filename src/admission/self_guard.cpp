// SELF-01: a change that grants an exemption, by someone who may not.
#include "rankward/admission/self_guard.hpp"

#include <algorithm>

#include "answer.hpp"
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {

// It judges requests, not pods.
extern const Rule kSelfGuard;
const Rule kSelfGuard{
    {.id = "SELF-01",
     .title = "an exemption granted by someone who may not",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why = "An exemption lets pods reach devices that nobody has counted, so only Rankward's "
            "administrators grant one.",
     .fix = "ask one of them (admission.administrators, admission.administratorGroups) to make "
            "this change.",
     .exemptible = false},
    nullptr,
    false};

namespace {

constexpr std::string_view kIsolation = "rankward.io/isolation";
constexpr std::string_view kSlo = "rankward.io/slo";

bool contains(const std::vector<std::string>& list, std::string_view wanted) {
  return std::find(list.begin(), list.end(), wanted) != list.end();
}

Finding finding_at(std::string field, std::string subject, std::string what, Mode mode) {
  Finding out;
  out.rule = kSelfGuard.info.id;
  out.mode = mode;
  out.field = std::move(field);
  out.subject = std::move(subject);
  out.what = std::move(what);
  out.why = kSelfGuard.info.why;
  out.fix = kSelfGuard.info.fix;
  return out;
}

Judgement judgement_of(const Policy& policy, std::vector<Finding> findings,
                       std::string_view skipped = {}) {
  Judgement out;
  out.findings = std::move(findings);
  std::erase_if(out.findings, [](const Finding& finding) { return finding.mode == Mode::kOff; });
  complete(policy, {}, skipped, out);
  return out;
}

Mode mode_in(const Policy& policy, std::string_view namespace_) {
  return policy.mode(kSelfGuard.info.id, namespace_).value_or(kSelfGuard.info.default_mode);
}

constexpr std::string_view kByAdministrator = "administrator";

// Why a namespace of that name is no ordinary one; "" where it is.
std::string waits_for(const PolicyOptions& options, const std::string& name) {
  if (contains(options.excluded_namespaces, name)) return "nothing in it would be judged";
  for (std::size_t i = 0; i < options.exemptions.size(); ++i)
    if (contains(options.exemptions[i].namespaces, name))
      return "admission.exemptions[" + std::to_string(i) + "] would hold in it";
  for (const PresetOption& option : options.presets) {
    const auto known = presets();
    const auto preset = std::find_if(known.begin(), known.end(), [&](const Preset& candidate) {
      return candidate.name == option.name;
    });
    const bool usual = option.namespaces.empty() && preset != known.end() &&
                       std::find(preset->namespaces.begin(), preset->namespaces.end(), name) !=
                           preset->namespaces.end();
    if (usual || contains(option.namespaces, name))
      return "the preset " + in_quotes(option.name) + " would hold in it";
  }
  return {};
}

std::vector<Finding> labels_taken(const kube::StringMap& old, const kube::StringMap& now,
                                  Mode mode) {
  std::vector<Finding> out;
  const auto take = [&](std::string_view key, const std::string& value) {
    out.push_back(finding_at(
        "metadata.labels[\"" + std::string(key) + "\"]", std::string(key),
        std::string(key) + "=" + in_quotes(value) + " is taken from this namespace.", mode));
  };
  const auto is_required = [](const std::string* value) {
    return value != nullptr && *value == "required";
  };
  const std::string* isolation = kube::find(old, kIsolation);
  if (is_required(isolation) && !is_required(kube::find(now, kIsolation)))
    take(kIsolation, *isolation);
  const std::string* slo = kube::find(old, kSlo);
  if (slo != nullptr && kube::find(now, kSlo) == nullptr) take(kSlo, *slo);
  return out;
}

}  // namespace

bool is_administrator(const PolicyOptions& options, const Requester& requester) {
  return contains(options.administrators, requester.username) ||
         std::any_of(requester.groups.begin(), requester.groups.end(),
                     [&](const std::string& group) {
                       return contains(options.administrator_groups, group);
                     });
}

Judgement judge_configuration(const Policy& policy, const Requester& requester,
                              const std::string& namespace_,
                              std::span<const ConfigurationChange> changes) {
  if (is_administrator(policy.options(), requester))
    return judgement_of(policy, {}, kByAdministrator);
  const Mode mode = mode_in(policy, namespace_);
  std::vector<Finding> findings;
  for (const ConfigurationChange& change : changes) {
    if (change.after == nullptr) {
      findings.push_back(finding_at(change.field, change.field,
                                    change.field + " is a configuration that cannot be read: " +
                                        in_quotes(change.unreadable, 400) + ".",
                                    mode));
      continue;
    }
    for (Grant& grant : grants(*change.before, *change.after)) {
      std::string what = change.field + ": " + grant.field + " " + grant.what + ".";
      findings.push_back(finding_at(change.field, std::move(grant.field), std::move(what), mode));
    }
  }
  return judgement_of(policy, std::move(findings));
}

Judgement judge_namespace(const Policy& policy, const Requester& requester,
                          const NamespaceChange& change) {
  if (is_administrator(policy.options(), requester))
    return judgement_of(policy, {}, kByAdministrator);
  const std::string& name = change.metadata.name;
  const Mode mode = mode_in(policy, name);
  std::vector<Finding> findings;
  if (change.operation == Operation::kCreate) {
    if (const std::string why = waits_for(policy.options(), name); !why.empty())
      findings.push_back(finding_at("metadata.name", name,
                                    "namespace " + in_quotes(name) +
                                        " is named in Rankward's "
                                        "configuration: " +
                                        why + ".",
                                    mode));
  } else if (change.operation == Operation::kUpdate && change.old_metadata != nullptr &&
             !change.metadata.deleting) {
    findings = labels_taken(change.old_metadata->labels, change.metadata.labels, mode);
  }
  return judgement_of(policy, std::move(findings));
}

}  // namespace rankward::admission
