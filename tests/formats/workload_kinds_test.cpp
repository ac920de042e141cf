// One small manifest for each custom resource of the table, written after its project's Go types:
// which templates it has, whose they are, and how many pods they make.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankward/formats/documents.hpp"
#include "rankward/formats/judged_object.hpp"

namespace rankward::formats {
namespace {

using ::testing::ElementsAre;

// "path role pods", with - for what is not said.
std::vector<std::string> templates_of(std::string_view yaml) {
  const auto documents = read_documents(yaml, "manifest.yaml");
  if (!documents || documents->size() != 1) {
    ADD_FAILURE() << (documents ? "not one document" : documents.error().to_string());
    return {};
  }
  const Document& document = documents->front();
  const auto object = read_judged_object(document.api_version, document.kind, document.json);
  if (!object) {
    ADD_FAILURE() << object.error().to_string();
    return {};
  }
  std::vector<std::string> out;
  for (const TemplateAt& at : object->templates) {
    const kube::PodSpec& spec = at.pod_template.spec;
    EXPECT_FALSE(spec.containers.empty() && spec.init_containers.empty() && spec.volumes.empty())
        << at.path;
    out.push_back(at.path + " " + (at.role.empty() ? "-" : at.role) + " " +
                  (at.replicas ? std::to_string(*at.replicas) : "-"));
  }
  return out;
}

TEST(WorkloadKinds, builtin_kinds_say_how_many_pods_they_make) {
  EXPECT_THAT(templates_of(R"(
apiVersion: apps/v1
kind: Deployment
spec: {replicas: 3, template: {spec: {containers: [{name: web}]}}}
)"),
              ElementsAre("spec.template - 3"));
  // Indexed jobs run no more pods than they have completions.
  EXPECT_THAT(templates_of(R"(
apiVersion: batch/v1
kind: Job
spec: {completions: 4, parallelism: 16, template: {spec: {containers: [{name: train}]}}}
)"),
              ElementsAre("spec.template - 4"));
  EXPECT_THAT(templates_of(R"(
apiVersion: batch/v1
kind: CronJob
spec:
  jobTemplate: {spec: {parallelism: 2, template: {spec: {containers: [{name: c}]}}}}
)"),
              ElementsAre("spec.jobTemplate.spec.template - 2"));
}

TEST(WorkloadKinds, JobSet) {
  EXPECT_THAT(templates_of(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: train}
spec:
  replicatedJobs:
  - name: driver
    template: {spec: {template: {spec: {containers: [{name: main}]}}}}
  - template:
      spec:
        completions: 8
        template: {spec: {containers: [{name: main}]}}
        parallelism: 8
    replicas: 2
    name: workers
)"),
              ElementsAre("spec.replicatedJobs[0].template.spec.template driver -",
                          "spec.replicatedJobs[1].template.spec.template workers 16"));
}

TEST(WorkloadKinds, LeaderWorkerSet) {
  EXPECT_THAT(templates_of(R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 4
    leaderTemplate: {spec: {containers: [{name: leader}]}}
    workerTemplate: {spec: {containers: [{name: worker}]}}
)"),
              ElementsAre("spec.leaderWorkerTemplate.leaderTemplate leader 2",
                          "spec.leaderWorkerTemplate.workerTemplate worker 6"));
  // Without a leader's template the workers' makes the leaders too.
  EXPECT_THAT(templates_of(R"(
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
spec:
  leaderWorkerTemplate:
    workerTemplate: {spec: {containers: [{name: worker}]}}
    size: 4
  replicas: 2
)"),
              ElementsAre("spec.leaderWorkerTemplate.workerTemplate worker 8"));
  EXPECT_THAT(templates_of(R"(
apiVersion: disaggregatedset.x-k8s.io/v1
kind: DisaggregatedSet
spec:
  roles:
  - name: prefill
    spec: {replicas: 2, leaderWorkerTemplate: {size: 2, workerTemplate: {spec: {containers: [{name: a}]}}}}
  - name: decode
    spec: {replicas: 1, leaderWorkerTemplate: {size: 1, workerTemplate: {spec: {containers: [{name: a}]}}}}
)"),
              ElementsAre("spec.roles[0].spec.leaderWorkerTemplate.workerTemplate prefill 4",
                          "spec.roles[1].spec.leaderWorkerTemplate.workerTemplate decode 1"));
}

TEST(WorkloadKinds, training_operator) {
  const std::pair<std::string, std::string> kinds[] = {
      {"PyTorchJob", "pytorchReplicaSpecs"}, {"TFJob", "tfReplicaSpecs"},
      {"MPIJob", "mpiReplicaSpecs"},         {"XGBoostJob", "xgbReplicaSpecs"},
      {"PaddleJob", "paddleReplicaSpecs"},   {"JAXJob", "jaxReplicaSpecs"}};
  for (const auto& [kind, specs] : kinds) {
    for (const char* version : {"v1", "v2beta1"}) {
      SCOPED_TRACE(kind);
      EXPECT_THAT(templates_of("apiVersion: kubeflow.org/" + std::string(version) +
                               "\nkind: " + kind + "\nspec:\n  " + specs +
                               R"(:
    Master: {replicas: 1, template: {spec: {containers: [{name: main}]}}}
    Worker: {template: {spec: {containers: [{name: main}]}}, replicas: 31}
)"),
                  ElementsAre("spec." + specs + ".Master.template Master 1",
                              "spec." + specs + ".Worker.template Worker 31"));
    }
  }
}

TEST(WorkloadKinds, training_runtimes_and_jobs_of_the_second_trainer) {
  for (const char* kind : {"ClusterTrainingRuntime", "TrainingRuntime"}) {
    EXPECT_THAT(
        templates_of("apiVersion: trainer.kubeflow.org/v1alpha1\nkind: " + std::string(kind) + R"(
spec:
  mlPolicy: {numNodes: 1}
  template:
    spec:
      replicatedJobs:
      - name: node
        template: {spec: {template: {spec: {containers: [{name: node}]}}}}
)"),
        ElementsAre("spec.template.spec.replicatedJobs[0].template.spec.template node -"));
  }
  EXPECT_THAT(
      templates_of(R"(
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
spec:
  runtimeRef: {name: torch-distributed}
  initializer:
    dataset: {storageUri: "hf://a/b", env: [{name: A, value: b}]}
  trainer: {numNodes: 4, resourcesPerNode: {limits: {nvidia.com/gpu: 8}}}
  runtimePatches:
  - manager: kueue.x-k8s.io/manager
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              spec: {template: {spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}]}}}
  - manager: user
    trainingRuntimeSpec:
      template:
        spec:
          replicatedJobs:
          - name: node
            template:
              spec: {template: {spec: {volumes: [{name: d, hostPath: {path: /dev}}]}}}
)"),
      ElementsAre("spec.initializer.dataset dataset-initializer -", "spec.trainer trainer 4",
                  "spec.runtimePatches[1].trainingRuntimeSpec.template.spec."
                  "replicatedJobs[0].template.spec.template node -"));
  EXPECT_THAT(templates_of(R"(
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
spec:
  podSpecOverrides:
  - targetJobs: [{name: node}]
    serviceAccountName: trainer
  - targetJobs: [{name: node}]
    containers: [{name: node, env: [{name: A, value: b}]}]
  podTemplateOverrides:
  - targetJobs: [{name: node}]
    spec: {initContainers: [{name: fetch, env: [{name: A, value: b}]}]}
)"),
              ElementsAre("spec.podSpecOverrides[1] - -", "spec.podTemplateOverrides[0] - -"));
}

