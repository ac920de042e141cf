package controlplane

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"rankward.io/tests/controlplane/harness"
)

// Seven ranks of one GPU where 3, 3, 2 and 1 are free: packing as 3+3+1 leaves one rank a single
// network port, the planner's 3+2+2 gives every node two at least, on as many nodes.
func unevenCapacities(t *testing.T, pool string) {
	space := namespace(t, pool, nil)
	list := harness.Leaf(pool, "a", 4)
	nodes(t, list)
	for i, free := range []int{3, 3, 2, 1} {
		taken := pod(space, fmt.Sprintf("runs-already-%d", i), map[string]string{"nvidia.com/gpu": strconv.Itoa(8 - free), "rdma/ib": "1"})
		// As the node's agent reports it: the last ones are free.
		taken.Annotations = map[string]string{"rankward.io/assigned-gpus": firstGPUs(8 - free)}
		taken.Spec.NodeSelector = map[string]string{"kubernetes.io/hostname": list[i].Name}
		createPod(t, taken)
		boundNode(t, space, taken.Name)
	}
	allSeen(t)
	gang := harness.Gang{Namespace: space, Name: "seven", Size: 7, Pool: pool,
		Resources: map[string]string{"nvidia.com/gpu": "1", "rdma/ib": "1"}}
	createGang(t, gang)
	shares := map[string]int{}
	for _, node := range gangNodes(t, gang) {
		shares[node]++
	}
	if counts := slices.Sorted(maps.Values(shares)); !slices.Equal(counts, []int{2, 2, 3}) {
		t.Errorf("the nodes have %v ranks (%v), want 3, 2 and 2", counts, shares)
	}
}

// firstGPUs is "0,1,2" for 3.
func firstGPUs(n int) string {
	var indexes []string
	for i := range n {
		indexes = append(indexes, strconv.Itoa(i))
	}
	return strings.Join(indexes, ",")
}

// Ranks follow each other along the nodes.
func ranksInOrder(t *testing.T, pool string) {
	space := namespace(t, pool, nil)
	nodes(t, append(harness.Leaf(pool, "a", 2), harness.Leaf(pool, "b", 2)...))
	gang := harness.Gang{Namespace: space, Name: "halves", Size: 8, Pool: pool,
		Resources: map[string]string{"nvidia.com/gpu": "4", "rdma/ib": "1"}}
	createGang(t, gang)
	bound := gangNodes(t, gang)
	for rank := 0; rank < gang.Size; rank += 2 {
		if bound[rank] != bound[rank+1] {
			t.Errorf("ranks %d and %d are on %s and %s, want one node", rank, rank+1, bound[rank], bound[rank+1])
		}
	}
	for rank := 0; rank < gang.Size; rank += 4 {
		if a, b := leafOf(t, bound[rank]), leafOf(t, bound[rank+3]); a != b {
			t.Errorf("ranks %d and %d are below %s and %s, want one leaf", rank, rank+3, a, b)
		}
	}
}

// Two ranks of half a node where there is one node: the scheduler does not even ask for scores.
func oneCandidate(t *testing.T, pool string) {
	space := namespace(t, pool, nil)
	nodes(t, harness.Leaf(pool, "a", 1))
	gang := harness.Gang{Namespace: space, Name: "pair", Size: 2, Pool: pool,
		Resources: map[string]string{"nvidia.com/gpu": "4", "rdma/ib": "1"}}
	createGang(t, gang)
	gangNodes(t, gang)
}

// A node that the plan would name is not offered, for a reason that only the scheduler knows: a port
// of the host that is taken there.
func fewerCandidatesThanPlanned(t *testing.T, pool string) {
	const port = 29500
	space := namespace(t, pool, nil)
	list := harness.Leaf(pool, "a", 5)
	nodes(t, list)
	// Of equals the planner takes the first names, so this one would be in the plan.
	portTaken(t, space, list[0].Name, port)
	gang := harness.Gang{Namespace: space, Name: "ported", Size: 4, Pool: pool,
		Shape: func(_ int, pod *corev1.Pod) { holdPort(pod, port) }}
	createGang(t, gang)
	for rank, node := range gangNodes(t, gang) {
		if node == list[0].Name {
			t.Errorf("rank %d is on %s, where its port is taken", rank, node)
		}
	}
}

// Another controller has chosen the nodes: they are taken as they are, though others would be
// better, and nothing is nominated.
func pinnedRanks(t *testing.T, pool string) {
	space := namespace(t, pool, nil)
	nodes(t, append(harness.Leaf(pool, "a", 2), harness.Leaf(pool, "b", 2)...))
	history := record(t, space)
	pins := []string{pool + "-a-0", pool + "-b-1"}
	gang := harness.Gang{Namespace: space, Name: "pinned", Size: 2, Pool: pool, Shape: func(rank int, pod *corev1.Pod) {
		pod.Spec.NodeSelector["kubernetes.io/hostname"] = pins[rank]
	}}
	createGang(t, gang)
	for rank, node := range gangNodes(t, gang) {
		if node != pins[rank] {
			t.Errorf("rank %d is on %s, pinned to %s", rank, node, pins[rank])
		}
		names, err := history.Nominations(gang.PodName(rank))
		check(t, err)
		for _, name := range names {
			if name != "" && name != pins[rank] {
				t.Errorf("rank %d was nominated to %s", rank, name)
			}
		}
	}
}

// Verified all the same: a node without RDMA is refused to ranks that need it.
func pinnedRankThatCannotRun(t *testing.T, pool string) {
	space := namespace(t, pool, nil)
	list := harness.Leaf(pool, "a", 2)
	list[1].Annotations = map[string]string{harness.TopologyAnnotation: harness.TopologyReportWithoutNetwork()}
	list[1].Resources = map[string]string{"nvidia.com/gpu": "8"}
	nodes(t, list)
	gang := harness.Gang{Namespace: space, Name: "pinned", Size: 2, Pool: pool,
		Resources: map[string]string{"nvidia.com/gpu": "8"},
		Shape: func(rank int, pod *corev1.Pod) {
			pod.Spec.NodeSelector["kubernetes.io/hostname"] = list[rank].Name
			pod.Annotations["rankward.io/transport"] = "rdma-required"
		}}
	createGang(t, gang)
	message := unschedulable(t, space, gang.PodName(1), func(message string) bool {
		return strings.Contains(message, "1 "+rdmaMissing)
	})
	t.Logf("kube-scheduler %s: %s", cluster.Binaries.Version, message)
}

// Nobody knows how many there will be: each is placed as it comes, near those that stand.
func unknownSize(t *testing.T, pool string) {
	space := namespace(t, pool, nil)
	nodes(t, append(harness.Leaf(pool, "a", 3), harness.Leaf(pool, "b", 3)...))
	// Half a node each, so that the network is what limits them and a leaf away is worth a point.
	gang := harness.Gang{Namespace: space, Name: "open", Pool: pool,
		Resources: map[string]string{"nvidia.com/gpu": "4", "rdma/ib": "1"}}
	bound := map[int]string{}
	for rank := range 3 {
		createRanks(t, gang, rank)
		bound[rank] = gangNodes(t, gang, rank)[rank]
		allSeen(t)
	}
	inOneLeaf(t, bound)
}
