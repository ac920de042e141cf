// Argo's workflows. Each template with a container is a pod of its own, which has what the spec
// gives to all of them. Source: Argo Workflows, v1alpha1 WorkflowSpec and Template, and
// workflow/controller/workflowpod.go for what goes into a pod.
#include <algorithm>
#include <set>
#include <string>

#include "workload_walk.hpp"

namespace rankward::formats {
namespace {

// What templates inherit is written out for each of them. Over these an object is refused: it would
// be a thousand times its own size.
constexpr std::size_t kMaxInheritedBytes = std::size_t{16} << 20;
constexpr std::size_t kMaxInheritedMounts = 4096;

// What the spec gives to every pod.
struct Shared {
  kube::PodSpec spec;
  kube::ObjectMeta metadata;
  std::string path;
  std::size_t bytes = 0;
  std::size_t handed_out = 0;
};

std::string nth(std::string_view list, std::size_t index) {
  return std::string(list) + "[" + std::to_string(index) + "]";
}

bool refuse(Cursor& cursor, const std::string& what) {
  return cursor.fail(Error(ErrorKind::kTooLarge, what).at_byte(cursor.offset()));
}

bool read_shared(Cursor& cursor, Shared& out) {
  const auto counted = [&](auto read_it) {
    return [&cursor, &out, read_it] {
      const std::size_t start = cursor.offset();
      if (!read_it()) return false;
      out.bytes += cursor.taken_since(start).size();
      return true;
    };
  };
  kube::PodSpec& spec = out.spec;
  const auto metadata = [&] {
    return cursor.object(field("labels", out.metadata.labels),
                         field("annotations", out.metadata.annotations));
  };
  return cursor.object(
      field("volumes", counted([&] { return read(cursor, spec.volumes); })),
      field("nodeSelector", counted([&] { return read(cursor, spec.node_selector); })),
      field("tolerations", counted([&] { return read(cursor, spec.tolerations); })),
      field("affinity", counted([&] { return read_affinity(cursor, spec); })),
      field("podMetadata", counted(metadata)), field("schedulerName", spec.scheduler_name),
      field("serviceAccountName", spec.service_account_name),
      field("hostNetwork", spec.host_network));
}

// One template while it is read.
class Template {
 public:
  Template(Cursor& cursor, FieldPath& path, Shared& shared, TemplateSink& out)
      : cursor_(cursor), path_(path), shared_(shared), out_(out) {}

  bool read_it() {
    at_.path = path_.text();
    at_.placed.push_back({"spec", path_.text()});
    kube::PodSpec& spec = at_.pod_template.spec;
    const auto main = [this](const char* key) {
      return [this, key] { return main_container(key); };
    };
    const auto sidecar = [this](std::size_t i) {
      return add_container(path_.below("sidecars") + "[" + std::to_string(i) + "]");
    };
    if (!cursor_.object(field("name", at_.role), field("metadata", at_.pod_template.metadata),
                        field("container", main("container")), field("script", main("script")),
                        field("containerSet", [&] { return container_set(); }),
                        field("initContainers", spec.init_containers),
                        field("sidecars", [&] { return cursor_.items(sidecar); }),
                        field("volumes", spec.volumes), field("nodeSelector", spec.node_selector),
                        field("tolerations", spec.tolerations),
                        field("affinity", [&] { return read_affinity(cursor_, spec); }),
                        field("schedulerName", spec.scheduler_name),
                        field("serviceAccountName", spec.service_account_name),
                        field("steps", [&] { return steps(); }),
                        field("dag", [&] { return dag(); }))) {
      return false;
    }
    if (spec.containers.empty() && spec.init_containers.empty() && spec.volumes.empty()) {
      return true;  // steps, a DAG, or what the controller does itself
    }
    if (!inherit()) return false;
    TemplateAt* const added = out_.add(cursor_, std::string());
    if (added == nullptr) return false;
    *added = std::move(at_);
    return true;
  }

 private:
  bool add_container(std::string where) {
    auto& containers = at_.pod_template.spec.containers;
    at_.placed.push_back({nth("spec.containers", containers.size()), std::move(where)});
    return read(cursor_, containers.emplace_back());
  }

  bool main_container(std::string_view key) {
    if (cursor_.null()) return true;
    if (!add_container(path_.below(key))) return false;
    std::string& name = at_.pod_template.spec.containers.back().name;
    if (name.empty()) name = "main";
    return true;
  }

  // Every container of a set has the mounts of the set.
  bool container_set() {
    const std::string set = path_.below("containerSet");
    auto& containers = at_.pod_template.spec.containers;
    const std::size_t first = containers.size();
    std::vector<kube::VolumeMount> mounts;
    const auto container = [&](std::size_t i) {
      return add_container(set + "." + nth("containers", i));
    };
    if (!cursor_.object(field("containers", [&] { return cursor_.items(container); }),
                        field("volumeMounts", mounts))) {
      return false;
    }
    if ((containers.size() - first) * mounts.size() > kMaxInheritedMounts) {
      return refuse(cursor_, "must not mount the volumes of a set more than " +
                                 std::to_string(kMaxInheritedMounts) + " times");
    }
    for (std::size_t c = first; c < containers.size(); ++c) {
      for (std::size_t m = 0; m < mounts.size(); ++m) {
        const std::size_t index = containers[c].volume_mounts.size();
        at_.placed.push_back({nth("spec.containers", c) + "." + nth("volumeMounts", index),
                              set + "." + nth("volumeMounts", m)});
        containers[c].volume_mounts.push_back(mounts[m]);
      }
    }
    return true;
  }

