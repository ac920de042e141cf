#include "webhook.hpp"

#include <chrono>
#include <optional>
#include <utility>

#include "rankward/admission/companion.hpp"
#include "rankward/admission/judge.hpp"
#include "rankward/formats/judged_object.hpp"
#include "rankward/formats/mutation.hpp"
#include "webhook_guard.hpp"
#include "webhook_request.hpp"

namespace rankward::server {
namespace {

using formats::AdmissionRequest;
using formats::JudgedObject;

admission::UnixSeconds seconds_now() {
  using namespace std::chrono;
  return duration_cast<seconds>(system_clock::now().time_since_epoch()).count();
}

// Nobody but we reads the pod templates of custom resources.
bool is_custom(const formats::GroupVersionKind& kind) {
  return !kind.group.empty() && kind.group != "apps" && kind.group != "batch";
}

bool is_pod(const AdmissionRequest& request) {
  return request.kind.group.empty() && request.kind.kind == "Pod";
}

// Absent where the review has none.
Result<std::optional<JudgedObject>> read_object(const AdmissionRequest& request,
                                                std::string_view json) {
  if (json.empty()) return std::optional<JudgedObject>();
  auto read = formats::read_judged_object(request.kind.api_version(), request.kind.kind, json);
  if (!read) return std::move(read.error());
  return std::optional(std::move(*read));
}

admission::Judgement judge_read(const admission::Policy& policy, const AdmissionRequest& request,
                                const std::optional<JudgedObject>& object,
                                const std::optional<JudgedObject>& old_object,
                                const admission::ClusterFacts* facts) {
  const admission::Operation operation = operation_of(request.operation);
  const bool deleting = object && object->metadata.deleting;
  if (object && object->volume) {
    return admission::judge_volume(
        policy, {.operation = operation,
                 .deleting = deleting,
                 .volume = *object->volume,
                 .old_volume = old_object && old_object->volume ? &*old_object->volume : nullptr});
  }
  admission::Review review{
      .operation = operation, .sub_resource = request.sub_resource, .deleting = deleting};
  if (object) review.subjects = object->subjects(request.namespace_, facts);
  if (old_object) review.old_subjects = old_object->subjects(request.namespace_, facts);
  return admission::judge(policy, review, seconds_now());
}

}  // namespace

ReviewAnswer Webhook::validate(std::string_view body, std::string& out) const {
  const auto request = formats::read_admission_review(body);
  if (!request) return refuse(400, Outcome::kBadRequest, request.error(), {}, out);
  if (!is_guarded(request->kind)) return validate_object(*request, out);
  auto judgement = guard(policy_, *request);
  if (!judgement)
    return refuse(500, Outcome::kError, judgement.error(), decision_of(*request), out);
  return answer(*request, std::move(*judgement), out);
}

ReviewAnswer Webhook::validate_object(const AdmissionRequest& request, std::string& out) const {
  // The API server has accepted the object, so one that we cannot read is our fault, unless it is
  // one whose parts the API server does not know.
  const auto unread = [&](const Error& error) {
    return is_custom(request.kind) ? admit_unread(request, error, out)
                                   : refuse(500, Outcome::kError, error, decision_of(request), out);
  };
  const auto object = read_object(request, request.object);
  if (!object) return unread(object.error());
  auto old_object = read_object(request, request.old_object);
  if (!old_object) {
    if (!is_custom(request.kind)) return unread(old_object.error());
    // An update that mends it: everything in the new one counts.
    old_object = std::optional<JudgedObject>();
  }
  const auto facts = options_.facts != nullptr ? options_.facts->load() : nullptr;
  return answer(request, judge_read(policy_, request, *object, *old_object, facts.get()), out);
}

ReviewAnswer Webhook::mutate(std::string_view body, std::string& out) const {
  const auto request = formats::read_admission_review(body);
  if (!request) return refuse(400, Outcome::kBadRequest, request.error(), {}, out);
  ReviewAnswer answer;
  answer.decision = decision_of(*request);
  std::string patch;
  if (is_pod(*request)) {
    const auto object = read_object(*request, request->object);
    const auto old_object = read_object(*request, request->old_object);
    for (const auto* read : {&object, &old_object}) {
      if (!*read)
        return refuse(500, Outcome::kError, read->error(), std::move(answer.decision), out);
    }
    const auto pods =
        *object ? (*object)->subjects(request->namespace_) : std::vector<admission::Subject>();
    if (!pods.empty()) {
      std::vector<admission::Subject> old_pods;
      if (*old_object) old_pods = (*old_object)->subjects(request->namespace_);
      const auto additions =
          admission::void_additions(policy_,
                                    {.operation = operation_of(request->operation),
                                     .sub_resource = request->sub_resource,
                                     .pod = pods.front(),
                                     .old_pod = old_pods.empty() ? nullptr : &old_pods.front()},
                                    seconds_now());
      if (!additions.empty()) patch = formats::void_patch(additions);
    }
  }
  formats::write_mutation_response(request->uid, patch, out);
  return answer;
}

}  // namespace rankward::server
