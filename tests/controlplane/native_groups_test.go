package controlplane

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	schedulingv1beta1 "k8s.io/api/scheduling/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

const (
	groupSize = 4
	groupRuns = 20
	// Without nomination; each takes a second.
	unnominatedRuns = 5
	// One rack in three is the near one: that many all in it would be chance once in 59,000.
	aloneRuns = 10
)

// Where the API has pod groups, the scheduler simulates rack after rack; ours is the rack that the
// gang was planned into, every time. Elsewhere the API says that it has none.
func TestNativeGroupLandsInThePlannedRack(t *testing.T) {
	if !hasNativeGroups() {
		if served := podGroupVersions(t); len(served) != 0 {
			t.Errorf("Kubernetes %s serves podgroups in %v: it has to be tested too", cluster.Binaries.Version, served)
		}
		return
	}
	onSecondCluster(t)
	if served := podGroupVersions(t); !slices.Contains(served, "scheduling.k8s.io/v1beta1") {
		t.Fatalf("podgroups are served in %v", served)
	}
	const pool = "groups"
	space := namespace(t, pool, nil)
	// To the scheduler one rack is like the other. We see that in two of them the GPUs are far from
	// the network.
	list := harness.Leaf(pool, "near", groupSize)
	for _, leaf := range []string{"far1", "far2"} {
		far := harness.Leaf(pool, leaf, groupSize)
		for i := range far {
			far[i].Annotations = map[string]string{harness.TopologyAnnotation: harness.TopologyReport(false)}
		}
		list = append(list, far...)
	}
	nodes(t, list)

	scheduler(t, harness.SchedulerOptions{Name: "kube-scheduler-groups-alone", FeatureGates: groupGates,
		Configuration: harness.PlainConfiguration("alone", 100)})
	elsewhere := 0
	for run := range aloneRuns {
		if rack := podGroup(t, space, pool, fmt.Sprintf("alone-%d", run), "alone"); rack != pool+"-leaf-near" {
			elsewhere++
		}
	}
	t.Logf("the scheduler alone chose another rack %d times out of %d", elsewhere, aloneRuns)
	if elsewhere == 0 {
		t.Errorf("the scheduler alone always chooses the near rack too: this test says nothing")
	}
	for _, mode := range modes {
		runs := map[bool]int{true: groupRuns, false: unnominatedRuns}[mode.nominate]
		t.Run(mode.name, func(t *testing.T) { groupsLandAsPlanned(t, space, pool, mode.name, mode.nominate, runs) })
	}
}

func groupsLandAsPlanned(t *testing.T, space, pool, mode string, nominate bool, runs int) {
	rankward := replica(t, "groups-"+mode, harness.ReplicaOptions{FeatureGates: groupGates, Verbosity: 4,
		Settings: map[string]any{"nominate": nominate}}).Rankward
	near := 0
	for run := range runs {
		name := fmt.Sprintf("%s-%d", mode, run)
		rack := podGroup(t, space, pool, name, "default-scheduler")
		if rack == pool+"-leaf-near" {
			near++
		}
		planned := plannedRacks(t, rankward, space, name, pool)
		if len(planned) == 0 || !slices.Contains(planned, rack) {
			t.Errorf("run %d: the group is in %s, planned were %v", run, rack, planned)
		}
	}
	// The plan is for the near rack unless the watch has not shown yet that the last group is gone.
	t.Logf("%d of %d groups in the near rack", near, runs)
	if near < runs*3/4 {
		t.Errorf("only %d of %d groups are in the near rack", near, runs)
	}
}

