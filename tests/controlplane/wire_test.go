package controlplane

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	admissionv1 "k8s.io/api/admission/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	extenderv1 "k8s.io/kube-scheduler/extender/v1"

	"rankward.io/tests/controlplane/harness"
)

// decodeStrictly refuses keys that Go's own type does not have, and anything after the value.
func decodeStrictly(t *testing.T, line string, into any) {
	t.Helper()
	decoder := json.NewDecoder(strings.NewReader(line))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(into); err != nil {
		t.Fatalf("%T cannot be read from %s: %v", into, line, err)
	}
	if decoder.More() {
		t.Fatalf("more than one value: %s", line)
	}
}

func marshal(t *testing.T, value any) string {
	t.Helper()
	return string(must(t, func() ([]byte, error) { return json.Marshal(value) }))
}

func wireProbe(t *testing.T, stdin string, mode string) []string {
	t.Helper()
	return probe(t, "WIRE_PROBE", "formats/wire_probe", stdin, mode)
}

func TestExtenderArgsOfGoAreReadInEveryForm(t *testing.T) {
	asks := pod("team-a", "train-0", map[string]string{"nvidia.com/gpu": "8"})
	asks.UID = "b1946ac9-2492-4d23-87c6-b7e5b1f6d0b1"
	asks.Annotations = map[string]string{"note": "<b>&\u2028 \"quoted\" \\ \x7f"}
	asks.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubectl", Operation: "Apply",
		FieldsV1: metav1.NewFieldsV1(`{"f:spec":{}}`)}}
	names := func(list ...string) *[]string { return &list }
	node := func(name string) corev1.Node {
		return corev1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: name, Labels: harness.GPULabels(), Annotations: map[string]string{"a": "{\"name\":\"not this\"}"}},
			Status: corev1.NodeStatus{
				Allocatable: corev1.ResourceList{"nvidia.com/gpu": resource.MustParse("8")},
				Images:      []corev1.ContainerImage{{Names: []string{"registry.example/a:1"}, SizeBytes: 1 << 40}},
			},
		}
	}
	many := make([]string, 5000)
	manyNodes := &corev1.NodeList{}
	for i := range many {
		many[i] = "node-" + strings.Repeat("x", i%40) + string(rune('a'+i%26))
		if i < 500 {
			manyNodes.Items = append(manyNodes.Items, node(many[i]))
		}
	}
	for _, test := range []struct {
		name      string
		args      extenderv1.ExtenderArgs
		form      string
		wantNames []string
	}{
		{"names", extenderv1.ExtenderArgs{Pod: asks, NodeNames: names("b", "a", "c")}, "NodeNames", []string{"b", "a", "c"}},
		{"names that JSON escapes", extenderv1.ExtenderArgs{Pod: asks, NodeNames: names("a\"b", "é", "<x>", "t\tb", "\u2028")}, "NodeNames", []string{"a\"b", "é", "<x>", "t\tb", "\u2028"}},
		{"no names", extenderv1.ExtenderArgs{Pod: asks, NodeNames: &[]string{}}, "NodeNames", []string{}},
		{"5,000 names", extenderv1.ExtenderArgs{Pod: asks, NodeNames: &many}, "NodeNames", many},
		{"whole nodes", extenderv1.ExtenderArgs{Pod: asks, Nodes: &corev1.NodeList{Items: []corev1.Node{node("n-1"), node("n-0")}}}, "Nodes", []string{"n-1", "n-0"}},
		{"500 whole nodes", extenderv1.ExtenderArgs{Pod: asks, Nodes: manyNodes}, "Nodes", many[:500]},
		{"a list without items", extenderv1.ExtenderArgs{Pod: asks, Nodes: &corev1.NodeList{}}, "Nodes", []string{}},
		{"neither", extenderv1.ExtenderArgs{Pod: asks}, "None", []string{}},
	} {
		t.Run(test.name, func(t *testing.T) {
			lines := wireProbe(t, marshal(t, test.args)+"\n", "args")
			var read struct {
				Pod, UID, Form string
				Names          []string
			}
			decodeStrictly(t, lines[0], &read)
			if read.Pod != "team-a/train-0" || read.UID != string(asks.UID) || read.Form != test.form {
				t.Errorf("read pod %q, uid %q, form %q", read.Pod, read.UID, read.Form)
			}
			if !reflect.DeepEqual(read.Names, test.wantNames) {
				t.Errorf("read %d names, want %d", len(read.Names), len(test.wantNames))
			}
		})
	}
}

