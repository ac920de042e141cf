// An object and one of the pods that its controller makes must speak of the same gang. The pods'
// labels, annotations and environment are those that the named projects write.
#include "rankward/formats/gang_objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "rankward/formats/documents.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/placement/request.hpp"

namespace rankward::formats {
namespace {

using placement::RoleSize;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

GangOwner owner_of(std::string_view yaml) {
  const auto documents = read_documents(yaml, "owner.yaml").value();
  const Document& document = documents.at(0);
  const GangResource* resource = find_gang_resource(document.api_version, document.kind);
  EXPECT_NE(resource, nullptr) << document.api_version << " " << document.kind;
  return read_gang_owner(*resource, document.json).value();
}

kube::Pod pod_of(std::string_view yaml) {
  return read_pod(read_documents(yaml, "pod.yaml").value().at(0).json).value();
}

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
    controller-uid: 0f6c
    job-name: train
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
status: {conditions: [{type: Suspended, status: "False"}]}
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
    jobset.sigs.k8s.io/job-key: 4fd1
    jobset.sigs.k8s.io/jobset-name: pt
    jobset.sigs.k8s.io/jobset-uid: 5a2e
    jobset.sigs.k8s.io/replicatedjob-name: workers
    jobset.sigs.k8s.io/replicatedjob-replicas: "2"
    jobset.sigs.k8s.io/restart-attempt: "0"
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
    ray.io/worker-group-replica-name: gpu-af03d
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
    volcano.sh/job-namespace: ml
    volcano.sh/queue-name: default
    volcano.sh/task-index: "2"
    volcano.sh/task-spec: worker
  annotations:
    scheduling.k8s.io/group-name: tf-9-8
    volcano.sh/job-name: tf
    volcano.sh/task-spec: worker
    volcano.sh/template-uid: tf-worker
)",
                           {{"ps", 1, 0}, {"worker", 4, 3}},
                           "worker"},
                      Pair{"volcano_pod_group",
                           R"(
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: tf-9-8, namespace: ml}
spec: {minMember: 5, queue: default, minTaskMember: {ps: 1, worker: 3}}
status: {phase: Inqueue}
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

TEST(GangObjects, SayNothingWhereThereIsNoGangOrAnotherSpeaks) {
  for (const std::string_view object : {// Pods independent of each other.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: ml, uid: "1"}
spec: {parallelism: 8, template: {spec: {containers: []}}}
)",
                                        R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: ml, uid: "1"}
spec: {replicas: 3, template: {spec: {containers: []}}}
)",
                                        // One of several Jobs of a set.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: pt-workers-0
  namespace: ml
  uid: "2"
  ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: pt, uid: 5a2e, controller: true}]
spec:
  completionMode: Indexed
  parallelism: 4
  completions: 4
  template: {metadata: {labels: {jobset.sigs.k8s.io/jobset-name: pt}}, spec: {containers: []}}
)",
                                        // One group's workers of a LeaderWorkerSet.
                                        R"(
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: vllm-0
  namespace: ml
  uid: "3"
  ownerReferences: [{apiVersion: v1, kind: Pod, name: vllm-0, uid: "9", controller: true}]
spec:
  replicas: 3
  template: {metadata: {labels: {leaderworkerset.sigs.k8s.io/group-key: k}}, spec: {containers: []}}
)",
                                        // Ended.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: done, namespace: ml, uid: "4"}
spec: {completionMode: Indexed, parallelism: 2, completions: 2, template: {spec: {containers: []}}}
status: {conditions: [{type: Complete, status: "True"}], succeeded: 2}
)",
                                        R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: done, namespace: ml, uid: "5"}
spec: {tasks: [{name: w, replicas: 2, template: {}}]}
status: {state: {phase: Completed}}
)",
                                        // Nobody runs, or more than any cluster holds.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: none, namespace: ml, uid: "6"}
spec: {completionMode: Indexed, parallelism: 0, completions: 0, template: {spec: {containers: []}}}
)",
                                        R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: huge, namespace: ml, uid: "7"}
spec:
  replicatedJobs:
  - name: w
    replicas: 2147483647
    template: {spec: {parallelism: 2147483647, completions: 2147483647, template: {}}}
)",
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: negative, namespace: ml, uid: "8"}
spec: {completionMode: Indexed, parallelism: -3, completions: 4, template: {spec: {containers: []}}}
)",
                                        // A template that says what cannot be read.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: odd, namespace: ml, uid: "9"}
