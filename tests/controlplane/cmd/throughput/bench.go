package main

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"rankward.io/tests/controlplane/harness"
)

const (
	namespace = "throughput"
	adaptive  = 0 // kube-scheduler's default: the fewer, the larger the cluster
)

type extender int

const (
	noExtender extender = iota
	asShipped           // managedResources of manifests/scheduler-configuration.yaml
	everyPod            // managedResources empty
)

type run struct {
	pods, scheduler string
	resources       map[string]string
	percentage      int
	extender        extender
	gang            int // pods of each gang; 0: single pods
	gated           bool
}

type result struct {
	podsPerSecond         float64
	schedulerMilliseconds float64 // scheduling algorithm, the extender's calls included
	rankwardMilliseconds  float64 // all calls of a pod, as measured by the server
	calls                 float64
	nominatedSeconds      float64 // of gated gangs, from the last pod's creation to the last gate lifted
}

type bench struct {
	cluster      *harness.ControlPlane
	root         string
	certificates harness.Certificates
	rankward     *harness.Rankward
	runs         int
}

func newBench(ctx context.Context, nodes int) (*bench, error) {
	cluster, certificates, _, err := harness.StartWithCertificates(ctx, os.Stderr)
	if err != nil {
		return nil, err
	}
	b := &bench{cluster: cluster, certificates: certificates}
	if err := b.prepare(ctx, nodes); err != nil {
		cluster.Stop()
		return nil, err
	}
	return b, nil
}

func (b *bench) prepare(ctx context.Context, nodes int) error {
	var err error
	if b.root, err = harness.Repository(); err != nil {
		return err
	}
	var list []harness.Node
	for i := range nodes {
		list = append(list, harness.Node{
			Name: fmt.Sprintf("node-%05d", i),
			Labels: harness.With(harness.GPULabels(),
				"fabric.topograph.run/tier-0", fmt.Sprintf("leaf-%d", i/32),
				"fabric.topograph.run/tier-1", fmt.Sprintf("spine-%d", i/512)),
			Resources: map[string]string{"nvidia.com/gpu": "8"},
		})
	}
	if err := harness.CreateNodes(ctx, b.cluster.Client, list); err != nil {
		return err
	}
	// The second is the Lease's: without it nobody nominates.
	for _, name := range []string{namespace, "rankward-system"} {
		space := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
		if _, err := b.cluster.Client.CoreV1().Namespaces().Create(ctx, space, metav1.CreateOptions{}); err != nil {
			return err
		}
	}
	managed, err := managedResources(b.root)
	if err != nil {
		return err
	}
	kubeconfig, err := b.cluster.AdminKubeconfig()
	if err != nil {
		return err
	}
	b.rankward, err = harness.StartRankward(ctx, harness.RankwardOptions{
		Name: "rankward", Dir: b.cluster.Dir, Certificates: b.certificates, Kubeconfig: kubeconfig,
		Configuration: `
apiVersion: config.rankward.io/v1alpha1
kind: RankwardConfiguration
doors: [extender]
tls: {extender: {}}
managedResources: [` + strings.Join(managed, ", ") + `]
# What asks for nothing of ours is logged from 4 on.
log: {verbosity: 4, format: json}
`,
	})
	if err == nil {
		b.cluster.Adopt(b.rankward.Process)
	}
	return err
}

// managedResources of the shipped scheduler configuration, so that both sides know the same.
func managedResources(root string) ([]string, error) {
	text, err := os.ReadFile(filepath.Join(root, "manifests", "scheduler-configuration.yaml"))
	if err != nil {
		return nil, err
	}
	var config struct {
		Extenders []struct {
			ManagedResources []struct{ Name string }
		}
	}
	if err := sigsyaml.Unmarshal(text, &config); err != nil {
		return nil, err
	}
	var names []string
	for _, resource := range config.Extenders[0].ManagedResources {
		names = append(names, resource.Name)
	}
	return names, nil
}

func (b *bench) configuration(run run, name string) (string, error) {
	if run.extender == noExtender {
		return harness.PlainConfiguration(name, run.percentage), nil
	}
	text, err := harness.ExtenderConfiguration(b.root, b.rankward.ExtenderPort, b.certificates)
	if err != nil {
		return "", err
	}
	config := map[string]any{}
	if err := sigsyaml.Unmarshal([]byte(text), &config); err != nil {
		return "", err
	}
	profile := config["profiles"].([]any)[0].(map[string]any)
	profile["schedulerName"], profile["percentageOfNodesToScore"] = name, run.percentage
	if run.extender == everyPod {
		delete(config["extenders"].([]any)[0].(map[string]any), "managedResources")
	}
	out, err := sigsyaml.Marshal(config)
	return string(out), err
}

