// ENV-05: the variable by which the NVIDIA runtime knows the CUDA images of before 2018, which it
// gives every GPU. Source: nvidia-container-toolkit internal/config/image (IsLegacy: CUDA_VERSION
// is not empty and NVIDIA_REQUIRE_CUDA is; then NVIDIA_VISIBLE_DEVICES counts as `all` where it is
// not set).
#include "device_choice.hpp"
#include "nvidia_variables.hpp"

namespace rankward::admission {
namespace {

bool may_have_a_value(const kube::EnvVar& variable) {
  return !variable.value.empty() || !variable.value_from.empty();
}

void observe(const PodFacts& pod, Observations& out) {
  for (const ContainerFacts& container : pod.containers()) {
    if (container.asks_for_gpu) continue;
    const auto variables = variables_of(*container.container, [](std::string_view name) {
      return name == kCudaVersion || name == kCudaRequirement || name == kVisibleDevices;
    });
    const std::vector<kube::EnvVar>& env = container.container->env;
    const auto version = variables.find(kCudaVersion);
    if (version == variables.end() || !may_have_a_value(env[version->second])) continue;
    const auto requirement = variables.find(kCudaRequirement);
    const bool is_new =
        requirement != variables.end() && may_have_a_value(env[requirement->second]);
    if (is_new || variables.count(kVisibleDevices) > 0) continue;
    Observation found = observe_variable(pod, container, version->second);
    found.what += " makes the NVIDIA runtime hand over every GPU, without a GPU request.";
    out.push_back(std::move(found));
  }
}

}  // namespace

extern const Rule kLegacyCudaVersion;
const Rule kLegacyCudaVersion{
    {.id = "ENV-05",
     .title = "CUDA_VERSION set, which old images mean as every GPU",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "The NVIDIA runtime takes a container with CUDA_VERSION and without "
            "NVIDIA_REQUIRE_CUDA for an old CUDA image and gives it all GPUs.",
     .fix =
         "rename the variable or drop it; to keep it, set NVIDIA_VISIBLE_DEVICES to \"void\", or "
         "set resources.limits \"nvidia.com/gpu\"."},
    observe};

}  // namespace rankward::admission
