// RT-01: a runtime that hands out GPUs by the image's own variables. Under the GPU Operator with
// CDI that runtime class is for its own containers and gives them every GPU; a CUDA image carries
// NVIDIA_VISIBLE_DEVICES=all itself.
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

void observe(const PodFacts& pod, Observations& out) {
  const std::string& name = pod.spec().runtime_class_name;
  if (name.empty() || !pod.policy().is_gpu_runtime_class(name) || pod.any_container_asks()) return;
  Observation found;
  found.field = pod.field("runtimeClassName");
  found.subject = "runtimeClassName";
  found.value = name;
  found.what = "runtimeClassName=" + in_quotes(name) + " without a GPU request in any container.";
  out.push_back(std::move(found));
}

}  // namespace

extern const Rule kGpuRuntimeClass;
const Rule kGpuRuntimeClass{
    {.id = "RT-01",
     .title = "a GPU runtime class without a request",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why = "That runtime gives a container the GPUs that its image names, and CUDA images name "
            "all of them.",
     .fix = "set resources.limits \"nvidia.com/gpu\" in the container that computes, or drop "
            "runtimeClassName."},
    observe};

}  // namespace rankward::admission