func (b *bench) run(ctx context.Context, run run, pods int) (result, error) {
	b.runs++
	name := fmt.Sprintf("bench-%d", b.runs)
	client := b.cluster.Client.CoreV1().Pods(namespace)
	var err error
	for i := range pods {
		pod := harness.Pod(namespace, fmt.Sprintf("%s-%d", name, i), run.resources)
		if run.gang > 0 {
			pod = harness.Gang{Namespace: namespace, Name: fmt.Sprintf("%s-gang-%d", name, i/run.gang), Size: run.gang,
				Resources: run.resources, Gated: run.gated}.Pod(i % run.gang)
			pod.Spec.NodeSelector = nil
		}
		pod.Spec.SchedulerName = name
		if _, err := client.Create(ctx, pod, metav1.CreateOptions{}); err != nil {
			return result{}, err
		}
	}
	var out result
	if run.gated {
		if out.nominatedSeconds, err = b.nominated(ctx, pods); err != nil {
			return result{}, err
		}
	}
	// Watched from before the scheduler starts, so that the first binding is seen when it happens.
	watch, err := client.Watch(ctx, metav1.ListOptions{})
	if err != nil {
		return result{}, err
	}
	defer watch.Stop()
	configuration, err := b.configuration(run, name)
	if err != nil {
		return result{}, err
	}
	logged := len(b.rankward.Log())
	scheduler, err := b.cluster.StartScheduler(ctx, harness.SchedulerOptions{Name: name, Configuration: configuration})
	if err != nil {
		return result{}, err
	}
	defer scheduler.Stop(3 * time.Second)

	var first, last time.Time
	bound := map[string]bool{}
	late := time.After(5 * time.Minute)
	for len(bound) < pods {
		select {
		case event, ok := <-watch.ResultChan():
			if !ok {
				return result{}, fmt.Errorf("%s: the watch ended after %d pods", name, len(bound))
			}
			pod, _ := event.Object.(*corev1.Pod)
			if pod == nil || pod.Spec.SchedulerName != name || pod.Spec.NodeName == "" || bound[pod.Name] {
				continue
			}
			bound[pod.Name] = true
			last = time.Now()
			if len(bound) == 1 {
				first = last
			}
		case <-late:
			return result{}, fmt.Errorf("%s: %d of %d pods bound after 5 minutes\n%s", name, len(bound), pods, scheduler.LogTail())
		case <-ctx.Done():
			return result{}, ctx.Err()
		}
	}
	out.podsPerSecond = float64(pods-1) / last.Sub(first).Seconds()
	if out.schedulerMilliseconds, err = algorithmMilliseconds(scheduler.MetricsURL); err != nil {
		return result{}, err
	}
	if run.extender != noExtender {
		metrics, calls := b.rankwardTime(logged)
		out.rankwardMilliseconds, out.calls = metrics/float64(pods), float64(calls)/float64(pods)
	}
	return out, b.deletePods(ctx)
}

// nominated waits until every pod has a nomination and no gate.
func (b *bench) nominated(ctx context.Context, pods int) (float64, error) {
	start := time.Now()
	err := harness.WaitFor(ctx, "the gangs to be nominated", 2*time.Minute, 100*time.Millisecond, func() error {
		list, err := b.cluster.Client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		have := 0
		for _, pod := range list.Items {
			if pod.Status.NominatedNodeName != "" && len(pod.Spec.SchedulingGates) == 0 {
				have++
			}
		}
		if have < pods {
			return fmt.Errorf("%d of %d are", have, pods)
		}
		return nil
	})
	return time.Since(start).Seconds(), err
}

// rankwardTime sums the decisions logged since a position: milliseconds and calls.
func (b *bench) rankwardTime(from int) (float64, int) {
	time.Sleep(200 * time.Millisecond) // the log is written after the answer
	microseconds, calls := 0.0, 0
	for _, line := range b.rankward.LogLinesFrom(from, "decision") {
		if value, ok := line["microseconds"].(float64); ok {
			microseconds += value
			calls++
		}
	}
	return microseconds / 1e3, calls
}

func (b *bench) deletePods(ctx context.Context) error {
	now := int64(0)
	client := b.cluster.Client.CoreV1().Pods(namespace)
	return harness.WaitFor(ctx, "the pods to be gone", time.Minute, 200*time.Millisecond, func() error {
		if err := client.DeleteCollection(ctx, metav1.DeleteOptions{GracePeriodSeconds: &now}, metav1.ListOptions{}); err != nil {
			return err
		}
		list, err := client.List(ctx, metav1.ListOptions{Limit: 1})
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("some are left")
		}
		return err
	})
}

var metricsClient = sync.OnceValue(func() *http.Client {
	// kube-scheduler signs its own certificate at start; loopback, and only figures are read.
	return &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
})

// algorithmMilliseconds is the mean of scheduler_scheduling_algorithm_duration_seconds.
func algorithmMilliseconds(url string) (float64, error) {
	response, err := metricsClient().Get(url)
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	var sum, count float64
	scanner := bufio.NewScanner(response.Body)
	for scanner.Scan() {
		name, value, _ := strings.Cut(scanner.Text(), " ")
		switch name {
		case "scheduler_scheduling_algorithm_duration_seconds_sum":
			sum, err = strconv.ParseFloat(value, 64)
		case "scheduler_scheduling_algorithm_duration_seconds_count":
			count, err = strconv.ParseFloat(value, 64)
		}
		if err != nil {
			return 0, err
		}
	}
	if count == 0 {
		return 0, fmt.Errorf("%s has no scheduling_algorithm_duration", url)
	}
	return 1e3 * sum / count, scanner.Err()
}
