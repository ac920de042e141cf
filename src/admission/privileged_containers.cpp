// PRIV-01, PRIV-02: a container that may open every device of its node. SYS_ADMIN alone makes the
// NVIDIA runtime treat a container as privileged (nvidia-container-toolkit internal/config/image).
#include "rule.hpp"

namespace rankward::admission {
namespace {

void observe_containers(const PodFacts& pod, bool with_request, std::string_view ending,
                        Observations& out) {
  for (const ContainerFacts& container : pod.containers()) {
    if (container.privilege.empty() || container.asks_for_gpu != with_request) continue;
    const bool whole = container.privilege == "privileged";
    Observation found;
    found.field = pod.field(container.path + ".securityContext." +
                            (whole ? "privileged" : "capabilities.add"));
    found.container = container.container->name;
    found.subject = whole ? "privileged" : "capabilities";
    found.value = container.privilege;
    found.what = container.label + ": ";
    found.what += whole ? "privileged" : "capability " + std::string(container.privilege);
    found.what.append(ending);
    out.push_back(std::move(found));
  }
}

void observe_without_request(const PodFacts& pod, Observations& out) {
  if (!pod.aims_at_gpu_nodes()) return;
  observe_containers(pod, false, " without a GPU request, in a pod that can land on GPU nodes.",
                     out);
}

void observe_with_request(const PodFacts& pod, Observations& out) {
  observe_containers(pod, true, " beside a GPU request.", out);
}

}  // namespace

extern const Rule kPrivilegedWithoutRequest;
extern const Rule kPrivilegedWithRequest;

const Rule kPrivilegedWithoutRequest{
    {.id = "PRIV-01",
     .title = "privileges without a request, where GPUs are",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "Such a container can open every GPU of its node, also those that other pods hold.",
     .fix = "drop privileged and SYS_ADMIN, or keep the pod off GPU nodes; an agent that needs "
            "them is exempted by namespace and service account."},
    observe_without_request,
    false};

const Rule kPrivilegedWithRequest{
    {.id = "PRIV-02",
     .title = "privileges beside a request",
     .default_mode = Mode::kWarn,
     .milder_mode = Mode::kWarn,
     .why = "It sees every GPU of the node, whatever number it asked for.",
     .fix = "drop privileged and SYS_ADMIN; for RDMA the capability IPC_LOCK and an RDMA resource "
            "are enough."},
    observe_with_request,
    false};

}  // namespace rankward::admission
