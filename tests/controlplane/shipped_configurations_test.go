package controlplane

import (
	"net/http"
	"path/filepath"
	"testing"
	"time"

	"rankward.io/tests/controlplane/harness"
)

// Each configuration in manifests/ starts as it is, but for addresses and files, and becomes ready
// with no more than what its pod is given.
func TestShippedConfigurationsStart(t *testing.T) {
	installed(t) // for the ServiceAccount and its role
	token := must(t, func() (string, error) {
		return harness.ServiceAccountToken(t.Context(), cluster.Client, "rankward-system", "rankward")
	})
	kubeconfig := must(t, func() (string, error) { return cluster.Kubeconfig("rankward-shipped", token) })
	for _, test := range []struct {
		file       string
		kubeconfig string
		env        []string
	}{
		// As in a pod whose ServiceAccount mounts no token: the webhook needs no API server.
		{"base/webhook.yaml", "", []string{"KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT=1"}},
		{"overlays/static-pod/host/rankward.yaml", kubeconfig, nil},
		{"overlays/service/rankward.yaml", kubeconfig, nil},
		{"components/second-scheduler/rankward.yaml", kubeconfig, nil},
	} {
		t.Run(test.file, func(t *testing.T) {
			rankward := must(t, func() (*harness.Rankward, error) {
				return harness.StartRankward(t.Context(), harness.RankwardOptions{
					Name: "rankward-shipped", Dir: cluster.Dir, Certificates: certificates, Kubeconfig: test.kubeconfig, Env: test.env,
					Configuration: readFile(t, filepath.Join(root, "manifests", test.file)),
				})
			})
			cluster.Adopt(rankward.Process)
			defer rankward.Stop(30 * time.Second)
			if status, body, err := rankward.Status("/livez"); err != nil || status != http.StatusOK {
				t.Errorf("/livez: %d %s %v", status, body, err)
			}
			if err := rankward.Stop(30 * time.Second); err != nil {
				t.Errorf("SIGTERM: %v\n%s", err, rankward.LogTail())
			}
		})
	}
}

// What the scheduler sends here is what we take as ours: a resource that only one side knows would
// be placed blindly, or judged by nobody.
func TestSchedulerConfigurationNamesWhatRankwardManages(t *testing.T) {
	out := must(t, func() (harness.Output, error) { return harness.RunRankward(t.Context(), "serve", "--print-config") })
	var config struct {
		ManagedResources []string `json:"managedResources"`
	}
	unmarshalYAML(t, out.Stdout, &config)
	ours := map[string]bool{}
	for _, name := range config.ManagedResources {
		ours[name] = true
	}
	var scheduler struct {
		Extenders []struct {
			ManagedResources []struct{ Name string } `json:"managedResources"`
		} `json:"extenders"`
	}
	unmarshalYAML(t, readFile(t, filepath.Join(root, "manifests", "scheduler-configuration.yaml")), &scheduler)
	for _, resource := range scheduler.Extenders[0].ManagedResources {
		if !manages(ours, resource.Name) {
			t.Errorf("the scheduler sends pods for %s, which Rankward does not manage", resource.Name)
		}
	}
	if len(scheduler.Extenders[0].ManagedResources) == 0 {
		t.Error("no managedResources at all")
	}
}

// manages: an empty list takes every pod.
func manages(list map[string]bool, name string) bool { return len(list) == 0 || list[name] }
