package controlplane

import (
	"fmt"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

const ranks = 4

// runJob creates a job, waits until each pod is bound, and returns pod name -> node.
func runJob(t *testing.T, job *batchv1.Job) map[string]string {
	t.Helper()
	_, err := cluster.Client.BatchV1().Jobs(job.Namespace).Create(t.Context(), job, metav1.CreateOptions{})
	check(t, err)
	return jobNodes(t, job)
}

func jobNodes(t *testing.T, job *batchv1.Job) map[string]string {
	t.Helper()
	bound := map[string]string{}
	eventually(t, "the pods of job "+job.Name+" to be bound", func() error {
		list, err := cluster.Client.CoreV1().Pods(job.Namespace).List(t.Context(),
			metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job.Name})
		if err != nil {
			return err
		}
		clear(bound)
		for i := range list.Items {
			pod := &list.Items[i]
			if pod.Spec.NodeName == "" {
				return fmt.Errorf("%s: %s", pod.Name, conditions(pod))
			}
			bound[pod.Name] = pod.Spec.NodeName
		}
		if len(bound) != int(*job.Spec.Completions) {
			return fmt.Errorf("%d pods so far", len(bound))
		}
		return nil
	})
	return bound
}

// deleteJob removes a job with its pods, so that the next one finds the nodes free.
func deleteJob(t *testing.T, job *batchv1.Job) {
	t.Helper()
	policy := metav1.DeletePropagationBackground
	check(t, cluster.Client.BatchV1().Jobs(job.Namespace).Delete(t.Context(), job.Name,
		metav1.DeleteOptions{PropagationPolicy: &policy}))
	now := int64(0)
	eventually(t, "the pods of job "+job.Name+" to be gone", func() error {
		selector := metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job.Name}
		cluster.Client.CoreV1().Pods(job.Namespace).DeleteCollection(t.Context(), metav1.DeleteOptions{GracePeriodSeconds: &now}, selector)
		list, err := cluster.Client.CoreV1().Pods(job.Namespace).List(t.Context(), selector)
		if err == nil && len(list.Items) > 0 {
			err = fmt.Errorf("%d left", len(list.Items))
		}
		return err
	})
}

func TestRanksOfAJobAreBoundToTheNodesThatRankwardNames(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "jobs", nil)
	nodes(t, harness.TwoLeaves("jobs", ranks))
	scheduler(t, harness.SchedulerOptions{Name: "kube-scheduler-alone",
		Configuration: harness.PlainConfiguration("alone", 100), Verbosity: 2})

	for round := range 3 {
		// The scheduler alone keeps off the tainted nodes, every time.
		job := harness.TrainingJob(space, fmt.Sprintf("alone-%d", round), "alone", ranks)
		for pod, node := range runJob(t, job) {
			if !strings.HasPrefix(node, "jobs-far-") {
				t.Errorf("round %d: the scheduler alone put %s on %s; the taint no longer keeps it away", round, pod, node)
			}
		}
		deleteJob(t, job)

		job = harness.TrainingJob(space, fmt.Sprintf("ours-%d", round), "default-scheduler", ranks)
		for pod, node := range runJob(t, job) {
			if !strings.HasPrefix(node, "jobs-near-") {
				t.Errorf("round %d: %s is on %s, want a node of the near leaf", round, pod, node)
			}
			decisions := installation.Rankward.Decisions(space+"/"+pod, "filter")
			if len(decisions) == 0 {
				t.Errorf("no decision about %s", pod)
				continue
			}
			if best := harness.BestNodes(decisions[len(decisions)-1]); harness.Entry(best, node) == nil {
				t.Errorf("%s is on %s, our last decision named %v", pod, node, best)
			}
		}
		deleteJob(t, job)
	}
}
