package controlplane

import (
	"context"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const hostPathPod = `apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  containers:
  - name: train
    image: registry.example/train:1
    volumeMounts: [{name: dev, mountPath: /dev/nvidia0}]
  volumes:
  - name: dev
    hostPath: {path: /dev/nvidia0}
`

const envPod = `apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  containers:
  - name: train
    image: registry.example/train:1
    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
`

const nodeNamePod = `apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  nodeName: some-node
  containers:
  - name: train
    image: registry.example/train:1
    resources: {limits: {nvidia.com/gpu: 1}}
`

const plainPod = `apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  containers:
  - {name: web, image: registry.example/web:1}
`

const hostPathDeployment = `apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, namespace: %s}
spec:
  # None: the pods would be refused, which the tests above show.
  replicas: 0
  selector: {matchLabels: {app: train}}
  template:
    metadata: {labels: {app: train}}
    spec:
      containers:
      - name: train
        image: registry.example/train:1
        volumeMounts: [{name: dev, mountPath: /dev/nvidia0}]
      volumes:
      - name: dev
        hostPath: {path: /dev/nvidia0}
`

func TestKubectlShowsDenialsAndWarnings(t *testing.T) {
	installed(t)
	space := namespace(t, "admission", nil)
	webhookAnswers(t, space)
	for _, test := range []struct {
		name, manifest, namespace string
		exitCode                  int
		stdout, stderr            []string
	}{
		{"device node by hostPath", hostPathPod, space, 1, nil,
			[]string{`admission webhook "pods.rankward.io" denied the request`, "[HP-01]", "/dev/nvidia0", "Fix:"}},
		{"devices by environment", envPod, space, 1, nil,
			[]string{"[ENV-01]", `containers[0] "train"`, `NVIDIA_VISIBLE_DEVICES="all"`, "Fix:"}},
		{"node chosen by the pod", nodeNamePod, space, 1, nil, []string{"[SCH-01]", "Fix:"}},
		{"nothing to say", plainPod, space, 0, []string{"created"}, nil},
		{"Deployment whose pods would be denied", hostPathDeployment, space, 0, []string{"created"},
			[]string{"Warning: ", "HP-01"}},
		{"kube-system is the cluster's own", hostPathPod, "kube-system", 0, []string{"created"}, nil},
	} {
		for _, dryRun := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, dry run %t", test.name, dryRun), func(t *testing.T) {
				name := "admission-" + strings.ToLower(strings.ReplaceAll(strings.Map(letters, test.name), " ", "-"))
				manifest := fmt.Sprintf(test.manifest, name, test.namespace)
				arguments := []string{"apply", "-f", "-"}
				if dryRun {
					arguments = append(arguments, "--dry-run=server")
				}
				out := kubectl(t, manifest, arguments...)
				if !dryRun && out.ExitCode == 0 {
					t.Cleanup(func() {
						cluster.Kubectl(context.Background(), manifest, "delete", "--force", "--grace-period=0", "-f", "-")
					})
				}
				if out.ExitCode != test.exitCode {
					t.Errorf("exit code %d, want %d", out.ExitCode, test.exitCode)
				}
				for _, part := range test.stdout {
					if !strings.Contains(out.Stdout, part) {
						t.Errorf("stdout lacks %q", part)
					}
				}
				for _, part := range test.stderr {
					if !strings.Contains(out.Stderr, part) {
						t.Errorf("stderr lacks %q", part)
					}
				}
				if test.exitCode == 0 && len(test.stderr) == 0 && out.Stderr != "" {
					t.Error("stderr is not empty")
				}
				if t.Failed() {
					t.Logf("stdout: %s\nstderr: %s", out.Stdout, out.Stderr)
				}
			})
		}
	}
}

func letters(r rune) rune {
	if r == ' ' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' {
		return r
	}
	return -1
}

// One refused document does not keep the others of a file out.
func TestOtherDocumentsOfAFileAreApplied(t *testing.T) {
	installed(t)
	space := namespace(t, "admission-files", nil)
	webhookAnswers(t, space)
	file := fmt.Sprintf(hostPathPod, "refused", space) + "---\n" + fmt.Sprintf(plainPod, "accepted", space)
	out := kubectl(t, file, "apply", "-f", "-")
	if out.ExitCode != 1 || !strings.Contains(out.Stderr, "[HP-01]") || !strings.Contains(out.Stdout, "pod/accepted created") {
		t.Errorf("exit code %d\n%s\n%s", out.ExitCode, out.Stdout, out.Stderr)
	}
	if _, err := cluster.Client.CoreV1().Pods(space).Get(t.Context(), "refused", metav1.GetOptions{}); err == nil {
		t.Error("the refused pod exists")
	}
}

// An ephemeral container that brings what the pod could not have is refused; a label may change.
func TestUpdatesAreJudgedByWhatTheyAdd(t *testing.T) {
	installed(t)
	space := namespace(t, "admission-updates", nil)
	webhookAnswers(t, space)
	createPod(t, pod(space, "web", map[string]string{"cpu": "1"}))
	if out := kubectl(t, "", "-n", space, "label", "pod", "web", "team=a"); out.ExitCode != 0 {
		t.Error(out.Stderr)
	}
	out := kubectl(t, "", "-n", space, "debug", "web", "--image=registry.example/debug:1", "--attach=false",
		"--env=NVIDIA_VISIBLE_DEVICES=all")
	if out.ExitCode == 0 || !strings.Contains(out.Stderr, "ENV-01") {
		t.Errorf("exit code %d, want a refusal by ENV-01: %s", out.ExitCode, out.Stderr)
	}
}

// webhookAnswers waits until the API server has taken the registration up: it does within seconds.
func webhookAnswers(t *testing.T, namespace string) {
	t.Helper()
	eventually(t, "the webhook to be called", func() error {
		out, err := cluster.Kubectl(t.Context(), fmt.Sprintf(hostPathPod, "probe", namespace), "apply", "--dry-run=server", "-f", "-")
		if err != nil {
			return err
		}
		if !strings.Contains(out.Stderr, "pods.rankward.io") || !strings.Contains(out.Stderr, "denied the request") {
			return fmt.Errorf("exit code %d: %s", out.ExitCode, out.Stderr)
		}
		return nil
	})
}
