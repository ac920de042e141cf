// Package controlplane tests Rankward on a real etcd, kube-apiserver, kube-scheduler and
// kube-controller-manager. Everything here asserts on what those components did or said.
package controlplane

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"rankward.io/tests/controlplane/harness"
)

// One control plane serves the whole package: it takes seconds to start and each test keeps to
// namespaces and nodes of its own.
var (
	root         string
	cluster      *harness.ControlPlane
	certificates harness.Certificates
	// Where the API server's AdmissionConfiguration expects the webhook, and presents its client
	// certificate.
	webhookPort int
)

func TestMain(m *testing.M) {
	os.Exit(run(m))
}

func run(m *testing.M) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := setUp(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	stopAll := func() {
		if second.cluster != nil {
			second.cluster.Stop()
		}
		cluster.Stop()
	}
	defer stopAll()
	// An interrupted run must not leave etcd and its siblings behind; Pdeathsig is the last resort.
	go func() {
		<-ctx.Done()
		stopAll()
	}()
	code := m.Run()
	// The tests print the logs of what they are about; here only of what should not have ended.
	if code != 0 {
		fmt.Fprint(os.Stderr, cluster.LogTailsOfTheEnded())
	}
	return code
}

func setUp(ctx context.Context) error {
	var err error
	if root, err = harness.Repository(); err != nil {
		return err
	}
	if cluster, certificates, webhookPort, err = harness.StartAudited(ctx, os.Stderr); err != nil {
		return err
	}
	cluster.Report(os.Stderr)
	return nil
}
