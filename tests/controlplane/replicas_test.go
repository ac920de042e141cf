package controlplane

import (
	"context"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"rankward.io/tests/controlplane/harness"
)

// Shorter than by default, so that a test need not wait half a minute for the other scheduler.
var quickElection = map[string]any{"leaderElect": true, "leaseDuration": "4s", "renewDeadline": "3s", "retryPeriod": "1s"}

const (
	// The leaseDuration of quickElection, and its retryPeriod with what client-go's election adds to it at
	// most (JitterFactor 1.2): a Lease whose holder is gone is somebody else's after that.
	takeover = 4*time.Second + 2200*time.Millisecond
	// kube-scheduler's podMaxBackoffSeconds.
	longestBackoff = 10 * time.Second
)

// Two control-plane nodes. Whatever is struck in the middle of a gang, and however: the gang is
// completed where it was planned, no node is given twice, and no pod fails for longer than one backoff
// beyond the time in which there is nobody to place it.
func TestGangsOutliveWhatRunsBesideThem(t *testing.T) {
	onSecondCluster(t)
	replicas := []*harness.Replica{
		replica(t, "one", harness.ReplicaOptions{LeaderElection: quickElection, Verbosity: 2}),
		replica(t, "two", harness.ReplicaOptions{LeaderElection: quickElection, Verbosity: 2}),
	}
	for _, victim := range []struct {
		name string
		pick func(t *testing.T) *harness.Process
	}{
		{"scheduler", func(t *testing.T) *harness.Process { return active(t, replicas).Scheduler.Process }},
		{"rankward", func(t *testing.T) *harness.Process { return active(t, replicas).Rankward.Process }},
		{"lease-holder", func(t *testing.T) *harness.Process { return writer(t, replicas).Rankward.Process }},
	} {
		for _, how := range []struct {
			name   string
			signal syscall.Signal
		}{{"kill", syscall.SIGKILL}, {"term", syscall.SIGTERM}, {"stop", syscall.SIGSTOP}} {
			t.Run(victim.name+"-"+how.name, func(t *testing.T) {
				strikeInTheMiddle(t, replicas, victim.pick, how.signal, "struck-"+victim.name+"-"+how.name)
			})
		}
	}
}

func strikeInTheMiddle(t *testing.T, replicas []*harness.Replica, pick func(*testing.T) *harness.Process, signal syscall.Signal, pool string) {
	const size, first = 12, 5
	space := namespace(t, pool, nil)
	nodes(t, append(harness.Leaf(pool, "a", size), harness.Leaf(pool, "b", size)...))
	history := record(t, space)
	gang := harness.Gang{Namespace: space, Name: "gang", Size: size, Pool: pool}
	for rank := range first {
		createRanks(t, gang, rank)
	}
	gangNodes(t, gang, 0)

	victim, leads := pick(t), active(t, replicas)
	scheduler, beside := leads.Scheduler.Process, leads.Rankward.Process
	check(t, victim.Signal(signal))
	start := time.Now()
	for rank := first; rank < size; rank++ {
		createRanks(t, gang, rank)
	}
	// As a kubelet would; what was only stopped goes on after a while.
	if signal == syscall.SIGSTOP {
		time.Sleep(6 * time.Second)
		check(t, victim.Signal(syscall.SIGCONT))
	} else {
		ended(t, victim)
		startAll(t, replicas)
	}
	back := time.Since(start)
	bound := gangNodes(t, gang)
	t.Logf("whole %.1f s after %s got %s, which was back after %.1f s", time.Since(start).Seconds(), victim.Name, signal, back.Seconds())
	// Pods wait for the other scheduler to take the Lease, or for the Rankward of the one that has it. The
	// Rankward of the scheduler that stands by is missed by none.
	var outage time.Duration
	switch victim {
	case scheduler:
		outage = takeover
	case beside:
		outage = back
	}
	boundWithin(t, history, start, outage+longestBackoff)
	inOneLeaf(t, bound)
	noNodeTwice(t, history)
	// A scheduler that was stopped finds its Lease gone, and ends.
	if signal == syscall.SIGSTOP && strings.HasPrefix(victim.Name, "kube-scheduler") {
		select {
		case <-victim.Exited():
		case <-time.After(15 * time.Second):
			t.Errorf("%s goes on without its Lease", victim.Name)
		}
	}
	startAll(t, replicas)
}

// boundWithin asserts that no pod waited for longer, from when it was made or from the strike.
func boundWithin(t *testing.T, history *harness.History, strike time.Time, most time.Duration) {
	t.Helper()
	changes, err := history.Changes()
	check(t, err)
	since, bound, longest := map[string]time.Time{}, map[string]bool{}, time.Duration(0)
	for _, change := range changes {
		name := change.Pod.Name
		if _, known := since[name]; !known {
			since[name] = change.Seen
			if change.Seen.Before(strike) {
				since[name] = strike
			}
		}
		if change.Pod.Spec.NodeName == "" || bound[name] {
			continue
		}
		bound[name] = true
		waited := change.Seen.Sub(since[name])
		if waited > most {
			t.Errorf("%s waited for %.1f s, want at most %.1f s", name, waited.Seconds(), most.Seconds())
		}
		longest = max(longest, waited)
	}
	t.Logf("no pod waited for longer than %.1f s of %.1f s", longest.Seconds(), most.Seconds())
}

