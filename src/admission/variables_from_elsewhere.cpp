// ENV-04: a whole ConfigMap or Secret as variables, among which one may pick devices. What the pod
// sets itself beats it and the image (kubelet makeEnvironmentVariables), so one explicit variable
// settles the matter.
#include <algorithm>

#include "device_choice.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

// Whether a key of the source could make such a variable: names are the prefix and the key joined.
bool can_hold_device_variable(const PodFacts& pod, const kube::EnvFromSource& source) {
  const std::span<const std::string> names = pod.policy().device_variables();
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return name.starts_with(source.prefix); });
}

bool sets_device_variable(const PodFacts& pod, const kube::Container& container) {
  return std::any_of(container.env.begin(), container.env.end(), [&](const kube::EnvVar& variable) {
    return pod.policy().is_device_variable(variable.name);
  });
}

void observe(const PodFacts& pod, Observations& out) {
  if (!pod.aims_at_gpu_nodes()) return;
  for (const ContainerFacts& container : pod.containers()) {
    if (container.asks_for_gpu || sets_device_variable(pod, *container.container)) continue;
    const std::vector<kube::EnvFromSource>& sources = container.container->env_from;
    for (std::size_t i = 0; i < sources.size(); ++i) {
      if (!can_hold_device_variable(pod, sources[i])) continue;
      Observation found;
      found.field = pod.field(container.path + ".envFrom[" + std::to_string(i) + "]");
      found.container = container.container->name;
      found.subject = "envFrom";
      found.value = sources[i].source + "/" + sources[i].prefix;
      found.what = container.label + ": envFrom of a " + sources[i].source +
                   " without a GPU request, in a pod that can land on GPU nodes.";
      out.push_back(std::move(found));
    }
  }
}

}  // namespace

extern const Rule kVariablesFromElsewhere;
const Rule kVariablesFromElsewhere{
    {.id = "ENV-04",
     .title = "variables from elsewhere that may choose devices",
     .default_mode = Mode::kAudit,
     .milder_mode = Mode::kAudit,
     .why = "NVIDIA_VISIBLE_DEVICES may be among those variables, and would give this container "
            "GPUs that nobody counts.",
     .fix = "set the variable NVIDIA_VISIBLE_DEVICES to \"void\" beside envFrom; what the pod sets "
            "itself counts."},
    observe,
    false};

}  // namespace rankward::admission
