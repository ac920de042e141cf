// An object and one of the pods that its controller makes must speak of the same gang. The pods'
// labels, annotations and environment are those that the named projects write.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "gang_yaml.hpp"
#include "rankward/placement/request.hpp"

namespace rankward::formats {
namespace {

using placement::RoleSize;

struct Pair {
  std::string name;
  std::string_view object;
  std::string_view pod;
  std::vector<RoleSize> sizes;
  std::string role;  // of the pod
  bool elastic = false;
  std::string topology;
};

void PrintTo(const Pair& pair, std::ostream* out) {
  *out << pair.name;
}

class ObjectAndPod : public ::testing::TestWithParam<Pair> {};

TEST_P(ObjectAndPod, SpeakOfTheSameGang) {
  const GangOwner owner = owner_of(GetParam().object);
  const auto gang = placement::gang_of(pod_of(GetParam().pod)).value();
  ASSERT_TRUE(gang.has_value());
  const placement::GangFacts* found = nullptr;
  for (const placement::GangFacts& facts : owner.facts) {
    if (facts.gang_key == gang->key) found = &facts;
  }
  ASSERT_NE(found, nullptr) << gang->key;
  EXPECT_EQ(found->sizes, GetParam().sizes);
  EXPECT_EQ(gang->role, GetParam().role);
  EXPECT_EQ(found->elastic, GetParam().elastic);
  EXPECT_EQ(found->required_topology, GetParam().topology);
}

constexpr std::string_view kJobPod = R"(
apiVersion: v1
kind: Pod
metadata:
  name: train-1-x7x2k
  namespace: ml
  labels:
    batch.kubernetes.io/controller-uid: 0f6c
    batch.kubernetes.io/job-completion-index: "1"
    batch.kubernetes.io/job-name: train
  annotations: {batch.kubernetes.io/job-completion-index: "1"}
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: train, uid: 0f6c, controller: true}]
)";

constexpr std::string_view kJobSet = R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: pt, namespace: ml, uid: 5a2e}
spec:
  replicatedJobs:
  - name: driver
    replicas: 1
    template: {spec: {parallelism: 1, completions: 1, template: {spec: {containers: []}}}}
  - name: workers
    replicas: 2
    template:
      spec: {parallelism: 4, completions: 4, backoffLimit: 0, template: {spec: {containers: []}}}
)";

constexpr std::string_view kMpiJob = R"(
kind: MPIJob
metadata: {name: nccl, namespace: ml, uid: 77aa}
spec:
  slotsPerWorker: 8
  runPolicy: {cleanPodPolicy: Running}
  mpiReplicaSpecs:
    Launcher: {replicas: 1, template: {spec: {containers: []}}}
    Worker: {replicas: 16, template: {spec: {containers: []}}}
)";
const std::string kMpiJobV2 = "apiVersion: kubeflow.org/v2beta1" + std::string(kMpiJob);
const std::string kMpiJobV1 = "apiVersion: kubeflow.org/v1" + std::string(kMpiJob);

constexpr std::string_view kVolcanoJob = R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: tf, namespace: ml, uid: "9-8"}
spec:
  minAvailable: 5
  schedulerName: volcano
  tasks:
  - {replicas: 1, name: ps, template: {spec: {containers: []}}}
  - {replicas: 4, minAvailable: 3, name: worker, template: {spec: {containers: []}}}
status: {state: {phase: Pending}}
)";

INSTANTIATE_TEST_SUITE_P(
    EachFramework, ObjectAndPod,
    ::testing::Values(Pair{"indexed_job",
                           R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, uid: 0f6c}
spec: {completionMode: Indexed, completions: 8, parallelism: 8, template: {spec: {containers: []}}}
)",
                           kJobPod,
                           {{"", 8, 0}},
                           ""},
                      Pair{"job_with_fewer_completions_than_parallelism",
                           R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, uid: 0f6c}
spec: {completionMode: Indexed, completions: 6, parallelism: 8, template: {spec: {containers: []}}}
)",
                           kJobPod,
                           {{"", 6, 0}},
                           ""},
                      // Kubernetes runs four at a time: no two of different rounds ever meet.
                      Pair{"job_that_runs_in_rounds",
                           R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, uid: 0f6c}
spec: {completionMode: Indexed, completions: 100, parallelism: 4, template: {spec: {containers: []}}}
)",
                           kJobPod,
                           {{"", 4, 0}},
                           "",
                           true},
                      Pair{"job_in_a_gang_of_ours",
                           R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, uid: 0f6c}
