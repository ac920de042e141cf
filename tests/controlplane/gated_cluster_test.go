package controlplane

import (
	"context"
	"os"
	"testing"
	"time"

	"rankward.io/tests/controlplane/harness"
)

// Native pod groups of 1.37 are behind gates that are off by default. 1.34 has neither.
var (
	groupGates = []string{"GenericWorkload=true", "TopologyAwareWorkloadScheduling=true"}
	groupAPIs  = []string{"scheduling.k8s.io/v1beta1=true", "scheduling.k8s.io/v1alpha3=true"}
)

func hasNativeGroups() bool { return cluster.Binaries.Minor() >= 37 }

// A second control plane, without controllers and without our webhook, whose API server has the
// gates on; made by the first test that needs it.
var second struct {
	cluster      *harness.ControlPlane
	certificates harness.Certificates
	kubeconfig   string
}

// onSecondCluster makes the second control plane the one that this test's helpers speak to, until
// the test ends.
func onSecondCluster(t *testing.T) {
	t.Helper()
	if second.cluster == nil {
		var gates, apis []string
		if hasNativeGroups() {
			gates, apis = groupGates, groupAPIs
		}
		var err error
		second.cluster, second.certificates, err = harness.StartWithGates(context.Background(), os.Stderr, gates, apis)
		check(t, err)
		second.kubeconfig, err = harness.InstallPermissions(t.Context(), second.cluster, root, second.certificates)
		check(t, err)
	}
	first, firstCertificates, firstInstallation := cluster, certificates, shared
	cluster, certificates, shared = second.cluster, second.certificates, nil
	t.Cleanup(func() { cluster, certificates, shared = first, firstCertificates, firstInstallation })
}

// replica is one control-plane node of the second cluster; both of its programs end with the test.
func replica(t *testing.T, name string, options harness.ReplicaOptions) *harness.Replica {
	t.Helper()
	r := must(t, func() (*harness.Replica, error) {
		return harness.StartReplica(t.Context(), cluster, root, certificates, second.kubeconfig, name, options)
	})
	t.Cleanup(func() {
		r.Scheduler.Stop(3 * time.Second)
		r.Rankward.Stop(10 * time.Second)
		if t.Failed() {
			t.Log(r.Scheduler.LogTail())
			t.Log(r.Rankward.LogTail())
		}
	})
	return r
}
