package controlplane

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"rankward.io/tests/controlplane/harness"
)

// Marks a pod that the webhook is sent whatever the match conditions say.
const sentAnyway = "rankward-test-sent-anyway"

// sendEveryMarkedPod registers the webhook once more, for marked pods and without match conditions.
func sendEveryMarkedPod(t *testing.T, space string) {
	t.Helper()
	client := cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	registration, err := client.Get(t.Context(), "rankward", metav1.GetOptions{})
	check(t, err)
	more := registration.DeepCopy()
	more.ObjectMeta = metav1.ObjectMeta{Name: "rankward-unconditional"}
	more.Webhooks = more.Webhooks[:1]
	hook := &more.Webhooks[0]
	if len(hook.MatchConditions) == 0 || hook.Name != "pods.rankward.io" {
		t.Fatalf("the first entry is %s with %d conditions", hook.Name, len(hook.MatchConditions))
	}
	hook.Name, hook.MatchConditions = "unconditional.rankward.io", nil
	hook.ObjectSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: sentAnyway, Operator: metav1.LabelSelectorOpExists}}}
	_, err = client.Create(t.Context(), more, metav1.CreateOptions{})
	check(t, err)
	t.Cleanup(func() { client.Delete(context.Background(), more.Name, metav1.DeleteOptions{}) })
	probe := pod(space, "probe", nil)
	probe.Labels = map[string]string{sentAnyway: ""}
	before := reviews(t)
	eventually(t, "marked pods to be sent", func() error {
		_, err := cluster.Client.CoreV1().Pods(space).Create(t.Context(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && reviews(t) == before {
			err = fmt.Errorf("still %d reviews", before)
		}
		return err
	})
}

var reviewCount = regexp.MustCompile(`(?m)^rankward_requests_total\{[^}]*verb="validate"[^}]*\} (\d+)`)

// reviews is how many requests the webhook has answered.
func reviews(t *testing.T) int {
	t.Helper()
	status, body, err := shared.Rankward.Status("/metrics")
	check(t, err)
	if status != 200 {
		t.Fatalf("/metrics: %d", status)
	}
	sum := 0
	for _, match := range reviewCount.FindAllStringSubmatch(string(body), -1) {
		number, err := strconv.Atoi(match[1])
		check(t, err)
		sum += number
	}
	return sum
}

// wereSent waits for the number: a request is counted once its answer has left.
func wereSent(t *testing.T, before, wanted int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d reviews", wanted), func() error {
		if sent := reviews(t) - before; sent != wanted {
			return fmt.Errorf("%d were sent", sent)
		}
		return nil
	})
}

// What is kept away holds nothing that a rule finds: generated pods get the same verdict with and
// without the conditions, made new and updated.
func TestMatchConditionsHideNothing(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "conditions", nil)
	runtimeClassesFor(t, runtimeClasses)
	loud := map[string]any{"HP-03": "warn", "ENV-04": "warn", "RT-02": "warn"}
	configured(t, installation, map[string]any{"admission": map[string]any{"modes": loud}})
	webhookAnswers(t, space)
	sendEveryMarkedPod(t, space)
	j := newJudges(t)
	dryRun := []string{metav1.DryRunAll}
	tally, unsent := newTally(), 0
	compare := func(pod *corev1.Pod, send func(*corev1.Pod) error) {
		t.Helper()
		before := reviews(t)
		_, conditional, _ := j.sortOut(t, send(pod))
		if reviews(t) == before {
			unsent++
		}
		marked := pod.DeepCopy()
		marked.Labels = map[string]string{sentAnyway: ""}
		_, always, texts := j.sortOut(t, send(marked))
		if !conditional.equals(always) {
			t.Errorf("%s: with conditions: %v; without: %v\n%s", pod.Name, conditional, always, strings.Join(texts, "\n"))
		}
		tally.count(always)
	}
	create := func(pod *corev1.Pod) error {
		return errorOf(j.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: dryRun}))
	}
	generator := newPodGenerator(20260804, []string{space}, []string{"default"})
	for range 150 {
		compare(generator.next(), create)
		compare(generator.simple(), create)
	}
	if unsent < 50 {
		t.Error("nearly every pod was sent")
	}
	t.Logf("%d pods were not sent", unsent)
	tally.holds(t, 300, "ANN-01", "ENV-01", "ENV-02", "ENV-03", "ENV-04", "ENV-05", "ENV-06", "HP-01", "HP-02", "HP-03", "HP-04", "HP-05",
		"PRIV-01", "PRIV-02", "PRIV-03", "RT-01", "RT-02", "SCH-01", "SCH-03")

	// Changes of pods that stand: what nobody minds has been let in.
	made := 0
	for made < 30 {
		pod := generator.simple()
		pod.Spec.SchedulerName, pod.Spec.NodeName, pod.OwnerReferences = "nobody", "", nil
		if create(pod) != nil {
			continue
		}
		made++
		standing := createPod(t, pod)
		j.warnings.take()
		changed := standing.DeepCopy()
		changed.Annotations = generator.annotations()
		changed.Spec.Tolerations = append(changed.Spec.Tolerations, generator.tolerations()...)
		compare(changed, func(pod *corev1.Pod) error {
			return errorOf(j.client.CoreV1().Pods(space).Update(t.Context(), pod, metav1.UpdateOptions{DryRun: dryRun}))
		})
		changed = standing.DeepCopy()
		changed.Spec.EphemeralContainers = append(changed.Spec.EphemeralContainers, generator.ephemeral("debug", pod.Spec.Volumes))
		compare(changed, func(pod *corev1.Pod) error {
			return errorOf(j.client.CoreV1().Pods(space).UpdateEphemeralContainers(t.Context(), pod.Name, pod, metav1.UpdateOptions{DryRun: dryRun}))
		})
	}
}

