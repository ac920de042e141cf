package controlplane

import (
	"context"
	"encoding/base64"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// companion registers the mutating companion as it ships, until the test ends.
func companion(t *testing.T) {
	t.Helper()
	installation := installed(t)
	configured(t, installation, map[string]any{"admission": map[string]any{"mutate": true}})
	const service = "    service:\n      namespace: rankward-system\n      name: rankward\n      path: /mutate\n      port: 443\n"
	text := readFile(t, filepath.Join(root, "manifests", "components", "mutating-companion", "mutating-webhook-configuration.yaml"))
	if !strings.Contains(text, service) {
		t.Fatal("the component has another service")
	}
	text = strings.Replace(text, service, fmt.Sprintf("    url: https://127.0.0.1:%d/mutate\n", installation.Rankward.WebhookPort), 1)
	text = strings.Replace(text, "Q0FfQlVORExF", base64.StdEncoding.EncodeToString([]byte(readFile(t, certificates.CAFile))), 1)
	check(t, cluster.Apply(t.Context(), text))
	t.Cleanup(func() {
		cluster.Client.AdmissionregistrationV1().MutatingWebhookConfigurations().Delete(context.Background(), "rankward-companion", metav1.DeleteOptions{})
	})
}

// told is what each container is told of NVIDIA_VISIBLE_DEVICES.
func told(pod *corev1.Pod) map[string]string {
	out := map[string]string{}
	add := func(name string, variables []corev1.EnvVar) {
		out[name] = "nothing"
		for _, variable := range variables {
			if variable.Name == visible {
				out[name] = variable.Value
			}
		}
	}
	for _, c := range append(pod.Spec.InitContainers, pod.Spec.Containers...) {
		add(c.Name, c.Env)
	}
	for _, c := range pod.Spec.EphemeralContainers {
		add(c.Name, c.Env)
	}
	return out
}

// What an image carries cannot be seen here, so containers that ask for nothing are told that there is
// nothing.
func TestContainersWithoutARequestAreToldThatTheySeeNoGPU(t *testing.T) {
	companion(t)
	space := namespace(t, "companion", nil)
	webhookAnswers(t, space)
	pods := cluster.Client.CoreV1().Pods(space)
	eventually(t, "the companion to be called", func() error {
		made, err := pods.Create(t.Context(), pod(space, "probe", nil), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && told(made)["train"] != "void" {
			err = fmt.Errorf("%v", told(made))
		}
		return err
	})
	there := "nodeSelector: {kubernetes.io/hostname: nowhere}"
	for _, test := range []struct {
		name, manifest string
		want           map[string]string
	}{
		{"plain", podOf(there, containers(container("web"))), map[string]string{"web": "void"}},
		{"gpu", podOf(there, initContainers(container("warm")), containers(container("train", oneGPU), container("logs"))),
			map[string]string{"warm": "void", "train": "nothing", "logs": "void"}},
		{"explicit", podOf(there, containers(container("web", env(visible, "none")), container("logs", env("LEVEL", "3")))),
			map[string]string{"web": "none", "logs": "void"}},
		{"claim", podOf(there, containers(container("train", "resources: {claims: [{name: gpu}]}")), "resourceClaims: [{name: gpu, resourceClaimName: gpu}]"),
			map[string]string{"train": "nothing"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			manifest := named(test.manifest, test.name)
			var generations []int64
			// Applied again it is the same, so nothing changes.
			for range 2 {
				a := apply(t, space, manifest, forReal)
				if !a.accepted() || len(a.warnings) > 0 {
					t.Fatal(tell(a))
				}
				made := must(t, func() (*corev1.Pod, error) { return pods.Get(t.Context(), test.name, metav1.GetOptions{}) })
				if got := told(made); fmt.Sprint(got) != fmt.Sprint(test.want) {
					t.Errorf("told %v, want %v", got, test.want)
				}
				generations = append(generations, made.Generation)
			}
			if generations[0] != generations[1] {
				t.Errorf("applied again it changed: generations %v", generations)
			}
		})
	}
	t.Run("kubectl debug", func(t *testing.T) {
		out := kubectl(t, "", "-n", space, "debug", "gpu", "--image=registry.example/debug:1", "--attach=false", "--container=shell")
		if out.ExitCode != 0 {
			t.Fatal(out.Stderr)
		}
		made := must(t, func() (*corev1.Pod, error) { return pods.Get(t.Context(), "gpu", metav1.GetOptions{}) })
		if got := told(made); got["shell"] != "void" || got["train"] != "nothing" {
			t.Errorf("told %v", got)
		}
	})
	t.Run("what is denied stays denied", func(t *testing.T) {
		if a := create(t, space, named(one(env(visible, "all")), "denied"), dryRun); !strings.Contains(a.message, "[ENV-01]") {
			t.Error(tell(a))
		}
	})
	t.Run("kube-system is the cluster's own", func(t *testing.T) {
		made, err := cluster.Client.CoreV1().Pods("kube-system").Create(t.Context(), pod("kube-system", "companion", nil),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		check(t, err)
		if got := told(made)["train"]; got != "nothing" {
			t.Errorf("told %q", got)
		}
	})
}
