package harness

import (
	"fmt"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Pod of one container that asks for the given resources.
func Pod(namespace, name string, resources map[string]string) *corev1.Pod {
	limits := corev1.ResourceList{}
	for key, quantity := range resources {
		limits[corev1.ResourceName(key)] = resource.MustParse(quantity)
	}
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: corev1.PodSpec{
			Containers: []corev1.Container{{
				Name: "train", Image: "registry.example/train:1",
				Resources: corev1.ResourceRequirements{Limits: limits, Requests: limits},
			}},
		},
	}
}

// TrainingJob is an Indexed Job whose pods ask for a whole node's GPUs and for RDMA.
func TrainingJob(namespace, name, schedulerName string, ranks int32) *batchv1.Job {
	indexed := batchv1.IndexedCompletion
	spec := Pod("", "", map[string]string{"nvidia.com/gpu": "8", "rdma/ib": "1"}).Spec
	spec.SchedulerName = schedulerName
	spec.RestartPolicy = corev1.RestartPolicyNever
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name},
		Spec: batchv1.JobSpec{
			Completions: &ranks, Parallelism: &ranks, CompletionMode: &indexed,
			Template: corev1.PodTemplateSpec{Spec: spec},
		},
	}
}

// TwoLeaves is n well-connected nodes that the scheduler would rather avoid, for their taint, and n
// that it likes but where the GPUs' way to the network crosses the sockets.
func TwoLeaves(prefix string, n int) []Node {
	var list []Node
	for i := range n {
		for _, leaf := range []string{"near", "far"} {
			node := Node{
				Name: fmt.Sprintf("%s-%s-%d", prefix, leaf, i),
				Labels: With(GPULabels(), "fabric.topograph.run/tier-0", prefix+"-leaf-"+leaf,
					"fabric.topograph.run/tier-1", prefix+"-spine"),
				Annotations: map[string]string{TopologyAnnotation: TopologyReport(leaf == "near")},
				Resources:   map[string]string{"nvidia.com/gpu": "8", "rdma/ib": "1k"},
			}
			if leaf == "near" {
				node.Taints = []corev1.Taint{{Key: "maintenance", Value: "soon", Effect: corev1.TaintEffectPreferNoSchedule}}
			}
			list = append(list, node)
		}
	}
	return list
}
