package controlplane

import (
	"fmt"
	"math/rand"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// podGenerator makes pods that are valid to the API server and mix what the rules look at: host
// paths and ways to write them, variables, requests, annotations, runtime classes, privileges.
type podGenerator struct {
	random *rand.Rand
	// Where they are made; service accounts that presets and exemptions name are among the accounts.
	namespaces, accounts []string
	made                 int
}

func newPodGenerator(seed int64, namespaces, accounts []string) *podGenerator {
	return &podGenerator{random: rand.New(rand.NewSource(seed)), namespaces: namespaces, accounts: accounts}
}

func pick[T any](g *podGenerator, from []T) T { return from[g.random.Intn(len(from))] }

func (g *podGenerator) chance(percent int) bool { return g.random.Intn(100) < percent }

var hostPaths = []string{
	"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-caps/nvidia-cap1", "/dev/nvidia-fs0", "/dev/gdrdrv",
	"/dev/dri", "/dev/dri/renderD128", "/dev/kfd", "/dev/accel/accel0", "/dev/neuron0", "/dev/habanalabs0", "/dev/infiniband",
	"/dev/infiniband/uverbs0", "/dev/vfio/12", "/dev/char/195:0", "/dev/char", "/dev/dxg", "/dev/nvidiafoo", "/dev/nvid",
	"/dev", "/run/nvidia", "/run/nvidia/driver/dev", "/run/nvidia/mps", "/run/nvidia/mps/pipe", "/var/run/nvidia", "/run/nvidiax",
	"/", "/proc", "/proc/1", "/proc/self/task", "/proc/1/task/1", "/sys", "/run", "/var", "/var/run", "/var/lib", "/dev/null", "/dev/shm",
	"/run/containerd", "/var/run/containerd/containerd.sock", "/run/containerd/containerd.sock.ttrpc", "/run/k3s/containerd",
	"/run/crio/crio.sock", "/var/run/docker.sock", "/run/nri/nri.sock", "/var/lib/kubelet", "/var/lib/kubelet/device-plugins",
	"/var/lib/kubelet/plugins_registry", "/var/lib/kubelet/pod-resources", "/var/lib/kubelet/pods", "/etc/cdi", "/var/run/cdi",
	"/etc/kubernetes", "/etc/kubernetes/manifests", "/etc/kubernetes/pki", "/etc/containerd", "/var/lib/rancher/k3s/agent/pod-manifests",
	"/tmp/nvidia-mps", "/tmp", "/data", "/data/dev/nvidia0", "/mnt/dev", "/home", "/opt/nvidia", "/usr/local/nvidia/toolkit", "/usr/local/nvidia",
}

// Parents and what can be mounted of them.
var subPaths = map[string][]string{
	"/":                []string{"dev", "dev/nvidia0", "run/nvidia", "var/run/nvidia", "data", "etc/cdi", "proc/1/root/dev"},
	"/dev":             []string{"nvidia0", "dri/card0", "null", "shm", "infiniband", "./nvidia0", "char/195:0"},
	"/proc":            []string{"1/root/dev/nvidia0", "self/root", "1", "cpuinfo"},
	"/var":             []string{"run/docker.sock", "lib/kubelet/pod-resources", "run/nvidia", "log"},
	"/var/lib/kubelet": []string{"device-plugins", "pod-resources", "pods"},
	"/run":             []string{"containerd/containerd.sock", "nvidia", "cdi", "lock"},
	"/data":            []string{"train", "dev/nvidia0"},
}

// written is a path as an attacker or a careless person may write it. The API server refuses `..`.
func (g *podGenerator) written(path string) string {
	switch g.random.Intn(9) {
	case 0:
		return "/" + path
	case 1:
		return path + "/"
	case 2:
		return "/." + path
	case 3:
		return "/proc/1/root" + path
	case 4:
		return "/proc/self/root/proc/7/cwd" + path
	case 5:
		if len(path) > 1 {
			return path[1:]
		}
	}
	return path
}

func (g *podGenerator) volumes() []corev1.Volume {
	var out []corev1.Volume
	for i := g.random.Intn(4); i > 0; i-- {
		path := pick(g, hostPaths)
		if g.chance(30) {
			path = pick(g, []string{"/", "/dev", "/proc", "/var", "/var/lib/kubelet", "/run", "/data"})
		}
		out = append(out, corev1.Volume{Name: fmt.Sprintf("host-%d", i), VolumeSource: corev1.VolumeSource{
			HostPath: &corev1.HostPathVolumeSource{Path: g.written(path)}}})
	}
	if g.chance(30) {
		out = append(out, corev1.Volume{Name: "scratch", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}})
	}
	return out
}

