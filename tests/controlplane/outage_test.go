package controlplane

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rankward.io/tests/controlplane/harness"
)

const gpuPod = `apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  containers:
  - {name: train, image: registry.example/train:1, resources: {limits: {nvidia.com/gpu: 1}}}
`

// With the server down each entry does as its failurePolicy says, the extender's pods wait with an
// error that names it, others are placed, and all recovers by itself.
func TestServerDown(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "down", nil)
	webhookAnswers(t, space)
	// Made while the webhook answers; it waits until there is a node.
	createPod(t, pod(space, "gpu", map[string]string{"nvidia.com/gpu": "1"}))
	createPod(t, pod(space, "spare", map[string]string{"nvidia.com/gpu": "1"}))

	// Clean-ups run after the test's own context has ended, hence Background below.
	if err := installation.Stop(); err != nil {
		t.Errorf("the server did not end with status 0: %v", err)
	}
	recovered := false
	t.Cleanup(func() {
		if !recovered {
			if err := installation.Start(context.Background()); err != nil {
				t.Error(err)
			}
		}
	})

	before := must(t, func() (harness.Samples, error) { return cluster.Metrics(t.Context()) })
	out := kubectl(t, fmt.Sprintf(gpuPod, "refused", space), "apply", "-f", "-")
	if out.ExitCode != 1 || !strings.Contains(out.Stderr, `failed calling webhook "pods.rankward.io"`) {
		t.Errorf("a GPU pod, failurePolicy Fail: exit code %d, %s", out.ExitCode, out.Stderr)
	}
	// In which no rule can find anything, so it is not sent.
	if out := kubectl(t, fmt.Sprintf(plainPod, "plain", space), "apply", "-f", "-"); out.ExitCode != 0 {
		t.Errorf("a plain pod: exit code %d, %s", out.ExitCode, out.Stderr)
	}
	// Even what would be denied, and it leaves its mark where an administrator can see it.
	deployment := create(t, space, fmt.Sprintf(hostPathDeployment, "train", space), forReal)
	if !deployment.accepted() || len(deployment.warnings) > 0 {
		t.Errorf("a Deployment, failurePolicy Ignore: %s", tell(deployment))
	}
	open := false
	for key, value := range auditAnnotations(t, deployment) {
		open = open || strings.HasPrefix(key, "failed-open.validating.webhook.admission.k8s.io/") && value == "workloads.rankward.io"
	}
	if !open {
		t.Errorf("the audit log has no word of it: %v", auditAnnotations(t, deployment))
	}
	after := must(t, func() (harness.Samples, error) { return cluster.Metrics(t.Context()) })
	for webhook, metric := range map[string]string{
		"workloads.rankward.io": "apiserver_admission_webhook_fail_open_count",
		"pods.rankward.io":      "apiserver_admission_webhook_rejection_count",
	} {
		labels := map[string]string{"name": webhook}
		if after.Sum(metric, labels) <= before.Sum(metric, labels) {
			t.Errorf("%s of %s did not rise", metric, webhook)
		}
	}
	// What no rule looks at is not sent, so it goes on; and nothing keeps a pod from being deleted.
	if out := kubectl(t, "", "-n", space, "label", "pod", "gpu", "team=a"); out.ExitCode != 0 {
		t.Errorf("a label: %s", out.Stderr)
	}
	if out := kubectl(t, "", "-n", space, "delete", "pod", "spare", "--force", "--grace-period=0"); out.ExitCode != 0 {
		t.Errorf("a deletion: %s", out.Stderr)
	}
	nodes(t, harness.TwoLeaves("down", ranks))
	out = kubectl(t, fmt.Sprintf(plainPod, "down-system", "kube-system"), "apply", "-f", "-")
	if out.ExitCode != 0 {
		t.Errorf("kube-system: exit code %d, %s", out.ExitCode, out.Stderr)
	}
	boundNode(t, "kube-system", "down-system")
	kubectl(t, "", "-n", "kube-system", "delete", "pod", "down-system", "--force", "--grace-period=0")

	// ignorable: false: the GPU pod waits.
	message := event(t, space, "gpu", "FailedScheduling", func(message string) bool {
		return strings.Contains(message, "/filter") && strings.Contains(message, "connection refused")
	})
	t.Logf("kube-scheduler %s: %s", cluster.Binaries.Version, message)

	check(t, installation.Start(context.Background()))
	recovered = true
	boundNode(t, space, "gpu")
	eventually(t, "pods to be admitted again", func() error {
		out, err := cluster.Kubectl(t.Context(), fmt.Sprintf(gpuPod, "admitted", space), "apply", "-f", "-")
		if err == nil && out.ExitCode != 0 {
			err = fmt.Errorf("%s", out.Stderr)
		}
		return err
	})
	webhookAnswers(t, space)
}
