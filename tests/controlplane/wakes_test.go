package controlplane

import (
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

const (
	// Places are held for so long after the gang's last call; no key of the configuration changes it.
	placesAreHeld = 60 * time.Second
	// How long a pod that sleeps may take to be bound once its place is free: at most 500 ms until we
	// look, 1 s between two wakes, and the scheduler's backoff of a pod that was refused once or twice.
	// What is not woken sleeps for five minutes.
	soon = 5 * time.Second
)

// No event of the cluster says that a place in memory came free. These run side by side, since one of
// them waits for a minute.
func TestPlacesThatNobodyTakesWakeWhoWaitsForThem(t *testing.T) {
	installation := installed(t)
	t.Run("gang-deleted", func(t *testing.T) {
		t.Parallel()
		gang, single := heldPlace(t, "held-deleted")
		deleteGang(t, gang)
		start := time.Now()
		within(t, soon, "the place to be taken", func() error { return isBound(t, single) })
		t.Logf("bound %.1f s after the gang was gone", time.Since(start).Seconds())
	})
	t.Run("never-taken", func(t *testing.T) {
		t.Parallel()
		_, single := heldPlace(t, "held-in-vain")
		lastCall := time.Now()
		stuck := stuckGang(t, "stuck")
		// The others are through by then, so that what is counted from there is this.
		staysUntil(t, lastCall.Add(placesAreHeld-10*time.Second), "the place is held", func() error { return isNotBound(t, single) })
		before := wakes(t, installation)
		within(t, 10*time.Second+soon, "the place to be taken", func() error { return isBound(t, single) })
		t.Logf("bound %.1f s after the gang's last call", time.Since(lastCall).Seconds())
		if after := wakes(t, installation); after <= before {
			t.Errorf("woken %v times before and %v times after", before, after)
		}
		message := event(t, stuck.Namespace, stuck.PodName(2), "GangPlaceExpired", func(string) bool { return true })
		t.Log(message)
		if want := "1 of 3 ranks did not come to their places in time"; !strings.Contains(message, want) {
			t.Errorf("the event lacks %q", want)
		}
	})
	t.Run("events", func(t *testing.T) {
		t.Parallel()
		eventsOfGangs(t)
	})
}

// heldPlace makes a gang of which the last rank never comes, and a pod that has to have the place that
// is kept for it.
func heldPlace(t *testing.T, pool string) (harness.Gang, *corev1.Pod) {
	t.Helper()
	space := namespace(t, pool, nil)
	list := harness.Leaf(pool, "a", 3)
	nodes(t, list)
	gang := harness.Gang{Namespace: space, Name: "gang", Size: len(list), Pool: pool}
	createRanks(t, gang, 0, 1)
	taken := map[string]bool{}
	for _, node := range gangNodes(t, gang, 0, 1) {
		taken[node] = true
	}
	single := pod(space, "single", harness.WholeNode())
	for _, node := range list {
		if !taken[node.Name] {
			single.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": node.Name}
		}
	}
	createPod(t, single)
	unschedulable(t, space, single.Name, func(message string) bool {
		return strings.Contains(message, "1 "+reservedForAGang)
	})
	return gang, single
}

// stuckGang makes a gang whose last rank the scheduler refuses everywhere, without asking us.
func stuckGang(t *testing.T, pool string) harness.Gang {
	t.Helper()
	const port = 29502
	space := namespace(t, pool, nil)
	list := harness.Leaf(pool, "a", 3)
	nodes(t, list)
	for _, node := range list {
		portTaken(t, space, node.Name, port)
	}
	gang := harness.Gang{Namespace: space, Name: "gang", Size: len(list), Pool: pool, Shape: func(rank int, pod *corev1.Pod) {
		if rank == 2 {
			holdPort(pod, port)
		}
	}}
	createGang(t, gang)
	gangNodes(t, gang, 0, 1)
	return gang
}

func eventsOfGangs(t *testing.T) {
	const pool = "told"
	space := namespace(t, pool, nil)
	nodes(t, harness.Leaf(pool, "a", 3))
	// Held back, since a gang that the scheduler binds within milliseconds is no news any more when we
	// come to tell of it.
	small := harness.Gang{Namespace: space, Name: "small", Size: 3, Pool: pool, Gated: true}
	createGang(t, small)
	message := event(t, space, small.PodName(0), "GangPlanned", func(string) bool { return true })
	t.Log(message)
	for _, want := range []string{"3 ranks on 3 nodes", "told-a-0: 1", " ms predicted for an all-reduce", "; bottleneck: "} {
		if !strings.Contains(message, want) {
			t.Errorf("GangPlanned lacks %q", want)
		}
	}
	gangNodes(t, small)
	deleteGang(t, small)
	allSeen(t)

	large := harness.Gang{Namespace: space, Name: "large", Size: 4, Pool: pool}
	createGang(t, large)
	message = event(t, space, large.PodName(0), "GangWaiting", func(string) bool { return true })
	t.Log(message)
	for _, want := range []string{noRoomForTheGang, "4 ranks; all nodes together have room for 3"} {
		if !strings.Contains(message, want) {
			t.Errorf("GangWaiting lacks %q", want)
		}
	}
}

func isBound(t *testing.T, asked *corev1.Pod) error {
	pod, err := cluster.Client.CoreV1().Pods(asked.Namespace).Get(t.Context(), asked.Name, metav1.GetOptions{})
	if err == nil && pod.Spec.NodeName == "" {
		err = fmt.Errorf("not bound: %s", describe(pod))
	}
	return err
}

func isNotBound(t *testing.T, asked *corev1.Pod) error {
	pod, err := cluster.Client.CoreV1().Pods(asked.Namespace).Get(t.Context(), asked.Name, metav1.GetOptions{})
	if err == nil && pod.Spec.NodeName != "" {
		err = fmt.Errorf("%s is bound to %s", pod.Name, pod.Spec.NodeName)
	}
	return err
}

func wakes(t *testing.T, installation *harness.Installation) float64 {
	t.Helper()
	return must(t, installation.Rankward.Metrics).Sum("rankward_wakes_total", nil)
}