func (g *podGenerator) mounts(volumes []corev1.Volume, ephemeral bool) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for i, volume := range volumes {
		if g.chance(30) {
			continue
		}
		mount := corev1.VolumeMount{Name: volume.Name, MountPath: fmt.Sprintf("/mnt/%d", i), ReadOnly: g.chance(40)}
		if g.chance(15) {
			mount.MountPath = pick(g, []string{"/var/run/nvidia-container-devices/all", "/run/nvidia-container-devices/GPU-1",
				"/var//run/./nvidia-container-devices-x", "/nvidia-container-device"}) + fmt.Sprint(i)
		}
		if volume.HostPath != nil && !ephemeral && g.chance(35) {
			parts := subPaths["/data"]
			for parent, known := range subPaths {
				if volume.HostPath.Path == parent {
					parts = known
				}
			}
			switch g.random.Intn(4) {
			case 0:
				mount.SubPathExpr = "$(POD)"
			case 1:
				mount.SubPath = pick(g, parts) + "/"
			default:
				mount.SubPath = pick(g, parts)
			}
		}
		out = append(out, mount)
	}
	return out
}

var variableNames = []string{"NVIDIA_VISIBLE_DEVICES", "NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES", "HABANA_VISIBLE_DEVICES",
	"AWS_NEURON_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "CUDA_VERSION", "NVIDIA_DRIVER_CAPABILITIES",
	"NVIDIA_MIG_CONFIG_DEVICES", "NVIDIA_MIG_MONITOR_DEVICES", "NVIDIA_IMEX_CHANNELS", "NVIDIA_MOFED", "NVIDIA_GDS", "NVIDIA_NVSWITCH",
	"NVIDIA_GDRCOPY", "NVIDIA_REQUIRE_CUDA", "PATH"}

var variableValues = []string{"all", "0", "0,1", "void", "none", "", " ", "none,none", "all,void", "void ,0", " none , ", "novoid",
	"GPU-12345678", "$(OTHER)", "$$(OTHER)", "$$$(OTHER)", "$(OTHER", "a$(B)", "$(OTHER),void", "enabled", "12.4.1", "Void", "\tvoid\v",
	"all\nvoid", "\u00fcber", "a\x01b", "disabled"}

func (g *podGenerator) variables() []corev1.EnvVar {
	var out []corev1.EnvVar
	for i := g.random.Intn(4); i > 0; i-- {
		variable := corev1.EnvVar{Name: pick(g, variableNames), Value: pick(g, variableValues)}
		if g.chance(15) {
			variable.Value = ""
			variable.ValueFrom = pick(g, []*corev1.EnvVarSource{
				{ConfigMapKeyRef: &corev1.ConfigMapKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "devices"}, Key: "key"}},
				{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "devices"}, Key: "key"}},
				{FieldRef: &corev1.ObjectFieldSelector{FieldPath: "metadata.name"}},
			})
		}
		out = append(out, variable)
	}
	return out
}

var acceleratorNames = []corev1.ResourceName{"nvidia.com/gpu", "nvidia.com/gpu", "nvidia.com/gpu", "nvidia.com/gpu.shared",
	"nvidia.com/mig-1g.10gb", "nvidia.com/mig-1g.10gb.shared", "nvidia.com/mig-1g.10gb-shared", "amd.com/gpu", "amd.com/cpx_nps4",
	"gpu.intel.com/i915", "gpu.intel.com/i915_monitoring", "habana.ai/gaudi", "google.com/tpu", "aws.amazon.com/neuroncore",
	"huawei.com/Ascend910", "aliyun.com/gpu-mem", "nvidia.com/gpumem", "rdma/hca_shared", "example.com/widget", "example.com/npu"}

