package controlplane

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"rankward.io/tests/controlplane/harness"
)

// settled is how long a test looks on before it says that something does not happen.
const settled = 4 * time.Second

// long is patience for what may have to wait for several of kube-scheduler's backoffs.
const long = 120 * time.Second

func within(t *testing.T, patience time.Duration, what string, ready func() error) {
	t.Helper()
	check(t, harness.WaitFor(t.Context(), what, patience, 50*time.Millisecond, ready))
}

// installedWith is the shared installation with keys of its configuration set; the defaults come
// back when the test ends.
func installedWith(t *testing.T, settings map[string]any) *harness.Installation {
	t.Helper()
	installation := installed(t)
	check(t, installation.Restart(t.Context(), settings))
	t.Cleanup(func() {
		if err := installation.Restart(context.Background(), nil); err != nil {
			t.Error(err)
		}
	})
	return installation
}

// record follows the pods of a namespace until the test ends.
func record(t *testing.T, namespace string) *harness.History {
	t.Helper()
	history := must(t, func() (*harness.History, error) {
		return harness.Record(context.Background(), cluster.Client, namespace)
	})
	t.Cleanup(history.Stop)
	return history
}

// createRanks makes pods of a gang, in the order given.
func createRanks(t *testing.T, gang harness.Gang, ranks ...int) {
	t.Helper()
	for _, rank := range ranks {
		createPod(t, gang.Pod(rank))
	}
}

func allRanks(gang harness.Gang) []int {
	var list []int
	for rank := range gang.Size {
		list = append(list, rank)
	}
	return list
}

func createGang(t *testing.T, gang harness.Gang) {
	t.Helper()
	createRanks(t, gang, allRanks(gang)...)
}

// podsOf a gang by name.
func podsOf(ctx context.Context, gang harness.Gang) (map[string]*corev1.Pod, error) {
	list, err := cluster.Client.CoreV1().Pods(gang.Namespace).List(ctx,
		metav1.ListOptions{LabelSelector: "gang=" + gang.Name})
	if err != nil {
		return nil, err
	}
	pods := map[string]*corev1.Pod{}
	for i := range list.Items {
		pods[list.Items[i].Name] = &list.Items[i]
	}
	return pods, nil
}

// gangNodes waits until the given ranks are bound (none given: all) and returns rank -> node.
func gangNodes(t *testing.T, gang harness.Gang, ranks ...int) map[int]string {
	t.Helper()
	if len(ranks) == 0 {
		ranks = allRanks(gang)
	}
	bound := map[int]string{}
	within(t, long, "gang "+gang.Name+" to be bound", func() error {
		pods, err := podsOf(t.Context(), gang)
		if err != nil {
			return err
		}
		clear(bound)
		for _, rank := range ranks {
			pod := pods[gang.PodName(rank)]
			if pod == nil || pod.Spec.NodeName == "" {
				return fmt.Errorf("%d of %d bound; rank %d: %s", len(bound), len(ranks), rank, describe(pod))
			}
			bound[rank] = pod.Spec.NodeName
		}
		return nil
	})
	return bound
}

func describe(pod *corev1.Pod) string {
	if pod == nil {
		return "does not exist"
	}
	return fmt.Sprintf("gates %v, nominated %q, %s", pod.Spec.SchedulingGates, pod.Status.NominatedNodeName, conditions(pod))
}

// boundCount of a gang.
func boundCount(t *testing.T, gang harness.Gang) int {
	t.Helper()
	n := 0
	for _, pod := range must(t, func() (map[string]*corev1.Pod, error) { return podsOf(t.Context(), gang) }) {
		if pod.Spec.NodeName != "" {
			n++
		}
	}
	return n
}

