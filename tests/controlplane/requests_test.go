package controlplane

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/client-go/rest"
	sigsyaml "sigs.k8s.io/yaml"
)

// A request as it goes over the wire, so that the answer can be seen whole: client-go hides the audit
// ID and hands warnings to a logger.
type request struct {
	method      string
	path        string // of the URL
	query       url.Values
	contentType string
	body        []byte // JSON, or YAML where the content type is of server-side apply
	identity
}

// identity is whom the administrator stands in for; empty: the administrator, of system:masters.
type identity struct {
	user   string
	groups []string
}

func first(as []identity) identity {
	if len(as) == 0 {
		return identity{}
	}
	return as[0]
}

type answer struct {
	code     int
	message  string // of the Status, where it is one
	causes   []metav1.StatusCause
	warnings []string
	auditID  string
	object   map[string]any
}

func (a answer) accepted() bool { return a.code >= 200 && a.code < 300 }

// warning is all warnings as one text: ours are cut into pieces of at most 120 characters.
func (a answer) warning() string {
	var text strings.Builder
	for i, w := range a.warnings {
		if i > 0 && !strings.HasPrefix(w, "  ") {
			text.WriteString("\n")
		}
		if strings.HasPrefix(w, "  ") {
			text.WriteString(" ")
		}
		text.WriteString(strings.TrimSpace(w))
	}
	return text.String()
}

var wire = sync.OnceValues(func() (*http.Client, error) { return rest.HTTPClientFor(cluster.Admin) })

func send(t *testing.T, r request) answer {
	t.Helper()
	client := must(t, wire)
	target := cluster.URL + r.path
	if len(r.query) > 0 {
		target += "?" + r.query.Encode()
	}
	asked := must(t, func() (*http.Request, error) {
		return http.NewRequestWithContext(t.Context(), r.method, target, bytes.NewReader(r.body))
	})
	if r.contentType != "" {
		asked.Header.Set("Content-Type", r.contentType)
	}
	asked.Header.Set("Accept", "application/json")
	if r.user != "" {
		asked.Header.Set("Impersonate-User", r.user)
	}
	for _, group := range r.groups {
		asked.Header.Add("Impersonate-Group", group)
	}
	response := must(t, func() (*http.Response, error) { return client.Do(asked) })
	defer response.Body.Close()
	body := must(t, func() ([]byte, error) { return io.ReadAll(response.Body) })
	out := answer{code: response.StatusCode, auditID: response.Header.Get("Audit-Id")}
	warnings, errs := utilnet.ParseWarningHeaders(response.Header.Values("Warning"))
	for _, err := range errs {
		t.Errorf("a warning that cannot be read: %v", err)
	}
	for _, w := range warnings {
		out.warnings = append(out.warnings, w.Text)
	}
	if err := json.Unmarshal(body, &out.object); err != nil {
		t.Fatalf("%s %s: %d, no JSON: %s", r.method, target, response.StatusCode, body)
	}
	var status metav1.Status
	if out.object["kind"] == "Status" && json.Unmarshal(body, &status) == nil {
		out.message = status.Message
		if status.Details != nil {
			out.causes = status.Details.Causes
		}
	}
	return out
}

// auditAnnotations of a request in the API server's audit log.
func auditAnnotations(t *testing.T, a answer) map[string]string {
	t.Helper()
	event, err := cluster.Audit.Event(t.Context(), a.auditID)
	check(t, err)
	return event.Annotations
}

// noted is what our webhooks noted there, without the name of the webhook: "rules", "mode", "decision"
// and so on.
func noted(t *testing.T, a answer) map[string]string {
	t.Helper()
	out := map[string]string{}
	for key, value := range auditAnnotations(t, a) {
		if webhook, ours, found := strings.Cut(key, "/"); found && strings.HasSuffix(webhook, ".rankward.io") {
			out[ours] = value
		}
	}
	return out
}

