package controlplane

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"rankward.io/tests/controlplane/harness"
)

// With the server down each entry does as its failurePolicy says, the extender's pods wait with an
// error that names it, others are placed, and all recovers by itself.
func TestServerDown(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "down", nil)
	webhookAnswers(t, space)
	// Made while the webhook answers; it waits until there is a node.
	createPod(t, pod(space, "gpu", map[string]string{"nvidia.com/gpu": "1"}))

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

	out := kubectl(t, fmt.Sprintf(plainPod, "refused", space), "apply", "-f", "-")
	if out.ExitCode != 1 || !strings.Contains(out.Stderr, `failed calling webhook "pods.rankward.io"`) {
		t.Errorf("a pod, failurePolicy Fail: exit code %d, %s", out.ExitCode, out.Stderr)
	}
	out = kubectl(t, fmt.Sprintf(hostPathDeployment, "train", space), "apply", "-f", "-")
	if out.ExitCode != 0 {
		t.Errorf("a Deployment, failurePolicy Ignore: exit code %d, %s", out.ExitCode, out.Stderr)
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
		out, err := cluster.Kubectl(t.Context(), fmt.Sprintf(plainPod, "admitted", space), "apply", "-f", "-")
		if err == nil && out.ExitCode != 0 {
			err = fmt.Errorf("%s", out.Stderr)
		}
		return err
	})
	webhookAnswers(t, space)
}
