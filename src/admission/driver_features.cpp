// ENV-06: variables by which the NVIDIA runtime adds devices beside GPUs.
#include "device_choice.hpp"
#include "nvidia_variables.hpp"

namespace rankward::admission {
namespace {

constexpr std::string_view kBesideARequest =
    "set resources.limits \"nvidia.com/gpu\" in the same container, or drop the variable.";

bool turns_on(const DriverFeature& feature, const kube::EnvVar& variable) {
  if (!feature.is_switch) return choice(variable) != Choice::kNothing;
  return variable.value == "enabled" || is_hidden(variable);
}

void observe_feature(const PodFacts& pod, const ContainerFacts& container,
                     const DriverFeature& feature, Observations& out) {
  if (container.asks_for_gpu && feature.fine_with_request) return;
  const auto variables = variables_of(
      *container.container, [&](std::string_view name) { return name == feature.variable; });
  for (const auto& [name, index] : variables) {
    if (!turns_on(feature, container.container->env[index])) continue;
    Observation found = observe_variable(pod, container, index);
    found.what.append(" gives ").append(feature.gives).append(".");
    found.milder = !feature.grave;
    if (feature.fine_with_request) found.fix = kBesideARequest;
    out.push_back(std::move(found));
  }
}

void observe(const PodFacts& pod, Observations& out) {
  for (const ContainerFacts& container : pod.containers())
    for (const DriverFeature& feature : kDriverFeatureVariables)
      observe_feature(pod, container, feature, out);
}

}  // namespace

extern const Rule kDriverFeatures;
const Rule kDriverFeatures{
    {.id = "ENV-06",
     .title = "devices beside GPUs, chosen by a variable",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kWarn,
     .why = "The NVIDIA runtime obeys this variable without asking the device plugin, so nobody "
            "counts what it adds.",
     .fix = "drop the variable; ask for a MIG, RDMA or ComputeDomain resource instead. An agent "
            "that needs it is exempted by namespace and service account."},
    observe};

}  // namespace rankward::admission
