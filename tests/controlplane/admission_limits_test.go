package controlplane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"
)

// The registration's timeout; whoever asks is told nothing of ours after it.
const webhookTimeout = 3 * time.Second

// huge is a pod of about the size that etcd takes (1.5 MiB with the API server's own fields), most of
// it in its containers.
func huge(name string, containerCount int, each func(index int, container *corev1.Container)) string {
	made := pod("", name, map[string]string{"nvidia.com/gpu": "1"})
	made.APIVersion, made.Kind = "v1", "Pod"
	made.Spec.NodeSelector = nowhere
	asks := made.Spec.Containers[0].Resources
	made.Annotations = map[string]string{"notes": strings.Repeat("n", 200_000)}
	made.Spec.Containers = nil
	for i := range containerCount {
		c := corev1.Container{Name: fmt.Sprintf("c%d", i), Image: "registry.example/train:1",
			Env: []corev1.EnvVar{{Name: "FILLER", Value: strings.Repeat("x", 1_700)}}}
		if i == 0 {
			c.Resources = asks // or no rule could find anything, and it would not be sent
		}
		each(i, &c)
		made.Spec.Containers = append(made.Spec.Containers, c)
	}
	text, err := sigsyaml.Marshal(made)
	if err != nil {
		panic(err)
	}
	return string(text)
}

const many = 500

func TestLargeObjectsAreJudgedInTime(t *testing.T) {
	installed(t)
	space := namespace(t, "large", nil)
	webhookAnswers(t, space)
	plain := func(int, *corev1.Container) {}
	inTime := func(t *testing.T, what string, ask func() answer) answer {
		t.Helper()
		start := time.Now()
		a := ask()
		took := time.Since(start)
		t.Logf("%s: %d after %s", what, a.code, took.Round(time.Millisecond))
		if took > webhookTimeout {
			t.Errorf("%s took %s", what, took)
		}
		return a
	}

	t.Run("an honest pod and its changes", func(t *testing.T) {
		text := huge("honest", many, plain)
		a := inTime(t, fmt.Sprintf("a pod of %d bytes", len(text)), func() answer { return create(t, space, text, forReal) })
		if !a.accepted() || len(a.warnings) > 0 || noted(t, a)["decision"] != "allow" {
			t.Fatal(tell(a))
		}
		// These carry the object twice.
		for what, changes := range map[string]string{
			"a label":       "metadata: {labels: {team: a}}",
			"an annotation": "metadata: {annotations: {note: changed}}",
			"an image":      "spec: {containers: [{name: c7, image: registry.example/train:2}]}",
		} {
			a := inTime(t, what, func() answer { return patch(t, space, text, "", changes, forReal) })
			if !a.accepted() || len(a.warnings) > 0 {
				t.Errorf("%s: %s", what, tell(a))
			}
		}
		a = inTime(t, "a misspelt annotation of ours", func() answer {
			return patch(t, space, text, "", "metadata: {annotations: {rankward.io/gnag: a}}", forReal)
		})
		if a.code != http.StatusForbidden || !strings.Contains(a.message, "[KEY-01]") {
			t.Error(tell(a))
		}
		a = inTime(t, "an ephemeral container with the variable", func() answer {
			return patch(t, space, text, "ephemeralcontainers", "spec: {ephemeralContainers: ["+container("debug", env(visible, "all"))+"]}", forReal)
		})
		if a.code != http.StatusForbidden || !strings.Contains(a.message, "[ENV-01]") {
			t.Error(tell(a))
		}
	})

	t.Run("a needle in the last container", func(t *testing.T) {
		text := huge("needle", many, func(i int, c *corev1.Container) {
			if i == many-1 {
				c.Env = append(c.Env, corev1.EnvVar{Name: visible, Value: "all"})
			}
		})
		a := inTime(t, "the pod", func() answer { return create(t, space, text, forReal) })
		if a.code != http.StatusForbidden || !strings.Contains(a.message, fmt.Sprintf(`[ENV-01] containers[%d] "c%d"`, many-1, many-1)) {
			t.Error(tell(a))
		}
	})

	everywhere := func(i int, c *corev1.Container) {
		if i == 0 {
			return // there it would be another finding
		}
		c.Env = append(c.Env, corev1.EnvVar{Name: visible, Value: "all"})
	}
	t.Run("a finding in every container", func(t *testing.T) {
		a := inTime(t, "the pod", func() answer { return create(t, space, huge("everywhere", many, everywhere), forReal) })
		_, message, _ := strings.Cut(a.message, "denied the request: ")
		lines := strings.Split(message, "\n")
		if a.code != http.StatusForbidden || !strings.HasPrefix(message, "[ENV-01] containers[1]") || len(message) > 1100 {
			t.Errorf("%d characters: %s", len(message), tell(a))
		}
		// Those that are named and those that are counted are all.
		var left int
		if _, err := fmt.Sscanf(lines[len(lines)-1], "and %d more findings", &left); err != nil || len(lines)-1+left != many-1 {
			t.Errorf("%d lines, then %q", len(lines)-1, lines[len(lines)-1])
		}
		if len(a.causes) == 0 || len(a.causes) > 64 {
			t.Errorf("%d causes", len(a.causes))
		}
	})

	t.Run("a Deployment with a finding in every container", func(t *testing.T) {
		var template corev1.Pod
		check(t, sigsyaml.Unmarshal([]byte(huge("everywhere", many, everywhere)), &template))
		spec := must(t, func() ([]byte, error) {
			return sigsyaml.Marshal(map[string]any{"apiVersion": "apps/v1", "kind": "Deployment",
				"metadata": map[string]any{"name": "everywhere"},
				"spec": map[string]any{"replicas": 0, "selector": map[string]any{"matchLabels": map[string]string{"app": "train"}},
					"template": map[string]any{"metadata": map[string]any{"labels": map[string]string{"app": "train"}}, "spec": template.Spec}}})
		})
		a := inTime(t, "the Deployment", func() answer { return create(t, space, string(spec), forReal) })
		if !a.accepted() || len(a.warnings) == 0 {
			t.Fatal(tell(a))
		}
		total := 0
		for _, warning := range a.warnings {
			if n := utf8.RuneCountInString(warning); n > 120 {
				t.Errorf("a warning of %d characters: %s", n, warning)
			} else {
				total += n
			}
		}
		last := a.warnings[len(a.warnings)-1]
		if total > 4096 || !strings.HasPrefix(last, "and ") || !strings.HasSuffix(last, " more findings") {
			t.Errorf("%d characters of warnings, the last is %q", total, last)
		}
	})

	// What is larger than the API server takes never reaches us; the next one is answered as ever.
	t.Run("more than the API server takes", func(t *testing.T) {
		a := create(t, space, huge("too-large", 4*many, plain), forReal)
		if a.accepted() || strings.Contains(a.message, "rankward") {
			t.Error(tell(a))
		}
		if a := create(t, space, named(hostPath("/dev/nvidia0"), "after"), dryRun); a.code != http.StatusForbidden {
			t.Error(tell(a))
		}
	})
	now := int64(0)
	check(t, cluster.Client.CoreV1().Pods(space).DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}))
}