// Pods without anything that a rule looks at cost the webhook nothing, and neither do changes of
// pods that no rule minds.
func TestPlainPodsAreNotSent(t *testing.T) {
	installed(t)
	space := namespace(t, "plain", nil)
	webhookAnswers(t, space)
	yes := true
	for name, test := range map[string]struct {
		change func(*corev1.Pod)
		sent   bool
	}{
		"plain": {func(*corev1.Pod) {}, false},
		"variables, ConfigMap, Secret, emptyDir": {func(p *corev1.Pod) {
			c := &p.Spec.Containers[0]
			c.Env = []corev1.EnvVar{{Name: "PATH", Value: "/bin"}, {Name: "CUDA_VISIBLE_DEVICES", Value: "0"}}
			c.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: "web"}}}}
			p.Spec.Volumes = []corev1.Volume{{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
				{Name: "secret", VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "web"}}}}
		}, false},
		"privileged, far from GPUs": {func(p *corev1.Pod) {
			p.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: &yes}
		}, false},
		"other tolerations, labels and annotations": {func(p *corev1.Pod) {
			p.Spec.Tolerations = []corev1.Toleration{{Operator: corev1.TolerationOpExists}, {Key: "team", Operator: corev1.TolerationOpExists}}
			p.Spec.NodeSelector = map[string]string{"kubernetes.io/arch": "amd64"}
			p.Labels, p.Annotations = map[string]string{"app": "web"}, map[string]string{"example.com/note": "x"}
		}, false},
		"hostPath": {func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/data"}}}}
		}, true},
		"claim": {func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		}, true},
		"GPU": {func(p *corev1.Pod) { *p = *pod(space, p.Name, map[string]string{"nvidia.com/gpu": "1"}) }, true},
		"device variable": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "NVIDIA_VISIBLE_DEVICES", Value: "void"}}
		}, true},
		"key of ours": {func(p *corev1.Pod) { p.Labels = map[string]string{"rankward.io/gang": "a"} }, true},
		"selects GPU nodes": {func(p *corev1.Pod) {
			p.Spec.NodeSelector = map[string]string{"nvidia.com/gpu.present": "true"}
		}, true},
		"rank that is one": {func(p *corev1.Pod) { p.Labels = map[string]string{"batch.kubernetes.io/job-completion-index": "12"} }, false},
		"rank that is none": {func(p *corev1.Pod) {
			p.Annotations = map[string]string{"batch.kubernetes.io/job-completion-index": "last"}
		}, true},
		"launcher of a fabric test": {func(p *corev1.Pod) {
			p.Spec.Containers[0].Command = []string{"sh", "-c", "mpirun -np 16 /opt/all_reduce_perf -e 8G"}
		}, true},
		"fabric test without MPI":  {func(p *corev1.Pod) { p.Spec.Containers[0].Args = []string{"ib_write_bw", "-a"} }, true},
		"fabric test by its image": {func(p *corev1.Pod) { p.Spec.Containers[0].Image = "registry.example/nccl-tests:2.13" }, true},
		"privileged on a node of its choice": {func(p *corev1.Pod) {
			p.Spec.NodeName, p.Spec.Containers[0].SecurityContext = "some-node", &corev1.SecurityContext{Privileged: &yes}
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			made := pod(space, "web", nil)
			test.change(made)
			before := reviews(t)
			for range 5 {
				// Whether it is let in is the rules' to say.
				cluster.Client.CoreV1().Pods(space).Create(t.Context(), made, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			}
			wanted := 0
			if test.sent {
				wanted = 5
			}
			wereSent(t, before, wanted)
		})
	}
	t.Run("changes that no rule minds", func(t *testing.T) {
		gang := pod(space, "rank-0", map[string]string{"nvidia.com/gpu": "1"})
		gang.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: harness.GangGate}, {Name: "example.com/hold"}}
		gang.Finalizers = []string{"example.com/kept"}
		before := reviews(t)
		createPod(t, gang)
		wereSent(t, before, 1)
		before = reviews(t)
		pods := cluster.Client.CoreV1().Pods(space)
		for _, patch := range []string{
			`[{"op":"remove","path":"/spec/schedulingGates/1"}]`,
			`[{"op":"remove","path":"/metadata/finalizers"}]`,
		} {
			_, err := pods.Patch(t.Context(), "rank-0", types.JSONPatchType, []byte(patch), metav1.PatchOptions{})
			check(t, err)
		}
		wereSent(t, before, 0)
		_, err := pods.Patch(t.Context(), "rank-0", types.MergePatchType, []byte(`{"metadata":{"annotations":{"rankward.io/transport":"rdma-required"}}}`), metav1.PatchOptions{})
		check(t, err)
		wereSent(t, before, 1)
	})
}
