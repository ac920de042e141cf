package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"rankward.io/tests/controlplane/harness"
)

// Pods that stand already, whatever the rules say of them now, are judged by what a change adds.
func TestVapAgreesWithTheWebhookOnUpdates(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "agreement-updates", nil)
	runtimeClassesFor(t, runtimeClasses)
	j := newJudges(t)
	// They get in while nothing is enforced.
	restore := configured(t, installation, map[string]any{"admission": map[string]any{"excludedNamespaces": []string{"kube-system", "rankward-system", space}}})
	generator := newPodGenerator(20260803, []string{space}, []string{"default"})
	var standing []*corev1.Pod
	eventually(t, "the namespace to be excluded", func() error {
		_, err := j.client.CoreV1().Pods(space).Create(t.Context(), probePod(space), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		return err
	})
	for range 60 {
		pod := generator.next()
		// A pod whose node or owner is none would be collected.
		pod.Spec.SchedulerName, pod.Spec.NodeName, pod.OwnerReferences = "nobody", "", nil
		standing = append(standing, createPod(t, pod))
	}
	restore()
	webhookAnswers(t, space)
	j.applyPolicies(t, nil, probePod(space))
	j.warnings.take()

	dryRun := []string{metav1.DryRunAll}
	pods := j.client.CoreV1().Pods(space)
	tally := newTally()
	judge := func(pod *corev1.Pod, send func(*corev1.Pod) error) {
		t.Helper()
		tally.count(j.agree(t, pod, send))
	}
	update := func(pod *corev1.Pod) error {
		return errorOf(pods.Update(t.Context(), pod, metav1.UpdateOptions{DryRun: dryRun}))
	}
	for _, pod := range standing {
		changed := pod.DeepCopy()
		changed.Annotations = generator.annotations()
		judge(changed, update)

		changed = pod.DeepCopy()
		changed.Spec.Tolerations = append(changed.Spec.Tolerations, generator.tolerations()...)
		judge(changed, update)

		changed = pod.DeepCopy()
		changed.Spec.EphemeralContainers = append(changed.Spec.EphemeralContainers, generator.ephemeral("debug", pod.Spec.Volumes))
		judge(changed, func(pod *corev1.Pod) error {
			return errorOf(pods.UpdateEphemeralContainers(t.Context(), pod.Name, pod, metav1.UpdateOptions{DryRun: dryRun}))
		})
	}
	tally.holds(t, 180, "ANN-01", "ENV-01", "ENV-02", "HP-02", "PRIV-01")
}