func (g *podGenerator) resources() corev1.ResourceRequirements {
	limits := corev1.ResourceList{}
	if g.chance(50) {
		limits[corev1.ResourceCPU] = resource.MustParse("1")
	}
	if g.chance(35) {
		limits[pick(g, acceleratorNames)] = resource.MustParse(pick(g, []string{"1", "8", "0", "1k"}))
	}
	return corev1.ResourceRequirements{Limits: limits}
}

func (g *podGenerator) securityContext() *corev1.SecurityContext {
	yes, no := true, false
	return pick(g, []*corev1.SecurityContext{nil, nil, nil, nil, {Privileged: &yes}, {Privileged: &no},
		{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"SYS_ADMIN"}}},
		{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"NET_ADMIN", "cap_sys_admin"}}},
		{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"ALL"}}},
		{Capabilities: &corev1.Capabilities{Add: []corev1.Capability{"SYS_PTRACE"}}}})
}

func (g *podGenerator) container(name string, volumes []corev1.Volume) corev1.Container {
	out := corev1.Container{Name: name, Image: "registry.example/train:1", Env: g.variables(), VolumeMounts: g.mounts(volumes, false),
		Resources: g.resources(), SecurityContext: g.securityContext()}
	if g.chance(15) {
		out.EnvFrom = []corev1.EnvFromSource{{Prefix: pick(g, []string{"", "NVIDIA_"}), ConfigMapRef: &corev1.ConfigMapEnvSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "environment"}}}}
	}
	return out
}

// ephemeral is a debug container for a pod that stands.
func (g *podGenerator) ephemeral(name string, volumes []corev1.Volume) corev1.EphemeralContainer {
	return corev1.EphemeralContainer{EphemeralContainerCommon: corev1.EphemeralContainerCommon{Name: name, Image: "registry.example/debug:1",
		Env: g.variables(), VolumeMounts: g.mounts(volumes, true), SecurityContext: g.securityContext()}}
}

var annotationKeys = []string{"cdi.k8s.io/devices", "cdi.k8s.io", "nvidia.cdi.k8s.io/container.train", "devices.noderesource.dev/pod",
	"a.b.noderesource.dev", "devices.nri.io/x", "cdi-devices.nri.io", "devices.gke.io/container.tcpxo-daemon", "xcdi.k8s.io/x", "cdi.k8s.iox",
	"gpu-fraction", "gpu-memory", "gpu-fraction-container-name", "example.com/note", "npu.example.com/devices"}

func (g *podGenerator) annotations() map[string]string {
	out := map[string]string{}
	for i := g.random.Intn(8) - 5; i > 0; i-- {
		out[pick(g, annotationKeys)] = pick(g, []string{"0.5", "1", "0", "all", "nvidia.com/gpu=all", "train", "side"})
	}
	return out
}

var runtimeClasses = []string{"nvidia", "nvidia-cdi", "kata-qemu-gpu", "kata-qemu", "amd", "gvisor"}

func (g *podGenerator) tolerations() []corev1.Toleration {
	return pick(g, [][]corev1.Toleration{nil, nil, nil, {{Operator: corev1.TolerationOpExists}},
		{{Key: "nvidia.com/gpu", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule}},
		{{Key: "team", Operator: corev1.TolerationOpEqual, Value: "a"}}, {{Key: "amd.com/gpu", Operator: corev1.TolerationOpExists}}})
}

func (g *podGenerator) affinity() *corev1.Affinity {
	requirement := pick(g, []corev1.NodeSelectorRequirement{
		{Key: "nvidia.com/gpu.product", Operator: corev1.NodeSelectorOpIn, Values: []string{"H100"}},
		{Key: "nvidia.com/gpu.present", Operator: corev1.NodeSelectorOpIn, Values: []string{"false"}},
		{Key: "nvidia.com/gpu.present", Operator: corev1.NodeSelectorOpNotIn, Values: []string{"true"}},
		{Key: "nvidia.com/gpu.count", Operator: corev1.NodeSelectorOpGt, Values: []string{"4"}},
		{Key: "kubernetes.io/arch", Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}},
		{Key: "habana.ai/gaudi", Operator: corev1.NodeSelectorOpExists},
	})
	return &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchExpressions: []corev1.NodeSelectorRequirement{requirement}}}}}}
}

