// HP-05: devices chosen by the place where /dev/null is mounted. The NVIDIA runtime reads the mount
// paths of a container as a list of devices where accept-nvidia-visible-devices-as-volume-mounts is
// on. Source: nvidia-container-toolkit internal/config/image.
#include "host_path_rule.hpp"
#include "rankward/admission/host_path.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

// The runtime compares by prefix without a closing slash, so longer names count too.
bool selects_devices(std::string_view mount_path) {
  const std::string clean = canonical_host_path(mount_path);
  return clean.find("/nvidia-container-devices") != std::string::npos;
}

bool can_be_null_device(const HostPathUse& use) {
  return use.any_below ? is_within("/dev/null", use.canonical) : use.canonical == "/dev/null";
}

void observe(const PodFacts& pod, Observations& out) {
  for (std::size_t volume = 0; volume < pod.spec().volumes.size(); ++volume) {
    for (const HostPathUse& use : pod.mounts_of(volume)) {
      if (!can_be_null_device(use) || !selects_devices(use.mount->mount_path)) continue;
      Observation found = observe_path(pod, use, {});
      found.value = use.mount->mount_path;
      found.what = use.label + ": /dev/null mounted at " + in_quotes(use.mount->mount_path) +
                   " tells the NVIDIA runtime which GPUs to hand over.";
      out.push_back(std::move(found));
    }
  }
}

}  // namespace

extern const Rule kNullDeviceMounts;
const Rule kNullDeviceMounts{
    {.id = "HP-05",
     .title = "/dev/null mounted to choose devices",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why = "Only the device plugin may choose a container's devices; nothing counts what a pod "
            "takes by itself.",
     .fix = "set resources.limits \"nvidia.com/gpu\" and drop the mount.",
     .exemptible = false},
    observe};

}  // namespace rankward::admission