func ended(t *testing.T, process *harness.Process) {
	t.Helper()
	select {
	case <-process.Exited():
	case <-time.After(40 * time.Second):
		t.Fatalf("%s goes on", process.Name)
	}
}

func startAll(t *testing.T, replicas []*harness.Replica) {
	t.Helper()
	for _, replica := range replicas {
		check(t, replica.Start(context.Background()))
	}
}

// noNodeTwice asserts that at no time two pods were bound to one node; each takes all GPUs.
func noNodeTwice(t *testing.T, history *harness.History) {
	t.Helper()
	changes, err := history.Changes()
	check(t, err)
	holder := map[string]string{}
	for _, change := range changes {
		node := change.Pod.Spec.NodeName
		if node == "" {
			continue
		}
		if change.Deleted {
			delete(holder, node)
			continue
		}
		if other := holder[node]; other != "" && other != change.Pod.Name {
			t.Errorf("%s was given to %s and to %s", node, other, change.Pod.Name)
		}
		holder[node] = change.Pod.Name
	}
}

// active is the replica whose scheduler holds the Lease.
func active(t *testing.T, replicas []*harness.Replica) *harness.Replica {
	t.Helper()
	var found *harness.Replica
	eventually(t, "an active scheduler", func() error {
		for _, replica := range replicas {
			if replica.Scheduler.Leads(t.Context()) {
				found = replica
				return nil
			}
		}
		return fmt.Errorf("none of ours holds the Lease")
	})
	return found
}

// writer is the replica whose Rankward holds its Lease.
func writer(t *testing.T, replicas []*harness.Replica) *harness.Replica {
	t.Helper()
	var found *harness.Replica
	eventually(t, "a Rankward that writes", func() error {
		for _, replica := range replicas {
			_, metrics, err := replica.Rankward.Status("/metrics")
			if err != nil {
				return err
			}
			if strings.Contains(metrics, "\nrankward_leader 1\n") {
				found = replica
				return nil
			}
		}
		return fmt.Errorf("none of ours holds the Lease")
	})
	return found
}

// The holder of the Lease goes while it nominates and lifts gates: the next one adopts what it finds
// and finishes it.
func TestTheNextWriterFinishesAGatedGang(t *testing.T) {
	onSecondCluster(t)
	replicas := []*harness.Replica{
		replica(t, "one", harness.ReplicaOptions{LeaderElection: quickElection, Verbosity: 2}),
		replica(t, "two", harness.ReplicaOptions{LeaderElection: quickElection, Verbosity: 2}),
	}
	const size = 64
	for _, how := range []struct {
		name   string
		signal syscall.Signal
	}{{"kill", syscall.SIGKILL}, {"term", syscall.SIGTERM}, {"stop", syscall.SIGSTOP}} {
		t.Run(how.name, func(t *testing.T) {
			pool := "writer-" + how.name
			space := namespace(t, pool, nil)
			nodes(t, append(harness.Leaf(pool, "a", size/8), harness.Leaf(pool, "b", size/8)...))
			history := record(t, space)
			gang := harness.Gang{Namespace: space, Name: "gang", Size: size, Pool: pool, Gated: true,
				Resources: map[string]string{"nvidia.com/gpu": "1", "rdma/ib": "1"}}
			victim := writer(t, replicas).Rankward.Process
			createGang(t, gang)
			within(t, patience, "the first nomination", func() error {
				if n := everNominated(t, history); len(n) == 0 {
					return fmt.Errorf("none")
				}
				return nil
			})
			check(t, victim.Signal(how.signal))
			start := time.Now()
			t.Logf("%d of %d were nominated when %s got %s", len(everNominated(t, history)), size, victim.Name, how.signal)
			// Its scheduler waits for it; as a kubelet would.
			if how.signal == syscall.SIGSTOP {
				time.Sleep(20 * time.Second) // past the Lease
				check(t, victim.Signal(syscall.SIGCONT))
			} else {
				ended(t, victim)
				startAll(t, replicas)
			}
			bound := gangNodes(t, gang)
			t.Logf("whole %.1f s later", time.Since(start).Seconds())
			inOneLeaf(t, bound)
			counts := map[string]int{}
			for _, node := range bound {
				counts[node]++
			}
			for node, n := range counts {
				if n > 8 {
					t.Errorf("%s has %d ranks", node, n)
				}
			}
			for name, node := range everNominated(t, history) {
				for rank, boundTo := range bound {
					if gang.PodName(rank) == name && boundTo != node {
						t.Errorf("%s was first nominated to %s and is on %s", name, node, boundTo)
					}
				}
			}
			startAll(t, replicas)
		})
	}
}

// everNominated is each pod's first nomination.
func everNominated(t *testing.T, history *harness.History) map[string]string {
	t.Helper()
	changes, err := history.Changes()
	check(t, err)
	first := map[string]string{}
	for _, change := range changes {
		node := change.Pod.Status.NominatedNodeName
		if _, known := first[change.Pod.Name]; node != "" && !known {
			first[change.Pod.Name] = node
		}
	}
	return first
}
