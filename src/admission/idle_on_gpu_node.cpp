// SCH-03: a pod that is sent to GPU nodes and asks for no GPU. DaemonSets are left alone: those
// that go to GPU nodes are agents, and take one place on each.
#include "rule.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

bool is_daemon(const Subject& subject) {
  if (!subject.workload_kind.empty()) return subject.workload_kind == "DaemonSet";
  const kube::OwnerReference* owner = subject.metadata.controller();
  return owner != nullptr && owner->kind == "DaemonSet";
}

void observe(const PodFacts& pod, Observations& out) {
  if (pod.any_container_asks() || is_daemon(pod.subject())) return;
  const std::optional<NodeAim> aim = pod.node_aim();
  if (!aim) return;
  Observation found;
  found.field = pod.field(aim->field);
  found.subject = "placement";
  found.value = aim->key;
  found.what = std::string(aim->is_toleration ? "toleration" : "node label") + " " +
               in_quotes(aim->key) + " leads to GPU nodes, and no container asks for a GPU.";
  out.push_back(std::move(found));
}

}  // namespace

extern const Rule kIdleOnGpuNode;
const Rule kIdleOnGpuNode{
    {.id = "SCH-03",
     .title = "sent to GPU nodes without a request",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "It takes CPU and memory that GPU jobs need beside their GPUs, and gets no device.",
     .fix = "set resources.limits \"nvidia.com/gpu\" in the container that computes, or drop the "
            "toleration or selector."},
    observe,
    false};

}  // namespace rankward::admission
