package controlplane

import (
	"fmt"
	"strings"
)

// Manifests of the bypasses, in short: each is one pod or object of which one thing matters. NAME is
// replaced by a name of the row's own.

func named(manifest, name string) string { return strings.ReplaceAll(manifest, "NAME", name) }

const (
	image = "image: registry.example/train:1"
	// What an honest container asks for.
	oneGPU = "resources: {limits: {nvidia.com/gpu: 1}}"
	// What an honest rank asks for.
	wholeNode = "resources: {limits: {nvidia.com/gpu: 8, rdma/hca: 1}}"
	// How a pod says that it goes where GPUs are, without asking for one.
	gpuSelector   = "nodeSelector: {nvidia.com/gpu.present: 'true'}"
	gpuToleration = "tolerations: [{key: nvidia.com/gpu, operator: Exists}]"
)

// podOf is a pod with the given fields of its spec, in YAML's flow style.
func podOf(fields ...string) string { return annotatedPod("", fields...) }

// annotatedPod has annotations too: "{key: value}".
func annotatedPod(annotations string, fields ...string) string {
	if annotations != "" {
		annotations = ", annotations: " + annotations
	}
	return fmt.Sprintf("apiVersion: v1\nkind: Pod\nmetadata: {name: NAME%s}\nspec: {%s}\n", annotations, strings.Join(fields, ", "))
}

// queued is a pod of a gang in a Kueue queue, with more annotations.
func queued(annotations, spec string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata:\n  name: NAME\n  labels: {kueue.x-k8s.io/queue-name: team}\n" +
		"  annotations: {rankward.io/gang: a, rankward.io/gang-size: '2'" + annotations + "}\nspec: {" + spec + "}\n"
}

// fabricTest is a pod that runs nccl-tests up to a message size.
func fabricTest(labels, deadline, largest string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: NAME, labels: {" + labels + "}}\nspec: {" + deadline + ", " +
		containers(container("train", wholeNode, "command: [all_reduce_perf, -b, '8', -e, "+largest+", -f, '2']")) + "}\n"
}

// container is one named container; containers a list of them for a spec.
func container(name string, fields ...string) string {
	return fmt.Sprintf("{name: %s, %s}", name, strings.Join(append([]string{image}, fields...), ", "))
}

func containers(list ...string) string { return "containers: [" + strings.Join(list, ", ") + "]" }
func initContainers(list ...string) string {
	return "initContainers: [" + strings.Join(list, ", ") + "]"
}

// one is the usual pod of one container.
func one(fields ...string) string { return podOf(containers(container("train", fields...))) }

func requests(resource string, amount any) string {
	return fmt.Sprintf("resources: {limits: {%s: %v}}", resource, amount)
}

// asking is a pod that asks as it should.
func asking(resource string, amount any) string { return one(requests(resource, amount)) }

func env(name, value string) string { return fmt.Sprintf("env: [{name: %s, value: %q}]", name, value) }

func envFrom(name, source string) string {
	return fmt.Sprintf("env: [{name: %s, valueFrom: {%s}}]", name, source)
}

func volume(path string) string {
	return fmt.Sprintf("volumes: [{name: host, hostPath: {path: %q}}]", path)
}

func mount(fields string) string {
	return fmt.Sprintf("volumeMounts: [{name: host, mountPath: /mnt%s}]", fields)
}

// hostPath is a pod that mounts a path of the host, with more fields of its one container.
func hostPath(path string, fields ...string) string {
	return podOf(containers(container("train", append(fields, mount(""))...)), volume(path))
}

// hostSubPath mounts a part of it: ", subPath: x" or ", subPathExpr: x".
func hostSubPath(path, part string, fields ...string) string {
	return podOf(containers(container("train", append(fields, mount(part))...)), volume(path))
}

const privileged = "securityContext: {privileged: true}"

func capability(name string) string {
	return "securityContext: {capabilities: {add: [" + name + "]}}"
}

// persistentVolume of a kind (hostPath or local) and a volumeMode.
func persistentVolume(kind, path, mode string) string {
	text := fmt.Sprintf("apiVersion: v1\nkind: PersistentVolume\nmetadata: {name: NAME}\nspec:\n  capacity: {storage: 1Gi}\n"+
		"  accessModes: [ReadWriteOnce]\n  storageClassName: bypass\n  volumeMode: %s\n  %s: {path: %q}\n", mode, kind, path)
	if kind == "local" {
		text += "  nodeAffinity: {required: {nodeSelectorTerms: [{matchExpressions: [{key: kubernetes.io/hostname, operator: In, values: [node]}]}]}}\n"
	}
	return text
}

// claimOf a volume by its name, under the same name.
func claimOf(volume, mode string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: PersistentVolumeClaim\nmetadata: {name: %s}\nspec:\n  accessModes: [ReadWriteOnce]\n"+
		"  storageClassName: bypass\n  volumeName: %s\n  volumeMode: %s\n  resources: {requests: {storage: 1Gi}}\n", volume, volume, mode)
}

// claiming is a pod that mounts what a claim is bound to.
func claiming(claim, mountFields string) string {
	return podOf(containers(container("train", mount(mountFields))), "volumes: [{name: host, persistentVolumeClaim: {claimName: "+claim+"}}]")
}

// Workload objects around a pod's spec.

func templated(apiVersion, kind, spec, podSpec string) string {
	return fmt.Sprintf("apiVersion: %s\nkind: %s\nmetadata: {name: NAME}\nspec: {%stemplate: {metadata: {labels: {app: train}}, spec: {%s}}}\n",
		apiVersion, kind, spec, podSpec)
}

const selector = "selector: {matchLabels: {app: train}}, "

func deployment(fields ...string) string {
	return templated("apps/v1", "Deployment", "replicas: 1, "+selector, strings.Join(fields, ", "))
}

func statefulSet(fields ...string) string {
	return templated("apps/v1", "StatefulSet", "serviceName: train, "+selector, strings.Join(fields, ", "))
}

func daemonSet(fields ...string) string {
	return templated("apps/v1", "DaemonSet", selector, strings.Join(fields, ", "))
}

func replicaSet(fields ...string) string {
	return templated("apps/v1", "ReplicaSet", selector, strings.Join(fields, ", "))
}

func replicationController(fields ...string) string {
	return templated("v1", "ReplicationController", "selector: {app: train}, ", strings.Join(fields, ", "))
}

func job(fields ...string) string {
	return templated("batch/v1", "Job", "", strings.Join(append(fields, "restartPolicy: Never"), ", "))
}

func cronJob(fields ...string) string {
	return fmt.Sprintf("apiVersion: batch/v1\nkind: CronJob\nmetadata: {name: NAME}\nspec: {schedule: '0 0 1 1 *', jobTemplate: {spec: {template: {spec: {%s, restartPolicy: Never}}}}}\n",
		strings.Join(fields, ", "))
}

func podTemplate(fields ...string) string {
	return fmt.Sprintf("apiVersion: v1\nkind: PodTemplate\nmetadata: {name: NAME}\ntemplate: {metadata: {labels: {app: train}}, spec: {%s}}\n", strings.Join(fields, ", "))
}

// specWith mounts a path of the host.
func specWith(path string) string {
	return containers(container("train", mount(""))) + ", " + volume(path)
}

// idle is a Deployment that makes no pods.
func idle(deployment string) string {
	return strings.Replace(deployment, "replicas: 1,", "replicas: 0,", 1)
}
