package controlplane

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"rankward.io/tests/controlplane/harness"
)

// How many ranks a gang has its owner tells, on a watch of its own. Pods that the scheduler asks
// about before that wait for it, instead of starting a gang that the others cannot join.
func TestRanksWaitForTheOwnerThatTellsTheirNumber(t *testing.T) {
	installation := installed(t)
	kind := frameworks[slices.IndexFunc(frameworks, func(f framework) bool { return f.name == "raycluster" })]
	kind.define(t)
	check(t, installation.Restart(t.Context(), nil))
	eventually(t, "RayClusters to be watched", func() error {
		samples, err := installation.Rankward.Metrics()
		if err == nil && samples.Sum("rankward_gang_source_watched", map[string]string{"resource": "rayclusters.ray.io"}) != 1 {
			err = fmt.Errorf("not watched yet")
		}
		return err
	})

	pool := "late-owner"
	m := made{namespace(t, pool, nil), pool}
	nodes(t, append(harness.Leaf(pool, "a", controllerRanks), harness.Leaf(pool, "b", controllerRanks)...))
	pods := kind.pods(m, "")
	ranks := slices.DeleteFunc(pods, func(pod *corev1.Pod) bool { return len(pod.Spec.Containers[0].Resources.Requests) == 0 })
	createPod(t, ranks[0])
	eventually(t, "the first rank to wait for its RayCluster", func() error {
		list, err := ranksOf(t.Context(), m.space)
		if err != nil {
			return err
		}
		if !strings.Contains(conditions(&list[0]), "which tells how many pods it has, has not been seen yet") {
			return fmt.Errorf("node %q, %s", list[0].Spec.NodeName, conditions(&list[0]))
		}
		return nil
	})

	kind.pods = func(made, string) []*corev1.Pod { return ranks[1:] }
	kind.create(t, m)
	bound := map[int]string{}
	eventually(t, "the gang to be bound", func() error {
		list, err := ranksOf(t.Context(), m.space)
		if err != nil {
			return err
		}
		for i := range list {
			if bound[i] = list[i].Spec.NodeName; bound[i] == "" {
				return fmt.Errorf("%s: %s", list[i].Name, describe(&list[i]))
			}
		}
		if len(list) != controllerRanks {
			return fmt.Errorf("%d ranks", len(list))
		}
		return nil
	})
	inOneLeaf(t, bound)
}
