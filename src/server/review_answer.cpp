#include "review_answer.hpp"

#include <algorithm>
#include <utility>

namespace rankward::server {
namespace {

constexpr std::size_t kAuditLength = 1024;

std::string_view name_of(formats::Operation operation) {
  switch (operation) {
    case formats::Operation::kCreate:
      return "CREATE";
    case formats::Operation::kUpdate:
      return "UPDATE";
    case formats::Operation::kDelete:
      return "DELETE";
    case formats::Operation::kConnect:
      return "CONNECT";
  }
  return "";
}

std::string object_of(const formats::AdmissionRequest& request) {
  std::string out = request.kind.kind;
  if (!request.sub_resource.empty()) out += "/" + request.sub_resource;
  out += " ";
  // A Namespace counts as lying in itself.
  const bool is_namespaced = !request.namespace_.empty() && request.kind.kind != "Namespace";
  if (is_namespaced) out += request.namespace_ + "/";
  return out + (request.name.empty() ? "(name to be generated)" : request.name);
}

template <class Range, class Name>
std::string joined(const Range& range, Name name) {
  std::string out;
  for (const auto& item : range)
    out.append(out.empty() ? "" : ",").append(name(item));
  return out;
}

// Rules with two modes in one answer are named once.
std::string rules_of(const std::vector<admission::RuleCount>& counts) {
  std::vector<std::string_view> rules;
  for (const admission::RuleCount& count : counts)
    if (rules.empty() || rules.back() != count.rule) rules.push_back(count.rule);
  return joined(rules, [](std::string_view rule) { return rule; });
}

std::vector<std::string> exemptions_of(const std::vector<admission::ExemptFinding>& exempt) {
  std::vector<std::string> names;
  for (const admission::ExemptFinding& each : exempt)
    if (std::find(names.begin(), names.end(), each.exempted_by) == names.end())
      names.push_back(each.exempted_by);
  return names;
}

}  // namespace

record::AdmissionDecision decision_of(const formats::AdmissionRequest& request) {
  record::AdmissionDecision decision;
  decision.request_id = request.uid;
  decision.object = object_of(request);
  decision.operation = name_of(request.operation);
  decision.dry_run = request.dry_run;
  return decision;
}

ReviewAnswer refuse(int status, Outcome outcome, const Error& error,
                    record::AdmissionDecision decision, std::string& out) {
  ReviewAnswer answer;
  answer.status = status;
  answer.outcome = outcome;
  answer.error = error.to_string();
  answer.decision = std::move(decision);
  out += answer.error;
  out += '\n';
  return answer;
}

ReviewAnswer answer(const formats::AdmissionRequest& request, admission::Judgement judgement,
                    std::string& out) {
  formats::AdmissionResponse response;
  response.uid = request.uid;
  response.allowed = judgement.allowed;
  response.message = std::move(judgement.message);
  for (admission::Cause& cause : judgement.causes) {
    response.causes.push_back(
        {std::move(cause.field), std::move(cause.message), std::move(cause.reason)});
  }
  response.warnings = std::move(judgement.warnings);
  for (auto& [key, value] : judgement.audit_annotations)
    response.audit_annotations[key] = std::move(value);
  formats::write_admission_response(response, out);

  ReviewAnswer answer;
  answer.decision = decision_of(request);
  answer.decision.allowed = judgement.allowed;
  answer.decision.rules = rules_of(judgement.counts);
  answer.exempted_by = exemptions_of(judgement.exempt);
  answer.decision.exempted_by =
      joined(answer.exempted_by, [](const std::string& name) { return std::string_view(name); });
  answer.counts = std::move(judgement.counts);
  return answer;
}

ReviewAnswer admit_unread(const formats::AdmissionRequest& request, const Error& error,
                          std::string& out) {
  ReviewAnswer answer;
  answer.outcome = Outcome::kError;
  answer.error = error.to_string();
  answer.decision = decision_of(request);
  formats::AdmissionResponse response;
  response.uid = request.uid;
  response.warnings = {"Rankward cannot judge this object; its pods are judged when they are made:",
                       "  " + answer.error};
  response.audit_annotations["decision"] = "allow";
  response.audit_annotations["error"] = answer.error.substr(0, kAuditLength);
  formats::write_admission_response(response, out);
  return answer;
}

}  // namespace rankward::server
