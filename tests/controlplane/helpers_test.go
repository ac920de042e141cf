package controlplane

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

// patience is how long a test waits for the cluster to do what it should: far more than it takes on
// an idle machine, since the machine may have two cores and other work.
const patience = 60 * time.Second

// must fails the test where the call fails.
func must[T any](t *testing.T, call func() (T, error)) T {
	t.Helper()
	value, err := call()
	if err != nil {
		t.Fatal(err)
	}
	return value
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func eventually(t *testing.T, what string, ready func() error) {
	t.Helper()
	check(t, harness.WaitFor(t.Context(), what, patience, 100*time.Millisecond, ready))
}

// kubectl runs kubectl and fails the test if it cannot be run at all; a refusal is in the output.
func kubectl(t *testing.T, stdin string, args ...string) harness.Output {
	t.Helper()
	return must(t, func() (harness.Output, error) { return cluster.Kubectl(t.Context(), stdin, args...) })
}

// namespace makes a namespace that is removed, with its pods, when the test ends.
func namespace(t *testing.T, name string, labels map[string]string) string {
	t.Helper()
	client := cluster.Client.CoreV1()
	_, err := client.Namespaces().Create(t.Context(),
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels}}, metav1.CreateOptions{})
	check(t, err)
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		now := int64(0)
		zero := metav1.DeleteOptions{GracePeriodSeconds: &now}
		background := metav1.DeletePropagationBackground
		cluster.Client.BatchV1().Jobs(name).DeleteCollection(ctx,
			metav1.DeleteOptions{PropagationPolicy: &background}, metav1.ListOptions{})
		client.Pods(name).DeleteCollection(ctx, zero, metav1.ListOptions{})
		client.Namespaces().Delete(ctx, name, metav1.DeleteOptions{})
		// No kubelet confirms the end of a pod: what is left is removed by force.
		harness.WaitFor(ctx, "the pods of "+name+" to be gone", patience, 100*time.Millisecond, func() error {
			pods, err := client.Pods(name).List(ctx, metav1.ListOptions{})
			if err != nil || len(pods.Items) == 0 {
				return err
			}
			client.Pods(name).DeleteCollection(ctx, zero, metav1.ListOptions{})
			return fmt.Errorf("%d pods", len(pods.Items))
		})
	})
	return name
}

// nodes makes Node objects that are removed when the test ends. A plan is made on what Rankward has
// seen, and the scheduler's own view may be ahead of that: so both are waited for.
func nodes(t *testing.T, list []harness.Node) {
	t.Helper()
	allSeen(t) // the end of earlier tests' objects too: else they could make up for what is missing
	check(t, harness.CreateNodes(t.Context(), cluster.Client, list))
	t.Cleanup(func() { harness.DeleteNodes(context.Background(), cluster.Client, list) })
	allSeen(t)
}

// allSeen waits until the shared installation, where there is one, has caught up.
func allSeen(t *testing.T) {
	t.Helper()
	if shared != nil && shared.Rankward.Running() {
		allSeenBy(t, shared.Rankward)
	}
}

// allSeenBy waits until a server knows as many Nodes, and Pods on them, as there are.
func allSeenBy(t *testing.T, rankward *harness.Rankward) {
	t.Helper()
	eventually(t, "Rankward to have caught up", func() error {
		nodes, err := cluster.Client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		there := map[string]bool{}
		for _, node := range nodes.Items {
			there[node.Name] = true
		}
		list, err := cluster.Client.CoreV1().Pods("").List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		pods := 0
		for _, pod := range list.Items {
			ended := pod.Status.Phase == corev1.PodSucceeded || pod.Status.Phase == corev1.PodFailed
			if there[pod.Spec.NodeName] && !ended {
				pods++
			}
		}
		samples, err := rankward.Metrics()
		if err != nil {
			return err
		}
		seenNodes, seenPods := samples.Sum("rankward_snapshot_nodes", nil), samples.Sum("rankward_snapshot_pods", nil)
		if int(seenNodes) != len(there) || int(seenPods) != pods {
			return fmt.Errorf("%v of %d nodes, %v of %d pods on them", seenNodes, len(there), seenPods, pods)
		}
		return nil
	})
}

func pod(namespace, name string, resources map[string]string) *corev1.Pod {
	return harness.Pod(namespace, name, resources)
}

// nowhere keeps a pod off every node, so that it stays as it is.
var nowhere = map[string]string{"kubernetes.io/hostname": "nowhere"}

func createPod(t *testing.T, pod *corev1.Pod) *corev1.Pod {
	t.Helper()
	return must(t, func() (*corev1.Pod, error) {
		return cluster.Client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	})
}

// boundNode waits until the pod is bound and returns its node.
func boundNode(t *testing.T, namespace, name string) string {
	t.Helper()
	var node string
	eventually(t, "pod "+namespace+"/"+name+" to be bound", func() error {
		pod, err := cluster.Client.CoreV1().Pods(namespace).Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		if node = pod.Spec.NodeName; node == "" {
			return fmt.Errorf("not bound; %s", conditions(pod))
		}
		return nil
	})
	return node
}

func conditions(pod *corev1.Pod) string {
	var text strings.Builder
	for _, c := range pod.Status.Conditions {
		fmt.Fprintf(&text, "%s=%s %s: %s; ", c.Type, c.Status, c.Reason, c.Message)
	}
	return text.String()
}

// event waits for an event of a pod whose message satisfies the test and returns that message.
func event(t *testing.T, namespace, pod, reason string, wanted func(message string) bool) string {
	t.Helper()
	var message string
	eventually(t, reason+" event of "+namespace+"/"+pod, func() error {
		list, err := cluster.Client.CoreV1().Events(namespace).List(t.Context(),
			metav1.ListOptions{FieldSelector: "involvedObject.name=" + pod + ",reason=" + reason})
		if err != nil {
			return err
		}
		for _, e := range list.Items {
			if message = e.Message; wanted(message) {
				return nil
			}
		}
		return fmt.Errorf("%d such events; the last says %q", len(list.Items), message)
	})
	return message
}

// scheduler starts a kube-scheduler that ends with the test.
func scheduler(t *testing.T, options harness.SchedulerOptions) *harness.Scheduler {
	t.Helper()
	s := must(t, func() (*harness.Scheduler, error) { return cluster.StartScheduler(t.Context(), options) })
	t.Cleanup(func() {
		s.Stop(3 * time.Second)
		if t.Failed() {
			t.Log(s.LogTail())
		}
	})
	return s
}
