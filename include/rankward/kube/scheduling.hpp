// Kubernetes' own arithmetic and matching, as the scheduler does them.
#pragma once

#include <optional>
#include <string>

#include "rankward/kube/node.hpp"
#include "rankward/kube/pod.hpp"

namespace rankward::kube {

// What the pod holds on its node, for every resource name: max(sum of containers and sidecars, each
// init container with the sidecars started before it); for each container the request, else the
// limit. cpu, memory and hugepages: the pod-level request where given, else, where no container has
// one, the pod-level limit. Plus overhead. Templates that nobody has defaulted count like the pods
// that the API server would make of them. Source: k8s.io/component-helpers/resource (PodRequests),
// KEP-753, KEP-2837.
[[nodiscard]] ResourceList effective_requests(const PodSpec& spec);

// A container's own request of a resource, else its limit (which Kubernetes copies into the
// request).
[[nodiscard]] std::optional<Quantity> container_request(const Container& container,
                                                        std::string_view resource_name);

// True where the container asks for a non-zero amount of an accelerator or refers to a DRA claim.
[[nodiscard]] bool asks_for_accelerator(const Container& container);
[[nodiscard]] bool asks_for_accelerator(const PodSpec& spec);

// The scheduler's NodeAffinity plugin: nodeSelector and required node affinity. On a mismatch
// returns what failed, for a person: `nvidia.com/gpu.memory Gt 80000`.
[[nodiscard]] std::optional<std::string> failing_selector(const PodSpec& spec, const Node& node);

// The first NoSchedule or NoExecute taint that no toleration covers: `team=b:NoSchedule`.
// Tolerations with the operators Gt and Lt (alpha since 1.35) cover nothing here.
[[nodiscard]] std::optional<std::string> untolerated_taint(const PodSpec& spec, const Node& node);

}  // namespace rankward::kube
