package controlplane

import (
	"fmt"
	"testing"
	"time"

	"rankward.io/tests/controlplane/harness"
)

// Two gangs of eight whole nodes race for eight nodes: one runs whole, the other waits whole, and
// gets its turn as soon as the first is gone, not with the scheduler's flush every five minutes.
func racingGangs(t *testing.T, pool string) {
	const size = 8
	space := namespace(t, pool, nil)
	nodes(t, harness.Leaf(pool, "a", size))
	history := record(t, space)
	gangs := []harness.Gang{
		{Namespace: space, Name: "red", Size: size, Pool: pool},
		{Namespace: space, Name: "blue", Size: size, Pool: pool},
	}
	for rank := range size {
		for _, gang := range gangs {
			createRanks(t, gang, rank)
		}
	}
	var running, waiting harness.Gang
	within(t, long, "one gang to be whole", func() error {
		for i, gang := range gangs {
			if boundCount(t, gang) == size {
				running, waiting = gang, gangs[1-i]
				return nil
			}
		}
		return fmt.Errorf("%d of the one, %d of the other are bound", boundCount(t, gangs[0]), boundCount(t, gangs[1]))
	})
	unschedulable(t, space, waiting.PodName(0), func(string) bool { return true })
	stays(t, "the waiting gang", func() error {
		if n := boundCount(t, waiting); n != 0 {
			return fmt.Errorf("%d of its ranks are bound", n)
		}
		return nil
	})

	deleteGang(t, running)
	start := time.Now()
	within(t, soon, "the waiting gang to run", func() error {
		if n := boundCount(t, waiting); n != size {
			return fmt.Errorf("%d of %d bound", n, size)
		}
		return nil
	})
	t.Logf("gang %s ran whole %.1f s after gang %s was gone", waiting.Name, time.Since(start).Seconds(), running.Name)

	bindings, err := history.Bindings()
	check(t, err)
	for i, change := range bindings {
		want := running.Name
		if i >= size {
			want = waiting.Name
		}
		if change.Pod.Labels["gang"] != want {
			t.Errorf("binding %d is of %s, want one of gang %s", i, change.Pod.Name, want)
		}
	}
}
