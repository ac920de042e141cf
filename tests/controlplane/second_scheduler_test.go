package controlplane

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	sigsyaml "sigs.k8s.io/yaml"

	"rankward.io/tests/controlplane/harness"
)

// applySecondScheduler installs what the overlay installs, but for what would run in pods: no
// kubelet starts those here, the same programs run as processes instead.
func applySecondScheduler(t *testing.T, kinds ...string) string {
	t.Helper()
	rendered := render(t, secondSchedulerOverlay())
	var text strings.Builder
	for _, object := range documents(t, rendered) {
		kind := fmt.Sprint(object["kind"])
		wanted := len(kinds) == 0 && kind != "Deployment" && kind != "ValidatingWebhookConfiguration"
		for _, k := range kinds {
			wanted = wanted || k == kind
		}
		if wanted {
			document := must(t, func() ([]byte, error) { return sigsyaml.Marshal(object) })
			fmt.Fprintf(&text, "---\n%s", document)
		}
	}
	if out := kubectl(t, text.String(), "apply", "-f", "-"); out.ExitCode != 0 {
		t.Fatal(out.Stderr)
	}
	return rendered
}

// policyInForce waits until the API server has compiled the policy and bound it.
func policyInForce(t *testing.T, namespace string) {
	t.Helper()
	eventually(t, "the mutating policy to be in force", func() error {
		made, err := cluster.Client.CoreV1().Pods(namespace).Create(t.Context(), pod(namespace, "asks", nil),
			metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
		if err == nil && made.Spec.SchedulerName != "rankward" {
			err = fmt.Errorf("schedulerName is %q", made.Spec.SchedulerName)
		}
		return err
	})
}

func TestPolicySendsLabelledNamespacesToTheSecondScheduler(t *testing.T) {
	applySecondScheduler(t, "Namespace", "MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding")
	labelled := namespace(t, "policy-labelled", map[string]string{"rankward.io/scheduler": "true"})
	plain := namespace(t, "policy-plain", nil)
	policyInForce(t, labelled)

	for _, test := range []struct {
		name, namespace, asked, node, want string
	}{
		{"labelled namespace, no choice", labelled, "", "", "rankward"},
		{"labelled namespace, the default spelled out", labelled, "default-scheduler", "", "rankward"},
		{"labelled namespace, another scheduler chosen", labelled, "other", "", "other"},
		{"labelled namespace, a node chosen", labelled, "", "some-node", "default-scheduler"},
		{"other namespace", plain, "", "", "default-scheduler"},
	} {
		t.Run(test.name, func(t *testing.T) {
			asked := pod(test.namespace, "p", nil)
			asked.Spec.SchedulerName, asked.Spec.NodeName = test.asked, test.node
			made := must(t, func() (*corev1.Pod, error) {
				return cluster.Client.CoreV1().Pods(test.namespace).Create(t.Context(), asked,
					metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			})
			if made.Spec.SchedulerName != test.want {
				t.Errorf("schedulerName is %q, want %q", made.Spec.SchedulerName, test.want)
			}
		})
	}
}

func TestSecondSchedulerPlacesTheJobAndLeavesOtherPodsToTheDefault(t *testing.T) {
	installation := installed(t)
	// The cluster's own scheduler here is stock, without an extender.
	installation.Scheduler.Stop(10 * time.Second) // its status is 1 without leader election
	t.Cleanup(func() {
		if err := installation.StartScheduler(context.Background()); err != nil {
			t.Error(err)
		}
	})
	scheduler(t, harness.SchedulerOptions{Name: "kube-scheduler-default",
		Configuration: harness.PlainConfiguration("default-scheduler", 0)})

	rendered := applySecondScheduler(t)
	token := must(t, func() (string, error) {
		return harness.ServiceAccountToken(t.Context(), cluster.Client, "rankward-system", "rankward-scheduler")
	})
	kubeconfig := must(t, func() (string, error) { return cluster.Kubeconfig("rankward-beside-scheduler", token) })
	beside := must(t, func() (*harness.Rankward, error) {
		return harness.StartRankward(t.Context(), harness.RankwardOptions{
			Name: "rankward-beside-scheduler", Dir: cluster.Dir, Certificates: certificates, Kubeconfig: kubeconfig,
			Configuration: configMapFile(t, rendered, "rankward-scheduler-configuration-", "rankward.yaml"),
		})
	})
	cluster.Adopt(beside.Process)
	t.Cleanup(func() {
		beside.Stop(30 * time.Second)
		if t.Failed() {
			t.Log(beside.LogTail())
		}
	})
	configuration := configMapFile(t, rendered, "rankward-scheduler-configuration-", "scheduler.yaml")
	if strings.Contains(configuration, "\n  managedResources:") {
		t.Error("the second scheduler names managedResources: pods without them would pass our extender by")
	}
	scheduler(t, harness.SchedulerOptions{
		Name:          "kube-scheduler-second",
		Configuration: must(t, func() (string, error) { return harness.Localize(configuration, beside.ExtenderPort, certificates) }),
		Token:         token, KeepLeaderElection: true, Verbosity: 2,
	})

	nodes(t, harness.TwoLeaves("second", ranks))
	allSeenBy(t, beside)
	labelled := namespace(t, "second-labelled", map[string]string{"rankward.io/scheduler": "true"})
	plain := namespace(t, "second-plain", nil)
	policyInForce(t, labelled)

	job := harness.TrainingJob(labelled, "train", "", ranks)
	for name, node := range runJob(t, job) {
		if !strings.HasPrefix(node, "second-near-") {
			t.Errorf("%s is on %s, want a node of the near leaf", name, node)
		}
		if len(beside.Decisions(labelled+"/"+name, "filter")) == 0 {
			t.Errorf("the extender was not asked about %s", name)
		}
		placedBy(t, labelled, name, "rankward")
	}
	// Every pod of the namespace is the second scheduler's, those without GPUs too.
	createPod(t, pod(labelled, "leader", map[string]string{"cpu": "1"}))
	boundNode(t, labelled, "leader")
	placedBy(t, labelled, "leader", "rankward")

	createPod(t, pod(plain, "web", map[string]string{"cpu": "1"}))
	boundNode(t, plain, "web")
	placedBy(t, plain, "web", "default-scheduler")
	if n := len(beside.Decisions(plain+"/web", "filter")); n != 0 {
		t.Errorf("the extender was asked %d times about a pod of the other scheduler", n)
	}

	lease, err := cluster.Client.CoordinationV1().Leases("rankward-system").Get(t.Context(), "rankward-scheduler", metav1.GetOptions{})
	check(t, err)
	if lease.Spec.HolderIdentity == nil || *lease.Spec.HolderIdentity == "" {
		t.Error("nobody holds the second scheduler's Lease")
	}
}

// placedBy asserts who wrote the Scheduled event.
func placedBy(t *testing.T, namespace, pod, scheduler string) {
	t.Helper()
	eventually(t, "the Scheduled event of "+pod, func() error {
		list, err := cluster.Client.EventsV1().Events(namespace).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, e := range list.Items {
			if e.Regarding.Name == pod && e.Reason == "Scheduled" {
				if e.ReportingController != scheduler {
					return fmt.Errorf("%s was placed by %q, want %q", pod, e.ReportingController, scheduler)
				}
				return nil
			}
		}
		return fmt.Errorf("no such event yet")
	})
}
