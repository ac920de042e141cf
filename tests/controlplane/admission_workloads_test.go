package controlplane

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

// What makes pods is accepted with the words that its pods are then refused with, and those words
// arrive where people look: in the events of the controller and in the Deployment's conditions.
func TestControllersReportWhatTheirPodsAreRefusedFor(t *testing.T) {
	installed(t)
	space := namespace(t, "makers", nil)
	webhookAnswers(t, space)
	const wanted = `[HP-01] volumes[0] "host": hostPath "/dev/nvidia0" gives an NVIDIA GPU.`
	bad := specWith("/dev/nvidia0")
	kinds := []struct {
		kind, manifest string
		reporter       string // of the event, where it is not the object itself
	}{
		{"Deployment", deployment(bad), "ReplicaSet"},
		{"StatefulSet", statefulSet(bad), ""},
		{"DaemonSet", daemonSet("nodeSelector: {makers: here}", bad), ""},
		{"ReplicaSet", replicaSet(bad), ""},
		{"ReplicationController", replicationController(bad), ""},
		{"Job", job(bad), ""},
	}
	nodes(t, []harness.Node{{Name: "makers-node", Labels: map[string]string{"makers": "here"}}})
	for _, k := range kinds {
		a := create(t, space, named(k.manifest, strings.ToLower(k.kind)), forReal)
		if !a.accepted() {
			t.Errorf("%s: %s", k.kind, tell(a))
		}
		if first, _, _ := strings.Cut(a.warning(), "\n"); first != "The pods of this "+k.kind+" will be denied:" || !strings.Contains(a.warning(), wanted) {
			t.Errorf("%s: warned %q", k.kind, a.warning())
		}
	}
	// A CronJob is told at once; the Job that it makes is told like any other, and so is its pod.
	if a := create(t, space, named(cronJob(bad), "cronjob"), forReal); !strings.Contains(a.warning(), wanted) {
		t.Errorf("CronJob: %s", tell(a))
	}
	if out := kubectl(t, "", "-n", space, "create", "job", "from-cronjob", "--from=cronjob/cronjob"); out.ExitCode != 0 ||
		!strings.Contains(out.Stderr, "Warning: The pods of this Job will be denied:") {
		t.Errorf("a Job by hand: exit code %d, %s", out.ExitCode, out.Stderr)
	}

	for _, k := range append(kinds, struct{ kind, manifest, reporter string }{"Job", "", ""}) {
		reporter, name := k.kind, strings.ToLower(k.kind)
		if k.reporter != "" {
			reporter = k.reporter
		}
		if k.manifest == "" {
			name = "from-cronjob"
		}
		t.Run(name, func(t *testing.T) {
			eventually(t, "a FailedCreate event", func() error {
				list, err := cluster.Client.CoreV1().Events(space).List(t.Context(), metav1.ListOptions{FieldSelector: "reason=FailedCreate"})
				if err != nil {
					return err
				}
				for _, e := range list.Items {
					if e.InvolvedObject.Kind == reporter && strings.HasPrefix(e.InvolvedObject.Name, name) && strings.Contains(e.Message, wanted) &&
						strings.Contains(e.Message, "Fix: ") {
						return nil
					}
				}
				return fmt.Errorf("not among %d", len(list.Items))
			})
		})
	}
	t.Run("conditions of the Deployment", func(t *testing.T) {
		eventually(t, "ReplicaFailure", func() error {
			made, err := cluster.Client.AppsV1().Deployments(space).Get(t.Context(), "deployment", metav1.GetOptions{})
			if err != nil {
				return err
			}
			for _, c := range made.Status.Conditions {
				if c.Type == appsv1.DeploymentReplicaFailure && c.Status == corev1.ConditionTrue && strings.Contains(c.Message, wanted) {
					return nil
				}
			}
			return fmt.Errorf("conditions are %v", made.Status.Conditions)
		})
	})
	pods := must(t, func() (*corev1.PodList, error) {
		return cluster.Client.CoreV1().Pods(space).List(t.Context(), metav1.ListOptions{})
	})
	if n := len(pods.Items); n != 0 {
		t.Errorf("%d pods exist", n)
	}
}

// The honest ones make their pods, and nobody is told anything.
func TestHonestControllersMakeTheirPods(t *testing.T) {
	installed(t)
	space := namespace(t, "honest-makers", nil)
	webhookAnswers(t, space)
	good := containers(container("train", oneGPU), container("logs", env(visible, "void"))) + ", nodeSelector: {kubernetes.io/hostname: nowhere}"
	for _, manifest := range []string{deployment(good), statefulSet(good), job(good)} {
		if a := create(t, space, named(manifest, "honest"), forReal); !a.accepted() || len(a.warnings) > 0 {
			t.Error(tell(a))
		}
	}
	eventually(t, "three pods", func() error {
		pods, err := cluster.Client.CoreV1().Pods(space).List(t.Context(), metav1.ListOptions{})
		if err == nil && len(pods.Items) != 3 {
			err = fmt.Errorf("%d pods", len(pods.Items))
		}
		return err
	})
}

// `workloads: deny` refuses at once what makes such pods, with the pods' own words.
func TestWorkloadsAreRefusedWhereConfigured(t *testing.T) {
	installation := installed(t)
	space := namespace(t, "strict-makers", nil)
	webhookAnswers(t, space)
	configured(t, installation, map[string]any{"admission": map[string]any{"workloads": "deny"}})
	for _, manifest := range []string{deployment(specWith("/dev/nvidia0")), cronJob(specWith("/dev/nvidia0"))} {
		a := create(t, space, named(manifest, "strict"), dryRun)
		if a.code != http.StatusForbidden || !strings.Contains(a.message, `admission webhook "workloads.rankward.io" denied the request: [HP-01] `) {
			t.Error(tell(a))
		}
		if len(a.causes) != 1 || !strings.HasSuffix(a.causes[0].Field, "template.spec.volumes[0].hostPath.path") {
			t.Errorf("causes are %v", a.causes)
		}
	}
	if a := create(t, space, named(deployment(specWith("/data")), "strict"), dryRun); !a.accepted() || len(a.warnings) > 0 {
		t.Error(tell(a))
	}
}
