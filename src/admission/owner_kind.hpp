// What a pod says about the workload that it comes from.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <utility>

namespace rankward::admission {

// The kind of controller that the pods of such a workload have: a Deployment's belong to a
// ReplicaSet. Workloads that are not here own their pods themselves. Sources: the controllers of
// Kubernetes, JobSet, LeaderWorkerSet, KubeRay, Kubeflow Trainer (JobSets) and Notebooks, Argo.
[[nodiscard]] inline std::string owner_kind_of_pods(std::string_view workload_kind) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kOwners{
      {{"Deployment", "ReplicaSet"},
       {"Rollout", "ReplicaSet"},
       {"CronJob", "Job"},
       {"JobSet", "Job"},
       {"TrainJob", "Job"},
       {"LeaderWorkerSet", "StatefulSet"},
       {"Notebook", "StatefulSet"},
       {"RayJob", "RayCluster"},
       {"RayService", "RayCluster"},
       {"RayCronJob", "RayCluster"},
       {"CronWorkflow", "Workflow"}}};
  for (const auto& [workload, owner] : kOwners)
    if (workload == workload_kind) return std::string(owner);
  return std::string(workload_kind);
}

}  // namespace rankward::admission
