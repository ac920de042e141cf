package controlplane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
)

// What somebody does who cannot get a pod past the rules and can change what the rules go by: SELF-01.

// editor may do everything that RBAC can allow, and is not of system:masters.
var editor = identity{"editor@example.com", []string{"system:authenticated", "editors"}}

func editorMayDoAnything(t *testing.T) {
	t.Helper()
	stand(t, "", "apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRoleBinding\nmetadata: {name: bypass-editors}\n"+
		"roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: cluster-admin}\n"+
		"subjects: [{apiGroup: rbac.authorization.k8s.io, kind: Group, name: editors}]\n")
	t.Cleanup(func() { remove(t, "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/bypass-editors") })
	// RBAC takes a moment to see it.
	eventually(t, "the editor to be allowed", func() error {
		if a := create(t, "default", named(configMap(""), "probe"), dryRun, editor); !a.accepted() {
			return fmt.Errorf("%s", tell(a))
		}
		return nil
	})
}

// configMap holds Rankward's configuration with the given lines under `admission`.
func configMap(admission string) string {
	text := "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\ndoors: [webhook]\nschedulerNames: [default-scheduler]\n" +
		"tls: {webhook: {certFile: /tls/tls.crt, keyFile: /tls/tls.key}}\n"
	if admission != "" {
		text += "admission: {" + admission + "}\n"
	}
	return "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata:\n  rankward.yaml: |\n    " +
		strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n    ") + "\n"
}

func namespaceNamed(name, labels string) string {
	return "apiVersion: v1\nkind: Namespace\nmetadata: {name: " + name + ", labels: {" + labels + "}}\n"
}

const exemptsTeamA = `exemptions: [{namespaces: [team-a], serviceAccounts: [default], rules: [HP-01], reason: because, expires: "2099-01-01T00:00:00Z"}]`

var grantings = []bypass{
	{how: "a Namespace that a preset waits for", gives: "everything that the preset exempts", rule: "SELF-01", mode: denied, byEditor: true,
		object: namespaceNamed("gpu-operator", ""), honest: namespaceNamed("gpu-operations", "")},
	{how: "a Namespace that loses its isolation", gives: "shared GPUs where they are warned of", rule: "SELF-01", mode: denied, byEditor: true,
		before: namespaceNamed("NAME", "rankward.io/isolation: required"),
		object: "metadata: {labels: {rankward.io/isolation: null}}", honest: "metadata: {labels: {team: a}}"},
	{how: "a configuration that exempts someone", gives: "whatever the exempt rules deny", rule: "SELF-01", mode: denied, byEditor: true, namespace: "rankward-system",
		object: configMap(exemptsTeamA), honest: configMap("modes: {PRIV-02: enforce}")},
	{how: "a configuration that loosens a rule", gives: "whatever the rule denies", rule: "SELF-01", mode: denied, byEditor: true, namespace: "rankward-system",
		before: configMap("modes: {PRIV-02: enforce}"),
		object: patchedTo(configMap("modes: {HP-01: warn}")), honest: patchedTo(configMap("modes: {PRIV-02: enforce, PRIV-01: enforce}"))},
	{how: "a configuration that excludes a namespace", gives: "a namespace without rules", rule: "SELF-01", mode: denied, byEditor: true, namespace: "rankward-system",
		object: configMap("excludedNamespaces: [kube-system, rankward-system, team-a]"), honest: configMap("excludedNamespaces: [kube-system]")},
	{how: "a configuration that cannot be read", gives: "a restart with something else than was meant", rule: "SELF-01", mode: denied, byEditor: true, namespace: "rankward-system",
		object: configMap("mode: {HP-01: off}"), honest: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: NAME}\ndata: {note: 'mode: {HP-01: off}'}\n"},
}

// patchedTo is the data of a ConfigMap alone.
func patchedTo(configMap string) string { return configMap[strings.Index(configMap, "data:"):] }

// Those who are in the list may; system:masters is unless another is set.
func TestAdministratorsGrantExemptions(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "grants", nil)
	webhookAnswers(t, space)
	editorMayDoAnything(t)
	asked := named(configMap(exemptsTeamA), "granted")
	eventually(t, "configurations to be guarded", func() error {
		if a := create(t, "rankward-system", asked, dryRun, editor); a.code != http.StatusForbidden {
			return fmt.Errorf("%s", tell(a))
		}
		return nil
	})
	masters := identity{"admin", []string{"system:masters"}}
	allowed := func(what string, a answer) {
		t.Helper()
		if !a.accepted() || len(a.warnings) > 0 {
			t.Errorf("%s: %s", what, tell(a))
		}
	}
	allowed("an exemption, by system:masters", create(t, "rankward-system", asked, dryRun, masters))
	allowed("a namespace, by system:masters", create(t, "", namespaceNamed("gpu-operator", ""), dryRun, masters))
	// In other namespaces it configures nothing of ours, and is not even sent.
	allowed("an exemption elsewhere", create(t, space, asked, dryRun, editor))

	configured(t, installation, map[string]any{"admission": map[string]any{"administrators": []any{editor.user}}})
	allowed("an exemption, by an administrator by name", create(t, "rankward-system", asked, dryRun, editor))
	allowed("a namespace, by an administrator by name", create(t, "", namespaceNamed("gpu-operator", ""), dryRun, editor))
	if a := create(t, "rankward-system", asked, dryRun, identity{"other@example.com", editor.groups}); a.code != http.StatusForbidden || !strings.Contains(a.message, "[SELF-01]") {
		t.Errorf("somebody else: %s", tell(a))
	}
}
