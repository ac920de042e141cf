#include "rankward/formats/workload.hpp"

#include <array>

#include "object_fields.hpp"

namespace rankward::formats {
namespace {

constexpr std::array kKinds = {
    WorkloadKind{"", "Pod", ""},
    WorkloadKind{"", "PodTemplate", "template"},
    WorkloadKind{"", "ReplicationController", "spec.template"},
    WorkloadKind{"apps", "DaemonSet", "spec.template"},
    WorkloadKind{"apps", "Deployment", "spec.template"},
    WorkloadKind{"apps", "ReplicaSet", "spec.template"},
    WorkloadKind{"apps", "StatefulSet", "spec.template"},
    WorkloadKind{"batch", "CronJob", "spec.jobTemplate.spec.template"},
    WorkloadKind{"batch", "Job", "spec.template"},
};

// "apps" of "apps/v1", "" of "v1".
std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

const WorkloadKind* find_kind(std::string_view api_version, std::string_view kind) {
  for (const WorkloadKind& known : kKinds) {
    if (known.kind == kind && known.group == group_of(api_version)) return &known;
  }
  return nullptr;
}

// Follows the rest of a template's path; null or absent anywhere is no template.
bool read_at(Cursor& cursor, std::string_view path, std::optional<kube::PodTemplate>& out) {
  if (cursor.null()) return true;
  if (path.empty()) {
    return cursor.object(field("metadata", out.emplace().metadata), field("spec", out->spec));
  }
  const std::size_t dot = path.find('.');
  const std::string_view rest = dot == std::string_view::npos ? "" : path.substr(dot + 1);
  return cursor.object(field(path.substr(0, dot), [&] { return read_at(cursor, rest, out); }));
}

}  // namespace

std::span<const WorkloadKind> workload_kinds() {
  return kKinds;
}

Result<std::vector<TemplateAt>> pod_templates(std::string_view api_version, std::string_view kind,
                                              std::string_view json) {
  std::vector<TemplateAt> out;
  const WorkloadKind* known = find_kind(api_version, kind);
  if (known == nullptr) return out;
  Cursor cursor(json, UnreadableAmounts::kKeep);
  std::optional<kube::PodTemplate> found;
  if (!read_at(cursor, known->template_path, found) || !cursor.end()) return cursor.take_error();
  if (found) {
    out.push_back({.path = std::string(known->template_path),
                   .role = {},
                   .replicas = {},
                   .pod_template = *std::move(found)});
  }
  return out;
}

}  // namespace rankward::formats