spec:
  parallelism: 3
  template: {metadata: {annotations: {rankward.io/gang: g}}, spec: {containers: []}}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  namespace: ml
  name: train-abc
  labels: {batch.kubernetes.io/job-name: train, batch.kubernetes.io/controller-uid: 0f6c}
  annotations: {rankward.io/gang: g}
)",
                           {{"", 3, 0}},
                           ""},
                      Pair{"job_in_a_native_group",
                           R"(
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: ml, uid: 0f6c}
spec:
  completionMode: Indexed
  parallelism: 3
  completions: 3
  template: {spec: {schedulingGroup: {podGroupName: pg}, containers: []}}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  namespace: ml
  name: train-0-abc
  labels: {batch.kubernetes.io/job-name: train, batch.kubernetes.io/job-completion-index: "0"}
spec: {schedulingGroup: {podGroupName: pg}}
)",
                           {{"", 3, 0}},
                           ""},
                      Pair{"job_set",
                           kJobSet,
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: pt-workers-1-2-kkk5p
  namespace: ml
  labels:
    batch.kubernetes.io/job-completion-index: "2"
    batch.kubernetes.io/job-name: pt-workers-1
    jobset.sigs.k8s.io/global-replicas: "3"
    jobset.sigs.k8s.io/job-global-index: "2"
    jobset.sigs.k8s.io/job-index: "1"
    jobset.sigs.k8s.io/jobset-name: pt
    jobset.sigs.k8s.io/jobset-uid: 5a2e
    jobset.sigs.k8s.io/replicatedjob-name: workers
    jobset.sigs.k8s.io/replicatedjob-replicas: "2"
)",
                           {{"driver", 1, 0}, {"workers", 8, 0}},
                           "workers"},
                      Pair{"job_set_before_uids",
                           kJobSet,
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: pt-driver-0-0-kkk5p
  namespace: ml
  labels:
    jobset.sigs.k8s.io/jobset-name: pt
    jobset.sigs.k8s.io/replicatedjob-name: driver
)",
                           {{"driver", 1, 0}, {"workers", 8, 0}},
                           "driver"},
                      // The JobSet that a TrainJob (Trainer v2) is made into.
                      Pair{"train_job",
                           R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata:
  name: llama
  namespace: ml
  uid: u-1
  ownerReferences:
  - {apiVersion: trainer.kubeflow.org/v1alpha1, kind: TrainJob, name: llama, uid: u-0, controller: true}
spec:
  replicatedJobs:
  - name: dataset-initializer
    template: {spec: {template: {spec: {containers: []}}}}
  - name: node
    template: {spec: {parallelism: 16, completions: 16, template: {spec: {containers: []}}}}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: llama-node-0-3-xxxxx
  namespace: ml
  labels:
    jobset.sigs.k8s.io/jobset-name: llama
    jobset.sigs.k8s.io/jobset-uid: u-1
    jobset.sigs.k8s.io/replicatedjob-name: node
    trainer.kubeflow.org/trainjob-ancestor-step: trainer
)",
                           {{"dataset-initializer", 1, 0}, {"node", 16, 0}},
                           "node"},
                      Pair{"stateful_set",
                           R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: serve, namespace: ml, uid: s1}
spec:
  replicas: 4
  template: {metadata: {annotations: {rankward.io/gang: serve}}, spec: {containers: []}}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: serve-2
  namespace: ml
  labels: {apps.kubernetes.io/pod-index: "2", statefulset.kubernetes.io/pod-name: serve-2}
  annotations: {rankward.io/gang: serve}
)",
                           {{"", 4, 0}},
                           ""},
                      Pair{"pytorch_job",
                           R"(
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: bert, namespace: ml, uid: k1}
spec:
  nprocPerNode: "8"
  pytorchReplicaSpecs:
    Master: {replicas: 1, restartPolicy: OnFailure, template: {spec: {containers: []}}}
    Worker: {replicas: 7, restartPolicy: OnFailure, template: {spec: {containers: []}}}