// The output as it is: denials tell every finding, in the words of the rules, and nothing that has to
// pass is held up.
func TestVapDeniesByItself(t *testing.T) {
	space := namespace(t, "backstop", nil)
	out := must(t, func() (harness.Output, error) { return harness.RunRankward(t.Context(), "generate", "vap") })
	if applied := kubectl(t, out.Stdout, "apply", "-f", "-"); applied.ExitCode != 0 {
		t.Fatal(applied.Stderr)
	}
	t.Cleanup(func() { cluster.Kubectl(context.Background(), out.Stdout, "delete", "-f", "-") })
	apply := func(manifest, namespace string) harness.Output {
		return kubectl(t, fmt.Sprintf(manifest, "probe", namespace), "apply", "--dry-run=server", "-f", "-")
	}
	eventually(t, "the policies to be in force", func() error {
		if answer := apply(hostPathPod, space); !strings.Contains(answer.Stderr, "ValidatingAdmissionPolicy 'rankward-enforce'") {
			return fmt.Errorf("exit code %d: %s", answer.ExitCode, answer.Stderr)
		}
		return nil
	})
	const twice = `apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s}
spec:
  containers:
  - name: train
    image: registry.example/train:1
    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
  volumes:
  - name: dev
    hostPath: {path: /dev//nvidia0}
`
	for _, test := range []struct {
		name, manifest, namespace string
		exitCode                  int
		says                      []string
	}{
		{"device node", hostPathPod, space, 1, []string{`[HP-01] volumes[0] "dev": hostPath "/dev/nvidia0"`, "Fix:"}},
		{"variable", envPod, space, 1, []string{`[ENV-01] containers[0] "train": NVIDIA_VISIBLE_DEVICES="all"`, "Fix:"}},
		{"two at once", twice, space, 1, []string{"[HP-01]", "[ENV-01]"}},
		{"plain", plainPod, space, 0, nil},
		{"excluded namespace", hostPathPod, "kube-system", 0, nil},
		{"mirror pod", strings.NewReplacer("namespace: %s", "namespace: %s, annotations: {kubernetes.io/config.mirror: x}",
			"spec:\n", "spec:\n  nodeName: some-node\n").Replace(hostPathPod), space, 0, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := apply(test.manifest, test.namespace)
			if answer.ExitCode != test.exitCode {
				t.Errorf("exit code %d, want %d: %s", answer.ExitCode, test.exitCode, answer.Stderr)
			}
			for _, part := range test.says {
				if !strings.Contains(answer.Stderr, part) {
					t.Errorf("lacks %q: %s", part, answer.Stderr)
				}
			}
		})
	}
	t.Run("a pod as large as they come", func(t *testing.T) {
		if _, err := cluster.Client.CoreV1().Pods(space).Create(t.Context(), largePod(space), metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}); err != nil {
			t.Error(err)
		}
	})
	t.Run("what a usual pod costs", func(t *testing.T) {
		train := pod(space, "train", map[string]string{"nvidia.com/gpu": "8", "rdma/ib": "8"})
		train.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "NCCL_DEBUG", Value: "INFO"}, {Name: "OMP_NUM_THREADS", Value: "8"}}
		train.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt/data"}}}}
		train.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "data", MountPath: "/data", SubPath: "imagenet"}}
		before := policySeconds(t)
		for range 100 {
			check(t, errorOf(cluster.Client.CoreV1().Pods(space).Create(t.Context(), train, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})))
		}
		each := (policySeconds(t) - before) / 100 * 1000
		t.Logf("%.2f ms a pod for all policies", each)
		if each <= 0 || each > 100 {
			t.Error("want more than nothing and 100 ms at most")
		}
	})
	t.Run("types", func(t *testing.T) { typesAreRight(t, "rankward-enforce", "rankward-warn", "rankward-audit") })
	t.Run("a pod on its way out", func(t *testing.T) {
		made := pod(space, "leaving", nil)
		made.Finalizers = []string{"example.com/kept"}
		made.Spec.SchedulerName = "nobody"
		createPod(t, made)
		check(t, cluster.Client.CoreV1().Pods(space).Delete(t.Context(), "leaving", metav1.DeleteOptions{}))
		for _, patch := range []string{`{"metadata":{"annotations":{"cdi.k8s.io/x":"nvidia.com/gpu=all"}}}`, `{"metadata":{"finalizers":null}}`} {
			if _, err := cluster.Client.CoreV1().Pods(space).Patch(t.Context(), "leaving", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				t.Errorf("%s: %v", patch, err)
			}
		}
	})
}

// policySeconds is how long the API server has spent on policies.
func policySeconds(t *testing.T) (sum float64) {
	t.Helper()
	for _, sample := range must(t, func() (harness.Samples, error) { return cluster.Metrics(t.Context()) }) {
		if sample.Name == "apiserver_admission_controller_admission_duration_seconds_sum" && sample.Labels["name"] == "ValidatingAdmissionPolicy" {
			sum += sample.Value
		}
	}
	return sum
}

// largePod is honest and has far more of everything than people write.
func largePod(namespace string) *corev1.Pod {
	large := pod(namespace, "large", nil)
	container := large.Spec.Containers[0]
	large.Spec.Containers = nil
	for v := range 40 {
		large.Spec.Volumes = append(large.Spec.Volumes, corev1.Volume{Name: fmt.Sprintf("v-%d", v), VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: fmt.Sprintf("/mnt/data/of/some/project/volume-%d", v)}}})
	}
	for c := range 40 {
		each := container
		each.Name = fmt.Sprintf("c-%d", c)
		for e := range 100 {
			each.Env = append(each.Env, corev1.EnvVar{Name: fmt.Sprintf("NAME_%d", e), Value: "value"})
		}
		for v := range 20 {
			each.VolumeMounts = append(each.VolumeMounts, corev1.VolumeMount{Name: fmt.Sprintf("v-%d", v), MountPath: fmt.Sprintf("/mnt/%d", v), SubPath: "sub/path"})
		}
		large.Spec.Containers = append(large.Spec.Containers, each)
	}
	return large
}

// typesAreRight waits until the controller has checked the expressions against the types of pods.
func typesAreRight(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		eventually(t, name+" to be checked", func() error {
			policy, err := cluster.Client.AdmissionregistrationV1().ValidatingAdmissionPolicies().Get(t.Context(), name, metav1.GetOptions{})
			if err != nil {
				return err
			}
			if policy.Status.TypeChecking == nil || policy.Status.ObservedGeneration != policy.Generation {
				return fmt.Errorf("status %v", policy.Status)
			}
			if warnings := policy.Status.TypeChecking.ExpressionWarnings; len(warnings) > 0 {
				text, _ := json.Marshal(warnings)
				t.Errorf("%s: %.2000s", name, text)
			}
			return nil
		})
	}
}
