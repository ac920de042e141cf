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
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "nodes\tpods\tscored %\tscheduler\tpods/s\tscheduler, ms a pod\tRankward, ms a pod\tcalls a pod")
	for _, text := range strings.Split(*sizes, ",") {
		nodes, err := strconv.Atoi(text)
		if err == nil {
			err = measure(ctx, table, nodes, *pods)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
	fmt.Printf("Kubernetes %s, %s\n", harness.RequestedVersion(), machine())
	table.Flush()
}

func measure(ctx context.Context, table *tabwriter.Writer, nodes, pods int) error {
	bench, err := newBench(ctx, nodes)
	if err != nil {
		return err
	}
	defer bench.cluster.Stop()
	gpu := map[string]string{"nvidia.com/gpu": "1"}
	plain := map[string]string{"cpu": "100m"}
	for _, run := range []run{
		{"GPU", "alone", gpu, 100, noExtender},
		{"GPU", "with Rankward", gpu, 100, asShipped},
		{"GPU", "alone", gpu, adaptive, noExtender},
		{"GPU", "with Rankward", gpu, adaptive, asShipped},
		{"plain", "alone", plain, 100, noExtender},
		{"plain", "with Rankward, managedResources as shipped", plain, 100, asShipped},
		{"plain", "with Rankward, managedResources empty", plain, 100, everyPod},
	} {
		fmt.Fprintf(os.Stderr, "throughput: %d nodes, %d %s pods, %s, percentageOfNodesToScore %s\n", nodes, pods, run.pods, run.scheduler, percentage(run.percentage))
		result, err := bench.run(ctx, run, pods)
		if err != nil {
			return err
		}
		ours := "-\t-"
		if run.extender != noExtender {
			ours = fmt.Sprintf("%.2f\t%.1f", result.rankwardMilliseconds, result.calls)
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%.0f\t%.2f\t%s\n", nodes, run.pods, percentage(run.percentage), run.scheduler,
			result.podsPerSecond, result.schedulerMilliseconds, ours)
	}
	return nil
}

func percentage(value int) string {
	if value == adaptive {
		return "adaptive"
	}
	return strconv.Itoa(value)
}

// machine is what a reader of the figures has to know.
func machine() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown machine"
	}
	model, cores := "unknown CPU", 0
	for _, line := range strings.Split(string(text), "\n") {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "model name":
			model = strings.TrimSpace(value)
			cores++
		}
	}
	return fmt.Sprintf("%d x %s, everything on the same cores", cores, model)
}
