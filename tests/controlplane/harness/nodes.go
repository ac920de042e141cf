package harness

import (
	"context"
	"fmt"
	"sync"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// Node describes a Node object that no kubelet stands behind.
type Node struct {
	Name        string
	Labels      map[string]string
	Annotations map[string]string
	Taints      []corev1.Taint
	// Resources beyond those that every node has (64 CPUs, 1 TiB of memory, 110 pods).
	Resources map[string]string
}

// GPULabels are what GPU feature discovery publishes on a node of eight H100 SXM.
func GPULabels() map[string]string {
	return map[string]string{
		"nvidia.com/gpu.present":          "true",
		"nvidia.com/gpu.count":            "8",
		"nvidia.com/gpu.product":          "NVIDIA-H100-80GB-HBM3",
		"nvidia.com/gpu.memory":           "81559", // MiB
		"nvidia.com/gpu.family":           "hopper",
		"nvidia.com/gpu.compute.major":    "9",
		"nvidia.com/gpu.compute.minor":    "0",
		"nvidia.com/gpu.machine":          "DGXH100",
		"nvidia.com/gpu.replicas":         "1",
		"nvidia.com/gpu.sharing-strategy": "none",
		"nvidia.com/mig.capable":          "true",
		"nvidia.com/mig.strategy":         "mixed",
	}
}

// With returns a copy of labels with pairs of key and value set; an empty value removes the key.
func With(labels map[string]string, pairs ...string) map[string]string {
	out := map[string]string{}
	for k, v := range labels {
		out[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			delete(out, pairs[i])
		} else {
			out[pairs[i]] = pairs[i+1]
		}
	}
	return out
}

func (n Node) object() *corev1.Node {
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{
			Name:        n.Name,
			Labels:      With(n.Labels, "kubernetes.io/hostname", n.Name, "kubernetes.io/os", "linux", "kubernetes.io/arch", "amd64"),
			Annotations: n.Annotations,
		},
		Spec: corev1.NodeSpec{Taints: n.Taints},
	}
}

func (n Node) status() (corev1.NodeStatus, error) {
	resources := corev1.ResourceList{
		corev1.ResourceCPU:    resource.MustParse("64"),
		corev1.ResourceMemory: resource.MustParse("1Ti"),
		corev1.ResourcePods:   resource.MustParse("110"),
	}
	for name, quantity := range n.Resources {
		parsed, err := resource.ParseQuantity(quantity)
		if err != nil {
			return corev1.NodeStatus{}, fmt.Errorf("node %s, %s: %w", n.Name, name, err)
		}
		resources[corev1.ResourceName(name)] = parsed
	}
	now := metav1.Now()
	return corev1.NodeStatus{
		Capacity: resources, Allocatable: resources,
		Conditions: []corev1.NodeCondition{{
			Type: corev1.NodeReady, Status: corev1.ConditionTrue, Reason: "KubeletReady",
			Message: "kubelet is posting ready status", LastHeartbeatTime: now, LastTransitionTime: now,
		}},
	}, nil
}

// CreateNodes posts the nodes with their status, as a kubelet does, eight at a time.
func CreateNodes(ctx context.Context, client kubernetes.Interface, nodes []Node) error {
	return parallel(8, len(nodes), func(i int) error {
		status, err := nodes[i].status()
		if err != nil {
			return err
		}
		node := nodes[i].object()
		node.Status = status
		_, err = client.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
}

// DeleteNodes removes the nodes by name; those that are gone already are no error.
func DeleteNodes(ctx context.Context, client kubernetes.Interface, nodes []Node) error {
	return parallel(8, len(nodes), func(i int) error {
		err := client.CoreV1().Nodes().Delete(ctx, nodes[i].Name, metav1.DeleteOptions{})
		if apierrors.IsNotFound(err) {
			return nil
		}
		return err
	})
}

// parallel calls f for 0..n-1 from several goroutines and returns the first error.
func parallel(workers, n int, f func(int) error) error {
	var group sync.WaitGroup
	var once sync.Once
	var first error
	next := make(chan int)
	failed := make(chan struct{})
	for range min(workers, n) {
		group.Go(func() {
			for i := range next {
				if err := f(i); err != nil {
					once.Do(func() { first = err; close(failed) })
					return
				}
			}
		})
	}
feed:
	for i := range n {
		select {
		case next <- i:
		case <-failed:
			break feed
		}
	}
	close(next)
	group.Wait()
	return first
}
