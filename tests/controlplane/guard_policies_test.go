package controlplane

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"rankward.io/tests/controlplane/harness"
)

// asRankward is a client with our ServiceAccount's token.
func asRankward(t *testing.T) kubernetes.Interface {
	t.Helper()
	token := must(t, func() (string, error) {
		return harness.ServiceAccountToken(t.Context(), cluster.Client, "rankward-system", "rankward")
	})
	return must(t, func() (*kubernetes.Clientset, error) {
		return kubernetes.NewForConfig(&rest.Config{Host: cluster.URL, BearerToken: token, QPS: -1,
			TLSClientConfig: rest.TLSClientConfig{CAFile: cluster.CAFile}})
	})
}

type operation struct {
	Op    string `json:"op"`
	Path  string `json:"path"`
	Value any    `json:"value,omitempty"`
}

// Whatever else is wrong with us, our account changes a pod's nomination and our own gate, and nothing
// else: pods/status takes metadata too.
func TestOurAccountChangesNothingElseOfAPod(t *testing.T) {
	installed(t)
	space := namespace(t, "guarded", nil)
	client := asRankward(t)
	made := pod(space, "guarded", map[string]string{"nvidia.com/gpu": "1"})
	made.Labels = map[string]string{"app": "train"}
	made.Annotations = map[string]string{"note": "kept"}
	made.Finalizers = []string{"example.com/kept"}
	made.Spec.SchedulerName = "nobody"
	made.Spec.Tolerations = []corev1.Toleration{{Key: "kept", Operator: corev1.TolerationOpExists}}
	made.Spec.SchedulingGates = []corev1.PodSchedulingGate{{Name: "example.com/hold"}, {Name: harness.GangGate}}
	createPod(t, made)
	t.Cleanup(func() {
		cluster.Kubectl(context.Background(), "", "-n", space, "patch", "pod", "guarded", "--type=json", `-p=[{"op":"remove","path":"/metadata/finalizers"}]`)
	})

	// The API server takes seconds to put a new policy into force.
	eventually(t, "the policies to be in force", func() error {
		for _, subresources := range [][]string{{"status"}, nil} {
			_, err := client.CoreV1().Pods(space).Patch(t.Context(), "guarded", types.MergePatchType,
				[]byte(`{"metadata":{"labels":{"app":"other"}}}`), metav1.PatchOptions{DryRun: []string{metav1.DryRunAll}}, subresources...)
			if err == nil {
				return fmt.Errorf("a label may be changed through pods %v", subresources)
			}
		}
		return nil
	})
	patch := func(name string, operations []operation, subresources ...string) error {
		text := must(t, func() ([]byte, error) { return json.Marshal(operations) })
		_, err := client.CoreV1().Pods(space).Patch(t.Context(), name, types.JSONPatchType, text,
			metav1.PatchOptions{FieldManager: "rankward"}, subresources...)
		return err
	}
	// As far as it matters: what the API server itself counts and notes is left out.
	current := func() *corev1.Pod {
		pod := must(t, func() (*corev1.Pod, error) {
			return cluster.Client.CoreV1().Pods(space).Get(t.Context(), "guarded", metav1.GetOptions{})
		})
		pod.ManagedFields, pod.ResourceVersion, pod.Generation = nil, "", 0
		return pod
	}
	before := current()
	byPolicy := func(t *testing.T, err error) {
		t.Helper()
		switch {
		case err == nil:
			// Owners are among what pods/status takes and does not write.
			if !equality.Semantic.DeepEqual(before, current()) {
				t.Error("allowed")
			}
		case !apierrors.IsForbidden(err) && !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "ValidatingAdmissionPolicy"):
			t.Errorf("refused by something else: %v", err)
		}
	}
	add := func(path string, value any) operation { return operation{"add", path, value} }
	nominate := add("/status/nominatedNodeName", "some-node")

	for name, operations := range map[string][]operation{
		"label":                     {add("/metadata/labels/app", "other")},
		"new label":                 {add("/metadata/labels/new", "x")},
		"label removed":             {{Op: "remove", Path: "/metadata/labels/app"}},
		"annotation":                {add("/metadata/annotations/note", "changed")},
		"new annotation":            {add("/metadata/annotations/new", "x")},
		"annotation removed":        {{Op: "remove", Path: "/metadata/annotations"}},
		"finalizer":                 {add("/metadata/finalizers/-", "example.com/mine")},
		"finalizer removed":         {{Op: "remove", Path: "/metadata/finalizers"}},
		"owner":                     {add("/metadata/ownerReferences", []map[string]any{{"apiVersion": "v1", "kind": "Pod", "name": "x", "uid": "y"}})},
		"phase":                     {add("/status/phase", "Failed")},
		"message":                   {add("/status/message", "x")},
		"reason":                    {add("/status/reason", "x")},
		"podIP":                     {add("/status/podIP", "10.0.0.1")},
		"hostIP":                    {add("/status/hostIP", "10.0.0.1")},
		"startTime":                 {add("/status/startTime", "2026-01-01T00:00:00Z")},
		"condition":                 {add("/status/conditions", []map[string]any{{"type": "Ready", "status": "True"}})},
		"container status":          {add("/status/containerStatuses", []map[string]any{{"name": "train", "image": "x", "imageID": "", "ready": true, "restartCount": 0}})},
		"label beside a nomination": {nominate, add("/metadata/labels/new", "x")},
		"phase beside a nomination": {nominate, add("/status/phase", "Failed")},
	} {
		t.Run("status/"+name, func(t *testing.T) { byPolicy(t, patch("guarded", operations, "status")) })
	}
	removeOurs := []operation{{"test", "/spec/schedulingGates/1/name", harness.GangGate}, {Op: "remove", Path: "/spec/schedulingGates/1"}}
	for name, operations := range map[string][]operation{
		"label":                   {add("/metadata/labels/app", "other")},
		"annotation":              {add("/metadata/annotations/new", "x")},
		"finalizer":               {{Op: "remove", Path: "/metadata/finalizers"}},
		"image":                   {add("/spec/containers/0/image", "registry.example/other:1")},
		"deadline":                {add("/spec/activeDeadlineSeconds", 1)},
		"toleration":              {add("/spec/tolerations/-", map[string]any{"key": "x", "operator": "Exists"})},
		"node selector":           {add("/spec/nodeSelector", map[string]string{"kubernetes.io/hostname": "x"})},
		"another's gate":          {{Op: "remove", Path: "/spec/schedulingGates/0"}},
		"all gates":               {{Op: "remove", Path: "/spec/schedulingGates"}},
		"label beside our gate":   append([]operation{add("/metadata/labels/new", "x")}, removeOurs...),
		"selector with our gate":  append([]operation{add("/spec/nodeSelector", map[string]string{"a": "b"})}, removeOurs...),
		"deadline beside our own": append([]operation{add("/spec/activeDeadlineSeconds", 1)}, removeOurs...),
	} {
		t.Run("pods/"+name, func(t *testing.T) { byPolicy(t, patch("guarded", operations)) })
	}

	// What it is there for.
	check(t, patch("guarded", []operation{nominate}, "status"))
	check(t, patch("guarded", []operation{{Op: "remove", Path: "/status/nominatedNodeName"}}, "status"))
	check(t, patch("guarded", removeOurs))
	before.Spec.SchedulingGates = before.Spec.SchedulingGates[:1]
	if after := current(); !equality.Semantic.DeepEqual(before, after) {
		t.Errorf("more than the gate was changed:\n%v\n%v", before, after)
	}
}