TEST(WorkloadKinds, Ray) {
  const std::string cluster = R"(
    headGroupSpec: {template: {spec: {containers: [{name: head}]}}}
    workerGroupSpecs:
    - {groupName: small, replicas: 2, template: {spec: {containers: [{name: worker}]}}}
    - {template: {spec: {containers: [{name: worker}]}}, groupName: large, replicas: 3, numOfHosts: 4}
)";
  const auto of = [](const std::string& path) {
    return ElementsAre(path + ".headGroupSpec.template headgroup -",
                       path + ".workerGroupSpecs[0].template small 2",
                       path + ".workerGroupSpecs[1].template large 12");
  };
  EXPECT_THAT(templates_of("apiVersion: ray.io/v1\nkind: RayCluster\nspec:" + cluster), of("spec"));
  EXPECT_THAT(
      templates_of("apiVersion: ray.io/v1\nkind: RayService\nspec:\n  rayClusterConfig:" + cluster),
      of("spec.rayClusterConfig"));
  EXPECT_THAT(templates_of("apiVersion: ray.io/v1\nkind: RayJob\nspec:\n"
                           "  submitterPodTemplate: {spec: {containers: [{name: submit}]}}\n"
                           "  rayClusterSpec:" +
                           cluster),
              ElementsAre("spec.submitterPodTemplate submitter -",
                          "spec.rayClusterSpec.headGroupSpec.template headgroup -",
                          "spec.rayClusterSpec.workerGroupSpecs[0].template small 2",
                          "spec.rayClusterSpec.workerGroupSpecs[1].template large 12"));
  EXPECT_THAT(templates_of(R"(
apiVersion: ray.io/v1
kind: RayCronJob
spec: {jobTemplate: {rayClusterSpec: {headGroupSpec: {template: {spec: {containers: [{name: h}]}}}}}}
)"),
              ElementsAre("spec.jobTemplate.rayClusterSpec.headGroupSpec.template headgroup -"));
  EXPECT_THAT(templates_of(R"(
apiVersion: ray.io/v1
kind: RayCluster
spec: {enableInTreeAutoscaling: true, autoscalerOptions: {env: [{name: A, value: b}]}}
)"),
              ElementsAre("spec.autoscalerOptions autoscaler -"));
}

