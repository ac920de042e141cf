package controlplane

import (
	"flag"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"rankward.io/tests/controlplane/harness"
)

// Modes of a bypass as the tables have them.
const (
	denied  = "enforce" // refused
	warned  = "warn"    // accepted, with a warning
	audited = "audit"   // accepted, and in the audit log alone
)

// bypass is one way to reach an accelerator that the device plugin did not hand out, or to take one's
// place, and an object close to it that is honest and has to pass without a word.
type bypass struct {
	how, gives string
	rule, mode string
	// YAML with NAME for the name. A patch of `before`, which is made first, where that is not empty.
	object      string
	before      string
	subresource string // of the patch
	applied     bool   // by server-side apply
	namespace   string // where it is not the test's own
	// By somebody who may do everything that RBAC knows, and is no administrator of Rankward.
	byEditor bool
	// The same with what should be done instead, or nearly the same with nothing wrong in it. Empty
	// where there is none.
	honest string
}

func (b bypass) title() string {
	return strings.Trim(regexp.MustCompile(`[^a-z0-9]+`).ReplaceAllString(strings.ToLower(b.how), "-"), "-")
}

// sections of the table, in the document's order.
var bypasses = []struct {
	title string
	rows  []bypass
	// Of the configuration's key `admission`; nil: the defaults.
	admission map[string]any
}{
	{title: "Device nodes by hostPath", rows: deviceNodes},
	{title: "Other ways to write a path", rows: pathTricks},
	{title: "Directories and control channels of the host", rows: hostDirectories},
	{title: "Variables", rows: deviceVariables},
	{title: "Runtime classes and annotations", rows: runtimeSelectors},
	{title: "Privileges and the choice of a node", rows: privileges},
	{title: "PersistentVolumes", rows: volumes},
	{title: "Other objects and requests", rows: vehicles},
	{title: "Custom resources", rows: customKinds},
	{title: "Requests and keys", rows: askings},
	{title: "Exemptions of one's own making", rows: grantings},
	{title: "Where a cluster sets more than the defaults", rows: configuredRows, admission: configuredAdmission},
}

var updateDocuments = flag.Bool("update", false, "write docs/bypasses.md anew")

func TestBypasses(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "bypasses", nil)
	webhookAnswers(t, space)
	standingClaims(t, installation, space)
	bypassWorld(t, space)
	names := map[string]bool{}
	for _, section := range bypasses {
		if section.admission != nil {
			configured(t, installation, map[string]any{"admission": section.admission})
			registeredAnew(t, installation)
		}
		for _, row := range section.rows {
			if names[row.title()] {
				t.Errorf("two rows are called %q", row.title())
			}
			names[row.title()] = true
			t.Run(row.title(), func(t *testing.T) {
				expect(t, row, ask(t, space, row, row.object, "bypass"))
				if row.honest != "" {
					a := ask(t, space, row, row.honest, "honest")
					if !a.accepted() || len(a.warnings) > 0 {
						t.Errorf("the honest one: %s\n%s", tell(a), row.honest)
					} else if rules := noted(t, a)["rules"]; rules != "" {
						t.Errorf("the honest one is noted for %s\n%s", rules, row.honest)
					}
				}
			})
		}
	}
	t.Logf("%d bypasses", len(names))
	nothingStays(t, space)
}

// nothingStays of the dry runs above: what is there is what rows with `before` made.
func nothingStays(t *testing.T, space string) {
	t.Helper()
	wanted := map[string]bool{}
	for _, section := range bypasses {
		for _, row := range section.rows {
			if row.before != "" {
				for _, suffix := range []string{"bypass", "honest"} {
					wanted[row.name(suffix)] = true
				}
			}
		}
	}
	for _, path := range []string{"/api/v1/namespaces/" + space + "/pods", "/apis/apps/v1/namespaces/" + space + "/deployments",
		"/apis/batch/v1/namespaces/" + space + "/jobs", "/apis/jobset.x-k8s.io/v1alpha2/namespaces/" + space + "/jobsets",
		"/api/v1/persistentvolumes", "/api/v1/namespaces/rankward-system/configmaps"} {
		list := send(t, request{method: http.MethodGet, path: path})
		items, _ := list.object["items"].([]any)
		for _, item := range items {
			metadata, _ := item.(map[string]any)["metadata"].(map[string]any)
			name, _ := metadata["name"].(string)
			if (strings.HasPrefix(name, "bypass-") || strings.HasPrefix(name, "honest-")) && !wanted[name] && !standingVolumes[name] {
				t.Errorf("%s has %s", path, name)
			}
		}
	}
}

// name of the row's object, its own and its honest neighbour's.
func (b bypass) name(suffix string) string {
	name := suffix + "-" + b.title()
	return strings.Trim(name[:min(len(name), 60)], "-")
}

// ask sends the object as the row says, as a dry run: nothing stays.
func ask(t *testing.T, space string, row bypass, text, suffix string) answer {
	t.Helper()
	name := row.name(suffix)
	text = named(text, name)
	if row.namespace != "" {
		space = row.namespace
	}
	as := identity{}
	if row.byEditor {
		as = editor
	}
	switch {
	case row.before != "":
		before := named(row.before, name)
		o := parse(t, space, before)
		stand(t, space, before)
		if o.kind == "Namespace" || row.namespace != "" {
			t.Cleanup(func() { remove(t, o.path+"/"+o.name) })
		}
		return patch(t, space, before, row.subresource, text, dryRun, as)
	case row.applied:
		return apply(t, space, text, dryRun)
	default:
		return create(t, space, text, dryRun, as)
	}
}