// deletePods removes pods at once, as nothing else confirms their end.
func deletePods(t *testing.T, namespace string, names ...string) {
	t.Helper()
	now := int64(0)
	for _, name := range names {
		check(t, cluster.Client.CoreV1().Pods(namespace).Delete(t.Context(), name, metav1.DeleteOptions{GracePeriodSeconds: &now}))
	}
	eventually(t, fmt.Sprintf("%v to be gone", names), func() error {
		list, err := cluster.Client.CoreV1().Pods(namespace).List(t.Context(), metav1.ListOptions{})
		for i := range list.Items {
			if slices.Contains(names, list.Items[i].Name) {
				return fmt.Errorf("%s is there", list.Items[i].Name)
			}
		}
		return err
	})
}

func deleteGang(t *testing.T, gang harness.Gang) {
	t.Helper()
	pods := must(t, func() (map[string]*corev1.Pod, error) { return podsOf(t.Context(), gang) })
	deletePods(t, gang.Namespace, slices.Collect(maps.Keys(pods))...)
}

// whyUnschedulable is the scheduler's message, "" where it has none yet.
func whyUnschedulable(pod *corev1.Pod) string {
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse && c.Reason == corev1.PodReasonUnschedulable {
			return c.Message
		}
	}
	return ""
}

// unschedulable waits until the scheduler says why it cannot place a pod.
func unschedulable(t *testing.T, namespace, name string, wanted func(message string) bool) string {
	t.Helper()
	var message string
	within(t, long, namespace+"/"+name+" to be unschedulable", func() error {
		pod, err := cluster.Client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if pod.Spec.NodeName != "" {
			return fmt.Errorf("bound to %s", pod.Spec.NodeName)
		}
		if message = whyUnschedulable(pod); message == "" || !wanted(message) {
			return fmt.Errorf("%s", describe(pod))
		}
		return nil
	})
	return message
}

// nominated waits until every rank has a nomination of ours and returns rank -> node.
func nominated(t *testing.T, gang harness.Gang) map[int]string {
	t.Helper()
	nodes := map[int]string{}
	within(t, patience, "gang "+gang.Name+" to be nominated", func() error {
		pods, err := podsOf(t.Context(), gang)
		if err != nil {
			return err
		}
		for rank := range gang.Size {
			pod := pods[gang.PodName(rank)]
			if pod == nil || pod.Status.NominatedNodeName == "" {
				return fmt.Errorf("rank %d: %s", rank, describe(pod))
			}
			nodes[rank] = pod.Status.NominatedNodeName
		}
		return nil
	})
	return nodes
}

// pause stops the scheduler where it stands; resume lets it go on. It goes on in any case when the
// test ends.
func pause(t *testing.T, scheduler *harness.Scheduler) (resume func()) {
	t.Helper()
	check(t, scheduler.Signal(syscall.SIGSTOP))
	resume = func() {
		if err := scheduler.Signal(syscall.SIGCONT); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(resume)
	return resume
}

// leafOf a node of harness.Leaf.
func leafOf(t *testing.T, node string) string {
	t.Helper()
	object := must(t, func() (*corev1.Node, error) {
		return cluster.Client.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
	})
	return object.Labels[harness.LeafLabel]
}

// inOneLeaf asserts that ranks share a leaf and returns it.
func inOneLeaf(t *testing.T, bound map[int]string) string {
	t.Helper()
	leaves := map[string]bool{}
	for _, node := range bound {
		leaves[leafOf(t, node)] = true
	}
	if len(leaves) != 1 {
		t.Errorf("the ranks are below %d leaves: %v", len(leaves), bound)
	}
	for leaf := range leaves {
		return leaf
	}
	return ""
}

// patchNode is a merge patch of a Node, or of its status.
func patchNode(t *testing.T, name, patch string, subresources ...string) {
	t.Helper()
	_, err := cluster.Client.CoreV1().Nodes().Patch(t.Context(), name, types.StrategicMergePatchType, []byte(patch),
		metav1.PatchOptions{}, subresources...)
	check(t, err)
}

// stays asserts that something holds for as long as a test looks on.
func stays(t *testing.T, what string, holds func() error) {
	t.Helper()
	staysUntil(t, time.Now().Add(settled), what, holds)
}

func staysUntil(t *testing.T, end time.Time, what string, holds func() error) {
	t.Helper()
	for ; time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		if err := holds(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
	}
}
