package controlplane

import (
	"testing"

	"rankward.io/tests/controlplane/harness"
)

// Whoever watches the cluster sees each verdict three times: in our metrics, in the API server's, and
// in its audit log.
func TestVerdictsAreCountedAndAudited(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "counted", nil)
	webhookAnswers(t, space)
	look := func() (ours, theirs harness.Samples) {
		return must(t, installation.Rankward.Metrics),
			must(t, func() (harness.Samples, error) { return cluster.Metrics(t.Context()) })
	}
	verdict := map[string]map[string]string{"denied": {"name": "pods.rankward.io", "rejected": "true"}, "allowed": {"name": "pods.rankward.io", "rejected": "false"}}
	const duration = "apiserver_admission_webhook_admission_duration_seconds_count"

	for _, test := range []struct {
		name, manifest string
		annotations    map[string]string
		denials        float64 // of HP-01
		warnings       float64 // of PRIV-02
		admission      string  // the API server's own verdict
	}{
		{"denied", hostPath("/dev/nvidia0"), map[string]string{"decision": "deny", "mode": "enforce", "rules": "HP-01"}, 1, 0, "denied"},
		{"warned", one(privileged, oneGPU), map[string]string{"decision": "allow", "mode": "warn", "rules": "PRIV-02"}, 0, 1, "allowed"},
		{"nothing to say", asking("nvidia.com/gpu", 1), map[string]string{"decision": "allow"}, 0, 0, "allowed"},
	} {
		t.Run(test.name, func(t *testing.T) {
			ours, theirs := look()
			a := create(t, space, named(test.manifest, "counted"), dryRun)
			annotations := noted(t, a)
			for key, value := range test.annotations {
				if annotations[key] != value {
					t.Errorf("annotation %s is %q, want %q", key, annotations[key], value)
				}
			}
			if len(annotations) != len(test.annotations) {
				t.Errorf("annotations are %v", annotations)
			}
			oursNow, theirsNow := look()
			rise := func(name string, labels map[string]string) float64 {
				return oursNow.Sum(name, labels) - ours.Sum(name, labels)
			}
			if n := rise("rankward_admission_denials_total", map[string]string{"rule": "HP-01"}); n != test.denials {
				t.Errorf("%v denials by HP-01, want %v", n, test.denials)
			}
			if n := rise("rankward_admission_warnings_total", map[string]string{"rule": "PRIV-02"}); n != test.warnings {
				t.Errorf("%v warnings by PRIV-02, want %v", n, test.warnings)
			}
			if n := rise("rankward_requests_total", map[string]string{"verb": "validate"}); n < 1 {
				t.Errorf("rankward_requests_total rose by %v", n)
			}
			if theirsNow.Sum(duration, verdict[test.admission]) <= theirs.Sum(duration, verdict[test.admission]) {
				t.Errorf("%s %v did not rise", duration, verdict[test.admission])
			}
		})
	}
}
