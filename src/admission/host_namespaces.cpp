// PRIV-03: a GPU pod in the node's own process or IPC namespace.
#include "rule.hpp"

namespace rankward::admission {
namespace {

constexpr std::string_view kDropHostPid =
    "drop it; a profiler or agent that needs it is exempted by namespace and service account.";

void observe_namespace(const PodFacts& pod, std::string_view name, std::string_view reaches,
                       std::string_view fix, Observations& out) {
  Observation found;
  found.field = pod.field(name);
  found.subject = name;
  found.value = "true";
  found.what.append(name).append(" on a GPU pod reaches ").append(reaches).append(".");
  found.fix = fix;
  out.push_back(std::move(found));
}

void observe(const PodFacts& pod, Observations& out) {
  if (!pod.is_gpu_pod()) return;
  if (pod.spec().host_pid)
    observe_namespace(pod, "hostPID", "the node's processes", kDropHostPid, out);
  if (pod.spec().host_ipc) observe_namespace(pod, "hostIPC", "the node's shared memory", {}, out);
}

}  // namespace

extern const Rule kHostNamespaces;
const Rule kHostNamespaces{
    {.id = "PRIV-03",
     .title = "hostPID or hostIPC on a GPU pod",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "Through it a container meets the GPU processes and shared memory of other pods on its "
            "node.",
     .fix =
         "drop it; ranks on one node need only a volume emptyDir with medium Memory at /dev/shm. "
         "GKE's MPS is the known case that needs hostIPC."},
    observe,
    false};

}  // namespace rankward::admission
