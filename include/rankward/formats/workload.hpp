// Where the kinds that make pods keep their pod templates.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/pod.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

struct TemplateAt {
  std::string path;    // "spec.template"; "" for a Pod, which is its own template
  std::string role{};  // "Worker" of a PyTorchJob, "workers" of a JobSet's replicated job; else ""
  // Pods that the object makes of it, where it says so.
  std::optional<std::int64_t> replicas{};
  kube::PodTemplate pod_template;
};

// One kind of object that holds pod templates.
struct WorkloadKind {
  std::string_view group;  // "" is the core group; any version of it
  std::string_view kind;
  std::string_view template_path;  // field names joined by dots
};

// Pod and the eight built-in workload kinds.
[[nodiscard]] std::span<const WorkloadKind> workload_kinds();

// The templates of an object, or nothing for a kind that is not in the table. An object of the
// table without its template gives an empty list too. Errors name the field from the object's root.
[[nodiscard]] Result<std::vector<TemplateAt>> pod_templates(std::string_view api_version,
                                                            std::string_view kind,
                                                            std::string_view json);

}  // namespace rankward::formats
