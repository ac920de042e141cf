package controlplane

import (
	"context"
	"os"
	"testing"

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

func readFile(t *testing.T, path string) string {
	t.Helper()
	return string(must(t, func() ([]byte, error) { return os.ReadFile(path) }))
}
