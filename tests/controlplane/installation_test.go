package controlplane

import (
	"context"
	"fmt"
	"os"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

// Shared by the tests, which run one after the other; made by the first that needs it.
var shared *harness.Installation

func installed(t *testing.T) *harness.Installation {
	t.Helper()
	if shared == nil {
		// Outlives this test.
		shared = must(t, func() (*harness.Installation, error) {
			return harness.Install(context.Background(), cluster, root, certificates, webhookPort)
		})
	}
	if !shared.Rankward.Running() || !shared.Scheduler.Running() {
		t.Fatalf("an earlier test left the installation stopped\n%s\n%s", shared.Rankward.LogTail(), shared.Scheduler.LogTail())
	}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(shared.Rankward.LogTail())
		}
	})
	return shared
}

// configured restarts Rankward with keys of its configuration set. What is returned, or the end of the
// test, sets them back.
func configured(t *testing.T, installation *harness.Installation, settings map[string]any) (restore func()) {
	t.Helper()
	check(t, installation.Restart(context.Background(), settings))
	restored := false
	restore = func() {
		if restored {
			return
		}
		restored = true
		if err := installation.Restart(context.Background(), nil); err != nil {
			t.Error(err)
		}
	}
	t.Cleanup(restore)
	return restore
}

// registeredAnew puts the registration into force that belongs to the configuration, until the test
// ends: its conditions name what the configuration adds.
func registeredAnew(t *testing.T, installation *harness.Installation) {
	t.Helper()
	client := cluster.Client.AdmissionregistrationV1().ValidatingWebhookConfigurations()
	shipped, err := client.Get(t.Context(), "rankward", metav1.GetOptions{})
	check(t, err)
	t.Cleanup(func() {
		current, err := client.Get(context.Background(), "rankward", metav1.GetOptions{})
		if err == nil {
			current.Webhooks = shipped.Webhooks
			_, err = client.Update(context.Background(), current, metav1.UpdateOptions{})
		}
		if err != nil {
			t.Error(err)
		}
	})
	out := must(t, func() (harness.Output, error) {
		return harness.RunRankward(t.Context(), "generate", "manifests", "--config", installation.Rankward.ConfigPath,
			"--url", fmt.Sprintf("https://127.0.0.1:%d/validate", installation.Rankward.WebhookPort), "--ca-bundle", certificates.CAFile)
	})
	if out.ExitCode != 0 {
		t.Fatal(out.Stderr)
	}
	check(t, cluster.Apply(t.Context(), out.Stdout))
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must(t, func() ([]byte, error) { return os.ReadFile(path) }))
}