status: {conditions: [{type: Created, status: "True"}, {type: Running, status: "True"}]}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: bert-worker-3
  namespace: ml
  labels:
    training.kubeflow.org/job-name: bert
    training.kubeflow.org/operator-name: pytorchjob-controller
    training.kubeflow.org/replica-index: "3"
    training.kubeflow.org/replica-type: worker
)",
                           {{"master", 1, 0}, {"worker", 7, 0}},
                           "worker"},
                      Pair{"elastic_pytorch_job",
                           R"(
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: bert, namespace: ml}
spec:
  elasticPolicy: {minReplicas: 1, maxReplicas: 4, rdzvBackend: c10d}
  pytorchReplicaSpecs:
    Worker: {replicas: 2, template: {spec: {containers: []}}}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: bert-worker-0
  namespace: ml
  labels: {training.kubeflow.org/job-name: bert, training.kubeflow.org/replica-type: worker}
)",
                           {{"worker", 2, 0}},
                           "worker",
                           true},
                      Pair{"tf_job",
                           R"(
apiVersion: kubeflow.org/v1
kind: TFJob
metadata: {name: mnist, namespace: ml}
spec:
  tfReplicaSpecs:
    Chief: {template: {spec: {containers: []}}}
    PS: {replicas: 2, template: {spec: {containers: []}}}
    Worker: {replicas: 4, template: {spec: {containers: []}}}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: mnist-ps-1
  namespace: ml
  labels: {training.kubeflow.org/job-name: mnist, training.kubeflow.org/replica-type: ps}
)",
                           {{"chief", 1, 0}, {"ps", 2, 0}, {"worker", 4, 0}},
                           "ps"},
                      Pair{"jax_job",
                           R"(
apiVersion: kubeflow.org/v1
kind: JAXJob
metadata: {name: jax, namespace: ml}
spec: {jaxReplicaSpecs: {Worker: {replicas: 4, template: {spec: {containers: []}}}}}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: jax-worker-0
  namespace: ml
  labels: {training.kubeflow.org/job-name: jax, training.kubeflow.org/replica-type: worker}
)",
                           {{"worker", 4, 0}},
                           "worker"},
                      Pair{"mpi_job_v2_worker",
                           kMpiJobV2,
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: nccl-worker-5
  namespace: ml
  labels:
    training.kubeflow.org/job-name: nccl
    training.kubeflow.org/job-role: worker
    training.kubeflow.org/operator-name: mpi-operator
    training.kubeflow.org/replica-index: "5"
)",
                           {{"launcher", 1, 0}, {"worker", 16, 0}},
                           "worker"},
                      // Made by a Job of its own.
                      Pair{"mpi_job_v2_launcher",
                           kMpiJobV2,
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: nccl-launcher-mfkxs
  namespace: ml
  labels:
    batch.kubernetes.io/controller-uid: "1-2"
    batch.kubernetes.io/job-name: nccl-launcher
    training.kubeflow.org/job-name: nccl
    training.kubeflow.org/job-role: launcher
    training.kubeflow.org/operator-name: mpi-operator
)",
                           {{"launcher", 1, 0}, {"worker", 16, 0}},
                           "launcher"},
                      Pair{"mpi_job_v1",
                           kMpiJobV1,
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: nccl-worker-5
  namespace: ml
  labels:
    training.kubeflow.org/job-name: nccl
    training.kubeflow.org/operator-name: mpijob-controller
    training.kubeflow.org/replica-index: "5"
    training.kubeflow.org/replica-type: worker
)",
                           {{"launcher", 1, 0}, {"worker", 16, 0}},
                           "worker"},
                      Pair{"ray_cluster_of_two_hosts_a_replica",
                           R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: rc, namespace: ml, uid: r1}
spec:
  headGroupSpec: {rayStartParams: {}, template: {spec: {containers: []}}}
  workerGroupSpecs:
  - {groupName: gpu, replicas: 3, minReplicas: 1, maxReplicas: 5, numOfHosts: 2, template: {spec: {}}}
  - {groupName: small, minReplicas: 2, template: {spec: {}}}
  - {groupName: paused, replicas: 2, suspend: true, template: {spec: {}}}
