// ENV-05: the variable by which the NVIDIA runtime knows the CUDA images of before 2018, which it
// gives every GPU. Source: nvidia-container-toolkit internal/config/image (IsLegacy: CUDA_VERSION
// is not empty and NVIDIA_REQUIRE_CUDA is; then NVIDIA_VISIBLE_DEVICES counts as `all` where it is
// not set).
#include "device_choice.hpp"

namespace rankward::admission {
namespace {

constexpr std::string_view kVersion = "CUDA_VERSION";
constexpr std::string_view kRequirement = "NVIDIA_REQUIRE_CUDA";
constexpr std::string_view kDevices = "NVIDIA_VISIBLE_DEVICES";

bool may_have_a_value(const kube::EnvVar& variable) {
  return !variable.value.empty() || !variable.value_from.empty();
}

void observe(const PodFacts& pod, Observations& out) {
  for (const ContainerFacts& container : pod.containers()) {
    if (container.asks_for_gpu) continue;
    const auto variables = variables_of(*container.container, [](std::string_view name) {
      return name == kVersion || name == kRequirement || name == kDevices;
    });
    const std::vector<kube::EnvVar>& env = container.container->env;
    const auto version = variables.find(kVersion);
    if (version == variables.end() || !may_have_a_value(env[version->second])) continue;
    const auto requirement = variables.find(kRequirement);
    const bool is_new =
        requirement != variables.end() && may_have_a_value(env[requirement->second]);
    if (is_new || variables.count(kDevices) > 0) continue;
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