spec:
  completionMode: Indexed
  parallelism: 2
  completions: 2
  template: {metadata: {annotations: {rankward.io/gang: "a b"}}, spec: {containers: []}}
)"}) {
    const GangOwner owner = owner_of(object);
    // What is left for the job with a negative number is that it cannot run all at once.
    for (const placement::GangFacts& facts : owner.facts) {
      EXPECT_THAT(facts.sizes, IsEmpty()) << object;
      EXPECT_TRUE(facts.elastic) << object;
    }
  }
}

// A CronJob's Jobs and those of workflows are gangs like any other.
TEST(GangObjects, TakeAJobsOwnWordWhoeverMadeIt) {
  const GangOwner owner = owner_of(R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: nightly-28
  namespace: ml
  uid: "1"
  ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: nightly, uid: "0", controller: true}]
spec: {completionMode: Indexed, parallelism: 2, completions: 2, template: {spec: {containers: []}}}
)");
  EXPECT_EQ(owner.key, "jobs.batch/ml/nightly-28");
  ASSERT_EQ(owner.facts.size(), 1U);
  EXPECT_EQ(owner.facts[0].gang_key, "ml/Job/nightly-28/1");
}

// One gang of ours over two tasks: their numbers add up where they have one role.
TEST(GangObjects, AddUpPartsOfOneRole) {
  const GangOwner owner = owner_of(R"(
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: pg, namespace: ml}
spec: {subGroups: [{name: a, minMember: 2}, {name: a, minMember: 3}]}
)");
  ASSERT_EQ(owner.facts.size(), 1U);
  EXPECT_THAT(owner.facts[0].sizes, ElementsAre(RoleSize{"a", 5, 0}));
}

TEST(GangObjects, AreReadWhateverTheOrderOfTheirFields) {
  const GangOwner owner =
      read_gang_owner(*find_gang_resource("batch/v1", "Job"),
                      R"({"spec":{"template":{},"completions":2,"completionMode":"Indexed",)"
                      R"("parallelism":2},"metadata":{"uid":"u","namespace":"n","name":"j"}})")
          .value();
  ASSERT_EQ(owner.facts.size(), 1U);
  EXPECT_EQ(owner.facts[0].gang_key, "n/Job/j/u");
}

TEST(GangObjects, NameTheFieldThatCannotBeRead) {
  const GangResource& job = *find_gang_resource("batch/v1", "Job");
  const auto text = read_gang_owner(job, R"({"spec":{"parallelism":"two"}})");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().field(), "spec.parallelism");
  const auto twice = read_gang_owner(
      *find_gang_resource("kubeflow.org/v1", "PyTorchJob"),
      R"({"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":1},"Worker":{"replicas":2}}}})");
  EXPECT_FALSE(twice);
}

TEST(GangObjects, AreFoundByGroupVersionAndKind) {
  EXPECT_EQ(find_gang_resource("batch/v1", "Job")->name(), "jobs.batch");
  EXPECT_EQ(find_gang_resource("batch.volcano.sh/v1alpha1", "Job")->name(),
            "jobs.batch.volcano.sh");
  EXPECT_EQ(find_gang_resource("kubeflow.org/v1", "MPIJob"),
            find_gang_resource("kubeflow.org/v2beta1", "MPIJob"));
  EXPECT_EQ(find_gang_resource("batch/v1beta1", "Job"), nullptr);
  EXPECT_EQ(find_gang_resource("v1", "Pod"), nullptr);
  // PriorityClasses were all that this version had until 1.22.
  EXPECT_EQ(find_gang_resource("scheduling.k8s.io/v1beta1", "PriorityClass"), nullptr);
}

TEST(GangObjects, AreWatchedWhereTheApiServerListsThem) {
  constexpr std::string_view kList =
      R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"batch/v1","resources":[)"
      R"({"name":"cronjobs","kind":"CronJob","verbs":["get","list","watch"]},)"
      R"({"name":"jobs","singularName":"job","namespaced":true,"kind":"Job",)"
      R"("verbs":["create","get","list","watch"],"categories":["all"]},)"
      R"({"name":"jobs/status","kind":"Job","verbs":["get","patch","update"]},)"
      R"({"name":"listed","kind":"Listed","verbs":["get","list"]}]})";
  EXPECT_EQ(lists_resource(kList, "jobs").value(), true);
  EXPECT_EQ(lists_resource(kList, "jobsets").value(), false);
  EXPECT_EQ(lists_resource(kList, "listed").value(), false);
  EXPECT_FALSE(lists_resource("not found", "jobs"));
}

}  // namespace
}  // namespace rankward::formats
