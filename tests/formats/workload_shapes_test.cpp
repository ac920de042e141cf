// Pods that are put together from parts: what the rules find in them stands where the user wrote
// it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankward/admission/judge.hpp"
#include "rankward/formats/documents.hpp"
#include "rankward/formats/judged_object.hpp"

namespace rankward::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

// "RULE field" of everything that is found.
std::vector<std::string> findings_in(std::string_view yaml) {
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
  for (const admission::Subject& subject : object->subjects("team-a")) {
    for (const auto& finding : admission::find(admission::Policy(), subject, 0).standing) {
      if (finding.mode < admission::Mode::kWarn) continue;
      out.push_back(std::string(finding.rule) + " " + finding.field);
      EXPECT_TRUE(document.line_of(finding.field).has_value()) << finding.field;
    }
  }
  return out;
}

TEST(Workflow, each_template_is_a_pod_of_its_own) {
  EXPECT_THAT(
      findings_in(R"(
apiVersion: argoproj.io/v1alpha1
kind: Workflow
spec:
  templates:
  - name: main
    steps:
    - - name: a
        template: train
      - name: b
        inline:
          script:
            image: cuda
            env:
            - name: NVIDIA_VISIBLE_DEVICES
              value: all
  - name: train
    container:
      image: cuda
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
      resources:
        limits:
          nvidia.com/gpu: 1
  - name: graph
    dag:
      tasks:
      - name: c
        inline:
          container:
            image: cuda
            env:
            - name: A
              value: b
            - name: NVIDIA_VISIBLE_DEVICES
              value: "0"
)"),
      UnorderedElementsAre("ENV-01 spec.templates[0].steps[0][1].inline.script.env[0]",
                           "ENV-03 spec.templates[1].container.env[0]",
                           "ENV-01 spec.templates[2].dag.tasks[0].inline.container.env[1]"));
}

TEST(Workflow, containers_of_every_sort_keep_their_places) {
  EXPECT_THAT(findings_in(R"(
apiVersion: argoproj.io/v1alpha1
kind: WorkflowTemplate
spec:
  templates:
  - name: set
    sidecars:
    - name: helper
      image: cuda
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
    containerSet:
      volumeMounts:
      - name: dev
        mountPath: /gpu
        subPath: nvidia0
      containers:
      - name: a
        image: cuda
      - name: b
        image: cuda
        env:
        - name: NVIDIA_VISIBLE_DEVICES
          value: all
    initContainers:
    - name: first
      image: cuda
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
    volumes:
    - name: dev
      hostPath:
        path: /dev
)"),
              UnorderedElementsAre("ENV-01 spec.templates[0].sidecars[0].env[0]",
                                   "ENV-01 spec.templates[0].containerSet.containers[1].env[0]",
                                   "ENV-01 spec.templates[0].initContainers[0].env[0]",
                                   "HP-02 spec.templates[0].volumes[0].hostPath.path",
                                   "HP-01 spec.templates[0].containerSet.volumeMounts[0].subPath",
                                   "HP-01 spec.templates[0].containerSet.volumeMounts[0].subPath"));
}

TEST(Workflow, a_template_has_what_the_spec_gives_to_all) {
  EXPECT_THAT(findings_in(R"(
apiVersion: argoproj.io/v1alpha1
kind: CronWorkflow
spec:
  schedule: "0 * * * *"
  workflowSpec:
    templates:
    - name: mounts
      container:
        image: cuda
        volumeMounts:
        - name: device
          mountPath: /dev/nvidia0
    - name: does-not
      container:
        image: busybox
    volumes:
    - name: scratch
      emptyDir: {}
    - name: device
      hostPath:
        path: /dev/nvidia0
    podMetadata:
      annotations:
        nvidia.cdi.k8s.io/container.main: nvidia.com/gpu=all
)"),
              UnorderedElementsAre("HP-01 spec.workflowSpec.volumes[1].hostPath.path",
                                   "ANN-01 spec.workflowSpec.podMetadata.annotations["
                                   "\"nvidia.cdi.k8s.io/container.main\"]",
                                   "ANN-01 spec.workflowSpec.podMetadata.annotations["
                                   "\"nvidia.cdi.k8s.io/container.main\"]"));
}

TEST(Workflow, defaults_of_templates_are_judged_where_they_stand) {
  EXPECT_THAT(findings_in(R"(
apiVersion: argoproj.io/v1alpha1
kind: ClusterWorkflowTemplate
spec:
  templateDefaults:
    container:
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
  templates:
  - name: a
    suspend: {}
  - name: b
    resource:
      action: create
      manifest: |
        kind: Pod
)"),
              ElementsAre("ENV-01 spec.templateDefaults.container.env[0]"));
}

TEST(Serving, the_model_server_is_a_container_of_the_component) {
  EXPECT_THAT(findings_in(R"(
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
metadata:
  name: llm
spec:
  predictor:
    annotations:
      cdi.k8s.io/gpu: nvidia.com/gpu=all
    model:
      modelFormat:
        name: huggingface
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
    containers:
    - name: helper
      image: cuda
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
    volumes:
    - name: d
      hostPath:
        path: /dev/nvidia0
    workerSpec:
      containers:
      - name: worker-container
        env:
        - name: NVIDIA_VISIBLE_DEVICES
          value: all
  transformer:
    containers:
    - name: kserve-container
      image: cuda
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
)"),
              UnorderedElementsAre("ANN-01 spec.predictor.annotations[\"cdi.k8s.io/gpu\"]",
                                   "ENV-01 spec.predictor.model.env[0]",
                                   "ENV-01 spec.predictor.containers[0].env[0]",
                                   "HP-01 spec.predictor.volumes[0].hostPath.path",
                                   "ENV-01 spec.predictor.workerSpec.containers[0].env[0]",
                                   "ENV-01 spec.transformer.containers[0].env[0]"));
}