// next is a pod with a name of its own.
func (g *podGenerator) next() *corev1.Pod {
	g.made++
	out := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("generated-%d", g.made), Namespace: pick(g, g.namespaces), Annotations: g.annotations()}}
	spec := &out.Spec
	spec.Volumes = g.volumes()
	for _, name := range []string{"train", "side", "log"}[:1+g.random.Intn(3)] {
		spec.Containers = append(spec.Containers, g.container(name, spec.Volumes))
	}
	if g.chance(30) {
		spec.InitContainers = append(spec.InitContainers, g.container("init", spec.Volumes))
	}
	if g.chance(20) {
		always := corev1.ContainerRestartPolicyAlways
		sidecar := g.container("sidecar", spec.Volumes)
		sidecar.RestartPolicy = &always
		spec.InitContainers = append(spec.InitContainers, sidecar)
	}
	if g.chance(20) {
		class := pick(g, runtimeClasses)
		spec.RuntimeClassName = &class
	}
	if g.chance(15) {
		spec.NodeName = "some-node"
	}
	if g.chance(15) {
		spec.NodeSelector = map[string]string{pick(g, []string{"nvidia.com/gpu.present", "kubernetes.io/os", "cloud.google.com/gke-accelerator"}): pick(g, []string{"true", "false"})}
	}
	if g.chance(15) {
		spec.Affinity = g.affinity()
	}
	spec.Tolerations = g.tolerations()
	spec.HostPID, spec.HostIPC = g.chance(10), g.chance(10)
	if g.chance(10) {
		spec.SchedulerName = "other-scheduler"
	}
	if g.chance(10) {
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: "claim", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}})
	}
	if g.chance(10) {
		spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: new("gpu")}}
		spec.Containers[0].Resources.Claims = []corev1.ResourceClaim{{Name: "gpu"}}
	}
	if g.chance(40) {
		spec.ServiceAccountName = pick(g, g.accounts)
	}
	if g.chance(20) {
		yes := true
		out.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: pick(g, []string{"DaemonSet", "ReplicaSet", "Job"}), Name: "owner", UID: "1", Controller: &yes}}
	}
	return out
}

// simple is a pod of one container with at most one or two of the things that a pod of next has.
func (g *podGenerator) simple() *corev1.Pod {
	whole := g.next()
	out := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: whole.Name, Namespace: whole.Namespace}}
	out.Spec.Containers = []corev1.Container{{Name: "train", Image: "registry.example/train:1"}}
	container, donor := &out.Spec.Containers[0], &whole.Spec.Containers[0]
	for range 1 + g.random.Intn(2) {
		pick(g, []func(){
			func() { container.Env = donor.Env },
			func() { container.EnvFrom = donor.EnvFrom },
			func() { container.Resources.Limits = donor.Resources.Limits },
			func() { container.SecurityContext = donor.SecurityContext },
			func() { out.Spec.Volumes = whole.Spec.Volumes },
			func() { out.Annotations = whole.Annotations },
			func() { out.Spec.RuntimeClassName = whole.Spec.RuntimeClassName },
			func() { out.Spec.NodeName = whole.Spec.NodeName },
			func() { out.Spec.NodeSelector, out.Spec.Affinity = whole.Spec.NodeSelector, whole.Spec.Affinity },
			func() { out.Spec.Tolerations = whole.Spec.Tolerations },
			func() { out.Spec.HostPID, out.Spec.HostIPC = whole.Spec.HostPID, whole.Spec.HostIPC },
			func() {
				out.Spec.ServiceAccountName, out.OwnerReferences = whole.Spec.ServiceAccountName, whole.OwnerReferences
			},
		})()
	}
	return out
}
