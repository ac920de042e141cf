// admission.k8s.io/v1 AdmissionReview, in and out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/meta.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

struct GroupVersionKind {
  std::string group;  // "" is the core group
  std::string version;
  std::string kind;

  // "v1" or "apps/v1"
  [[nodiscard]] std::string api_version() const;
};

struct GroupVersionResource {
  std::string group;
  std::string version;
  std::string resource;  // "pods"
};

enum class Operation : std::uint8_t { kCreate, kUpdate, kDelete, kConnect };

// `object` and `old_object` are views into the body, empty where absent or null.
struct AdmissionRequest {
  std::string uid;
  GroupVersionKind kind;
  GroupVersionResource resource;
  std::string sub_resource;  // "ephemeralcontainers", "resize", or ""
  std::string name;          // "" on a CREATE with generateName
  std::string namespace_;
  Operation operation = Operation::kCreate;
  bool dry_run = false;
  std::string username;
  std::vector<std::string> groups;
  std::string_view object;
  std::string_view old_object;
};

// Refuses every apiVersion but admission.k8s.io/v1, and a request without uid, kind or operation.
// `body` must outlive the use of the views.
[[nodiscard]] Result<AdmissionRequest> read_admission_review(std::string_view body);

struct StatusCause {
  std::string field;  // "spec.containers[0].env[1]"
  std::string message;
  std::string reason;  // the rule
};

// What was decided. On a denial code and reason go into the Status; kubectl shows `message`.
struct AdmissionResponse {
  std::string uid;
  bool allowed = true;
  std::int32_t code = 403;
  std::string reason = "Forbidden";  // with "Invalid" kubectl can hide the message
  std::string message;
  std::vector<StatusCause> causes;
  std::vector<std::string> warnings;
  kube::StringMap audit_annotations;  // keys without a slash, at most 63 characters
};

// Characters of one warning and of all of one answer (API docs of AdmissionResponse; k8s.io/
// apiserver pkg/endpoints/filters/warning.go). Longer ones are cut and end in an ellipsis; those
// that no longer fit are counted in a last one.
inline constexpr std::size_t kMaxWarningLength = 120;
inline constexpr std::size_t kMaxWarningsLength = 4096;

// Appends the AdmissionReview. Control characters in warnings become blanks, since the API server
// drops such warnings without a word; bytes that are not UTF-8 become U+FFFD.
void write_admission_response(const AdmissionResponse& response, std::string& out);

}  // namespace rankward::formats