// As gangs of every other kind: with one node too few none of its ranks starts, with one more all do.
func TestNativeGroupStartsWholeOrNotAtAll(t *testing.T) {
	if !hasNativeGroups() {
		return // that the API has none is checked above
	}
	onSecondCluster(t)
	for _, mode := range modes {
		t.Run(mode.name, func(t *testing.T) {
			pool := "whole-group-" + mode.name
			space := namespace(t, pool, nil)
			rankward := replica(t, pool, harness.ReplicaOptions{FeatureGates: groupGates, Verbosity: 4,
				Settings: map[string]any{"nominate": mode.nominate}}).Rankward
			nodes(t, harness.Leaf(pool, "a", groupSize-1))
			allSeenBy(t, rankward)
			gang := createGroup(t, space, pool, "train", "default-scheduler")
			var messages []string
			for rank := range gang.Size {
				messages = append(messages, unschedulable(t, space, gang.PodName(rank), func(string) bool { return true }))
			}
			t.Logf("kube-scheduler %s: %q", cluster.Binaries.Version, messages)
			// The pod that the simulation fails at carries our text, the others that their group waits.
			if !slices.ContainsFunc(messages, func(message string) bool { return strings.Contains(message, noRoomForTheGang) }) {
				t.Errorf("no rank says %q", noRoomForTheGang)
			}
			if n := boundCount(t, gang); n != 0 {
				t.Errorf("%d of its ranks are bound", n)
			}
			nodes(t, harness.Leaf(pool, "a", groupSize)[groupSize-1:])
			inOneLeaf(t, gangNodes(t, gang))
		})
	}
}

// createGroup makes a group that needs one rack, and its pods.
func createGroup(t *testing.T, space, pool, name, schedulerName string) harness.Gang {
	t.Helper()
	group := &schedulingv1beta1.PodGroup{
		ObjectMeta: metav1.ObjectMeta{Namespace: space, Name: name},
		Spec: schedulingv1beta1.PodGroupSpec{
			SchedulingPolicy: schedulingv1beta1.PodGroupSchedulingPolicy{
				Gang: &schedulingv1beta1.GangSchedulingPolicy{MinCount: groupSize}},
			SchedulingConstraints: &schedulingv1beta1.PodGroupSchedulingConstraints{
				Topology: []schedulingv1beta1.TopologyConstraint{{Key: harness.LeafLabel}}},
		},
	}
	_, err := cluster.Client.SchedulingV1beta1().PodGroups(space).Create(t.Context(), group, metav1.CreateOptions{})
	check(t, err)
	gang := harness.Gang{Namespace: space, Name: name, Size: groupSize, Pool: pool, Shape: func(_ int, pod *corev1.Pod) {
		pod.Annotations = nil
		pod.Spec.SchedulerName = schedulerName
		pod.Spec.SchedulingGroup = &corev1.PodSchedulingGroup{PodGroupName: &group.Name}
	}}
	createGang(t, gang)
	return gang
}

// podGroup makes a group, waits until it is bound, removes it and returns the rack.
func podGroup(t *testing.T, space, pool, name, schedulerName string) string {
	t.Helper()
	gang := createGroup(t, space, pool, name, schedulerName)
	rack := inOneLeaf(t, gangNodes(t, gang))
	deleteGang(t, gang)
	check(t, cluster.Client.SchedulingV1beta1().PodGroups(space).Delete(t.Context(), name, metav1.DeleteOptions{}))
	return rack
}

// plannedRacks are the racks in which filter calls found the places of a group.
func plannedRacks(t *testing.T, rankward *harness.Rankward, space, name, pool string) []string {
	t.Helper()
	var racks []string
	gang := harness.Gang{Namespace: space, Name: name, Size: groupSize, Pool: pool}
	for rank := range groupSize {
		for _, decision := range rankward.Decisions(space+"/"+gang.PodName(rank), "filter") {
			best, _ := decision["best"].([]any)
			if len(best) == 0 {
				continue
			}
			node, _ := best[0].(map[string]any)["node"].(string)
			rack := leafOf(t, node)
			if !slices.Contains(racks, rack) {
				racks = append(racks, rack)
			}
		}
	}
	return racks
}

// podGroupVersions are the group versions of scheduling.k8s.io that serve podgroups.
func podGroupVersions(t *testing.T) []string {
	t.Helper()
	_, lists, err := cluster.Client.Discovery().ServerGroupsAndResources()
	check(t, err)
	var served []string
	for _, list := range lists {
		if !strings.HasPrefix(list.GroupVersion, "scheduling.k8s.io/") {
			continue
		}
		for _, resource := range list.APIResources {
			if resource.Name == "podgroups" {
				served = append(served, list.GroupVersion)
			}
		}
	}
	return served
}