TEST(Serving, a_model_that_asks_for_its_gpu_is_clean) {
  EXPECT_THAT(findings_in(R"(
apiVersion: serving.kserve.io/v1beta1
kind: InferenceService
spec:
  predictor:
    minReplicas: 1
    tolerations:
    - key: nvidia.com/gpu
      operator: Exists
    model:
      modelFormat: {name: huggingface}
      resources: {limits: {nvidia.com/gpu: "1"}}
)"),
              IsEmpty());
}

TEST(Serving, runtimes_hold_their_pod_spec_in_their_own) {
  for (const char* kind : {"ServingRuntime", "ClusterServingRuntime"}) {
    EXPECT_THAT(findings_in("apiVersion: serving.kserve.io/v1alpha1\nkind: " + std::string(kind) +
                            R"(
spec:
  supportedModelFormats:
  - name: vllm
  containers:
  - name: kserve-container
    image: vllm
    env:
    - name: NVIDIA_VISIBLE_DEVICES
      value: all
  workerSpec:
    containers:
    - name: worker-container
      image: vllm
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
)"),
                UnorderedElementsAre("ENV-01 spec.containers[0].env[0]",
                                     "ENV-01 spec.workerSpec.containers[0].env[0]"));
  }
  // Bare pod specs, which the search finds.
  EXPECT_THAT(findings_in(R"(
apiVersion: serving.kserve.io/v1alpha1
kind: LLMInferenceService
spec:
  template:
    containers:
    - name: main
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
  prefill:
    worker:
      containers:
      - name: main
      volumes:
      - name: d
        hostPath:
          path: /dev/nvidia0
)"),
              UnorderedElementsAre("ENV-01 spec.template.containers[0].env[0]",
                                   "HP-01 spec.prefill.worker.volumes[0].hostPath.path"));
}

TEST(Spark, driver_and_executors_are_pods_of_several_parts) {
  EXPECT_THAT(
      findings_in(R"(
apiVersion: sparkoperator.k8s.io/v1beta2
kind: SparkApplication
spec:
  volumes:
  - name: unused
    hostPath:
      path: /dev
  - name: device
    hostPath:
      path: /dev/nvidia0
  driver:
    envVars:
      NVIDIA_VISIBLE_DEVICES: all
    env:
    - name: A
      value: b
  executor:
    instances: 4
    gpu:
      name: nvidia.com/gpu
      quantity: 1
    env:
    - name: NVIDIA_VISIBLE_DEVICES
      value: all
    volumeMounts:
    - name: device
      mountPath: /dev/nvidia0
    sidecars:
    - name: monitor
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
    template:
      spec:
        containers:
        - name: main
          env:
          - name: NVIDIA_VISIBLE_DEVICES
            value: all
)"),
      UnorderedElementsAre("ENV-01 spec.driver.envVars.NVIDIA_VISIBLE_DEVICES",
                           "ENV-03 spec.executor.env[0]", "ENV-01 spec.executor.sidecars[0].env[0]",
                           "HP-01 spec.volumes[1].hostPath.path",
                           "ENV-03 spec.executor.template.spec.containers[0].env[0]"));
  const auto object = read_judged_object(
      "sparkoperator.k8s.io/v1beta2", "ScheduledSparkApplication",
      R"({"spec":{"template":{"driver":{"cores":1},"executor":{"instances":4}}}})");
  ASSERT_TRUE(object) << object.error().to_string();
  ASSERT_EQ(object->templates.size(), 2U);
  EXPECT_EQ(object->templates[1].path, "spec.template.executor");
  EXPECT_EQ(object->templates[1].role, "executor");
  EXPECT_EQ(object->templates[1].replicas, 4);
}

TEST(Trainer, its_fields_are_those_of_one_container) {
  EXPECT_THAT(
      findings_in(R"(
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
spec:
  initializer:
    model:
      env:
      - name: NVIDIA_VISIBLE_DEVICES
        value: all
  trainer:
    resourcesPerNode:
      limits:
        nvidia.com/gpu: 8
    env:
    - name: NVIDIA_VISIBLE_DEVICES
      value: all
  podSpecOverrides:
  - targetJobs:
    - name: node
    volumes:
    - name: d
      hostPath:
        path: /dev/nvidia0
)"),
      UnorderedElementsAre("ENV-01 spec.initializer.model.env[0]", "ENV-03 spec.trainer.env[0]",
                           "HP-01 spec.podSpecOverrides[0].volumes[0].hostPath.path"));
}

TEST(Trainer, tolerations_that_a_queue_adds_are_no_finding) {
  EXPECT_THAT(findings_in(R"(
apiVersion: trainer.kubeflow.org/v1alpha1
kind: TrainJob
spec:
  podTemplateOverrides:
  - targetJobs: [{name: node}]
    metadata: {labels: {kueue.x-k8s.io/podset: node}}
    spec: {tolerations: [{key: nvidia.com/gpu, operator: Exists}]}
)"),
              IsEmpty());
}

}  // namespace
}  // namespace rankward::formats
