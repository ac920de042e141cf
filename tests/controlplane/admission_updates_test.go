package controlplane

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

// beforeTheRules makes what a cluster holds in which some rules were not in force yet.
func beforeTheRules(t *testing.T, installation *harness.Installation, rules []string, prepare func()) {
	t.Helper()
	off := map[string]any{}
	for _, rule := range rules {
		off[rule] = "off"
	}
	restore := configured(t, installation, map[string]any{"admission": map[string]any{"modes": off}})
	prepare()
	restore()
}

// What stood before a rule goes on: it can be labelled, re-imaged, resized and removed. What is added
// to it is judged.
func TestPodsThatStoodBeforeTheRules(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "ratchet", nil)
	webhookAnswers(t, space)
	old := strings.Replace(podOf(containers(container("train", mount(""), requests("cpu", "1"))), volume("/dev/nvidia0")),
		"{name: NAME}", "{name: NAME, labels: {app: train}, finalizers: [example.com/kept]}", 1)
	standing := func(name string) string { return named(old, name) }
	oldDeployment := named(idle(deployment(specWith("/dev/nvidia0"))), "old")
	beforeTheRules(t, installation, []string{"HP-01"}, func() {
		for _, name := range []string{"kept", "leaving"} {
			if a := stand(t, space, standing(name)); len(a.warnings) > 0 {
				t.Errorf("warned with the rule off: %s", a.warning())
			}
			t.Cleanup(func() {
				cluster.Kubectl(context.Background(), "", "-n", space, "patch", "pod", name, "--type=merge", `-p={"metadata":{"finalizers":null}}`)
			})
		}
		stand(t, space, oldDeployment)
	})
	if a := create(t, space, standing("new"), dryRun); a.code != http.StatusForbidden {
		t.Fatalf("the rule is not in force again: %s", tell(a))
	}

	type change struct {
		what, subresource, patch string
		rule                     string // that refuses it; empty: accepted without a word
	}
	for _, c := range []change{
		{"a label", "", "metadata: {labels: {team: a}}", ""},
		{"an annotation", "", "metadata: {annotations: {note: changed}}", ""},
		{"a finalizer", "", "metadata: {finalizers: [example.com/kept, example.com/more]}", ""},
		{"the image", "", "spec: {containers: [{name: train, image: registry.example/train:2}]}", ""},
		{"a toleration", "", "spec: {tolerations: [{key: spot, operator: Exists}]}", ""},
		{"the deadline", "", "spec: {activeDeadlineSeconds: 600}", ""},
		{"more CPU", "resize", "spec: {containers: [{name: train, resources: {limits: {cpu: '2'}, requests: {cpu: '2'}}}]}", ""},
		{"an honest ephemeral container", "ephemeralcontainers", "spec: {ephemeralContainers: [" + container("shell") + "]}", ""},
		{"an annotation that gives devices", "", "metadata: {annotations: {cdi.k8s.io/gpu: nvidia.com/gpu=0}}", "ANN-01"},
		{"an ephemeral container with the variable", "ephemeralcontainers", "spec: {ephemeralContainers: [" + container("shell") + ", " + container("debug", env(visible, "all")) + "]}", "ENV-01"},
	} {
		t.Run(c.what, func(t *testing.T) {
			a := patch(t, space, standing("kept"), c.subresource, c.patch, forReal)
			if c.rule == "" {
				if !a.accepted() || len(a.warnings) > 0 {
					t.Error(tell(a))
				}
				return
			}
			if a.code != http.StatusForbidden || !strings.Contains(a.message, "["+c.rule+"]") {
				t.Errorf("want a denial by %s: %s", c.rule, tell(a))
			}
			if strings.Contains(a.message, "HP-01") || noted(t, a)["rules"] != c.rule {
				t.Errorf("the old finding is held against it: %s", a.message)
			}
		})
	}

	t.Run("a Deployment", func(t *testing.T) {
		for changes, rule := range map[string]string{
			"spec: {replicas: 0, paused: true}": "",
			"spec: {template: {spec: {containers: [{name: train, image: registry.example/train:2}]}}}":            "",
			"spec: {template: {spec: {containers: [{name: train, env: [{name: " + visible + ", value: all}]}]}}}": "ENV-01",
		} {
			a := patch(t, space, oldDeployment, "", changes, dryRun)
			if !a.accepted() || (rule == "") != (len(a.warnings) == 0) || strings.Contains(a.warning(), "HP-01") ||
				!strings.Contains(a.warning(), rule) {
				t.Errorf("%s: %s", changes, tell(a))
			}
		}
	})

	t.Run("deletion", func(t *testing.T) {
		pods := cluster.Client.CoreV1().Pods(space)
		now := int64(0)
		check(t, pods.Delete(t.Context(), "leaving", metav1.DeleteOptions{GracePeriodSeconds: &now}))
		leaving := must(t, func() (string, error) {
			pod, err := pods.Get(t.Context(), "leaving", metav1.GetOptions{})
			return fmt.Sprint(pod.DeletionTimestamp), err
		})
		if leaving == "<nil>" {
			t.Fatal("it is not being deleted")
		}
		// Even what would be a new finding: nothing may keep a pod from going.
		a := patch(t, space, standing("leaving"), "", "metadata: {annotations: {cdi.k8s.io/gpu: nvidia.com/gpu=0}}", forReal)
		if !a.accepted() || len(a.warnings) > 0 || noted(t, a)["skipped"] != "being deleted" {
			t.Errorf("%s\n%v", tell(a), noted(t, a))
		}
		if a := patch(t, space, standing("leaving"), "", "metadata: {finalizers: null, annotations: {devices.nri.io/pod: x}}", forReal); !a.accepted() {
			t.Errorf("its finalizer cannot be removed: %s", tell(a))
		}
		eventually(t, "the pod to be gone", func() error {
			if _, err := pods.Get(t.Context(), "leaving", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is there: %v", err)
			}
			return nil
		})
	})
}

