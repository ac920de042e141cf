// Command binaries builds the programs of a control plane, or finds them, and prints their paths.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"rankward.io/tests/controlplane/harness"
)

func main() {
	version := flag.String("k8s", harness.RequestedVersion(), "Kubernetes version; default from K8S")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	binaries, err := harness.EnsureBinaries(ctx, *version, os.Stderr)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for _, name := range []string{"etcd", "kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl"} {
		fmt.Println(binaries.Path(name))
	}
}
