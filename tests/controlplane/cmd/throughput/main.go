// Command throughput measures kube-scheduler with and without Rankward, in one run on one machine:
// pods bound a second, and the scheduler's own time a pod. Pods are made before the scheduler starts,
// and the clock runs from the first binding to the last.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"text/tabwriter"

	"rankward.io/tests/controlplane/harness"
)

func main() {
	sizes := flag.String("nodes", "1000,5000", "numbers of nodes, separated by commas")
	pods := flag.Int("pods", 400, "pods of each measurement")
	only := flag.String("only", "", "measure only the rows whose text (\"GPU, alone, 100\") holds this; a ratio needs the row of the scheduler alone too")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "nodes\tpods\tscored %\tscheduler\tpods/s\tagainst alone\tscheduler, ms a pod\tRankward, ms a pod\tcalls a pod\tnominated in, s")
	for _, text := range strings.Split(*sizes, ",") {
		nodes, err := strconv.Atoi(text)
		if err == nil {
			err = measure(ctx, table, nodes, *pods, *only)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Printf("Kubernetes %s, %s\n", harness.RequestedVersion(), harness.Machine())
	table.Flush()
}

func measure(ctx context.Context, table *tabwriter.Writer, nodes, pods int, only string) error {
	bench, err := newBench(ctx, nodes)
	if err != nil {
		return err
	}
	defer bench.cluster.Stop()
	gpu := map[string]string{"nvidia.com/gpu": "1"}
	plain := map[string]string{"cpu": "100m"}
	// Of the scheduler alone, by what is asked for and the percentage.
	alone := map[string]float64{}
	for _, run := range []run{
		{pods: "GPU", scheduler: "alone", resources: gpu, percentage: 100},
		{pods: "GPU", scheduler: "with Rankward", resources: gpu, percentage: 100, extender: asShipped},
		{pods: "GPU, nominated gangs of 64", scheduler: "with Rankward", resources: gpu, percentage: 100, extender: asShipped, gang: 64, gated: true},
		{pods: "GPU, nominated gang of 1,024", scheduler: "with Rankward", resources: gpu, percentage: 100, extender: asShipped, gang: 1024, gated: true},
		{pods: "GPU, gangs of 64 planned at their first rank", scheduler: "with Rankward", resources: gpu, percentage: 100, extender: asShipped, gang: 64},
		{pods: "GPU", scheduler: "alone", resources: gpu, percentage: adaptive},
		{pods: "GPU", scheduler: "with Rankward", resources: gpu, percentage: adaptive, extender: asShipped},
		{pods: "GPU, nominated gangs of 64", scheduler: "with Rankward", resources: gpu, percentage: adaptive, extender: asShipped, gang: 64, gated: true},
		{pods: "GPU, nominated gang of 1,024", scheduler: "with Rankward", resources: gpu, percentage: adaptive, extender: asShipped, gang: 1024, gated: true},
		{pods: "plain", scheduler: "alone", resources: plain, percentage: 100},
		{pods: "plain", scheduler: "with Rankward, managedResources as shipped", resources: plain, percentage: 100, extender: asShipped},
		{pods: "plain", scheduler: "with Rankward, managedResources empty", resources: plain, percentage: 100, extender: everyPod},
	} {
		label := fmt.Sprintf("%s, %s, %s", run.pods, run.scheduler, percentage(run.percentage))
		if !strings.Contains(label, only) {
			continue
		}
		count := pods
		if run.gang > 0 {
			count = max(1, pods/run.gang) * run.gang
		}
		fmt.Fprintf(os.Stderr, "throughput: %d nodes, %d pods (%s), %s, percentageOfNodesToScore %s\n", nodes, count, run.pods, run.scheduler, percentage(run.percentage))
		result, err := bench.run(ctx, run, count)
		if err != nil {
			return err
		}
		resource, _, _ := strings.Cut(run.pods, ",")
		kind := resource + " " + percentage(run.percentage)
		if run.extender == noExtender {
			alone[kind] = result.podsPerSecond
		}
		ours, gangs := "-\t-", "-"
		if run.extender != noExtender {
			ours = fmt.Sprintf("%.2f\t%.1f", result.rankwardMilliseconds, result.calls)
		}
		if run.gated {
			gangs = fmt.Sprintf("%.1f", result.nominatedSeconds)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%.0f\t%.2f\t%.2f\t%s\t%s\n", nodes, run.pods, percentage(run.percentage), run.scheduler,
			result.podsPerSecond, result.podsPerSecond/alone[kind], result.schedulerMilliseconds, ours, gangs)
	}
	return nil
}

func percentage(value int) string {
	if value == adaptive {
		return "adaptive"
	}
	return strconv.Itoa(value)
}