// Where objects of a kind are sent; the test that uses a custom kind adds it.
var resources = map[string]string{
	"v1/Pod": "pods", "v1/PodTemplate": "podtemplates", "v1/ReplicationController": "replicationcontrollers",
	"v1/PersistentVolume": "persistentvolumes", "v1/PersistentVolumeClaim": "persistentvolumeclaims",
	"v1/Namespace": "namespaces", "v1/ConfigMap": "configmaps",
	"apps/v1/Deployment": "deployments", "apps/v1/StatefulSet": "statefulsets",
	"apps/v1/DaemonSet": "daemonsets", "apps/v1/ReplicaSet": "replicasets",
	"batch/v1/Job": "jobs", "batch/v1/CronJob": "cronjobs",
	"rbac.authorization.k8s.io/v1/ClusterRoleBinding":                "clusterrolebindings",
	"node.k8s.io/v1/RuntimeClass":                                    "runtimeclasses",
	"apiextensions.k8s.io/v1/CustomResourceDefinition":               "customresourcedefinitions",
	"admissionregistration.k8s.io/v1/ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
}

var clusterScoped = map[string]bool{"persistentvolumes": true, "namespaces": true, "runtimeclasses": true,
	"customresourcedefinitions": true, "validatingwebhookconfigurations": true, "clusterrolebindings": true}

// object is a manifest and where it belongs.
type object struct {
	fields map[string]any
	json   []byte
	name   string // empty with generateName
	kind   string
	path   string // of the collection
}

func parse(t *testing.T, space, manifest string) object {
	t.Helper()
	var o object
	if err := sigsyaml.Unmarshal([]byte(manifest), &o.fields); err != nil {
		t.Fatalf("%v in\n%s", err, manifest)
	}
	o.json = must(t, func() ([]byte, error) { return json.Marshal(o.fields) })
	version, _ := o.fields["apiVersion"].(string)
	o.kind, _ = o.fields["kind"].(string)
	metadata, _ := o.fields["metadata"].(map[string]any)
	o.name, _ = metadata["name"].(string)
	plural, known := resources[version+"/"+o.kind]
	if !known {
		t.Fatalf("no resource is known for %s %s", version, o.kind)
	}
	o.path = "/apis/" + version
	if version == "v1" {
		o.path = "/api/v1"
	}
	if !clusterScoped[plural] {
		o.path += "/namespaces/" + space
	}
	o.path += "/" + plural
	return o
}

var (
	dryRun  = url.Values{"dryRun": {"All"}}
	forReal = url.Values{}
)

func create(t *testing.T, space, manifest string, query url.Values, as ...identity) answer {
	t.Helper()
	o := parse(t, space, manifest)
	return send(t, request{method: http.MethodPost, path: o.path, query: query, contentType: "application/json", body: o.json, identity: first(as)})
}

// apply is a server-side apply.
func apply(t *testing.T, space, manifest string, query url.Values) answer {
	t.Helper()
	o := parse(t, space, manifest)
	with := url.Values{"fieldManager": {"tests"}}
	for key, values := range query {
		with[key] = values
	}
	return send(t, request{method: http.MethodPatch, path: o.path + "/" + o.name, query: with,
		contentType: "application/apply-patch+yaml", body: []byte(manifest)})
}

// patch is a strategic merge patch, or a merge patch where the kind is a custom one, of what stands by
// the name in the manifest.
func patch(t *testing.T, space, standing, subresource, changes string, query url.Values, as ...identity) answer {
	t.Helper()
	o := parse(t, space, standing)
	body := must(t, func() ([]byte, error) { return sigsyaml.YAMLToJSON([]byte(changes)) })
	kind := "application/merge-patch+json"
	switch o.fields["apiVersion"] {
	case "v1", "apps/v1", "batch/v1":
		kind = "application/strategic-merge-patch+json"
	}
	path := o.path + "/" + o.name
	if subresource != "" {
		path += "/" + subresource
	}
	return send(t, request{method: http.MethodPatch, path: path, query: query, contentType: kind, body: body, identity: first(as)})
}

// stand creates an object that has to be accepted.
func stand(t *testing.T, space, manifest string) answer {
	t.Helper()
	a := create(t, space, manifest, forReal)
	if !a.accepted() {
		t.Fatalf("%d: %s\n%s", a.code, a.message, manifest)
	}
	return a
}

func tell(a answer) string {
	return fmt.Sprintf("code %d\nmessage: %s\nwarnings: %s", a.code, a.message, strings.Join(a.warnings, "\n"))
}
