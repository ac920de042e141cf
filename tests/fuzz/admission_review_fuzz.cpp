// AdmissionReview and the objects in it, read and judged: never a crash; what is answered is JSON
// whatever the strings in the request were.
#include <array>
#include <boost/json.hpp>
#include <string>
#include <utility>

#include "fuzz_input.hpp"
#include "rankward/admission/judge.hpp"
#include "rankward/formats/judged_object.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/formats/review.hpp"

namespace {

namespace formats = rankward::formats;
using rankward::fuzz::check;

// A kind for each way of reading, so that any object is tried as all of them.
constexpr std::array<std::pair<std::string_view, std::string_view>, 14> kKinds = {{
    {"v1", "Pod"},
    {"v1", "PersistentVolume"},
    {"batch/v1", "Job"},
    {"jobset.x-k8s.io/v1alpha2", "JobSet"},
    {"leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet"},
    {"kubeflow.org/v1", "PyTorchJob"},
    {"trainer.kubeflow.org/v1alpha1", "TrainJob"},
    {"ray.io/v1", "RayJob"},
    {"argoproj.io/v1alpha1", "Workflow"},
    {"serving.kserve.io/v1beta1", "InferenceService"},
    {"serving.kserve.io/v1alpha1", "ServingRuntime"},
    {"sparkoperator.k8s.io/v1beta2", "SparkApplication"},
    {"workload.codeflare.dev/v1beta2", "AppWrapper"},
    {"example.com/v1", "Unknown"},
}};

void judge(std::string_view api_version, std::string_view kind, std::string_view json) {
  static const rankward::admission::Policy policy;
  const auto object = formats::read_judged_object(api_version, kind, json);
  if (!object) {
    check(object.error().offset().value_or(0) <= json.size());
    return;
  }
  check(object->templates.size() <= formats::kMaxTemplates);
  if (object->volume) {
    (void)rankward::admission::find_in_volume(policy, *object->volume);
    return;
  }
  const rankward::admission::Review review{.operation = rankward::admission::Operation::kCreate,
                                           .sub_resource = {},
                                           .deleting = false,
                                           .subjects = object->subjects("team-a"),
                                           .old_subjects = {}};
  const auto judgement = rankward::admission::judge(policy, review, 0);
  for (const auto& finding : judgement.findings) {
    check(!finding.field.empty() && finding.field.front() != '.');
    check(!object->is_pod() || finding.mode != rankward::admission::Mode::kEnforce ||
          !judgement.allowed);
    for (const char c : finding.message())
      check(static_cast<unsigned char>(c) >= 0x20);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view body = rankward::fuzz::text_of(data, size);
  const auto request = formats::read_admission_review(body);
  if (request) {
    check(rankward::fuzz::inside(request->object, body));
    check(rankward::fuzz::inside(request->old_object, body));
    judge(request->kind.api_version(), request->kind.kind, request->object);
  }
  for (const auto& [api_version, kind] : kKinds)
    judge(api_version, kind, body);
  (void)formats::read_pod(body);
  (void)formats::read_watch_event(body);
  (void)formats::read_list(body, [](std::string_view item) -> rankward::Result<void> {
    const auto head = formats::read_object_head(item);
    if (!head) return head.error();
    return {};
  });

  std::string out;
  formats::write_admission_response({.uid = std::string(body),
                                     .allowed = false,
                                     .message = std::string(body),
                                     .causes = {{std::string(body), "m", "r"}},
                                     .warnings = {std::string(body), std::string(body)}},
                                    out);
  boost::json::error_code code;
  const auto answer = boost::json::parse(boost::json::string_view(out), code);
  check(!code);
  for (const auto& warning : answer.at("response").at("warnings").as_array()) {
    for (const char c : warning.as_string())
      check(static_cast<unsigned char>(c) >= 0x20);
  }
  return 0;
}
