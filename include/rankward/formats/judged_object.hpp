// One object of any kind as admission judges it: its pod templates, or its volume.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/judge.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/formats/workload.hpp"
#include "rankward/kube/volume.hpp"
#include "rankward/result.hpp"

namespace rankward::formats {

// Owns what its subjects refer to: keep it, unmoved, as long as they are used.
struct JudgedObject {
  std::string kind;
  kube::ObjectMeta metadata;          // of the object itself
  std::vector<TemplateAt> templates;  // none for kinds without pods
  std::optional<kube::PersistentVolume> volume;

  [[nodiscard]] bool is_pod() const { return kind == "Pod"; }
  // `namespace_`: of the request, or what stands for a missing one in a file.
  [[nodiscard]] std::vector<admission::Subject> subjects(
      const std::string& namespace_, const admission::ClusterFacts* cluster = nullptr) const;
};

// Errors name the field from the object's root.
[[nodiscard]] Result<JudgedObject> read_judged_object(std::string_view api_version,
                                                      std::string_view kind, std::string_view json);

}  // namespace rankward::formats
