// Which kinds keep pod templates, and where. The paths follow the projects' Go types; a version
// that moved a field has a row for each place.
#include <algorithm>
#include <array>

#include "workload_walk.hpp"

namespace rankward::formats {
namespace {

using Shape = TemplateShape;

constexpr std::string_view kKubeflow = "kubeflow.org";
constexpr std::string_view kTrainer = "trainer.kubeflow.org";
constexpr std::string_view kJobSet = "jobset.x-k8s.io";
constexpr std::string_view kLws = "leaderworkerset.x-k8s.io";
constexpr std::string_view kDisaggregated = "disaggregatedset.x-k8s.io";
constexpr std::string_view kRay = "ray.io";
constexpr std::string_view kVolcano = "batch.volcano.sh";
constexpr std::string_view kArgo = "argoproj.io";
constexpr std::string_view kKnative = "serving.knative.dev";
constexpr std::string_view kKServe = "serving.kserve.io";
constexpr std::string_view kSpark = "sparkoperator.k8s.io";
constexpr std::string_view kSeldon = "machinelearning.seldon.io";

constexpr std::array kRows = {
    WorkloadKind{"", "Pod", ""},
    WorkloadKind{"", "PodTemplate", "template"},
    WorkloadKind{.group = "",
                 .kind = "ReplicationController",
                 .template_path = "spec.template",
                 .counts = {"spec.replicas"}},
    WorkloadKind{"apps", "DaemonSet", "spec.template"},
    WorkloadKind{.group = "apps",
                 .kind = "Deployment",
                 .template_path = "spec.template",
                 .counts = {"spec.replicas"}},
    WorkloadKind{.group = "apps",
                 .kind = "ReplicaSet",
                 .template_path = "spec.template",
                 .counts = {"spec.replicas"}},
    WorkloadKind{.group = "apps",
                 .kind = "StatefulSet",
                 .template_path = "spec.template",
                 .counts = {"spec.replicas"}},
    WorkloadKind{.group = "batch",
                 .kind = "CronJob",
                 .template_path = "spec.jobTemplate.spec.template",
                 .counts = {"spec.jobTemplate.spec.parallelism"},
                 .at_most = "spec.jobTemplate.spec.completions"},
    WorkloadKind{.group = "batch",
                 .kind = "Job",
                 .template_path = "spec.template",
                 .counts = {"spec.parallelism"},
                 .at_most = "spec.completions"},

    WorkloadKind{.group = kJobSet,
                 .kind = "JobSet",
                 .template_path = "spec.replicatedJobs[].template.spec.template",
                 .role_path = "spec.replicatedJobs[].name",
                 .counts = {"spec.replicatedJobs[].replicas",
                            "spec.replicatedJobs[].template.spec.parallelism"},
                 .at_most = "spec.replicatedJobs[].template.spec.completions"},

    WorkloadKind{.group = kLws,
                 .kind = "LeaderWorkerSet",
                 .template_path = "spec.leaderWorkerTemplate.leaderTemplate",
                 .role = "leader",
                 .counts = {"spec.replicas"}},
    WorkloadKind{.group = kLws,
                 .kind = "LeaderWorkerSet",
                 .template_path = "spec.leaderWorkerTemplate.workerTemplate",
                 .role = "worker",
                 .counts = {"spec.replicas"},
                 .group_size = "spec.leaderWorkerTemplate.size"},
    WorkloadKind{.group = kDisaggregated,
                 .kind = "DisaggregatedSet",
                 .template_path = "spec.roles[].spec.leaderWorkerTemplate.leaderTemplate",
                 .role_path = "spec.roles[].name",
                 .counts = {"spec.roles[].spec.replicas"}},
    WorkloadKind{.group = kDisaggregated,
                 .kind = "DisaggregatedSet",
                 .template_path = "spec.roles[].spec.leaderWorkerTemplate.workerTemplate",
                 .role_path = "spec.roles[].name",
                 .counts = {"spec.roles[].spec.replicas"},
                 .group_size = "spec.roles[].spec.leaderWorkerTemplate.size"},

    // Training operator v1, and MPI operator v1 and v2beta1.
    WorkloadKind{.group = kKubeflow,
                 .kind = "PyTorchJob",
                 .template_path = "spec.pytorchReplicaSpecs{}.template",
                 .counts = {"spec.pytorchReplicaSpecs{}.replicas"}},
    WorkloadKind{.group = kKubeflow,
                 .kind = "TFJob",
                 .template_path = "spec.tfReplicaSpecs{}.template",
                 .counts = {"spec.tfReplicaSpecs{}.replicas"}},
    WorkloadKind{.group = kKubeflow,
                 .kind = "MPIJob",
                 .template_path = "spec.mpiReplicaSpecs{}.template",
                 .counts = {"spec.mpiReplicaSpecs{}.replicas"}},
    WorkloadKind{.group = kKubeflow,
                 .kind = "XGBoostJob",
                 .template_path = "spec.xgbReplicaSpecs{}.template",
                 .counts = {"spec.xgbReplicaSpecs{}.replicas"}},
    WorkloadKind{.group = kKubeflow,
                 .kind = "PaddleJob",
                 .template_path = "spec.paddleReplicaSpecs{}.template",
                 .counts = {"spec.paddleReplicaSpecs{}.replicas"}},
    WorkloadKind{.group = kKubeflow,
                 .kind = "JAXJob",
                 .template_path = "spec.jaxReplicaSpecs{}.template",
                 .counts = {"spec.jaxReplicaSpecs{}.replicas"}},
    WorkloadKind{.group = kKubeflow,
                 .kind = "MXJob",
                 .template_path = "spec.mxReplicaSpecs{}.template",
                 .counts = {"spec.mxReplicaSpecs{}.replicas"}},
    WorkloadKind{kKubeflow, "Notebook", "spec.template"},

    // Trainer v2. Its patches were podSpecOverrides first, then podTemplateOverrides.
    WorkloadKind{.group = kTrainer,
                 .kind = "ClusterTrainingRuntime",
                 .template_path = "spec.template.spec.replicatedJobs[].template.spec.template",
                 .role_path = "spec.template.spec.replicatedJobs[].name",
                 .counts = {"spec.template.spec.replicatedJobs[].replicas",
                            "spec.template.spec.replicatedJobs[].template.spec.parallelism"},
                 .at_most = "spec.template.spec.replicatedJobs[].template.spec.completions"},
    WorkloadKind{.group = kTrainer,
                 .kind = "TrainingRuntime",
                 .template_path = "spec.template.spec.replicatedJobs[].template.spec.template",
                 .role_path = "spec.template.spec.replicatedJobs[].name",
                 .counts = {"spec.template.spec.replicatedJobs[].replicas",
                            "spec.template.spec.replicatedJobs[].template.spec.parallelism"},
                 .at_most = "spec.template.spec.replicatedJobs[].template.spec.completions"},
    WorkloadKind{.group = kTrainer,
                 .kind = "TrainJob",
                 .template_path = "spec.trainer",
                 .shape = Shape::kTrainer,
                 .role = "trainer"},
    WorkloadKind{.group = kTrainer,
                 .kind = "TrainJob",
                 .template_path = "spec.initializer.dataset",
                 .shape = Shape::kContainer,
                 .role = "dataset-initializer"},
    WorkloadKind{.group = kTrainer,
                 .kind = "TrainJob",
                 .template_path = "spec.initializer.model",
                 .shape = Shape::kContainer,
                 .role = "model-initializer"},
    WorkloadKind{.group = kTrainer,
                 .kind = "TrainJob",
                 .template_path = "spec.runtimePatches[].trainingRuntimeSpec.template.spec."
                                  "replicatedJobs[].template.spec.template",
                 .shape = Shape::kPatch,
                 .role_path = "spec.runtimePatches[].trainingRuntimeSpec.template.spec."
                              "replicatedJobs[].name"},
    WorkloadKind{kTrainer, "TrainJob", "spec.podTemplateOverrides[]", Shape::kPatch},
    WorkloadKind{kTrainer, "TrainJob", "spec.podSpecOverrides[]", Shape::kSpecPatch},

    WorkloadKind{kRay, "RayCluster", "spec.headGroupSpec.template", Shape::kTemplate, "headgroup"},
    WorkloadKind{
        .group = kRay,
        .kind = "RayCluster",
        .template_path = "spec.workerGroupSpecs[].template",
        .role_path = "spec.workerGroupSpecs[].groupName",
        .counts = {"spec.workerGroupSpecs[].replicas", "spec.workerGroupSpecs[].numOfHosts"}},
    WorkloadKind{kRay, "RayCluster", "spec.autoscalerOptions", Shape::kContainer, "autoscaler"},
    WorkloadKind{kRay, "RayJob", "spec.rayClusterSpec.headGroupSpec.template", Shape::kTemplate,
                 "headgroup"},
    WorkloadKind{.group = kRay,
                 .kind = "RayJob",
                 .template_path = "spec.rayClusterSpec.workerGroupSpecs[].template",
                 .role_path = "spec.rayClusterSpec.workerGroupSpecs[].groupName",
                 .counts = {"spec.rayClusterSpec.workerGroupSpecs[].replicas",
                            "spec.rayClusterSpec.workerGroupSpecs[].numOfHosts"}},
    WorkloadKind{kRay, "RayJob", "spec.rayClusterSpec.autoscalerOptions", Shape::kContainer,
                 "autoscaler"},
    WorkloadKind{kRay, "RayJob", "spec.submitterPodTemplate", Shape::kTemplate, "submitter"},
    WorkloadKind{kRay, "RayService", "spec.rayClusterConfig.headGroupSpec.template",
                 Shape::kTemplate, "headgroup"},
    WorkloadKind{.group = kRay,
                 .kind = "RayService",
                 .template_path = "spec.rayClusterConfig.workerGroupSpecs[].template",
                 .role_path = "spec.rayClusterConfig.workerGroupSpecs[].groupName",
                 .counts = {"spec.rayClusterConfig.workerGroupSpecs[].replicas",
                            "spec.rayClusterConfig.workerGroupSpecs[].numOfHosts"}},
    WorkloadKind{kRay, "RayService", "spec.rayClusterConfig.autoscalerOptions", Shape::kContainer,
                 "autoscaler"},
    WorkloadKind{kRay, "RayCronJob", "spec.jobTemplate.rayClusterSpec.headGroupSpec.template",
                 Shape::kTemplate, "headgroup"},
    WorkloadKind{.group = kRay,
                 .kind = "RayCronJob",
                 .template_path = "spec.jobTemplate.rayClusterSpec.workerGroupSpecs[].template",
                 .role_path = "spec.jobTemplate.rayClusterSpec.workerGroupSpecs[].groupName",
                 .counts = {"spec.jobTemplate.rayClusterSpec.workerGroupSpecs[].replicas",
                            "spec.jobTemplate.rayClusterSpec.workerGroupSpecs[].numOfHosts"}},
    WorkloadKind{kRay, "RayCronJob", "spec.jobTemplate.submitterPodTemplate", Shape::kTemplate,
                 "submitter"},

    WorkloadKind{.group = kVolcano,
                 .kind = "Job",
                 .template_path = "spec.tasks[].template",
                 .role_path = "spec.tasks[].name",
                 .counts = {"spec.tasks[].replicas"}},
    WorkloadKind{.group = kVolcano,
                 .kind = "CronJob",
                 .template_path = "spec.jobTemplate.spec.tasks[].template",
                 .role_path = "spec.jobTemplate.spec.tasks[].name",
                 .counts = {"spec.jobTemplate.spec.tasks[].replicas"}},
    WorkloadKind{.group = "flow.volcano.sh",
                 .kind = "JobTemplate",
                 .template_path = "spec.tasks[].template",
                 .role_path = "spec.tasks[].name",
                 .counts = {"spec.tasks[].replicas"}},

    WorkloadKind{kArgo, "Workflow", "spec", Shape::kWorkflow},
    WorkloadKind{kArgo, "WorkflowTemplate", "spec", Shape::kWorkflow},
    WorkloadKind{kArgo, "ClusterWorkflowTemplate", "spec", Shape::kWorkflow},
    WorkloadKind{kArgo, "CronWorkflow", "spec.workflowSpec", Shape::kWorkflow},
    WorkloadKind{.group = kArgo,
                 .kind = "Rollout",
                 .template_path = "spec.template",
                 .counts = {"spec.replicas"}},

    WorkloadKind{kKnative, "Service", "spec.template"},
    WorkloadKind{kKnative, "Configuration", "spec.template"},
    // Its spec is the pod's, and its annotations go to the pod.
    WorkloadKind{kKnative, "Revision", ""},

    WorkloadKind{kKServe, "InferenceService", "spec.predictor", Shape::kServing, "predictor"},
    WorkloadKind{kKServe, "InferenceService", "spec.predictor.workerSpec", Shape::kPodSpec,
                 "worker"},
    WorkloadKind{kKServe, "InferenceService", "spec.transformer", Shape::kServing, "transformer"},
    WorkloadKind{kKServe, "InferenceService", "spec.explainer", Shape::kServing, "explainer"},
    WorkloadKind{kKServe, "ServingRuntime", "spec", Shape::kPodSpec},
    WorkloadKind{kKServe, "ServingRuntime", "spec.workerSpec", Shape::kPodSpec, "worker"},
    WorkloadKind{kKServe, "ClusterServingRuntime", "spec", Shape::kPodSpec},
    WorkloadKind{kKServe, "ClusterServingRuntime", "spec.workerSpec", Shape::kPodSpec, "worker"},

    WorkloadKind{kSpark, "SparkApplication", "spec", Shape::kSpark},
    WorkloadKind{kSpark, "ScheduledSparkApplication", "spec.template", Shape::kSpark},

    WorkloadKind{.group = kSeldon,
                 .kind = "SeldonDeployment",
                 .template_path = "spec.predictors[].componentSpecs[]",
                 .role_path = "spec.predictors[].name",
                 .counts = {"spec.predictors[].replicas"}},
    WorkloadKind{kSeldon, "SeldonDeployment", "spec.predictors[].explainer.containerSpec",
                 Shape::kContainer, "explainer"},

    WorkloadKind{.group = "kueue.x-k8s.io",
                 .kind = "Workload",
                 .template_path = "spec.podSets[].template",
                 .role_path = "spec.podSets[].name",
                 .counts = {"spec.podSets[].count"}},
    WorkloadKind{"workload.codeflare.dev", "AppWrapper", "spec.components[].template",
                 Shape::kObject},
};

// As `kubectl api-versions` lists them on 1.37, with those of older releases.
constexpr std::array<std::string_view, 24> kBuiltinGroups = {
    "",
    "admissionregistration.k8s.io",
    "apiextensions.k8s.io",
    "apiregistration.k8s.io",
    "apps",
    "authentication.k8s.io",
    "authorization.k8s.io",
    "autoscaling",
    "batch",
    "certificates.k8s.io",
    "coordination.k8s.io",
    "discovery.k8s.io",
    "events.k8s.io",
    "flowcontrol.apiserver.k8s.io",
    "internal.apiserver.k8s.io",
    "networking.k8s.io",
    "node.k8s.io",
    "policy",
    "rbac.authorization.k8s.io",
    "resource.k8s.io",
    "scheduling.k8s.io",
    "storage.k8s.io",
    "storagemigration.k8s.io",
    "metrics.k8s.io",
};

// "apps" of "apps/v1", "" of "v1".
std::string_view group_of(std::string_view api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == std::string_view::npos ? std::string_view() : api_version.substr(0, slash);
}

}  // namespace

std::span<const WorkloadKind> workload_kinds() {
  return kRows;
}

std::vector<const WorkloadKind*> rows_of(std::string_view api_version, std::string_view kind) {
  std::vector<const WorkloadKind*> out;
  const std::string_view group = group_of(api_version);
  for (const WorkloadKind& row : kRows) {
    if (row.kind == kind && row.group == group) out.push_back(&row);
  }
  return out;
}

bool is_builtin_group(std::string_view api_version) {
  return std::find(kBuiltinGroups.begin(), kBuiltinGroups.end(), group_of(api_version)) !=
         kBuiltinGroups.end();
}

}  // namespace rankward::formats
