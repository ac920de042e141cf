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
	// So that the first measurement does not pay for what the API server does once.
	if _, err := bench.run(ctx, run{creates: min(creates, 1_000), clients: 8, dryRun: true}); err != nil {
		return err
	}
	var results []result
	for _, run := range []run{{clients: 1, dryRun: true}, {clients: 8, dryRun: true}, {clients: 8}} {
		// One after the other, so that what else the machine does meets all three.
		for _, run.sent = range []sent{nothing, whatMatters, everyPod} {
			run.creates = creates
			fmt.Fprintf(os.Stderr, "admission: %d creates, %d at a time, dry run %t, webhook: %s\n", run.creates, run.clients, run.dryRun, run.sent)
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
	fmt.Fprintln(table, "creates\tat a time\tsent to the webhook\tcreates/s\tcreate, ms: p50\tp99\tcalls\tthe API server's figure, ms: mean\tp50\tp99\tat most 5 ms\tRankward itself, ms: mean\tp99\tdenied\twarned")
	for _, r := range results {
		fmt.Fprintln(table, r)
	}
	return table.Flush()
}