TEST(WorkloadKinds, Volcano) {
  EXPECT_THAT(
      templates_of(R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
spec:
  minAvailable: 3
  schedulerName: volcano
  tasks:
  - {name: mpimaster, replicas: 1, template: {spec: {containers: [{name: main}]}}}
  - {name: mpiworker, replicas: 2, template: {spec: {containers: [{name: main}]}}}
)"),
      ElementsAre("spec.tasks[0].template mpimaster 1", "spec.tasks[1].template mpiworker 2"));
}

TEST(WorkloadKinds, Knative) {
  for (const char* kind : {"Service", "Configuration"}) {
    EXPECT_THAT(templates_of("apiVersion: serving.knative.dev/v1\nkind: " + std::string(kind) +
                             "\nspec: {template: {spec: {containers: [{image: a}]}}}"),
                ElementsAre("spec.template - -"));
  }
  EXPECT_THAT(templates_of(R"(
apiVersion: serving.knative.dev/v1
kind: Revision
metadata: {name: a-00001, annotations: {a: b}}
spec: {containers: [{image: a}]}
)"),
              ElementsAre(" - -"));
  // The core group's Service is another kind.
  EXPECT_THAT(templates_of("apiVersion: v1\nkind: Service\nspec: {ports: [{port: 80}]}"),
              ElementsAre());
}

TEST(WorkloadKinds, Notebook) {
  EXPECT_THAT(templates_of(R"(
apiVersion: kubeflow.org/v1beta1
kind: Notebook
spec: {template: {spec: {containers: [{name: notebook}]}}}
)"),
              ElementsAre("spec.template - -"));
}

TEST(WorkloadKinds, Kueue) {
  EXPECT_THAT(
      templates_of(R"(
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
spec:
  podSets:
  - {name: launcher, count: 1, template: {spec: {containers: [{name: main}]}}}
  - {name: worker, count: 8, template: {spec: {containers: [{name: main}]}}}
)"),
      ElementsAre("spec.podSets[0].template launcher 1", "spec.podSets[1].template worker 8"));
}

TEST(WorkloadKinds, AppWrapper) {
  EXPECT_THAT(
      templates_of(R"(
apiVersion: workload.codeflare.dev/v1beta2
kind: AppWrapper
spec:
  components:
  - template: {apiVersion: v1, kind: Service, spec: {ports: [{port: 80}]}}
  - podSets: [{path: template.spec.pytorchReplicaSpecs.Worker.template, replicas: 2}]
    template:
      spec: {pytorchReplicaSpecs: {Worker: {replicas: 2, template: {spec: {containers: [{name: a}]}}}}}
      kind: PyTorchJob
      apiVersion: kubeflow.org/v1
  - template: {apiVersion: v1, kind: Pod, metadata: {name: a}, spec: {containers: [{name: a}]}}
)"),
      ElementsAre("spec.components[1].template.spec.pytorchReplicaSpecs.Worker.template Worker 2",
                  "spec.components[2].template - -"));
}

TEST(WorkloadKinds, Seldon) {
  EXPECT_THAT(templates_of(R"(
apiVersion: machinelearning.seldon.io/v1
kind: SeldonDeployment
spec:
  predictors:
  - name: blue
    replicas: 2
    componentSpecs: [{spec: {containers: [{name: classifier}]}}]
    explainer: {type: AnchorTabular, containerSpec: {image: a}}
)"),
              ElementsAre("spec.predictors[0].componentSpecs[0] blue 2",
                          "spec.predictors[0].explainer.containerSpec explainer -"));
}

TEST(WorkloadKinds, Rollout) {
  EXPECT_THAT(templates_of(R"(
apiVersion: argoproj.io/v1alpha1
kind: Rollout
spec: {replicas: 5, template: {spec: {containers: [{name: web}]}}}
)"),
              ElementsAre("spec.template - 5"));
}

TEST(WorkloadKinds, a_number_that_is_none_says_nothing) {
  EXPECT_THAT(
      templates_of(R"(
apiVersion: ray.io/v1
kind: RayCluster
spec:
  workerGroupSpecs:
  - {groupName: 7, replicas: many, template: {spec: {containers: [{name: w}]}}}
  - {groupName: [a], replicas: -3, template: {spec: {containers: [{name: w}]}}}
  - {groupName: null, replicas: null, template: {spec: {containers: [{name: w}]}}}
  - {replicas: 99999999999999999999, template: {spec: {containers: [{name: w}]}}}
  - {replicas: 1000000, numOfHosts: 1000000, template: {spec: {containers: [{name: w}]}}}
)"),
      ElementsAre("spec.workerGroupSpecs[0].template - -", "spec.workerGroupSpecs[1].template - -",
                  "spec.workerGroupSpecs[2].template - -", "spec.workerGroupSpecs[3].template - -",
                  "spec.workerGroupSpecs[4].template - 1000000"));
}

}  // namespace
}  // namespace rankward::formats
