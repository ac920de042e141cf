// Pods that an object does not hold as {metadata, spec}: parts are made into one, and it is kept
// where each of them stands.
#include <algorithm>
#include <array>
#include <string>

#include "workload_walk.hpp"

namespace rankward::formats {
namespace {

// Its pods have this one, unless the component is custom. Source: KServe, pkg/constants.
constexpr const char* kModelServer = "kserve-container";

// The model servers that a predictor can name. Source: KServe, v1beta1 PredictorSpec and
// ExplainerSpec; `model` names the format instead.
constexpr std::array<std::string_view, 15> kModelServers = {
    "model",    "sklearn", "xgboost", "tensorflow", "pytorch", "triton", "onnx", "huggingface",
    "lightgbm", "pmml",    "paddle",  "catboost",   "alibi",   "art",    "aix"};

std::string nth(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// Of a patch only these count: selectors and tolerations without the requests that they belong to
// would say the wrong thing.
bool read_patched_spec(Cursor& cursor, kube::PodSpec& out) {
  return cursor.object(field("containers", out.containers),
                       field("initContainers", out.init_containers), field("volumes", out.volumes));
}

bool holds_nothing(const kube::PodTemplate& pod) {
  return pod.metadata.annotations.empty() && pod.metadata.labels.empty() &&
         pod.spec.containers.empty() && pod.spec.init_containers.empty() &&
         pod.spec.volumes.empty();
}

bool add(Cursor& cursor, TemplateAt read, TemplateSink& out) {
  TemplateAt* const added = out.add(cursor, std::string());
  if (added == nullptr) return false;
  *added = std::move(read);
  return true;
}

}  // namespace

bool read_pod_spec(Cursor& cursor, const FieldPath& path, TemplateSink& out) {
  TemplateAt* const at = out.add(cursor, path.text());
  if (at == nullptr) return false;
  at->placed.push_back({"spec", path.text()});
  return read(cursor, at->pod_template.spec);
}

bool read_patch(Cursor& cursor, const FieldPath& path, TemplateSink& out) {
  TemplateAt at;
  at.path = path.text();
  if (!cursor.object(field("metadata", at.pod_template.metadata), field("spec", [&] {
                       return read_patched_spec(cursor, at.pod_template.spec);
                     }))) {
    return false;
  }
  return holds_nothing(at.pod_template) || add(cursor, std::move(at), out);
}

bool read_spec_patch(Cursor& cursor, const FieldPath& path, TemplateSink& out) {
  TemplateAt at;
  at.path = path.text();
  at.placed.push_back({"spec", path.text()});
  if (!read_patched_spec(cursor, at.pod_template.spec)) return false;
  return holds_nothing(at.pod_template) || add(cursor, std::move(at), out);
}

bool read_lone_container(Cursor& cursor, const FieldPath& path, TemplateSink& out) {
  TemplateAt* const at = out.add(cursor, path.text());
  if (at == nullptr) return false;
  at->placed.push_back({"spec.containers[0]", path.text()});
  return read(cursor, at->pod_template.spec.containers.emplace_back());
}

bool read_trainer(Cursor& cursor, const FieldPath& path, TemplateSink& out) {
  TemplateAt* const at = out.add(cursor, path.text());
  if (at == nullptr) return false;
  at->placed = {{"spec.containers[0]", path.text()},
                {"spec.containers[0].resources", path.below("resourcesPerNode")}};
  kube::Container& container = at->pod_template.spec.containers.emplace_back();
  container.name = "node";  // as every runtime calls it
  return cursor.object(field("image", container.image), field("env", container.env),
                       field("resourcesPerNode", container.resources),
                       field("numNodes", at->replicas));
}

bool read_serving(Cursor& cursor, const FieldPath& path, TemplateSink& out) {
  TemplateAt* const at = out.add(cursor, path.text());
  if (at == nullptr) return false;
  const std::size_t start = cursor.offset();
  std::string_view text;
  if (!cursor.raw(text)) return false;
  kube::PodSpec& spec = at->pod_template.spec;
  kube::ObjectMeta& metadata = at->pod_template.metadata;
  at->placed = {{"spec", path.text()}, {"metadata", path.text()}};
  const auto pod_spec = [&](Cursor& inner) { return read(inner, spec); };
  const auto model_servers = [&](Cursor& inner) {
    return inner.members([&](std::string_view key) {
      if (key == "labels") return read(inner, metadata.labels);
      if (key == "annotations") return read(inner, metadata.annotations);
      if (std::find(kModelServers.begin(), kModelServers.end(), key) == kModelServers.end() ||
          inner.peek() != '{') {
        return inner.skip();
      }
      at->placed.push_back({nth("spec.containers", spec.containers.size()), path.below(key)});
      kube::Container& container = spec.containers.emplace_back();
      if (!read(inner, container)) return false;
      if (container.name.empty()) container.name = kModelServer;
      return true;
    });
  };
  return read_again(cursor, start, text, pod_spec) &&
         read_again(cursor, start, text, model_servers);
}

}  // namespace rankward::formats
