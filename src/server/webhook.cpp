#include "webhook.hpp"

#include <chrono>
#include <utility>

#include "rankward/admission/judge.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/formats/review.hpp"
#include "rankward/formats/workload.hpp"

namespace rankward::server {
namespace {

using formats::AdmissionRequest;
using formats::TemplateAt;

admission::Operation operation_of(formats::Operation operation) {
  switch (operation) {
    case formats::Operation::kCreate:
      return admission::Operation::kCreate;
    case formats::Operation::kUpdate:
      return admission::Operation::kUpdate;
    case formats::Operation::kDelete:
      return admission::Operation::kDelete;
    case formats::Operation::kConnect:
      return admission::Operation::kConnect;
  }
  return admission::Operation::kCreate;
}

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

std::vector<admission::Subject> subjects_of(const std::vector<TemplateAt>& templates,
                                            const AdmissionRequest& request, bool old) {
  const bool pod = request.kind.kind == "Pod";
  std::vector<admission::Subject> subjects;
  for (const TemplateAt& found : templates) {
    subjects.push_back(
        {.metadata = found.pod_template.metadata,
         .spec = found.pod_template.spec,
         .namespace_ = request.namespace_,
         .path_prefix = found.path,
         .workload_kind = pod ? std::string() : request.kind.kind,
         // Only a CREATE can be the user's own choice of a node.
         .stands = old || (pod && request.operation != formats::Operation::kCreate)});
  }
  return subjects;
}

ReviewAnswer refuse(int status, Outcome outcome, std::string error,
                    record::AdmissionDecision decision, std::string& out) {
  out += error;
  out += '\n';
  return {status, outcome, std::move(error), {}, {}, std::move(decision)};
}

admission::UnixSeconds seconds_now() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

std::string object_of(const AdmissionRequest& request) {
  std::string out = request.kind.kind;
  if (!request.sub_resource.empty()) out += "/" + request.sub_resource;
  out += " ";
  if (!request.namespace_.empty()) out += request.namespace_ + "/";
  return out + (request.name.empty() ? "(name to be generated)" : request.name);
}

std::string join_rules(const std::vector<admission::RuleCount>& counts) {
  std::string out;
  for (const admission::RuleCount& count : counts) {
    if (!out.empty()) out += ',';
    out += count.rule;
  }
  return out;
}

}  // namespace

ReviewAnswer Webhook::validate(std::string_view body, std::string& out) const {
  record::AdmissionDecision decision;
  const auto request = formats::read_admission_review(body);
  if (!request) {
    return refuse(400, Outcome::kBadRequest, request.error().to_string(), std::move(decision), out);
  }
  decision.request_id = request->uid;
  decision.object = object_of(*request);
  decision.operation = name_of(request->operation);
  decision.dry_run = request->dry_run;

  std::vector<TemplateAt> templates;
  std::vector<TemplateAt> old_templates;
  const auto read_templates = [&](std::string_view json,
                                  std::vector<TemplateAt>& into) -> Result<void> {
    if (json.empty()) return {};
    auto found = formats::pod_templates(request->kind.api_version(), request->kind.kind, json);
    if (!found) return found.error();
    into = std::move(*found);
    return {};
  };
  // The API server has accepted the object, so one that we cannot read is our fault: 500, and
  // failurePolicy decides.
  for (const auto& [json, into] :
       {std::pair{request->object, &templates}, std::pair{request->old_object, &old_templates}}) {
    if (auto read = read_templates(json, *into); !read) {
      return refuse(500, Outcome::kError, read.error().to_string(), std::move(decision), out);
    }
  }

  bool deleting = false;
  if (!request->object.empty()) {
    const auto head = formats::read_object_head(request->object);
    deleting = head && head->metadata.deleting;
  }
  const admission::Review review{.operation = operation_of(request->operation),
                                 .sub_resource = request->sub_resource,
                                 .deleting = deleting,
                                 .subjects = subjects_of(templates, *request, false),
                                 .old_subjects = subjects_of(old_templates, *request, true)};
  admission::Judgement judgement = admission::judge(policy_, review, seconds_now());

  formats::AdmissionResponse response;
  response.uid = request->uid;
  response.allowed = judgement.allowed;
  response.message = std::move(judgement.message);
  for (admission::Cause& cause : judgement.causes) {
    response.causes.push_back(
        {std::move(cause.field), std::move(cause.message), std::move(cause.reason)});
  }
  response.warnings = std::move(judgement.warnings);
  for (auto& [key, value] : judgement.audit_annotations) {
    response.audit_annotations[key] = std::move(value);
  }
  formats::write_admission_response(response, out);

  ReviewAnswer answer;
  for (const admission::RuleCount& count : judgement.counts) {
    if (count.mode == admission::Mode::kEnforce) answer.denied_by.emplace_back(count.rule);
    if (count.mode == admission::Mode::kWarn) answer.warned_by.emplace_back(count.rule);
  }
  decision.allowed = judgement.allowed;
  decision.rules = join_rules(judgement.counts);
  if (!judgement.exempt.empty()) decision.exempted_by = judgement.exempt.front().exempted_by;
  answer.decision = std::move(decision);
  return answer;
}

}  // namespace rankward::server
