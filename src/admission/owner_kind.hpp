// What a pod says about the workload that it comes from.
#pragma once

#include <string>
#include <string_view>

namespace rankward::admission {

// The kind of controller that the pods of such a workload have: a Deployment's belong to a
// ReplicaSet, a CronJob's to a Job.
[[nodiscard]] inline std::string owner_kind_of_pods(std::string_view workload_kind) {
  if (workload_kind == "Deployment") return "ReplicaSet";
  if (workload_kind == "CronJob") return "Job";
  return std::string(workload_kind);
}

}  // namespace rankward::admission
