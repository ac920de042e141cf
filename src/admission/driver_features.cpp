// ENV-06: variables by which the NVIDIA runtime adds devices beside GPUs. Source:
// nvidia-container-toolkit internal/config/image and internal/modifier (gated.go for those that are
// switched on by the value `enabled`).
#include <array>

#include "device_choice.hpp"

namespace rankward::admission {
namespace {

struct Feature {
  std::string_view variable;
  std::string_view gives;
  bool is_switch = false;          // only the value `enabled` counts
  bool fine_with_request = false;  // adds nothing that another pod could hold
  bool grave = false;
};

// GDS and GDRCopy reach the GPUs that the container has, no others; HP-01 sends people to them.
constexpr std::string_view kBesideARequest =
    "set resources.limits \"nvidia.com/gpu\" in the same container, or drop the variable.";

constexpr std::array kFeatures{
    Feature{"NVIDIA_MIG_CONFIG_DEVICES", "the right to change how the node's GPUs are partitioned",
            false, false, true},
    Feature{"NVIDIA_MIG_MONITOR_DEVICES", "a look at all MIG devices of the node"},
    Feature{"NVIDIA_IMEX_CHANNELS", "a channel to the GPU memory of other nodes"},
    Feature{"NVIDIA_MOFED", "every RDMA card of the node", true},
    Feature{"NVIDIA_NVSWITCH", "the node's NVLink switches", true},
    Feature{"NVIDIA_GDS", "GPUDirect Storage", true, true},
    Feature{"NVIDIA_GDRCOPY", "GDRCopy", true, true},
};

bool turns_on(const Feature& feature, const kube::EnvVar& variable) {
  if (!feature.is_switch) return choice(variable) != Choice::kNothing;
  return variable.value == "enabled" || is_hidden(variable);
}

void observe_feature(const PodFacts& pod, const ContainerFacts& container, const Feature& feature,
                     Observations& out) {
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
    for (const Feature& feature : kFeatures)
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
