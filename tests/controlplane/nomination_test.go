package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"rankward.io/tests/controlplane/harness"
)

// How long a dead node's name may stand in a pod.
const nameOfADeadNode = 5 * time.Second

// nominatedBy is the manager that wrote a pod's nomination, "" for none.
func nominatedBy(pod *corev1.Pod) string {
	for _, entry := range pod.ManagedFields {
		if entry.Subresource == "status" && entry.FieldsV1 != nil && strings.Contains(string(entry.FieldsV1.Raw), "f:nominatedNodeName") {
			return entry.Manager
		}
	}
	return ""
}

// nominate writes a nomination as another controller would, "" takes it away.
func nominate(t *testing.T, namespace, name, node string) {
	t.Helper()
	var value any
	if node != "" {
		value = node
	}
	patch := must(t, func() ([]byte, error) {
		return json.Marshal(map[string]any{"status": map[string]any{"nominatedNodeName": value}})
	})
	_, err := cluster.Client.CoreV1().Pods(namespace).Patch(t.Context(), name, types.MergePatchType, patch,
		metav1.PatchOptions{FieldManager: "another-controller"}, "status")
	check(t, err)
}

func boundAsNominated(t *testing.T, gang harness.Gang, names map[int]string) {
	t.Helper()
	if bound := gangNodes(t, gang); !maps.Equal(bound, names) {
		t.Errorf("nominated to %v, bound to %v", names, bound)
	}
}

// withoutScheduler ends the scheduler; start runs another, which lists pods and nominations before it
// schedules anything.
func withoutScheduler(t *testing.T, installation *harness.Installation) (start func()) {
	t.Helper()
	installation.Scheduler.Stop(10 * time.Second) // its status is 1 without leader election
	start = func() {
		if !installation.Scheduler.Running() {
			if err := installation.StartScheduler(context.Background()); err != nil {
				t.Error(err)
			}
		}
	}
	t.Cleanup(start)
	return start
}

func TestRanksLandWhereTheyAreNominated(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "nominated", nil)
	nodes(t, append(harness.Leaf("nominated", "a", 4), harness.Leaf("nominated", "b", 4)...))
	start := withoutScheduler(t, installation)
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 4, Pool: "nominated"}
	createRanks(t, gang, 0, 1, 2)
	stays(t, "a gang that is not complete", func() error {
		pods, err := podsOf(t.Context(), gang)
		for _, pod := range pods {
			if pod.Status.NominatedNodeName != "" {
				return fmt.Errorf("%s is nominated to %s", pod.Name, pod.Status.NominatedNodeName)
			}
		}
		return err
	})
	createRanks(t, gang, 3)
	names := nominated(t, gang)
	inOneLeaf(t, names)
	for _, pod := range must(t, func() (map[string]*corev1.Pod, error) { return podsOf(t.Context(), gang) }) {
		if by := nominatedBy(pod); by != "rankward" {
			t.Errorf("%s was nominated by %q", pod.Name, by)
		}
	}
	start()
	boundAsNominated(t, gang, names)
	// The nominated node is tried alone, and what is alone is not scored.
	for rank := range gang.Size {
		if n := len(installation.Rankward.Decisions(space+"/"+gang.PodName(rank), "prioritize")); n != 0 {
			t.Errorf("rank %d: prioritize was called %d times", rank, n)
		}
	}
}

