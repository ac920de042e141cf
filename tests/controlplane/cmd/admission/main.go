// Command admission measures what Rankward's webhook costs a kube-apiserver: creates a second and the
// time of one, with the webhook and without it, in one run on one machine, and what the API server
// itself says the webhook took.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"text/tabwriter"

	"rankward.io/tests/controlplane/harness"
)

func main() {
	creates := flag.Int("creates", 10_000, "pods of each measurement")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := measure(ctx, *creates); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, creates int) error {
	bench, err := newBench(ctx)
	if err != nil {
		return err
	}
	defer bench.cluster.Stop()
	runs := []run{
		{clients: 1, dryRun: true}, {clients: 8, dryRun: true}, {clients: 8},
	}
	// So that the first measurement does not pay for what the API server does once.
	if _, err := bench.run(ctx, run{creates: min(creates, 1_000), clients: 8, dryRun: true}); err != nil {
		return err
	}
	var results []result
	for _, webhook := range []bool{false, true} {
		if webhook {
			if err := bench.install(ctx); err != nil {
				return err
			}
		}
		for _, run := range runs {
			run.creates, run.webhook = creates, webhook
			fmt.Fprintf(os.Stderr, "admission: %d creates, %d at a time, dry run %t, webhook %t\n", run.creates, run.clients, run.dryRun, run.webhook)
			result, err := bench.run(ctx, run)
			if err != nil {
				return err
			}
			results = append(results, result)
		}
	}
	fmt.Printf("Kubernetes %s, %s\n", harness.RequestedVersion(), harness.Machine())
	fmt.Printf("%d creates each: %s\n", creates, mixture())
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "creates\tat a time\twebhook\tcreates/s\tcreate, ms: p50\tp99\twebhook by the API server, ms: mean\tp50\tp99\tat most 5 ms\tRankward itself, ms: mean\tp99\tdenied\twarned")
	for _, r := range results {
		fmt.Fprintln(table, r)
	}
	return table.Flush()
}
