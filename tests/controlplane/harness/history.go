package harness

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
)

// PodChange is one state of a pod as the API server told it.
type PodChange struct {
	Seen    time.Time
	Pod     *corev1.Pod
	Deleted bool
}

// History holds every change of the pods of a namespace, in the order in which they were written.
type History struct {
	mutex   sync.Mutex
	changes []PodChange
	broken  error
	watch   watch.Interface
	stopped bool
}

// Record begins with an empty namespace and goes on until Stop.
func Record(ctx context.Context, client kubernetes.Interface, namespace string) (*History, error) {
	w, err := client.CoreV1().Pods(namespace).Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	h := &History{watch: w}
	go h.follow()
	return h, nil
}

func (h *History) follow() {
	for event := range h.watch.ResultChan() {
		pod, ok := event.Object.(*corev1.Pod)
		h.mutex.Lock()
		if ok {
			h.changes = append(h.changes, PodChange{time.Now(), pod, event.Type == watch.Deleted})
		} else {
			h.broken = fmt.Errorf("the watch of pods said %s: %v", event.Type, event.Object)
		}
		h.mutex.Unlock()
	}
	h.mutex.Lock()
	defer h.mutex.Unlock()
	if !h.stopped && h.broken == nil {
		h.broken = fmt.Errorf("the watch of pods ended")
	}
}

// Stop ends the watch; what was recorded stays.
func (h *History) Stop() {
	h.mutex.Lock()
	h.stopped = true
	h.mutex.Unlock()
	h.watch.Stop()
}

// Changes so far. The error says that the record has a gap.
func (h *History) Changes() ([]PodChange, error) {
	h.mutex.Lock()
	defer h.mutex.Unlock()
	return append([]PodChange(nil), h.changes...), h.broken
}

// Of is the changes of one pod.
func (h *History) Of(name string) ([]PodChange, error) {
	all, err := h.Changes()
	var out []PodChange
	for _, change := range all {
		if change.Pod.Name == name {
			out = append(out, change)
		}
	}
	return out, err
}

// Bindings are the first change of each pod (by UID) that has a node, in order.
func (h *History) Bindings() ([]PodChange, error) {
	all, err := h.Changes()
	seen := map[string]bool{}
	var out []PodChange
	for _, change := range all {
		uid := string(change.Pod.UID)
		if change.Pod.Spec.NodeName == "" || seen[uid] {
			continue
		}
		seen[uid] = true
		out = append(out, change)
	}
	return out, err
}

// Nominations are the values that a pod's status.nominatedNodeName had before it was bound, without
// repetitions; "" for none.
func (h *History) Nominations(name string) ([]string, error) {
	changes, err := h.Of(name)
	var out []string
	for _, change := range changes {
		if change.Pod.Spec.NodeName != "" {
			break
		}
		node := change.Pod.Status.NominatedNodeName
		if len(out) == 0 || out[len(out)-1] != node {
			out = append(out, node)
		}
	}
	return out, err
}