func TestFilterResultsAreWhatGoExpects(t *testing.T) {
	lines := wireProbe(t, "", "filter-result")
	results := make([]extenderv1.ExtenderFilterResult, len(lines))
	for i, line := range lines {
		decodeStrictly(t, line, &results[i])
	}
	if len(results) != 5 {
		t.Fatalf("%d samples, want 5", len(results))
	}
	byName := results[0]
	if byName.Nodes != nil || byName.NodeNames == nil || !reflect.DeepEqual(*byName.NodeNames, []string{"node-a", "node-\"b\"", "node-é"}) {
		t.Errorf("by name: %+v", byName)
	}
	if !reflect.DeepEqual(byName.FailedNodes, extenderv1.FailedNodesMap{"node-c": "no RDMA", "node-d": "no RDMA"}) ||
		!reflect.DeepEqual(byName.FailedAndUnresolvableNodes, extenderv1.FailedNodesMap{"node-e": "label\tmissing"}) {
		t.Errorf("reasons: %+v", byName)
	}
	whole := results[1]
	if whole.NodeNames != nil || whole.Nodes == nil || len(whole.Nodes.Items) != 2 || whole.Nodes.Items[0].Name != "node-a" {
		t.Fatalf("whole nodes: %+v", whole)
	}
	if gpus := whole.Nodes.Items[0].Status.Allocatable["nvidia.com/gpu"]; gpus.Value() != 8 {
		t.Errorf("the node came back with %s GPUs", gpus.String())
	}
	// A node list that is absent would make the scheduler think that it was not asked for.
	if none := results[2]; none.NodeNames == nil || len(*none.NodeNames) != 0 || none.Error != "" {
		t.Errorf("no name fits: %+v", none)
	}
	if none := results[3]; none.Nodes == nil || len(none.Nodes.Items) != 0 {
		t.Errorf("no node fits: %+v", none)
	}
	if refused := results[4]; refused.Error == "" || refused.Nodes != nil || refused.NodeNames != nil {
		t.Errorf("an error: %+v", refused)
	}
}

func TestPrioritiesAreWhatGoExpects(t *testing.T) {
	lines := wireProbe(t, "", "priorities")
	var list, empty extenderv1.HostPriorityList
	decodeStrictly(t, lines[0], &list)
	decodeStrictly(t, lines[1], &empty)
	want := extenderv1.HostPriorityList{{Host: "node-a", Score: 10}, {Host: "node-\"b\"", Score: 0}, {Host: "node-c", Score: 7}}
	if !reflect.DeepEqual(list, want) {
		t.Errorf("%+v", list)
	}
	if empty == nil || len(empty) != 0 {
		t.Errorf("an empty list came as %s", lines[1])
	}
}

func TestPreemptionKeepsEveryVictimThatGoSends(t *testing.T) {
	victim := func(uid string) *corev1.Pod {
		v := pod("team-b", uid, map[string]string{"nvidia.com/gpu": "1"})
		v.UID = types.UID(uid)
		return v
	}
	asks := pod("team-a", "urgent", map[string]string{"nvidia.com/gpu": "8"})
	want := map[string]*extenderv1.MetaVictims{
		"node-a": {Pods: []*extenderv1.MetaPod{{UID: "u1"}, {UID: "u2"}}, NumPDBViolations: 1},
		"node-b": {Pods: []*extenderv1.MetaPod{}},
	}
	inputs := []extenderv1.ExtenderPreemptionArgs{
		{Pod: asks, NodeNameToMetaVictims: want},
		{Pod: asks, NodeNameToVictims: map[string]*extenderv1.Victims{
			"node-a": {Pods: []*corev1.Pod{victim("u1"), victim("u2")}, NumPDBViolations: 1},
			// A Go slice that was never filled is null on the wire.
			"node-b": {},
		}},
	}
	lines := wireProbe(t, marshal(t, inputs[0])+"\n"+marshal(t, inputs[1])+"\n", "preempt")
	answers := lines[len(lines)-2:]
	for _, line := range lines[:len(lines)-2] {
		decodeStrictly(t, line, &extenderv1.ExtenderPreemptionResult{})
	}
	for _, line := range answers {
		var result extenderv1.ExtenderPreemptionResult
		decodeStrictly(t, line, &result)
		if !reflect.DeepEqual(result.NodeNameToMetaVictims, want) {
			t.Errorf("%s, want %s", line, marshal(t, want))
		}
	}
}

func TestAdmissionReviewsAreWhatGoExpects(t *testing.T) {
	lines := wireProbe(t, "", "review")
	reviews := make([]admissionv1.AdmissionReview, len(lines))
	for i, line := range lines {
		decodeStrictly(t, line, &reviews[i])
		if reviews[i].APIVersion != "admission.k8s.io/v1" || reviews[i].Kind != "AdmissionReview" || reviews[i].Response == nil {
			t.Fatalf("sample %d: %s", i, line)
		}
		if reviews[i].Request != nil || reviews[i].Response.Patch != nil || reviews[i].Response.PatchType != nil {
			t.Errorf("sample %d answers with a request or a patch: %s", i, line)
		}
		for _, warning := range reviews[i].Response.Warnings {
			if bytes.ContainsFunc([]byte(warning), func(r rune) bool { return r < ' ' }) || len([]rune(warning)) > 120 {
				t.Errorf("a warning that the API server would drop or cut: %q", warning)
			}
		}
		for key := range reviews[i].Response.AuditAnnotations {
			if strings.Contains(key, "/") || len(key) > 63 {
				t.Errorf("audit annotation %q", key)
			}
		}
	}
	if r := reviews[0].Response; r.UID != "uid-1" || !r.Allowed || r.Result != nil && r.Result.Code != 200 && r.Result.Code != 0 {
		t.Errorf("allowed: %s", lines[0])
	}
	denied := reviews[2].Response
	if denied.Allowed || denied.Result == nil || denied.Result.Code != 403 || denied.Result.Reason != metav1.StatusReasonForbidden {
		t.Fatalf("denied: %s", lines[2])
	}
	if !strings.HasPrefix(denied.Result.Message, "[HP-01]") || denied.Result.Details == nil || len(denied.Result.Details.Causes) != 2 {
		t.Fatalf("denied: %s", lines[2])
	}
	if cause := denied.Result.Details.Causes[1]; cause.Field != "spec.containers[0].env[1]" || cause.Message != "names €" || cause.Type != "ENV-01" {
		t.Errorf("cause: %+v", cause)
	}
}