// Other verbs and objects are not ours at all.
func TestOurAccountMayDoNothingElse(t *testing.T) {
	installed(t)
	space := namespace(t, "unprivileged", nil)
	client := asRankward(t)
	createPod(t, pod(space, "pod", nil))
	pods := client.CoreV1().Pods(space)
	binding := &corev1.Binding{ObjectMeta: metav1.ObjectMeta{Name: "pod"}, Target: corev1.ObjectReference{Kind: "Node", Name: "x"}}
	for name, err := range map[string]error{
		"delete a pod": pods.Delete(t.Context(), "pod", metav1.DeleteOptions{}),
		"bind a pod":   pods.Bind(t.Context(), binding, metav1.CreateOptions{}),
		"create a pod": errorOf(pods.Create(t.Context(), pod(space, "new", nil), metav1.CreateOptions{})),
		"read secrets": errorOf(client.CoreV1().Secrets(space).List(t.Context(), metav1.ListOptions{})),
		"label a node": errorOf(client.CoreV1().Nodes().Patch(t.Context(), "x", types.MergePatchType, []byte(`{"metadata":{"labels":{"a":"b"}}}`), metav1.PatchOptions{})),
	} {
		if !apierrors.IsForbidden(err) {
			t.Errorf("%s: %v, want Forbidden", name, err)
		}
	}
}

func errorOf[T any](_ T, err error) error { return err }
