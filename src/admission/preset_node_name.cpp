// SCH-01: a GPU pod that names its node and so is seen by no scheduler.
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

void observe(const PodFacts& pod, Observations& out) {
  const std::string& node = pod.spec().node_name;
  if (node.empty() || pod.subject().stands || !pod.is_gpu_pod()) return;
  Observation found;
  found.field = pod.field("nodeName");
  found.subject = "nodeName";
  found.value = node;
  found.what = "nodeName=" + in_quotes(node) + " on a pod that uses GPUs skips the scheduler.";
  out.push_back(std::move(found));
}

}  // namespace

extern const Rule kPresetNodeName;
const Rule kPresetNodeName{
    {.id = "SCH-01",
     .title = "nodeName set on a GPU pod",
     .default_mode = Mode::kEnforce,
     .milder_mode = Mode::kEnforce,
     .why = "Nothing checks that the node has a free GPU, so the pod fails on the node or takes "
            "part of another job's place.",
     .fix = "drop nodeName; to choose a node use nodeSelector \"kubernetes.io/hostname\"."},
    observe,
    false};

}  // namespace rankward::admission
