package controlplane

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"rankward.io/tests/controlplane/harness"
)

// The texts of reason codes, as people read them in events. They are part of the surface: a change
// here is a change for whoever greps for them.
const (
	sharedNotExclusive = "GPUs are shared but the pod wants them for itself"
	memoryTooSmall     = "GPU memory too small for the declared need"
	rdmaMissing        = "no RDMA network for a pod that requires it"
	reservedForAGang   = "GPUs are reserved for a gang"
	noRoomForTheGang   = "not enough room for the whole gang"
)

func TestFailedSchedulingEventCarriesOurReasonsCounted(t *testing.T) {
	installed(t)
	space := namespace(t, "reasons", nil)
	var list []harness.Node
	for i := range 3 {
		list = append(list, harness.Node{
			Name: fmt.Sprintf("reasons-shared-%d", i),
			Labels: harness.With(harness.GPULabels(), "nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3-SHARED",
				"nvidia.com/gpu.replicas", "4", "nvidia.com/gpu.sharing-strategy", "time-slicing"),
			Resources: map[string]string{"nvidia.com/gpu": "32"},
		})
	}
	for i := range 2 {
		list = append(list, harness.Node{
			Name: fmt.Sprintf("reasons-small-%d", i),
			Labels: harness.With(harness.GPULabels(), "nvidia.com/gpu.product", "NVIDIA-A30",
				"nvidia.com/gpu.family", "ampere", "nvidia.com/gpu.compute.major", "8",
				"nvidia.com/gpu.memory", "24576", "nvidia.com/gpu.machine", ""),
			Resources: map[string]string{"nvidia.com/gpu": "8"},
		})
	}
	nodes(t, list)

	asks := pod(space, "exclusive", map[string]string{"nvidia.com/gpu": "1"})
	asks.Annotations = map[string]string{
		"rankward.io/sharing":    "exclusive",
		"rankward.io/gpu-memory": "40Gi",
	}
	createPod(t, asks)
	message := event(t, space, "exclusive", "FailedScheduling", func(message string) bool {
		return strings.Contains(message, "3 "+sharedNotExclusive)
	})
	for _, want := range []string{"0/5 nodes are available", "3 " + sharedNotExclusive, "2 " + memoryTooSmall} {
		if !strings.Contains(message, want) {
			t.Errorf("the event lacks %q: %s", want, message)
		}
	}
	t.Logf("kube-scheduler %s: %s", cluster.Binaries.Version, message)
	// Preemption would not help: both are permanent.
	if !strings.Contains(message, "Preemption is not helpful") {
		t.Errorf("the event does not say that preemption cannot help: %s", message)
	}
}

// What kube-scheduler scored is what we answered, for the same pod, node by node.
func TestBothLogsShowTheSameScores(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "scores", nil)
	nodes(t, harness.TwoLeaves("scores", ranks))
	createPod(t, pod(space, "pair", map[string]string{"nvidia.com/gpu": "8", "rdma/ib": "1"}))
	node := boundNode(t, space, "pair")

	var decision map[string]any
	eventually(t, "our log to show the decision", func() error {
		found := installation.Rankward.Decisions(space+"/pair", "prioritize")
		if len(found) == 0 {
			return fmt.Errorf("no prioritize decision yet")
		}
		decision = found[len(found)-1]
		return nil
	})
	ours := map[string]int{}
	for _, entry := range decision["best"].([]any) {
		fields := entry.(map[string]any)
		ours[fields["node"].(string)] = int(fields["score"].(float64))
	}

	theirs := map[string]int{}
	for _, line := range harness.LogLines(installation.Scheduler.Log(), `"Extender scored node for pod"`, `pod="`+space+`/pair"`) {
		theirs[harness.LogField(line, "node")] = must(t, func() (int, error) { return strconv.Atoi(harness.LogField(line, "score")) })
	}
	if len(theirs) == 0 {
		t.Fatal("kube-scheduler's log at v=10 shows no score of the extender")
	}
	var levels []int
	for name, score := range theirs {
		levels = append(levels, score)
		if ours[name] != score {
			t.Errorf("%s: kube-scheduler logged %d, our decision says %d", name, score, ours[name])
		}
	}
	if slices.Min(levels) == slices.Max(levels) {
		t.Errorf("all %d nodes have score %d: nothing was told apart", len(levels), levels[0])
	}
	if theirs[node] != slices.Max(levels) || harness.Entry(harness.BestNodes(decision), node) == nil {
		t.Errorf("bound to %s with score %d; the highest is %d, our best are %v", node, theirs[node],
			slices.Max(levels), harness.BestNodes(decision))
	}
	for _, key := range []string{"requestID", "candidates", "snapshot", "microseconds"} {
		if decision[key] == nil {
			t.Errorf("the decision line lacks %s: %v", key, decision)
		}
	}
}
