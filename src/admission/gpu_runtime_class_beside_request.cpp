// RT-02: for clusters where devices come by CDI and the NVIDIA runtime class is the operator's own
// (GPU Operator, values.yaml cdi.enabled). On k3s, RKE2 and older stacks honest GPU pods need it,
// so it is off unless configured.
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

void observe(const PodFacts& pod, Observations& out) {
  const std::string& name = pod.spec().runtime_class_name;
  if (name.empty() || !pod.policy().is_gpu_runtime_class(name) || !pod.any_container_asks()) return;
  Observation found;
  found.field = pod.field("runtimeClassName");
  found.subject = "runtimeClassName";
  found.value = name;
  found.what = "runtimeClassName=" + in_quotes(name) + " beside a GPU request.";
  out.push_back(std::move(found));
}

}  // namespace

extern const Rule kGpuRuntimeClassBesideRequest;
const Rule kGpuRuntimeClassBesideRequest{
    {.id = "RT-02",
     .title = "a GPU runtime class beside a request",
     .default_mode = Mode::kOff,
     .milder_mode = Mode::kOff,
     .why = "On this cluster devices come by CDI, and that runtime may add the GPUs that the image "
            "names to those that were allocated.",
     .fix = "drop runtimeClassName; the request alone brings the GPU."},
    observe};

}  // namespace rankward::admission