status: {state: ready}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: rc-gpu-worker-x
  namespace: ml
  labels:
    ray.io/cluster: rc
    ray.io/group: gpu
    ray.io/node-type: worker
    ray.io/replica-host-index: "1"
    ray.io/worker-group-replica-index: "2"
)",
                           {{"headgroup", 1, 0}, {"gpu", 6, 0}, {"small", 2, 0}},
                           "gpu"},
                      Pair{"autoscaled_ray_cluster",
                           R"(
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: rc, namespace: ml, uid: r1}
spec:
  enableInTreeAutoscaling: true
  headGroupSpec: {template: {spec: {containers: []}}}
  workerGroupSpecs: [{groupName: gpu, replicas: 0, minReplicas: 0, maxReplicas: 5, template: {}}]
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: rc-head-x
  namespace: ml
  labels: {ray.io/cluster: rc, ray.io/group: headgroup, ray.io/node-type: head}
)",
                           {{"headgroup", 1, 0}},
                           "headgroup",
                           true},
                      Pair{"volcano_job",
                           kVolcanoJob,
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: tf-worker-2
  namespace: ml
  labels:
    volcano.sh/job-name: tf
    volcano.sh/task-index: "2"
    volcano.sh/task-spec: worker
  annotations:
    scheduling.k8s.io/group-name: tf-9-8
    volcano.sh/job-name: tf
    volcano.sh/task-spec: worker
)",
                           {{"ps", 1, 0}, {"worker", 4, 3}},
                           "worker"},
                      Pair{"volcano_pod_group",
                           R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: tf-9-8, namespace: ml}
spec: {minMember: 5, queue: default, minTaskMember: {ps: 1, worker: 3}}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: tf-worker-2
  namespace: ml
  annotations: {scheduling.k8s.io/group-name: tf-9-8}
)",
                           {{"", 5, 0}},
                           ""},
                      Pair{"scheduler_plugins",
                           R"(
apiVersion: scheduling.x-k8s.io/v1alpha1
kind: PodGroup
metadata: {name: nginx, namespace: ml}
spec: {scheduleTimeoutSeconds: 10, minMember: 3}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata: {name: n-0, namespace: ml, labels: {scheduling.x-k8s.io/pod-group: nginx}}
)",
                           {{"", 3, 0}},
                           ""},
                      Pair{"koordinators_old_group",
                           R"(
apiVersion: scheduling.sigs.k8s.io/v1alpha1
kind: PodGroup
metadata: {name: gang-a, namespace: ml}
spec: {scheduleTimeoutSeconds: 100, minMember: 2}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata: {name: n-0, namespace: ml, labels: {pod-group.scheduling.sigs.k8s.io: gang-a}}
)",
                           {{"", 2, 0}},
                           ""},
                      Pair{"kai_with_sub_groups",
                           R"(
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: pg-1, namespace: ml}
spec: {minMember: 6, queue: q, subGroups: [{name: prefill, minMember: 2}, {name: decode, minMember: 4}]}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: d-0
  namespace: ml
  labels: {kai.scheduler/subgroup-name: decode}
  annotations: {pod-group-name: pg-1}
)",
                           {{"prefill", 2, 0}, {"decode", 4, 0}},
                           "decode"},
                      Pair{"native_pod_group_with_a_rack",
                           R"(
apiVersion: scheduling.k8s.io/v1beta1
kind: PodGroup
metadata: {name: pg, namespace: ml}
spec:
  schedulingPolicy: {gang: {minCount: 4}}
  schedulingConstraints: {topology: [{key: topology.example.com/rack}]}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml}
spec: {schedulingGroup: {podGroupName: pg}}
)",
                           {{"", 4, 0}},
                           "",
                           false,
                           "topology.example.com/rack"},
                      Pair{"native_pod_group_without_a_gang",
                           R"(
apiVersion: scheduling.k8s.io/v1alpha3
kind: PodGroup
metadata: {name: pg, namespace: ml}
spec: {schedulingPolicy: {basic: {}}, schedulingConstraints: {topology: [{key: rack}]}}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: ml}
spec: {schedulingGroup: {podGroupName: pg}}
)",
                           {},
                           "",
                           false,
                           "rack"},
                      Pair{"grove",
                           R"(
apiVersion: scheduler.grove.io/v1alpha1
kind: PodGang
metadata: {name: simple1-0, namespace: ml}
spec:
  topologyConstraint: {packConstraint: {required: topology.example.com/block}}
  podgroups:
  - name: simple1-0-prefill
    minReplicas: 1
    podReferences: [{namespace: ml, name: a}, {namespace: ml, name: b}]
  - {name: simple1-0-decode, minReplicas: 4, podReferences: []}
)",
                           R"(
apiVersion: v1
kind: Pod
metadata:
  name: simple1-0-decode-x
  namespace: ml
  labels:
    grove.io/podclique: simple1-0-decode
    grove.io/podclique-pod-index: "0"
    grove.io/podgang: simple1-0
)",
                           {{"simple1-0-prefill", 2, 1}, {"simple1-0-decode", 4, 0}},
                           "simple1-0-decode",
                           false,
                           "topology.example.com/block"}),
    [](const auto& tested) { return tested.param.name; });

}  // namespace
}  // namespace rankward::formats
