package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

// kube-scheduler would make room where the victims matter least. We take those nodes out on which the
// pod could not run with nobody else there, so that nobody is evicted in vain.
func TestPreemptionMakesRoomOnlyWhereThePodCanRun(t *testing.T) {
	installation := installed(t)
	const pool = "preempted"
	space := namespace(t, pool, nil)
	for name, value := range map[string]int32{"lowest": 10, "low": 100, "high": 1000} {
		priorityClass(t, pool+"-"+name, value)
	}
	list := harness.Leaf(pool, "a", 3)
	right, small, unhealthy := list[0].Name, list[1].Name, list[2].Name
	list[1].Labels = harness.With(list[1].Labels, "nvidia.com/gpu.product", "NVIDIA-A30", "nvidia.com/gpu.family", "ampere",
		"nvidia.com/gpu.compute.major", "8", "nvidia.com/gpu.memory", "24576", "nvidia.com/gpu.machine", "")
	list[1].Annotations = nil
	list[2].Annotations = map[string]string{harness.TopologyAnnotation: strings.Replace(harness.TopologyReport(true),
		`"health":"healthy"`, `"health":"unhealthy"`, 1)}
	nodes(t, list)

	// By their priority the victim on the right node is the last that the scheduler would choose.
	victims := map[string]string{right: "low", small: "lowest", unhealthy: "lowest"}
	for node, priority := range victims {
		victim := pod(space, "on-"+node, map[string]string{"nvidia.com/gpu": "7"})
		victim.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": node}
		victim.Spec.PriorityClassName = pool + "-" + priority
		// No kubelet confirms its end.
		now := int64(0)
		victim.Spec.TerminationGracePeriodSeconds = &now
		createPod(t, victim)
		boundNode(t, space, victim.Name)
	}
	allSeen(t)
	history := record(t, space)
	asks := func(name string) *corev1.Pod {
		asking := pod(space, name, map[string]string{"nvidia.com/gpu": "8"})
		asking.Annotations = map[string]string{"rankward.io/gpu-memory": "40Gi"}
		asking.Spec.NodeSelector = map[string]string{harness.PoolLabel: pool}
		asking.Spec.PriorityClassName = pool + "-high"
		return createPod(t, asking)
	}
	before := preemptCalls(t, installation)
	asks("first")
	if node := boundNode(t, space, "first"); node != right {
		t.Errorf("bound to %s, want %s", node, right)
	}
	calls := installation.Rankward.Decisions(space+"/first", "preempt")
	if after := preemptCalls(t, installation); len(calls) == 0 || after <= before {
		t.Fatalf("%d calls of preempt in the log; the metric went from %v to %v", len(calls), before, after)
	}
	if offered, kept := calls[0]["candidates"], calls[0]["fits"]; offered != 3.0 || kept != 1.0 {
		t.Errorf("of %v nodes with victims %v were kept, want 1 of 3", offered, kept)
	}
	seen, err := history.Nominations("first")
	check(t, err)
	if slices.Contains(seen, small) || slices.Contains(seen, unhealthy) || !slices.Contains(seen, right) {
		t.Errorf("it was nominated to %q", seen)
	}
	t.Logf("kube-scheduler %s nominated %q", cluster.Binaries.Version, seen)

	// Now victims stand on the wrong nodes only: it waits, and they stay.
	asks("second")
	message := unschedulable(t, space, "second", func(string) bool { return true })
	t.Logf("kube-scheduler %s: %s", cluster.Binaries.Version, message)
	stays(t, "the second pod", func() error {
		seen, err := history.Nominations("second")
		if err == nil && (len(seen) != 1 || seen[0] != "") {
			err = fmt.Errorf("it was nominated: %q", seen)
		}
		return err
	})
	if len(installation.Rankward.Decisions(space+"/second", "preempt")) == 0 {
		t.Error("preempt was not called for the second pod")
	}
	for node := range victims {
		_, err := cluster.Client.CoreV1().Pods(space).Get(t.Context(), "on-"+node, metav1.GetOptions{})
		if gone := err != nil; gone != (node == right) {
			t.Errorf("the victim on %s: %v", node, err)
		}
	}
}

func priorityClass(t *testing.T, name string, value int32) {
	t.Helper()
	client := cluster.Client.SchedulingV1().PriorityClasses()
	_, err := client.Create(t.Context(), &schedulingv1.PriorityClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Value: value}, metav1.CreateOptions{})
	check(t, err)
	t.Cleanup(func() { client.Delete(context.Background(), name, metav1.DeleteOptions{}) })
}

func preemptCalls(t *testing.T, installation *harness.Installation) float64 {
	t.Helper()
	return must(t, installation.Rankward.Metrics).Sum("rankward_requests_total", map[string]string{"verb": "preempt", "outcome": "ok"})
}
