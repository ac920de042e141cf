package controlplane

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

// JobSet's own CRD is taken from its publisher: its schema is what real objects pass through.
var jobSet = harness.Module{Path: "sigs.k8s.io/jobset", Version: "v0.8.0", Sum: "h1:80cJcPld+IMdKFOqzEW4et3Y6lGAPcP8YmBZ+aiKGYA="}

// A kind as Kubeflow's training operator has it: a map of replica specs, each with a whole pod
// template. The operator's own schema checks more than this one, but no more of a pod.
const pyTorchJobDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: pytorchjobs.kubeflow.org}
spec:
  group: kubeflow.org
  scope: Namespaced
  names: {kind: PyTorchJob, plural: pytorchjobs, singular: pytorchjob}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            required: [pytorchReplicaSpecs]
            properties:
              pytorchReplicaSpecs:
                type: object
                additionalProperties:
                  type: object
                  properties:
                    replicas: {type: integer, format: int32}
                    restartPolicy: {type: string}
                    template: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`

// A kind that nobody has heard of, with containers somewhere in it.
const unknownDefinition = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: experiments.lab.example.com}
spec:
  group: lab.example.com
  scope: Namespaced
  names: {kind: Experiment, plural: experiments, singular: experiment}
  versions:
  - name: v1alpha1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`

// customResources installs the three kinds. Two are in the shipped registration.
func customResources(t *testing.T, space string) {
	t.Helper()
	folder := must(t, func() (string, error) { return jobSet.Folder(t.Context()) })
	definitions := map[string]string{
		"jobsets.jobset.x-k8s.io":     readFile(t, filepath.Join(folder, "config/components/crd/bases/jobset.x-k8s.io_jobsets.yaml")),
		"pytorchjobs.kubeflow.org":    pyTorchJobDefinition,
		"experiments.lab.example.com": unknownDefinition,
	}
	for name, definition := range definitions {
		// Created, not applied: what apply notes would be larger than an annotation may be.
		if out := kubectl(t, definition, "create", "-f", "-"); out.ExitCode != 0 {
			t.Fatal(out.Stderr)
		}
		t.Cleanup(func() { cluster.Kubectl(context.Background(), "", "delete", "crd", name) })
	}
	for name := range definitions {
		established(t, name)
	}
	for kind, plural := range map[string]string{"jobset.x-k8s.io/v1alpha2/JobSet": "jobsets",
		"kubeflow.org/v1/PyTorchJob": "pytorchjobs", "lab.example.com/v1alpha1/Experiment": "experiments"} {
		resources[kind] = plural
	}
	alsoJudged(t, "lab.example.com", "experiments")
	for _, manifest := range []string{jobSetOf(specWith("/dev/nvidia0")), pyTorchJob(specWith("/dev/nvidia0")), experiment(specWith("/dev/nvidia0"))} {
		eventually(t, "custom kinds to be judged", func() error {
			if a := create(t, space, named(manifest, "probe"), dryRun); len(a.warnings) == 0 {
				return fmt.Errorf("%s", tell(a))
			}
			return nil
		})
	}
}

// established waits until a CRD is served. `kubectl wait` fails on one that has no status yet.
func established(t *testing.T, name string) {
	t.Helper()
	eventually(t, name+" to be established", func() error {
		out, err := cluster.Kubectl(t.Context(), "", "get", "crd", name, "-o", `jsonpath={.status.conditions[?(@.type=="Established")].status}`)
		if err == nil && out.Stdout != "True" {
			err = fmt.Errorf("%s%s", out.Stdout, out.Stderr)
		}
		return err
	})
}

// alsoJudged has more kinds sent to the webhook, as a cluster does that has kinds of its own.
func alsoJudged(t *testing.T, group string, kinds ...string) {
	t.Helper()
	client := cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	shipped, err := client.Get(t.Context(), "rankward", metav1.GetOptions{})
	check(t, err)
	more := &admissionv1.ValidatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: "rankward-" + group}}
	for _, webhook := range shipped.Webhooks {
		if webhook.Name == "workloads.rankward.io" {
			webhook.Name = "custom.rankward.io"
			webhook.Rules = []admissionv1.RuleWithOperations{{
				Operations: []admissionv1.OperationType{admissionv1.Create, admissionv1.Update},
				Rule:       admissionv1.Rule{APIGroups: []string{group}, APIVersions: []string{"*"}, Resources: kinds},
			}}
			more.Webhooks = append(more.Webhooks, webhook)
		}
	}
	if len(more.Webhooks) != 1 {
		t.Fatal("the registration has no entry for workloads")
	}
	_, err = client.Create(t.Context(), more, metav1.CreateOptions{})
	check(t, err)
	t.Cleanup(func() { client.Delete(context.Background(), more.Name, metav1.DeleteOptions{}) })
}

func jobSetOf(fields ...string) string {
	return fmt.Sprintf(`apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: NAME}
spec: {replicatedJobs: [{name: leader, template: {spec: {template: {spec: {%s, restartPolicy: Never}}}}},
  {name: workers, replicas: 1, template: {spec: {parallelism: 1, completions: 1, template: {spec: {%s, restartPolicy: Never}}}}}]}
`, containers(container("leader")), strings.Join(fields, ", "))
}

func pyTorchJob(fields ...string) string {
	return fmt.Sprintf(`apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: NAME}
spec: {pytorchReplicaSpecs: {Master: {replicas: 1, template: {spec: {%s}}}}}
`, strings.Join(fields, ", "))
}

func experiment(fields ...string) string {
	return fmt.Sprintf(`apiVersion: lab.example.com/v1alpha1
kind: Experiment
metadata: {name: NAME}
spec: {trials: [{runner: {pod: {%s}}}]}
`, strings.Join(fields, ", "))
}

var customKinds = []bypass{
	{how: "a JobSet", gives: "every GPU of the node", rule: "ENV-01", mode: warned,
		object: jobSetOf(containers(container("train", env(visible, "all")))), honest: jobSetOf(containers(container("train", oneGPU)))},
	{how: "a JobSet's change", gives: "the GPUs that the image names", rule: "ANN-01", mode: warned,
		before: jobSetOf(containers(container("train"))),
		object: "spec: {replicatedJobs: [{name: workers, replicas: 1, template: {spec: {template: {metadata: {annotations: {cdi.k8s.io/gpu: nvidia.com/gpu=0}}, spec: {" +
			containers(container("train")) + ", restartPolicy: Never}}}}}]}",
		honest: "spec: {suspend: true}"},
	{how: "a PyTorchJob whose path goes up: /data/../dev/nvidia0", gives: "an NVIDIA GPU: nothing checks paths in custom resources", rule: "HP-01", mode: warned,
		object: pyTorchJob(specWith("/data/../dev/nvidia0")), honest: pyTorchJob(specWith("/data/a/../b"))},
	{how: "a PyTorchJob by server-side apply", gives: "all AMD GPUs of the node", rule: "HP-01", mode: warned, applied: true,
		object: pyTorchJob(specWith("/dev/kfd")), honest: pyTorchJob(containers(container("train", requests("amd.com/gpu", 1))))},
	{how: "a custom resource of an unknown kind", gives: "every GPU of the node", rule: "ENV-01", mode: warned,
		object: experiment(containers(container("train", env(visible, "all")))), honest: experiment(containers(container("train", oneGPU)))},
}
