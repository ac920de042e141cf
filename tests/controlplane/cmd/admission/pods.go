package main

import (
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"rankward.io/tests/controlplane/harness"
)

// pod is one of what is created in turn.
type pod struct {
	name    string
	verdict string // "", "warned", "denied"
	matters bool   // to the registration's conditions
	make    func() *corev1.Pod
}

// Of twenty: mostly what asks for no GPU, as in most clusters.
var pods = slices.Concat(
	slices.Repeat([]pod{{"plain", "", false, plain}}, 9),
	slices.Repeat([]pod{{"web with a sidecar and volumes", "", false, withSidecar}}, 4),
	slices.Repeat([]pod{{"training, 8 GPUs and RDMA", "", true, training}}, 3),
	slices.Repeat([]pod{{"notebook, 1 GPU", "", true, notebook}}, 2),
	[]pod{{"privileged beside a request", "warned", true, privileged}},
	[]pod{{"a device node by hostPath", "denied", true, deviceNode}},
)

// mixture in words.
func mixture() string {
	counts := map[string]int{}
	var parts []string
	for _, p := range pods {
		counts[p.name]++
	}
	for i, p := range pods {
		if i == 0 || pods[i-1].name != p.name {
			parts = append(parts, fmt.Sprintf("%d %% %s", 100*counts[p.name]/len(pods), p.name))
		}
	}
	return strings.Join(parts, "; ")
}

// Nobody schedules them.
func unscheduled(resources map[string]string) *corev1.Pod {
	pod := harness.Pod("", "", resources)
	pod.Spec.SchedulerName = "nobody"
	return pod
}

func plain() *corev1.Pod { return unscheduled(map[string]string{"cpu": "100m"}) }

func withSidecar() *corev1.Pod {
	pod := plain()
	pod.Labels = map[string]string{"app": "web", "pod-template-hash": "5b8d7c9f6"}
	pod.Annotations = map[string]string{"prometheus.io/scrape": "true", "prometheus.io/port": "9090"}
	settings := corev1.Volume{Name: "settings", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: "settings"}}}}
	cache := corev1.Volume{Name: "cache", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}
	pod.Spec.Volumes = []corev1.Volume{settings, cache}
	main := &pod.Spec.Containers[0]
	main.VolumeMounts = []corev1.VolumeMount{{Name: "settings", MountPath: "/etc/web", ReadOnly: true}, {Name: "cache", MountPath: "/cache"}}
	for i := range 12 {
		main.Env = append(main.Env, corev1.EnvVar{Name: fmt.Sprintf("SETTING_%d", i), Value: "value"})
	}
	pod.Spec.Containers = append(pod.Spec.Containers, corev1.Container{Name: "proxy", Image: "registry.example/proxy:1",
		Ports: []corev1.ContainerPort{{ContainerPort: 15001}}})
	return pod
}

func training() *corev1.Pod {
	pod := unscheduled(map[string]string{"nvidia.com/gpu": "8", "rdma/ib": "1", "cpu": "64", "memory": "512Gi"})
	pod.Spec.Tolerations = []corev1.Toleration{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists}}
	main := &pod.Spec.Containers[0]
	for _, name := range []string{"MASTER_ADDR", "MASTER_PORT", "WORLD_SIZE", "RANK", "NCCL_DEBUG", "NCCL_IB_HCA"} {
		main.Env = append(main.Env, corev1.EnvVar{Name: name, Value: "value"})
	}
	pod.Spec.Volumes = []corev1.Volume{
		{Name: "shm", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMediumMemory}}},
		{Name: "data", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/mnt/data"}}},
	}
	main.VolumeMounts = []corev1.VolumeMount{{Name: "shm", MountPath: "/dev/shm"}, {Name: "data", MountPath: "/data"}}
	return pod
}

func notebook() *corev1.Pod { return unscheduled(map[string]string{"nvidia.com/gpu": "1"}) }

func privileged() *corev1.Pod {
	pod := notebook()
	yes := true
	pod.Spec.Containers[0].SecurityContext = &corev1.SecurityContext{Privileged: &yes}
	return pod
}

func deviceNode() *corev1.Pod {
	pod := plain()
	pod.Spec.Volumes = []corev1.Volume{{Name: "gpu", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/dev/nvidia0"}}}}
	pod.Spec.Containers[0].VolumeMounts = []corev1.VolumeMount{{Name: "gpu", MountPath: "/dev/nvidia0"}}
	return pod
}
