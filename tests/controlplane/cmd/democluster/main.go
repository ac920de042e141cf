// Command democluster shows Rankward on a real control plane: a job of four ranks is placed by
// kube-scheduler where Rankward says, and kubectl is refused a pod that helps itself to a GPU.
package main

import (
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

const ranks = 4

const greedyPod = `apiVersion: v1
kind: Pod
metadata: {name: helps-itself, namespace: team-a}
spec:
  containers:
  - name: train
    image: registry.example/train:1
    volumeMounts: [{name: dev, mountPath: /dev/nvidia0}]
  volumes:
  - name: dev
    hostPath: {path: /dev/nvidia0}
`

func main() {
	keep := flag.Bool("keep", false, "leave the control plane running until Ctrl-C, to try things with kubectl")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := demo(ctx, *keep); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func demo(ctx context.Context, keep bool) error {
	cluster, installation, err := harness.StartInstalled(ctx, os.Stderr)
	if err != nil {
		return err
	}
	defer cluster.Stop()
	cluster.Report(os.Stdout)

	nodes := harness.TwoLeaves("demo", ranks)
	if err := harness.CreateNodes(ctx, cluster.Client, nodes); err != nil {
		return err
	}
	space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-a"}}
	if _, err := cluster.Client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil {
		return err
	}
	fmt.Printf("\n$ kubectl create job train   # %d ranks of 8 GPUs; %d nodes, half of them with their NICs on the other socket\n", ranks, len(nodes))
	job := harness.TrainingJob("team-a", "train", "default-scheduler", ranks)
	if _, err := cluster.Client.BatchV1().Jobs("team-a").Create(ctx, job, metav1.CreateOptions{}); err != nil {
		return err
	}
	bound, err := waitBound(ctx, cluster)
	if err != nil {
		return err
	}
	misplaced := 0
	for _, pod := range slices.Sorted(maps.Keys(bound)) {
		decisions := installation.Rankward.Decisions("team-a/"+pod, "filter")
		if len(decisions) == 0 {
			return fmt.Errorf("%s was placed without Rankward", pod)
		}
		node := bound[pod]
		named := harness.Entry(harness.BestNodes(decisions[len(decisions)-1]), node)
		if named == nil || !strings.HasPrefix(node, "demo-near-") {
			misplaced++
			named = map[string]any{"seconds": 0.0, "bottleneck": "not a node that Rankward named"}
		}
		seconds, _ := named["seconds"].(float64)
		fmt.Printf("  %-16s -> %-12s  predicted %.1f ms, %v\n", pod, node, seconds*1e3, named["bottleneck"])
	}
	if far := worst(installation, slices.Sorted(maps.Keys(bound))[ranks-1]); far != nil {
		fmt.Printf("  for the last rank %v would have taken %.1f ms: %v\n", far["node"], far["seconds"].(float64)*1e3, far["bottleneck"])
	}
	if misplaced > 0 {
		return fmt.Errorf("%d ranks are not on the near leaf", misplaced)
	}

	fmt.Printf("\n$ kubectl apply -f helps-itself.yaml   # mounts /dev/nvidia0, asks for no GPU\n")
	out, err := cluster.Kubectl(ctx, greedyPod, "apply", "-f", "-")
	if err != nil {
		return err
	}
	fmt.Print(out.Stderr)
	if out.ExitCode != 1 || !strings.Contains(out.Stderr, "[HP-01]") {
		return fmt.Errorf("kubectl ended with %d, want a denial by HP-01", out.ExitCode)
	}
	if keep {
		kubeconfig, err := cluster.AdminKubeconfig()
		if err != nil {
			return err
		}
		fmt.Printf("\nexport KUBECONFIG=%s   # %s; Ctrl-C ends it\n", kubeconfig, cluster.Binaries.Path("kubectl"))
		<-ctx.Done()
	}
	return nil
}

// worst is the last of the ten best nodes of a pod's decision.
func worst(installation *harness.Installation, pod string) map[string]any {
	decisions := installation.Rankward.Decisions("team-a/"+pod, "filter")
	best, _ := decisions[len(decisions)-1]["best"].([]any)
	if len(best) < 2 {
		return nil
	}
	return best[len(best)-1].(map[string]any)
}

func waitBound(ctx context.Context, cluster *harness.ControlPlane) (map[string]string, error) {
	bound := map[string]string{}
	err := harness.WaitFor(ctx, "the ranks to be bound", time.Minute, 100*time.Millisecond, func() error {
		pods, err := cluster.Client.CoreV1().Pods("team-a").List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, pod := range pods.Items {
			if pod.Spec.NodeName != "" {
				bound[pod.Name] = pod.Spec.NodeName
			}
		}
		if len(bound) < ranks {
			return fmt.Errorf("%d of %d", len(bound), ranks)
		}
		return nil
	})
	return bound, err
}
