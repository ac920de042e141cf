package controlplane

import (
	"context"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

// What a PersistentVolume hides: HP-06.
var volumes = []bypass{
	{how: "a PersistentVolume with hostPath", gives: "an NVIDIA GPU to whoever claims it", rule: "HP-06", mode: denied,
		object: persistentVolume("hostPath", "/dev/nvidia0", "Filesystem"), honest: persistentVolume("hostPath", "/data", "Filesystem")},
	{how: "a local PersistentVolume", gives: "every device of the node", rule: "HP-06", mode: denied,
		object: persistentVolume("local", "/dev", "Filesystem"), honest: persistentVolume("local", "/mnt/disks/ssd1", "Filesystem")},
	{how: "a local PersistentVolume in volumeMode Block", gives: "a device node with the right to open it", rule: "HP-06", mode: denied,
		object: persistentVolume("local", "/dev/nvidia0", "Block"), honest: persistentVolume("local", "/dev/sdb", "Block")},
	{how: "a PersistentVolume with a control channel in another form", gives: "the container runtime", rule: "HP-06", mode: denied,
		object: persistentVolume("hostPath", "/var/run//containerd/containerd.sock", "Filesystem"), honest: persistentVolume("hostPath", "/var/run//app", "Filesystem")},
	{how: "a PersistentVolume of the whole host", gives: "the node's files", rule: "HP-06", mode: warned,
		object: persistentVolume("hostPath", "/", "Filesystem"), honest: persistentVolume("hostPath", "/srv", "Filesystem")},
	{how: "a claim on such a volume", gives: "an NVIDIA GPU", rule: "HP-06", mode: denied,
		object: claiming(claimedDevice, ""), honest: claiming(claimedData, "")},
	{how: "a claim on the whole host, with subPath", gives: "all AMD GPUs of the node", rule: "HP-06", mode: denied,
		object: claiming(claimedRoot, ", subPath: dev/kfd"), honest: claiming(claimedData, ", subPath: dev/kfd")},
	{how: "a claim on a Block volume", gives: "an NVIDIA GPU with the right to open it", rule: "HP-06", mode: denied,
		object: podOf(containers(container("train", "volumeDevices: [{name: host, devicePath: /dev/xvda}]")), "volumes: [{name: host, persistentVolumeClaim: {claimName: "+claimedBlock+"}}]"),
		honest: podOf(containers(container("train", oneGPU)), "volumes: [{name: host, persistentVolumeClaim: {claimName: "+claimedData+"}}]")},
	{how: "a Deployment with a claim on such a volume", gives: "an NVIDIA GPU", rule: "HP-06", mode: warned,
		object: deployment(containers(container("train", mount(""))), "volumes: [{name: host, persistentVolumeClaim: {claimName: "+claimedDevice+"}}]"),
		honest: deployment(containers(container("train", mount(""))), "volumes: [{name: host, persistentVolumeClaim: {claimName: "+claimedData+"}}]")},
}

// Volumes that stood before HP-06 did, and the claims bound to them.
const (
	claimedDevice = "bypass-device"
	claimedRoot   = "bypass-root"
	claimedBlock  = "bypass-block"
	claimedData   = "bypass-data"
)

var standingVolumes = map[string]bool{claimedDevice: true, claimedRoot: true, claimedBlock: true, claimedData: true}

func standingClaims(t *testing.T, installation *harness.Installation, space string) {
	t.Helper()
	client := cluster.Client.CoreV1()
	beforeTheRules(t, installation, []string{"HP-06"}, func() {
		for name, volume := range map[string][3]string{
			claimedDevice: {"hostPath", "/dev/nvidia0", "Filesystem"}, claimedRoot: {"hostPath", "/", "Filesystem"},
			claimedBlock: {"local", "/dev/nvidia0", "Block"}, claimedData: {"hostPath", "/data", "Filesystem"},
		} {
			stand(t, "", named(persistentVolume(volume[0], volume[1], volume[2]), name))
			stand(t, space, claimOf(name, volume[2]))
			t.Cleanup(func() {
				client.PersistentVolumeClaims(space).Delete(context.Background(), name, metav1.DeleteOptions{})
				client.PersistentVolumes().Delete(context.Background(), name, metav1.DeleteOptions{})
			})
		}
	})
	eventually(t, "the claims to be bound", func() error {
		claims, err := client.PersistentVolumeClaims(space).List(t.Context(), metav1.ListOptions{})
		if err != nil {
			return err
		}
		for _, claim := range claims.Items {
			if claim.Status.Phase != corev1.ClaimBound {
				return fmt.Errorf("%s is %s", claim.Name, claim.Status.Phase)
			}
		}
		return nil
	})
	// Known to us a moment after the API server.
	for _, claim := range []string{claimedDevice, claimedRoot, claimedBlock} {
		eventually(t, "the claim "+claim+" to be known", func() error {
			if a := create(t, space, named(claiming(claim, ""), "probe"), dryRun); a.accepted() && len(a.warnings) == 0 {
				return fmt.Errorf("%s", tell(a))
			}
			return nil
		})
	}
}
