// The Spark operator's applications: a driver's pod and its executors', each a pod template with
// fields beside it that its main container gets. Source: spark-operator, v1beta2 SparkPodSpec.
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "workload_walk.hpp"

namespace rankward::formats {
namespace {

struct Part {
  const char* key;
  const char* container;  // as Spark calls it
};
constexpr Part kParts[] = {{"driver", "spark-kubernetes-driver"},
                           {"executor", "spark-kubernetes-executor"}};

struct Volumes {
  std::vector<kube::Volume> list;
  std::string path;  // of what holds them
};

std::string nth(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

// gpu: {name, quantity}
bool read_gpu(Cursor& cursor, kube::ResourceList& limits) {
  std::string name;
  std::int64_t quantity = 0;
  if (!cursor.object(field("name", name), field("quantity", quantity))) return false;
  const auto amount = kube::Quantity::parse(std::to_string(quantity));
  if (!name.empty() && amount) limits[name] = *amount;
  return true;
}

// envVars, the older form of env: a map.
bool read_env_map(Cursor& cursor, std::vector<kube::EnvVar>& out) {
  return cursor.members([&](std::string_view name) {
    kube::EnvVar& variable = out.emplace_back();
    variable.name = name;
    return read(cursor, variable.value);
  });
}

// The fields beside the template, as a pod.
struct Fields {
  TemplateAt pod;
  std::vector<kube::EnvVar> env_map;
  std::vector<kube::Container> sidecars;
  std::optional<kube::PodTemplate> pod_template;
};

bool read_fields(Cursor& cursor, Fields& out) {
  kube::PodTemplate& pod = out.pod.pod_template;
  kube::PodSpec& spec = pod.spec;
  kube::Container& main = spec.containers.front();
  const auto pod_template = [&] {
    if (cursor.null()) return true;
    kube::PodTemplate& read = out.pod_template.emplace();
    return cursor.object(field("metadata", read.metadata), field("spec", read.spec));
  };
  return cursor.object(
      field("template", pod_template),
      field("gpu", [&] { return read_gpu(cursor, main.resources.limits); }),
      field("image", main.image), field("env", main.env),
      field("envVars", [&] { return read_env_map(cursor, out.env_map); }),
      field("envFrom", main.env_from), field("volumeMounts", main.volume_mounts),
      field("securityContext", [&] { return read_security_context(cursor, main); }),
      field("sidecars", out.sidecars), field("initContainers", spec.init_containers),
      field("labels", pod.metadata.labels), field("annotations", pod.metadata.annotations),
      field("nodeSelector", spec.node_selector), field("tolerations", spec.tolerations),
      field("affinity", [&] { return read_affinity(cursor, spec); }),
      field("schedulerName", spec.scheduler_name),
      field("serviceAccount", spec.service_account_name), field("hostNetwork", spec.host_network),
      field("runtimeClassName", spec.runtime_class_name), field("instances", out.pod.replicas));
}

// Puts what stands in lists of its own where a pod has it.
void gather(Fields& fields, const FieldPath& path, const Volumes& volumes) {
  auto& placed = fields.pod.placed;
  kube::PodSpec& spec = fields.pod.pod_template.spec;
  std::vector<kube::EnvVar>& env = spec.containers.front().env;
  const FieldPath map(path.below("envVars"));
  for (kube::EnvVar& variable : fields.env_map) {
    placed.push_back({nth("spec.containers[0].env", env.size()), map.below(variable.name)});
    env.push_back(std::move(variable));
  }
  for (std::size_t i = 0; i < fields.sidecars.size(); ++i) {
    placed.push_back(
        {nth("spec.containers", spec.containers.size()), nth(path.below("sidecars"), i)});
    spec.containers.push_back(std::move(fields.sidecars[i]));
  }
  std::set<std::string_view> mounted;
  for (const auto* containers : {&spec.containers, &spec.init_containers})
    for (const kube::Container& container : *containers)
      for (const kube::VolumeMount& mount : container.volume_mounts)
        mounted.insert(mount.name);
  for (std::size_t i = 0; i < volumes.list.size(); ++i) {
    if (mounted.count(volumes.list[i].name) == 0) continue;
    placed.push_back(
        {nth("spec.volumes", spec.volumes.size()), volumes.path + "." + nth("volumes", i)});
    spec.volumes.push_back(volumes.list[i]);
  }
}

bool add(Cursor& cursor, TemplateAt at, TemplateSink& out) {
  TemplateAt* const added = out.add(cursor, std::string());
  if (added == nullptr) return false;
  *added = std::move(at);
  return true;
}

bool read_part(Cursor& cursor, const Part& part, const FieldPath& path, const Volumes& volumes,
               TemplateSink& out) {
  Fields fields;
  TemplateAt& pod = fields.pod;
  pod.path = path.text();
  pod.role = part.key;
  pod.placed = {{"spec", path.text()},
                {"spec.containers[0]", path.text()},
                {"spec.serviceAccountName", path.below("serviceAccount")},
                {"metadata", path.text()}};
  pod.pod_template.spec.containers.emplace_back().name = part.container;
  if (!read_fields(cursor, fields)) return false;
  gather(fields, path, volumes);
  TemplateAt base;
  if (fields.pod_template) {
    base.path = path.below("template");
    base.role = part.key;
    base.replicas = pod.replicas;
    base.pod_template = *std::move(fields.pod_template);
    // Its first container becomes the main one, so it has what that asks for.
    auto& containers = base.pod_template.spec.containers;
    if (!containers.empty()) {
      for (const auto& [name, amount] : pod.pod_template.spec.containers.front().resources.limits)
        containers.front().resources.limits.try_emplace(name, amount);
    }
  }
  return add(cursor, std::move(pod), out) &&
         (base.path.empty() || add(cursor, std::move(base), out));
}

}  // namespace

bool read_spark(Cursor& cursor, FieldPath& path, TemplateSink& out) {
  const std::size_t start = cursor.offset();
  std::string_view text;
  if (!cursor.raw(text)) return false;
  Volumes volumes;
  volumes.path = path.text();
  const auto shared = [&](Cursor& inner) { return inner.object(field("volumes", volumes.list)); };
  const auto parts = [&](Cursor& inner) {
    const auto part = [&](const Part& which) {
      return [&inner, &path, &volumes, &out, &which] {
        if (inner.null()) return true;
        const FieldPath::Step step(path, which.key);
        return read_part(inner, which, path, volumes, out);
      };
    };
    return inner.object(field(kParts[0].key, part(kParts[0])),
                        field(kParts[1].key, part(kParts[1])));
  };
  return read_again(cursor, start, text, shared) && read_again(cursor, start, text, parts);
}

}  // namespace rankward::formats