// Within one scheduler a nominated place is kept from others of equal priority, those without GPUs
// too, whoever's turn comes first.
func TestNominatedPlacesAreKeptFromOtherPods(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "kept", nil)
	nodes(t, harness.Leaf("kept", "a", 2))
	start := withoutScheduler(t, installation)
	others := []*corev1.Pod{
		pod(space, "a-gpu", map[string]string{"nvidia.com/gpu": "8"}),
		pod(space, "a-plain", map[string]string{"cpu": "32"}),
	}
	for _, other := range others {
		other.Spec.NodeSelector = map[string]string{harness.PoolLabel: "kept"}
		createPod(t, other)
	}
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 2, Pool: "kept", Shape: func(_ int, pod *corev1.Pod) {
		pod.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("60")
	}}
	createGang(t, gang)
	names := nominated(t, gang)
	start()
	boundAsNominated(t, gang, names)
	for i, resource := range []string{"nvidia.com/gpu", "cpu"} {
		unschedulable(t, space, others[i].Name, func(message string) bool {
			return strings.Contains(message, "2 Insufficient "+resource)
		})
	}
	var order []string
	for _, line := range harness.LogLines(installation.Scheduler.Log(), "Attempting to schedule pod", "pod=\""+space+"/") {
		if name := strings.TrimPrefix(harness.LogField(line, "pod"), space+"/"); !slices.Contains(order, name) {
			order = append(order, name)
		}
	}
	t.Logf("the scheduler tried %v", order)
}

// A port of the host is something that only the scheduler looks at.
func holdPort(pod *corev1.Pod, port int32) *corev1.Pod {
	pod.Spec.Containers[0].Ports = []corev1.ContainerPort{{ContainerPort: port, HostPort: port}}
	return pod
}

// portTaken makes a pod that holds a port of a node.
func portTaken(t *testing.T, namespace, node string, port int32) *corev1.Pod {
	t.Helper()
	taken := holdPort(pod(namespace, "holds-the-port-of-"+node, nil), port)
	taken.Spec.NodeName = node
	return createPod(t, taken)
}

// kube-scheduler clears the nomination of a pod that it could not place. While the plan stands it is
// made again.
func TestClearedNominationIsMadeAgain(t *testing.T) {
	const port = 29500
	installation := installed(t)
	space := namespace(t, "renewed", nil)
	list := harness.Leaf("renewed", "a", 4)
	nodes(t, list)
	history := record(t, space)
	start := withoutScheduler(t, installation)
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 3, Pool: "renewed", Shape: func(rank int, pod *corev1.Pod) {
		if rank == 0 {
			holdPort(pod, port)
		}
	}}
	createGang(t, gang)
	names := nominated(t, gang)
	holders := map[string]*corev1.Pod{}
	for _, node := range list {
		holders[node.Name] = portTaken(t, space, node.Name, port)
	}
	start()
	want := []string{"", names[0], "", names[0]}
	within(t, patience, "the nomination to be cleared and made again", func() error {
		seen, err := history.Nominations(gang.PodName(0))
		if err == nil && (len(seen) < len(want) || !slices.Equal(seen[:len(want)], want)) {
			err = fmt.Errorf("so far %q", seen)
		}
		return err
	})
	deletePods(t, space, holders[names[0]].Name)
	boundAsNominated(t, gang, names)
}

// The scheduler refuses a nominated node for what only it knows: the gang is planned anew without.
func TestRejectedNominatedNodeLeadsToANewPlan(t *testing.T) {
	const port = 29501
	installation := installed(t)
	space := namespace(t, "rejected", nil)
	nodes(t, append(harness.Leaf("rejected", "a", 4), harness.Leaf("rejected", "b", 4)...))
	start := withoutScheduler(t, installation)
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 4, Pool: "rejected",
		Shape: func(_ int, pod *corev1.Pod) { holdPort(pod, port) }}
	createGang(t, gang)
	names := nominated(t, gang)
	portTaken(t, space, names[0], port)
	start()
	for rank, node := range gangNodes(t, gang) {
		if node == names[0] {
			t.Errorf("rank %d is on %s, where its port is taken", rank, node)
		}
	}
}

