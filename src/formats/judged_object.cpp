#include "rankward/formats/judged_object.hpp"

#include "rankward/formats/volume.hpp"
#include "workload_walk.hpp"

namespace rankward::formats {

std::vector<admission::Subject> JudgedObject::subjects(
    const std::string& namespace_, const admission::ClusterFacts* cluster) const {
  std::vector<admission::Subject> out;
  out.reserve(templates.size());
  for (const TemplateAt& at : templates) {
    out.push_back({.metadata = at.pod_template.metadata,
                   .spec = at.pod_template.spec,
                   .namespace_ = namespace_,
                   .path_prefix = at.path,
                   .workload_kind = is_pod() ? std::string() : kind,
                   .object_metadata = is_pod() ? nullptr : &metadata,
                   .role = at.role,
                   .replicas = at.replicas,
                   .cluster = cluster,
                   .placed = at.placed.empty() ? nullptr : &at.placed});
  }
  return out;
}

Result<JudgedObject> read_judged_object(std::string_view api_version, std::string_view kind,
                                        std::string_view json) {
  JudgedObject out;
  // Another group's Pod makes pods at best.
  out.kind =
      kind == "Pod" && api_version != "v1" ? std::string(api_version) + " Pod" : std::string(kind);
  if (kind == "PersistentVolume" && api_version == "v1") {
    auto volume = read_persistent_volume(json);
    if (!volume) return volume.error();
    out.metadata = volume->metadata;
    out.volume = std::move(*volume);
    return out;
  }
  auto walked = walk_object(api_version, kind, json);
  if (!walked) return walked.error();
  out.metadata = std::move(walked->metadata);
  out.templates = std::move(walked->templates);
  return out;
}

}  // namespace rankward::formats
