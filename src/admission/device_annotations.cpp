// ANN-01: annotations by which a runtime plugin adds devices to a container.
#include "device_annotations.hpp"

#include <algorithm>

#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

bool adds_devices(const Policy& policy, std::string_view key) {
  const std::string_view domain = key.substr(0, key.find('/'));
  const auto matches = [&](std::string_view known) { return matches_glob(known, domain); };
  if (std::any_of(kDeviceAnnotationDomains.begin(), kDeviceAnnotationDomains.end(), matches))
    return true;
  const std::vector<VendorOption>& vendors = policy.options().vendors;
  return std::any_of(vendors.begin(), vendors.end(), [&](const VendorOption& vendor) {
    return std::any_of(vendor.annotations.begin(), vendor.annotations.end(), matches);
  });
}

constexpr std::string_view kHonestSidecar =
    "Beside a GPU request this is usual for network sidecars such as GKE's, but the devices named "
    "there are not counted.";

void observe(const PodFacts& pod, Observations& out) {
  for (const auto& [key, value] : pod.subject().metadata.annotations) {
    if (!adds_devices(pod.policy(), key)) continue;
    Observation found;
    found.field = pod.metadata_field(".annotations[" + in_quotes(key, key.size()) + "]");
    found.subject = key;
    found.value = value;
    found.what = "annotation " + in_quotes(key) + " adds devices to a container";
    found.milder = pod.any_container_asks();
    if (found.milder) found.why = kHonestSidecar;
    found.what += found.milder ? " beside a GPU request." : " without a GPU request.";
    out.push_back(std::move(found));
  }
}

}  // namespace

extern const Rule kDeviceAnnotations;
const Rule kDeviceAnnotations{
    {.id = "ANN-01",
     .title = "devices added by annotation",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kWarn,
     .why = "Devices that come by annotation are counted by no scheduler, so another pod may hold "
            "them too.",
     .fix = "set resources.limits \"nvidia.com/gpu\", or a resource claim, and drop the "
            "annotation."},
    observe};

}  // namespace rankward::admission