  bool inline_template(std::string_view key, std::size_t index) {
    const FieldPath::Step list(path_, key);
    const FieldPath::Step item(path_, index);
    return inline_of_task();
  }

  bool inline_of_task() {
    return cursor_.object(field("inline", [&] {
      if (cursor_.null()) return true;
      const FieldPath::Step step(path_, "inline");
      return Template(cursor_, path_, shared_, out_).read_it();
    }));
  }

  // A list of lists: those of one list run together.
  bool steps() {
    const FieldPath::Step list(path_, "steps");
    return cursor_.items([&](std::size_t i) {
      const FieldPath::Step group(path_, i);
      return cursor_.items([&](std::size_t j) {
        const FieldPath::Step step(path_, j);
        return inline_of_task();
      });
    });
  }

  bool dag() {
    const FieldPath::Step step(path_, "dag");
    return cursor_.object(field("tasks", [&] {
      return cursor_.items([&](std::size_t i) { return inline_template("tasks", i); });
    }));
  }

  bool inherit() {
    shared_.handed_out += shared_.bytes;
    if (shared_.handed_out > kMaxInheritedBytes) {
      return refuse(cursor_, "must not hand more than " + std::to_string(kMaxInheritedBytes) +
                                 " bytes of its spec to its templates");
    }
    kube::PodSpec& spec = at_.pod_template.spec;
    const kube::PodSpec& all = shared_.spec;
    const auto from_spec = [&](const char* name, auto& own, const auto& shared) {
      if (!own.empty() || shared.empty()) return;
      own = shared;
      at_.placed.push_back({std::string("spec.") + name, shared_.path + "." + name});
    };
    from_spec("nodeSelector", spec.node_selector, all.node_selector);
    from_spec("tolerations", spec.tolerations, all.tolerations);
    from_spec("schedulerName", spec.scheduler_name, all.scheduler_name);
    from_spec("serviceAccountName", spec.service_account_name, all.service_account_name);
    if (!spec.required_node_affinity && all.required_node_affinity) {
      spec.required_node_affinity = all.required_node_affinity;
      at_.placed.push_back({"spec.affinity", shared_.path + ".affinity"});
    }
    spec.host_network = all.host_network;
    inherit_volumes();
    inherit_metadata("labels", at_.pod_template.metadata.labels, shared_.metadata.labels);
    inherit_metadata("annotations", at_.pod_template.metadata.annotations,
                     shared_.metadata.annotations);
    return true;
  }

  // A pod has those volumes of the spec that it mounts.
  void inherit_volumes() {
    kube::PodSpec& spec = at_.pod_template.spec;
    std::set<std::string_view> mounted;
    for (const auto* containers : {&spec.containers, &spec.init_containers}) {
      for (const kube::Container& container : *containers) {
        for (const kube::VolumeMount& mount : container.volume_mounts)
          mounted.insert(mount.name);
        for (const kube::VolumeDevice& device : container.volume_devices)
          mounted.insert(device.name);
      }
    }
    for (const kube::Volume& volume : spec.volumes)
      mounted.erase(volume.name);
    for (std::size_t i = 0; i < shared_.spec.volumes.size(); ++i) {
      if (mounted.count(shared_.spec.volumes[i].name) == 0) continue;
      at_.placed.push_back(
          {nth("spec.volumes", spec.volumes.size()), shared_.path + "." + nth("volumes", i)});
      spec.volumes.push_back(shared_.spec.volumes[i]);
    }
  }

  void inherit_metadata(const char* list, kube::StringMap& own, const kube::StringMap& shared) {
    for (const auto& [key, value] : shared) {
      if (!own.try_emplace(key, value).second) continue;
      const std::string entry = std::string(list) + "[\"" + key + "\"]";
      at_.placed.push_back({"metadata." + entry, shared_.path + ".podMetadata." + entry});
    }
  }

  Cursor& cursor_;
  FieldPath& path_;
  Shared& shared_;
  TemplateSink& out_;
  TemplateAt at_;
};

}  // namespace

bool read_workflow(Cursor& cursor, FieldPath& path, TemplateSink& out) {
  const std::size_t start = cursor.offset();
  std::string_view text;
  if (!cursor.raw(text)) return false;
  Shared shared;
  shared.path = path.text();
  const auto read_all = [&](Cursor& inner) { return read_shared(inner, shared); };
  const auto read_templates = [&](Cursor& inner) {
    const auto one = [&](std::size_t i) {
      const FieldPath::Step list(path, "templates");
      const FieldPath::Step item(path, i);
      return Template(inner, path, shared, out).read_it();
    };
    const auto defaults = [&] {
      const FieldPath::Step step(path, "templateDefaults");
      return inner.null() || Template(inner, path, shared, out).read_it();
    };
    return inner.object(field("templates", [&] { return inner.items(one); }),
                        field("templateDefaults", defaults));
  };
  return read_again(cursor, start, text, read_all) &&
         read_again(cursor, start, text, read_templates);
}

}  // namespace rankward::formats
