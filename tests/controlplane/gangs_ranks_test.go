package controlplane

import (
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

// The place of a rank that is not there yet is kept for it.
func lateRank(t *testing.T, pool string) {
	space := namespace(t, pool, nil)
	list := harness.Leaf(pool, "a", 4)
	nodes(t, list)
	gang := harness.Gang{Namespace: space, Name: "late", Size: 4, Pool: pool}
	createRanks(t, gang, 0, 1, 2)
	bound := gangNodes(t, gang, 0, 1, 2)

	other := harness.Gang{Namespace: space, Name: "other", Pool: pool}.Pod(0)
	other.Annotations = nil
	createPod(t, other)
	unschedulable(t, space, other.Name, func(message string) bool {
		return strings.Contains(message, reservedForAGang)
	})

	createRanks(t, gang, 3)
	late := gangNodes(t, gang, 3)[3]
	for rank, node := range bound {
		if node == late {
			t.Errorf("ranks 3 and %d share %s", rank, node)
		}
	}
	if !slices.ContainsFunc(list, func(n harness.Node) bool { return n.Name == late }) {
		t.Errorf("rank 3 is on %s", late)
	}
}

// A rank that is made anew, or whose node goes away, comes back to the others; one too many is
// placed by itself.
func replacedAndExtraRanks(t *testing.T, pool string) {
	space := namespace(t, pool, nil)
	nodes(t, append(harness.Leaf(pool, "a", 5), harness.Leaf(pool, "b", 5)...))
	gang := harness.Gang{Namespace: space, Name: "team", Size: 4, Pool: pool}
	createGang(t, gang)
	bound := gangNodes(t, gang)
	leaf := inOneLeaf(t, bound)

	deletePods(t, space, gang.PodName(1))
	createRanks(t, gang, 1)
	bound = gangNodes(t, gang)
	if inOneLeaf(t, bound) != leaf {
		t.Errorf("after rank 1 was replaced the gang is elsewhere: %v", bound)
	}

	gone := bound[2]
	check(t, cluster.Client.CoreV1().Nodes().Delete(t.Context(), gone, metav1.DeleteOptions{}))
	deletePods(t, space, gang.PodName(2))
	createRanks(t, gang, 2)
	bound = gangNodes(t, gang)
	if inOneLeaf(t, bound) != leaf {
		t.Errorf("after the node of rank 2 went away the gang is elsewhere: %v", bound)
	}
	if bound[2] == gone {
		t.Errorf("rank 2 is on %s, which is deleted", gone)
	}

	createRanks(t, gang, 4)
	gangNodes(t, gang, 4)
}
