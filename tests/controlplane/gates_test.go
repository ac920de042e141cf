package controlplane

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"rankward.io/tests/controlplane/harness"
)

const othersGate = "kueue.x-k8s.io/admission"

func gatesOf(pod *corev1.Pod) []string {
	var names []string
	for _, gate := range pod.Spec.SchedulingGates {
		names = append(names, gate.Name)
	}
	return names
}

// untouched asserts that every pod of a gang keeps its gates and has no nomination.
func untouched(t *testing.T, gang harness.Gang) {
	t.Helper()
	stays(t, "gang "+gang.Name, func() error {
		pods, err := podsOf(t.Context(), gang)
		for _, pod := range pods {
			if !slices.Contains(gatesOf(pod), harness.GangGate) || pod.Status.NominatedNodeName != "" {
				return fmt.Errorf("%s: %s", pod.Name, describe(pod))
			}
		}
		return err
	})
}

// Shorter than by default, and shorter than a test looks on.
const gateMaxHold = 3 * time.Second

// Side by side, as each of them looks on for a while.
func TestGatedGangs(t *testing.T) {
	inBothModes(t, map[string]any{"gateMaxHold": "3s"}, func(t *testing.T, mode string) {
		for _, test := range []struct {
			name string
			run  func(t *testing.T, mode string)
		}{
			{"no-room", gatesAreLiftedWhenNoRoomComes}, // the longest
			{"in-rank-order", gatesAreLiftedInRankOrder},
			{"foreign-gate", foreignGateHoldsTheWholeGang},
		} {
			t.Run(test.name, func(t *testing.T) {
				t.Parallel()
				test.run(t, mode)
			})
		}
	})
}

// Until all ranks are there nothing happens; then all are nominated, and the gates are lifted in
// rank order, so that the scheduler meets them in that order. Without nomination they are lifted all
// the same.
func gatesAreLiftedInRankOrder(t *testing.T, mode string) {
	pool := "gated-" + mode
	space := namespace(t, pool, nil)
	nodes(t, append(harness.Leaf(pool, "a", 4), harness.Leaf(pool, "b", 4)...))
	history := record(t, space)
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 4, Pool: pool, Gated: true}
	createRanks(t, gang, 2, 0, 3)
	untouched(t, gang)
	createRanks(t, gang, 1)
	bound := gangNodes(t, gang)
	inOneLeaf(t, bound)

	changes, err := history.Changes()
	check(t, err)
	toNominate := map[string]int{"nominated": gang.Size}[mode]
	var lifted []string
	nominatedTo := map[string]string{}
	for _, change := range changes {
		pod := change.Pod
		if node := pod.Status.NominatedNodeName; node != "" && pod.Spec.NodeName == "" {
			nominatedTo[pod.Name] = node
		}
		if len(pod.Spec.SchedulingGates) > 0 || slices.Contains(lifted, pod.Name) {
			continue
		}
		lifted = append(lifted, pod.Name)
		if len(nominatedTo) != toNominate {
			t.Errorf("the gate of %s was lifted when %d were nominated, want %d", pod.Name, len(nominatedTo), toNominate)
		}
	}
	if want := []string{"gang-0", "gang-1", "gang-2", "gang-3"}; !slices.Equal(lifted, want) {
		t.Errorf("gates were lifted in the order %v", lifted)
	}
	for rank, node := range bound {
		if name := nominatedTo[gang.PodName(rank)]; name != node && toNominate > 0 {
			t.Errorf("rank %d: nominated to %s, bound to %s", rank, name, node)
		}
	}
}

