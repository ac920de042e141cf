#include "gang_environment.hpp"

#include "annotations.hpp"
#include "rankward/kube/meta.hpp"

namespace rankward::placement {

namespace {

// A whole number that stands there as a literal, in the first container that has the variable.
std::optional<std::int32_t> number(const kube::Container& container, std::string_view name) {
  for (const kube::EnvVar& variable : container.env) {
    if (variable.name != name) continue;
    return variable.value_from.empty() ? small_number(variable.value, kMaxGangSize) : std::nullopt;
  }
  return std::nullopt;
}

template <class Read>
std::optional<std::int32_t> first_of(const kube::PodSpec& spec, Read&& read) {
  for (const kube::Container& container : spec.containers) {
    if (const auto value = read(container); value && *value > 0) return value;
  }
  return std::nullopt;
}

std::optional<std::int32_t> by_name(const kube::PodSpec& spec, std::string_view name) {
  return first_of(spec,
                  [name](const kube::Container& container) { return number(container, name); });
}

// The training operator's WORLD_SIZE is pods times processes. Source: pkg/controller.v1/pytorch,
// envvar.go, which writes PET_NPROC_PER_NODE beside it.
std::optional<std::int32_t> by_world_size(const kube::PodSpec& spec) {
  return first_of(spec, [](const kube::Container& container) -> std::optional<std::int32_t> {
    const auto world = number(container, "WORLD_SIZE");
    const auto processes = number(container, "PET_NPROC_PER_NODE");
    if (!world || !processes || *processes == 0 || *world % *processes != 0) return std::nullopt;
    return *world / *processes;
  });
}

bool is_elastic(const kube::PodSpec& spec) {
  for (const kube::Container& container : spec.containers) {
    for (const kube::EnvVar& variable : container.env) {
      if (variable.name == "PET_NNODES" && variable.value.find(':') != std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

bool has_key(const kube::Pod& pod, std::string_view key) {
  return kube::find(pod.metadata.labels, key) != nullptr ||
         kube::find(pod.metadata.annotations, key) != nullptr;
}

}  // namespace

std::optional<std::int32_t> size_by_environment(const kube::Pod& pod, std::string_view kind) {
  if (kind == "LeaderWorkerSet") return by_name(pod.spec, "LWS_GROUP_SIZE");
  if (kind == "TrainingJob") {
    if (is_elastic(pod.spec)) return std::nullopt;
    const auto nodes = by_name(pod.spec, "PET_NNODES");
    return nodes ? nodes : by_world_size(pod.spec);
  }
  // torchrun's nodes are the Job's pods.
  if (kind == "Job") return by_name(pod.spec, "PET_NNODES");
  if (kind == "JobSet") {
    // Sets that users write may hold several rendezvous; those of Kubeflow's trainer hold one, and
    // its JAX runtime has one process a pod, numbered by completion index.
    if (!has_key(pod, "trainer.kubeflow.org/trainjob-ancestor-step")) return std::nullopt;
    const auto nodes = by_name(pod.spec, "PET_NNODES");
    return nodes ? nodes : by_name(pod.spec, "JAX_NUM_PROCESSES");
  }
  // The pods of one replica of a scaling group. That is a gang of its own only where it was scaled
  // out; the first replicas are part of a larger one.
  if (kind == "PodGang" && has_key(pod, "grove.io/base-podgang")) {
    return by_name(pod.spec, "GROVE_PCSG_TEMPLATE_NUM_PODS");
  }
  return std::nullopt;
}

}  // namespace rankward::placement