func expect(t *testing.T, row bypass, a answer) {
	t.Helper()
	mark := "[" + row.rule + "]"
	annotations := noted(t, a)
	switch row.mode {
	case denied:
		if a.code != http.StatusForbidden || !strings.Contains(a.message, ".rankward.io\" denied the request: ") ||
			!strings.Contains(a.message, mark) || !strings.Contains(a.message, "Fix: ") {
			t.Errorf("want a denial by %s", row.rule)
		}
		caused := false
		for _, cause := range a.causes {
			caused = caused || string(cause.Type) == row.rule && cause.Field != "" && strings.HasPrefix(cause.Message, mark)
		}
		if !caused {
			t.Errorf("no cause for %s: %v", row.rule, a.causes)
		}
	case warned:
		if !a.accepted() || !strings.Contains(a.warning(), mark) || !strings.Contains(a.warning(), "Fix: ") {
			t.Errorf("want a warning by %s", row.rule)
		}
	case audited:
		if !a.accepted() || len(a.warnings) > 0 {
			t.Errorf("want no more than a note of %s", row.rule)
		}
	}
	if !strings.Contains(","+annotations["rules"]+",", ","+row.rule+",") || annotations["mode"] != row.mode {
		t.Errorf("want %s and mode %s in the audit log, which has %v", row.rule, row.mode, annotations)
	}
	if t.Failed() {
		t.Logf("%s\n%s", tell(a), row.object)
	}
}

// bypassWorld is what the objects above refer to: runtime classes, and a node with one of everything,
// so that no request is larger than the largest node.
func bypassWorld(t *testing.T, space string) {
	t.Helper()
	customResources(t, space)
	editorMayDoAnything(t)
	for _, class := range []string{"nvidia", "kata-qemu-nvidia-gpu", "gvisor"} {
		stand(t, "", fmt.Sprintf("apiVersion: node.k8s.io/v1\nkind: RuntimeClass\nmetadata: {name: %s}\nhandler: %s\n", class, class))
		t.Cleanup(func() { remove(t, "/apis/node.k8s.io/v1/runtimeclasses/"+class) })
	}
	nodes(t, []harness.Node{{Name: "bypass-node", Labels: harness.GPULabels(), Resources: map[string]string{
		"nvidia.com/gpu": "8", "nvidia.com/mig-1g.10gb": "7", "amd.com/gpu": "8", "gpu.intel.com/i915": "4", "habana.ai/gaudi": "8",
		"aws.amazon.com/neuron": "16", "google.com/tpu": "4", "huawei.com/Ascend910": "8", "rdma/hca": "8",
		"nvidia.com/gpu.shared": "40", "example.com/npu": "4"}}})
}

func remove(t *testing.T, path string) {
	t.Helper()
	zero := url.Values{"gracePeriodSeconds": {"0"}}
	client, err := wire()
	if err != nil {
		t.Error(err)
		return
	}
	// Of a clean-up: the test's own context has ended.
	asked, err := http.NewRequest(http.MethodDelete, cluster.URL+path+"?"+zero.Encode(), nil)
	if err != nil {
		t.Error(err)
		return
	}
	response, err := client.Do(asked)
	if err != nil {
		t.Error(err)
		return
	}
	response.Body.Close()
	if response.StatusCode >= 300 {
		t.Errorf("DELETE %s: %s", path, response.Status)
	}
}

const bypassesIntroduction = `# Bypasses

Ways to reach an accelerator that the device plugin did not hand out, or to take the place of those who asked, each
tried on a real kube-apiserver with Rankward installed as shipped and its defaults in force. This file is made from the
table in tests/controlplane by ` + "`scripts/controlplane.sh test 1.37.2 -run Bypasses -update`" + `, and the tests fail where it
differs. [rules.md](rules.md) says what each rule is for and how to turn it off.

*enforce*: refused. *warn*: accepted, and told to whoever asked; for a Deployment or a Job this is the rule that will
refuse its pods. *audit*: accepted, and in the audit log alone. Each row has an honest neighbour in its test,
which passes without a word. Each test is ` + "`TestBypasses/NAME`" + `.
`

func bypassesDocument() string {
	var text strings.Builder
	text.WriteString(bypassesIntroduction)
	count := 0
	cell := strings.NewReplacer("|", `\|`, "\n", " ")
	for _, section := range bypasses {
		fmt.Fprintf(&text, "\n## %s\n\n| how | what it would give | rule | mode | test |\n|---|---|---|---|---|\n", section.title)
		for _, row := range section.rows {
			count++
			fmt.Fprintf(&text, "| %s | %s | [%s](rules.md#%s) | %s | %s |\n", cell.Replace(row.how), cell.Replace(row.gives),
				row.rule, strings.ToLower(row.rule), row.mode, row.title())
		}
	}
	fmt.Fprintf(&text, "\n%d ways.\n", count)
	return text.String()
}

// What users read is what is tested.
func TestBypassesAreDocumented(t *testing.T) {
	path := filepath.Join(root, "docs", "bypasses.md")
	text := bypassesDocument()
	if *updateDocuments {
		check(t, os.WriteFile(path, []byte(text), 0o644))
	}
	if readFile(t, path) != text {
		t.Error("docs/bypasses.md is not what the table says: run scripts/controlplane.sh test 1.37.2 -run Bypasses -update")
	}
	if count := strings.Count(text, "](rules.md#"); count < 60 {
		t.Errorf("%d bypasses, want at least 60", count)
	}
}
