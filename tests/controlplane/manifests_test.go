package controlplane

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// render is `kubectl kustomize manifests/<folder>` with the CA put in.
func render(t *testing.T, folder string) string {
	t.Helper()
	return must(t, func() (string, error) { return cluster.Render(t.Context(), root, folder, certificates.CAFile) })
}

// documents of a rendered manifest, as generic objects.
func documents(t *testing.T, text string) []map[string]any {
	t.Helper()
	var out []map[string]any
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(text), 4096)
	for {
		var object map[string]any
		if err := decoder.Decode(&object); err != nil {
			if len(out) == 0 {
				t.Fatal(err)
			}
			return out
		}
		if object != nil {
			out = append(out, object)
		}
	}
}

// configMapFile is one file of the ConfigMap whose generated name starts with prefix.
func configMapFile(t *testing.T, rendered, prefix, file string) string {
	t.Helper()
	for _, object := range documents(t, rendered) {
		metadata, _ := object["metadata"].(map[string]any)
		name, _ := metadata["name"].(string)
		if object["kind"] == "ConfigMap" && strings.HasPrefix(name, prefix) {
			if text, ok := object["data"].(map[string]any)[file].(string); ok {
				return text
			}
		}
	}
	t.Fatalf("no ConfigMap %s* with %s", prefix, file)
	return ""
}

// secondSchedulerOverlay is the one for this version of Kubernetes.
func secondSchedulerOverlay() string {
	if cluster.Binaries.Minor() < 36 {
		return "overlays/second-scheduler-1.34"
	}
	return "overlays/second-scheduler"
}

func TestEveryOverlayIsAcceptedByTheAPIServer(t *testing.T) {
	// A server-side dry run looks namespaces up, so this one has to be there first.
	applied := kubectl(t, "", "apply", "-f", filepath.Join(root, "manifests", "base", "namespace.yaml"))
	if applied.ExitCode != 0 {
		t.Fatal(applied.Stderr)
	}
	for _, overlay := range []string{"base", "overlays/static-pod", "overlays/static-pod/host", "overlays/service",
		"overlays/loopback", secondSchedulerOverlay()} {
		t.Run(overlay, func(t *testing.T) {
			text := render(t, overlay)
			output := kubectl(t, text, "apply", "--dry-run=server", "--validate=strict", "-f", "-")
			if output.ExitCode != 0 {
				t.Fatalf("exit code %d: %s", output.ExitCode, output.Stderr)
			}
			if n := len(documents(t, text)); strings.Count(output.Stdout, "(server dry run)") != n {
				t.Errorf("%d documents, answered:\n%s", n, output.Stdout)
			}
			// Pod Security of the namespace warns on a Deployment whose pods it would refuse.
			if strings.Contains(output.Stderr, "Warning") {
				t.Errorf("warned: %s", output.Stderr)
			}
		})
	}
}

// The PodSecurity warning above compares Deployments; this asks for the pods themselves.
func TestPodsOfTheManifestsAreAllowedInARestrictedNamespace(t *testing.T) {
	if out := kubectl(t, "", "apply", "-f", filepath.Join(root, "manifests", "base", "namespace.yaml")); out.ExitCode != 0 {
		t.Fatal(out.Stderr)
	}
	for _, overlay := range []string{"base", "overlays/service", secondSchedulerOverlay()} {
		for _, object := range documents(t, render(t, overlay)) {
			if object["kind"] != "Deployment" {
				continue
			}
			template := object["spec"].(map[string]any)["template"].(map[string]any)
			name := object["metadata"].(map[string]any)["name"]
			text := must(t, func() ([]byte, error) { return sigsyaml.Marshal(template) })
			var pod corev1.Pod
			check(t, sigsyaml.Unmarshal(text, &pod))
			pod.APIVersion, pod.Kind = "v1", "Pod"
			pod.Name, pod.Namespace = fmt.Sprint(name), "rankward-system"
			text = must(t, func() ([]byte, error) { return sigsyaml.Marshal(pod) })
			if out := kubectl(t, string(bytes.TrimSpace(text)), "create", "--dry-run=server", "-f", "-"); out.ExitCode != 0 {
				t.Errorf("%s of %s: %s", name, overlay, out.Stderr)
			}
		}
	}
}

func unmarshalYAML(t *testing.T, text string, into any) {
	t.Helper()
	check(t, sigsyaml.Unmarshal([]byte(text), into))
}
