// What the expressions of several rules are made of, as variables of a policy.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/expressions.hpp"
#include "rankward/admission/policy.hpp"

namespace rankward::admission {

// Each is a list: of the new pod and, on UPDATE, of the old one.
//   pods        the pods
//   containers  their containers of every kind: at, name, env, mounts, asks, privilege, ...
//   volumes     their volumes with a hostPath: at, name, path
//   mounts      mounts of these volumes, by container: a list of lists
//   paths       host paths that a pod can reach, its volumes' own and those of mounts with sub
//               paths: a list of lists; at, volume, text, path (canonical, ends in `/`), below
[[nodiscard]] std::vector<NamedExpression> pod_fact_variables(const Policy& policy);

// Expressions over one pod of `pods`, named `pod`.
namespace cel {

// Whether resource limits or requests (a map) hold a non-zero accelerator.
[[nodiscard]] std::string asks_among(std::string_view resources, const Policy& policy);
// The name by which Kubernetes' controllers own the pod, or "".
[[nodiscard]] std::string selects_gpu_nodes(const Policy& policy);
[[nodiscard]] std::string tolerates_gpu_nodes(const Policy& policy);
// What the user wrote, quoted and cut.
[[nodiscard]] std::string quoted(std::string_view text);

}  // namespace cel
}  // namespace rankward::admission
