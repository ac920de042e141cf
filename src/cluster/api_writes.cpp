#include "api_writes.hpp"

#include <algorithm>

#include "api_failure.hpp"
#include "rankward/placement/gang.hpp"

namespace rankward::cluster {
namespace {

constexpr std::string_view kJsonPatch = "application/json-patch+json";
constexpr std::string_view kMergePatch = "application/merge-patch+json";
constexpr std::string_view kJson = "application/json";
constexpr std::string_view kWakeClaim = "rankward-wake";

// Letters, digits, '-' and '.': what a name of Kubernetes consists of.
bool is_name(std::string_view text) {
  return !text.empty() && text != "." && text != ".." &&
         std::all_of(text.begin(), text.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                  c == '-' || c == '.';
         });
}

std::string managed(std::string path) {
  return std::move(path) + "?fieldManager=" + std::string(formats::kFieldManager);
}

WriteOutcome no_such_name() {
  return {WriteResult::kGone, "not a name of Kubernetes", std::nullopt};
}

// The authorizer's 403 says what the user "cannot" do to which "resource" and holds for every
// object (apiserver, handlers/responsewriters, Forbidden). Any other is about this one object: an
// admission webhook that denies with 403, a quota, a namespace that is being deleted.
bool is_lack_of_a_role(std::string_view message) {
  const auto cannot = message.find(" cannot ");
  return cannot != std::string_view::npos &&
         message.find(" resource ", cannot) != std::string_view::npos;
}

}  // namespace

std::string pod_path(std::string_view pod) {
  const auto slash = pod.find('/');
  if (slash == std::string_view::npos) return {};
  const auto name_space = pod.substr(0, slash);
  const auto name = pod.substr(slash + 1);
  if (!is_name(name_space) || !is_name(name)) return {};
  return "/api/v1/namespaces/" + std::string(name_space) + "/pods/" + std::string(name);
}

WriteOutcome outcome_of(const Result<net::ClientResponse>& response) {
  if (!response) return {WriteResult::kFailed, response.error().to_string(), std::nullopt};
  if (response->status >= 200 && response->status < 300) return {};
  auto failure = api_failure(*response);
  auto result = WriteResult::kFailed;
  switch (response->status) {
    case 401:
      result = WriteResult::kRefused;
      break;
    case 403:
      result = is_lack_of_a_role(failure.what) ? WriteResult::kRefused : WriteResult::kConflict;
      break;
    case 404:
      result = WriteResult::kGone;
      break;
    case 409:
    case 422:
      result = WriteResult::kConflict;
      break;
    default:
      break;
  }
  return {result, std::move(failure.what), failure.retry_after};
}

WriteOutcome ApiWrites::send(std::string_view method, const std::string& target,
                             std::string_view content_type, const std::string& body) {
  return outcome_of(client_.send(method, target, content_type, body, timeout_));
}

WriteOutcome ApiWrites::nominate(std::string_view pod, std::string_view uid, std::string_view seen,
                                 std::string_view node) {
  const auto path = pod_path(pod);
  if (path.empty()) return no_such_name();
  return send("PATCH", managed(path + "/status"), kJsonPatch,
              formats::nomination_patch(uid, seen, node));
}

WriteOutcome ApiWrites::lift_gate(std::string_view pod, std::string_view uid) {
  const auto path = pod_path(pod);
  if (path.empty()) return no_such_name();
  return send("PATCH", managed(path), kJsonPatch,
              formats::gate_patch(uid, 0, placement::kGangGate));
}

WriteOutcome ApiWrites::post_event(const formats::PodEvent& event) {
  if (!is_name(event.name_space)) return no_such_name();
  return send("POST", managed("/apis/events.k8s.io/v1/namespaces/" + event.name_space + "/events"),
              kJson, formats::write_event(event));
}

WriteOutcome ApiWrites::wake(std::string_view value) {
  const std::string claims =
      "/apis/resource.k8s.io/v1/namespaces/" + name_space_ + "/resourceclaims";
  auto outcome = send("PATCH", managed(claims + "/" + std::string(kWakeClaim)), kMergePatch,
                      formats::wake_patch(value));
  if (outcome.result != WriteResult::kGone) return outcome;
  // Making it is a change as well.
  return send("POST", managed(claims), kJson, formats::write_wake_claim(name_space_, kWakeClaim));
}

Result<formats::NominationHead> ApiWrites::nomination(std::string_view pod) {
  const auto path = pod_path(pod);
  if (path.empty()) return Error::invalid("is not a name of Kubernetes");
  auto response = client_.get(path, timeout_);
  if (!response) return response.error();
  if (response->status == 404) return Error(ErrorKind::kNotFound, "the pod is gone");
  if (response->status != 200) return Error::unavailable(api_failure(*response).what);
  return formats::read_nomination(response->body);
}

}  // namespace rankward::cluster
