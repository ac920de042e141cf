// Where frameworks keep the number of a pod among its group's.
#pragma once

#include <array>
#include <string_view>

namespace rankward::admission {

inline constexpr std::string_view kKueuePodIndex = "kueue.x-k8s.io/pod-group-pod-index";

// Source: field/topology.md, section 5.
inline constexpr std::array<std::string_view, 8> kRankKeys{
    "batch.kubernetes.io/job-completion-index",
    "training.kubeflow.org/replica-index",
    "leaderworkerset.sigs.k8s.io/worker-index",
    kKueuePodIndex,
    "volcano.sh/task-index",
    "grove.io/podclique-pod-index",
    "gang.scheduling.koordinator.sh/network-topology-index",
    "apps.kubernetes.io/pod-index"};

}  // namespace rankward::admission