// An autoscaler does not see gated pods: for lack of room they are let go, and the scheduler says
// that they do not fit. Room that comes is taken by the whole gang.
func gatesAreLiftedWhenNoRoomComes(t *testing.T, mode string) {
	pool := "no-room-" + mode
	space := namespace(t, pool, nil)
	nodes(t, harness.Leaf(pool, "a", 3))
	history := record(t, space)
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 4, Pool: pool, Gated: true}
	createRanks(t, gang, 0, 1, 2)
	// The time runs from when all ranks are there.
	untouched(t, gang)
	createRanks(t, gang, 3)
	complete := time.Now()
	for rank := range gang.Size {
		message := unschedulable(t, space, gang.PodName(rank), func(message string) bool {
			return strings.Contains(message, noRoomForTheGang)
		})
		if rank == 0 {
			t.Logf("kube-scheduler %s: %s", cluster.Binaries.Version, message)
		}
	}
	changes, err := history.Changes()
	check(t, err)
	for _, change := range changes {
		if change.Pod.Status.NominatedNodeName != "" {
			t.Errorf("%s was nominated to %s", change.Pod.Name, change.Pod.Status.NominatedNodeName)
		}
		if len(change.Pod.Spec.SchedulingGates) == 0 && change.Seen.Before(complete.Add(gateMaxHold-time.Second)) {
			t.Errorf("the gate of %s was lifted %s after the gang was complete", change.Pod.Name, change.Seen.Sub(complete))
		}
		if change.Pod.Spec.NodeName != "" {
			t.Errorf("%s was bound to %s", change.Pod.Name, change.Pod.Spec.NodeName)
		}
	}
	nodes(t, harness.Leaf(pool, "b", 1))
	gangNodes(t, gang)
}

// While any rank carries a gate that is not ours the gang is another's: not planned, not nominated,
// not let go.
func foreignGateHoldsTheWholeGang(t *testing.T, mode string) {
	pool := "foreign-gate-" + mode
	space := namespace(t, pool, nil)
	nodes(t, harness.Leaf(pool, "a", 4))
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 3, Pool: pool, Gated: true,
		Shape: func(rank int, pod *corev1.Pod) {
			if rank == 1 {
				pod.Spec.SchedulingGates = append(pod.Spec.SchedulingGates, corev1.PodSchedulingGate{Name: othersGate})
			}
		}}
	createGang(t, gang)
	untouched(t, gang)
	patch := fmt.Sprintf(`{"spec":{"schedulingGates":[{"$patch":"delete","name":%q}]}}`, othersGate)
	_, err := cluster.Client.CoreV1().Pods(space).Patch(t.Context(), gang.PodName(1), types.StrategicMergePatchType,
		[]byte(patch), metav1.PatchOptions{})
	check(t, err)
	gangNodes(t, gang)
}

// With the server down gates stay, until a person lifts them.
func TestGatesAreLiftedByHand(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "by-hand", nil)
	nodes(t, harness.Leaf("by-hand", "a", 2))
	// Made while the webhook answers; not complete, so nobody lifts the gate.
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 2, Pool: "by-hand", Gated: true}
	createRanks(t, gang, 0)
	other := harness.Gang{Namespace: space, Name: "other", Size: 2, Pool: "by-hand", Gated: true}
	createRanks(t, other, 0)
	check(t, installation.Stop())
	t.Cleanup(func() {
		if err := installation.Start(context.Background()); err != nil {
			t.Error(err)
		}
	})
	untouched(t, gang)
	kubeconfig := must(t, cluster.AdminKubeconfig)
	out := must(t, func() (harness.Output, error) {
		return harness.RunRankward(t.Context(), "gates", "lift", "--kubeconfig", kubeconfig, "--namespace", space, gang.Name)
	})
	if out.ExitCode != 0 {
		t.Fatalf("exit code %d: %s", out.ExitCode, out.Stderr)
	}
	t.Logf("%s", out.Stdout)
	for name, wanted := range map[string]int{gang.PodName(0): 0, other.PodName(0): 1} {
		pod := must(t, func() (*corev1.Pod, error) {
			return cluster.Client.CoreV1().Pods(space).Get(t.Context(), name, metav1.GetOptions{})
		})
		if n := len(pod.Spec.SchedulingGates); n != wanted {
			t.Errorf("%s has %d gates, want %d", name, n, wanted)
		}
	}
}
