package harness

import (
	"fmt"
	"strconv"

	corev1 "k8s.io/api/core/v1"
)

const (
	// GangGate holds a pod back until its gang has a plan.
	GangGate = "rankward.io/gang"
	// PoolLabel tells the nodes of one test from those of the others.
	PoolLabel = "pool"
	// LeafLabel is the nearest tier of the fabric.
	LeafLabel = "fabric.topograph.run/tier-0"
)

// Gang is pods that say themselves what gang they are.
type Gang struct {
	Namespace, Name string
	Size            int
	Pool            string            // of the nodes that they may run on
	Resources       map[string]string // of one rank; nil: a whole node's GPUs and RDMA
	Gated           bool
	Shape           func(rank int, pod *corev1.Pod) // what else is to be set; may be nil
}

// WholeNode is what a rank asks for that takes a node's GPUs to itself.
func WholeNode() map[string]string { return map[string]string{"nvidia.com/gpu": "8", "rdma/ib": "1"} }

// PodName of a rank.
func (g Gang) PodName(rank int) string { return fmt.Sprintf("%s-%d", g.Name, rank) }

// Pod of a rank.
func (g Gang) Pod(rank int) *corev1.Pod {
	resources := g.Resources
	if resources == nil {
		resources = WholeNode()
	}
	pod := Pod(g.Namespace, g.PodName(rank), resources)
	pod.Labels = map[string]string{"gang": g.Name}
	pod.Annotations = map[string]string{"rankward.io/gang": g.Name, "rankward.io/rank": strconv.Itoa(rank)}
	if g.Size > 0 {
		pod.Annotations["rankward.io/gang-size"] = strconv.Itoa(g.Size)
	}
	pod.Spec.NodeSelector = map[string]string{PoolLabel: g.Pool}
	if g.Gated {
		pod.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: GangGate}}
	}
	if g.Shape != nil {
		g.Shape(rank, pod)
	}
	return pod
}

// Leaf is n well-connected nodes of a pool below one leaf switch, named POOL-LEAF-0 and on. All
// leaves of a pool hang below one spine.
func Leaf(pool, leaf string, n int) []Node {
	var list []Node
	for i := range n {
		list = append(list, Node{
			Name: fmt.Sprintf("%s-%s-%d", pool, leaf, i),
			Labels: With(GPULabels(), PoolLabel, pool, LeafLabel, pool+"-leaf-"+leaf,
				"fabric.topograph.run/tier-1", pool+"-spine"),
			Annotations: map[string]string{TopologyAnnotation: TopologyReport(true)},
			Resources:   map[string]string{"nvidia.com/gpu": "8", "rdma/ib": "1k"},
		})
	}
	return list
}