// KEP-5278: the nomination of a pod may be another's.
func TestForeignNominationIsLeftAlone(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "foreign", nil)
	nodes(t, append(harness.Leaf("foreign", "a", 3), harness.Leaf("foreign", "b", 1)...))
	history := record(t, space)
	resume := pause(t, installation.Scheduler)
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 3, Pool: "foreign"}
	createRanks(t, gang, 0, 1)
	const theirs = "foreign-b-0"
	nominate(t, space, gang.PodName(1), theirs)
	createRanks(t, gang, 2)
	nominated(t, gang)
	stays(t, "the nomination of rank 1", func() error {
		seen, err := history.Nominations(gang.PodName(1))
		if err == nil && !slices.Equal(seen, []string{"", theirs}) {
			err = fmt.Errorf("it went through %q", seen)
		}
		return err
	})
	resume()
	gangNodes(t, gang)
}

// A nomination to a node that is gone would stand for ever in a pod that nobody tries to place.
func TestNoPodKeepsTheNameOfADeadNode(t *testing.T) {
	installation := installed(t)
	for _, test := range []struct {
		name   string
		spare  int // nodes beyond those that the gang needs
		strike func(t *testing.T, node string)
	}{
		{"deleted", 1, func(t *testing.T, node string) {
			check(t, cluster.Client.CoreV1().Nodes().Delete(t.Context(), node, metav1.DeleteOptions{}))
		}},
		{"deleted-no-spare", 0, func(t *testing.T, node string) {
			check(t, cluster.Client.CoreV1().Nodes().Delete(t.Context(), node, metav1.DeleteOptions{}))
		}},
		{"not-ready", 1, notReady},
		{"not-ready-no-spare", 0, notReady},
	} {
		t.Run(test.name, func(t *testing.T) {
			const size = 3
			pool := "dead-" + test.name
			space := namespace(t, pool, nil)
			nodes(t, harness.Leaf(pool, "a", size+test.spare))
			resume := pause(t, installation.Scheduler)
			gang := harness.Gang{Namespace: space, Name: "gang", Size: size, Pool: pool}
			createGang(t, gang)
			dead := nominated(t, gang)[1]
			start := time.Now()
			test.strike(t, dead)
			within(t, nameOfADeadNode, "the name of "+dead+" to be gone", func() error {
				pods, err := podsOf(t.Context(), gang)
				for _, pod := range pods {
					if pod.Status.NominatedNodeName == dead {
						return fmt.Errorf("it stands in %s", pod.Name)
					}
				}
				return err
			})
			t.Logf("gone after %.1f s", time.Since(start).Seconds())
			if test.spare == 0 {
				within(t, patience, "all nominations to be gone", func() error {
					pods, err := podsOf(t.Context(), gang)
					for _, pod := range pods {
						if name := pod.Status.NominatedNodeName; name != "" {
							return fmt.Errorf("%s is nominated to %s", pod.Name, name)
						}
					}
					return err
				})
				return
			}
			nominated(t, gang)
			resume()
			for rank, node := range gangNodes(t, gang) {
				if node == dead {
					t.Errorf("rank %d is on %s", rank, node)
				}
			}
		})
	}
}

func notReady(t *testing.T, node string) {
	t.Helper()
	patchNode(t, node, `{"status":{"conditions":[{"type":"Ready","status":"False","reason":"KubeletNotReady","message":"for the test"}]}}`, "status")
	// As the node lifecycle controller, which does not run here, would.
	patchNode(t, node, `{"spec":{"taints":[{"key":"node.kubernetes.io/not-ready","effect":"NoSchedule"}]}}`)
}

func TestWithNominationOffNothingIsNominated(t *testing.T) {
	installedWith(t, map[string]any{"nominate": false})
	space := namespace(t, "unnominated", nil)
	nodes(t, harness.Leaf("unnominated", "a", 3))
	history := record(t, space)
	gang := harness.Gang{Namespace: space, Name: "gang", Size: 3, Pool: "unnominated", Gated: true}
	createGang(t, gang)
	gangNodes(t, gang)
	for rank := range gang.Size {
		seen, err := history.Nominations(gang.PodName(rank))
		check(t, err)
		if !slices.Equal(seen, []string{""}) {
			t.Errorf("rank %d was nominated: %q", rank, seen)
		}
	}
}