// A static pod runs already: its mirror is shown, whatever it holds.
func TestMirrorPodsAreNotRefused(t *testing.T) {
	installed(t)
	space := namespace(t, "mirrors", nil)
	webhookAnswers(t, space)
	nodes(t, []harness.Node{{Name: "mirror-node", Resources: map[string]string{"nvidia.com/gpu": "8"}}})
	mirror := annotatedPod("{kubernetes.io/config.mirror: 0123456789abcdef, kubernetes.io/config.source: file}",
		"nodeName: mirror-node", containers(container("train", mount(""), privileged)), volume("/dev"))
	o := parse(t, space, named(mirror, "static-mirror-node"))
	// As the kubelet makes it; its permission is beside the point here.
	a := send(t, request{method: http.MethodPost, path: o.path, contentType: "application/json", body: o.json,
		identity: identity{"system:node:mirror-node", []string{"system:nodes", "system:masters"}}})
	if !a.accepted() || len(a.warnings) > 0 {
		t.Error(tell(a))
	}
	if annotations := noted(t, a); annotations["skipped"] != "mirror pod" {
		t.Errorf("not noted as skipped: %v", annotations)
	}
}

// kubectl debug, in each of its forms.
func TestKubectlDebug(t *testing.T) {
	installed(t)
	space := namespace(t, "debugging", nil)
	webhookAnswers(t, space)
	nodes(t, []harness.Node{{Name: "debug-node", Labels: harness.GPULabels(), Resources: map[string]string{"nvidia.com/gpu": "8"}}})
	gpu := named(podOf("nodeSelector: {kubernetes.io/hostname: nowhere}", containers(container("train", oneGPU))), "gpu")
	web := named(podOf("nodeSelector: {kubernetes.io/hostname: nowhere}", containers(container("web"))), "web")
	stand(t, space, gpu)
	stand(t, space, web)

	for _, test := range []struct {
		name      string
		namespace string
		args      []string
		refusedBy []string // rules; none: accepted
		warning   string   // rule
	}{
		{"a shell beside a plain container", space, []string{"web"}, nil, ""},
		{"a shell beside a GPU container", space, []string{"gpu", "--target=train"}, nil, ""},
		{"a privileged shell beside a GPU container", space, []string{"gpu", "--profile=sysadmin"}, nil, "PRIV-01"},
		{"a shell with the variable", space, []string{"web", "--env=" + visible + "=all"}, []string{"ENV-01"}, ""},
		{"a copy of a pod", space, []string{"gpu", "--copy-to=gpu-copy", "--container=debugger"}, nil, ""},
		{"a copy with the variable", space, []string{"gpu", "--copy-to=gpu-copy-two", "--env=" + visible + "=all"}, []string{"ENV-01"}, ""},
		{"a node", space, []string{"node/debug-node"}, []string{"SCH-01"}, ""},
		{"a node, privileged", space, []string{"node/debug-node", "--profile=sysadmin"}, []string{"HP-02", "SCH-01"}, ""},
		{"a node, in a namespace of the cluster's own", "kube-system", []string{"node/debug-node"}, nil, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			args := append([]string{"-n", test.namespace, "debug", "--image=registry.example/debug:1", "--attach=false"}, test.args...)
			if test.namespace == "kube-system" {
				t.Cleanup(func() {
					cluster.Kubectl(context.Background(), "", "-n", "kube-system", "delete", "pods", "--force", "--grace-period=0",
						"-l", "app.kubernetes.io/managed-by=kubectl-debug")
				})
			}
			out := kubectl(t, "", args...)
			if refused := out.ExitCode != 0; refused != (len(test.refusedBy) > 0) {
				t.Errorf("exit code %d: %s%s", out.ExitCode, out.Stdout, out.Stderr)
			}
			for _, rule := range test.refusedBy {
				if !strings.Contains(out.Stderr, "["+rule+"]") {
					t.Errorf("not refused by %s: %s", rule, out.Stderr)
				}
			}
			if test.warning != "" && !strings.Contains(out.Stderr, "Warning: ["+test.warning+"]") {
				t.Errorf("not warned by %s: %s", test.warning, out.Stderr)
			}
			if test.warning == "" && len(test.refusedBy) == 0 && strings.Contains(out.Stderr, "Warning: [") {
				t.Errorf("warned: %s", out.Stderr)
			}
		})
	}
}
