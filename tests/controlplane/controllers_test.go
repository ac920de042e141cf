package controlplane

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"rankward.io/tests/controlplane/harness"
)

// As many ranks with GPUs as each of the gangs below has.
const controllerRanks = 4

// made is where one workload is made.
type made struct {
	space, pool string
}

// pod as a controller makes it: the template's, with the controller's own labels and annotations.
func (m made) pod(name string, labels, annotations map[string]string) *corev1.Pod {
	pod := harness.Pod(m.space, name, harness.WholeNode())
	pod.Labels, pod.Annotations = labels, annotations
	pod.Spec.NodeSelector = map[string]string{harness.PoolLabel: m.pool}
	return pod
}

// leader is a pod that asks for no GPUs.
func (m made) leader(name string, labels map[string]string) *corev1.Pod {
	pod := m.pod(name, labels, nil)
	pod.Spec.Containers[0].Resources = corev1.ResourceRequirements{}
	return pod
}

// A framework's object, and the pods that its controller makes of it. Labels and annotations are
// those of field/topology.md, section 5, with their sources.
type framework struct {
	name string
	// Of the CustomResourceDefinition; empty where Kubernetes itself has the kind.
	group, version, kind, plural string
	object                       string // spec, in YAML
	pods                         func(m made, uid string) []*corev1.Pod
}

// wholeNodeTemplate asks for what made.pod does: only so can it be known that a part has ranks, and
// where, before its first pod is there.
const wholeNodeTemplate = `{spec: {nodeSelector: {` + harness.PoolLabel + `: "@POOL@"}, containers: [{name: pytorch, image: "registry.example/train:1", resources: {limits: {nvidia.com/gpu: 8, rdma/ib: 1}}}]}}`

var frameworks = []framework{
	{
		name: "jobset", group: "jobset.x-k8s.io", version: "v1alpha2", kind: "JobSet", plural: "jobsets",
		object: `{replicatedJobs: [{name: workers, replicas: 2, template: {spec: {parallelism: 2, completions: 2, completionMode: Indexed, template: {}}}}]}`,
		pods: func(m made, uid string) []*corev1.Pod {
			var pods []*corev1.Pod
			for job := range 2 {
				for index := range 2 {
					name := fmt.Sprintf("train-workers-%d", job)
					pods = append(pods, m.pod(fmt.Sprintf("%s-%d", name, index), map[string]string{
						"jobset.sigs.k8s.io/jobset-name": "train", "jobset.sigs.k8s.io/jobset-uid": uid,
						"jobset.sigs.k8s.io/replicatedjob-name": "workers", "jobset.sigs.k8s.io/replicatedjob-replicas": "2",
						"jobset.sigs.k8s.io/job-index": strconv.Itoa(job), "jobset.sigs.k8s.io/job-global-index": strconv.Itoa(job),
						"jobset.sigs.k8s.io/global-replicas": "2",
						"batch.kubernetes.io/job-name":       name, "batch.kubernetes.io/controller-uid": fmt.Sprintf("%s-%d", uid, job),
						"batch.kubernetes.io/job-completion-index": strconv.Itoa(index),
					}, map[string]string{"batch.kubernetes.io/job-completion-index": strconv.Itoa(index)}))
				}
			}
			return pods
		},
	},
	{
		name: "leaderworkerset", group: "leaderworkerset.x-k8s.io", version: "v1", kind: "LeaderWorkerSet", plural: "leaderworkersets",
		object: `{replicas: 1, leaderWorkerTemplate: {size: 4, workerTemplate: {}}}`,
		pods: func(m made, _ string) []*corev1.Pod {
			var pods []*corev1.Pod
			for index := range controllerRanks {
				name := "train-0"
				if index > 0 {
					name = fmt.Sprintf("train-0-%d", index)
				}
				pods = append(pods, m.pod(name, map[string]string{
					"leaderworkerset.sigs.k8s.io/name": "train", "leaderworkerset.sigs.k8s.io/group-index": "0",
					"leaderworkerset.sigs.k8s.io/worker-index": strconv.Itoa(index),
					"leaderworkerset.sigs.k8s.io/group-key":    "0f1d5a0c",
				}, map[string]string{"leaderworkerset.sigs.k8s.io/size": "4"}))
			}
			return pods
		},
	},
	{
		name: "mpijob", group: "kubeflow.org", version: "v2beta1", kind: "MPIJob", plural: "mpijobs",
		object: `{slotsPerWorker: 8, mpiReplicaSpecs: {Launcher: {replicas: 1, template: {}}, Worker: {replicas: 4, template: {}}}}`,
		pods: func(m made, _ string) []*corev1.Pod {
			pods := []*corev1.Pod{m.leader("train-launcher-x7k2p", kubeflow("launcher", 0))}
			for index := range controllerRanks {
				pods = append(pods, m.pod(fmt.Sprintf("train-worker-%d", index), kubeflow("worker", index), nil))
			}
			return pods
		},
	},
	{
		// The master runs the same program as the workers: it is a rank as they are.
		name: "pytorchjob", group: "kubeflow.org", version: "v1", kind: "PyTorchJob", plural: "pytorchjobs",
		object: `{pytorchReplicaSpecs: {Master: {replicas: 1, template: ` + wholeNodeTemplate + `}, Worker: {replicas: 3, template: ` + wholeNodeTemplate + `}}}`,
		pods: func(m made, _ string) []*corev1.Pod {
			pods := []*corev1.Pod{m.pod("train-master-0", kubeflow("master", 0), nil)}
			for index := range controllerRanks - 1 {
				pods = append(pods, m.pod(fmt.Sprintf("train-worker-%d", index), kubeflow("worker", index), nil))
			}
			return pods
		},
	},
	{
		name: "raycluster", group: "ray.io", version: "v1", kind: "RayCluster", plural: "rayclusters",
		object: `{headGroupSpec: {template: {}}, workerGroupSpecs: [{groupName: gpus, replicas: 4, minReplicas: 4, maxReplicas: 4, template: {}}]}`,
		pods: func(m made, _ string) []*corev1.Pod {
			pods := []*corev1.Pod{m.leader("train-head-4c8wl", map[string]string{
				"ray.io/cluster": "train", "ray.io/group": "headgroup", "ray.io/node-type": "head"})}
			for index := range controllerRanks {
				pods = append(pods, m.pod(fmt.Sprintf("train-gpus-worker-%d", index), map[string]string{
					"ray.io/cluster": "train", "ray.io/group": "gpus", "ray.io/node-type": "worker"}, nil))
			}
			return pods
		},
	},
	{
		name: "volcano", group: "batch.volcano.sh", version: "v1alpha1", kind: "Job", plural: "jobs",
		object: `{minAvailable: 4, tasks: [{name: worker, replicas: 4, template: {}}]}`,
		pods: func(m made, uid string) []*corev1.Pod {
			var pods []*corev1.Pod
			for index := range controllerRanks {
				pods = append(pods, m.pod(fmt.Sprintf("train-worker-%d", index), map[string]string{
					"volcano.sh/job-name": "train", "volcano.sh/task-spec": "worker", "volcano.sh/task-index": strconv.Itoa(index),
				}, map[string]string{"scheduling.k8s.io/group-name": "train-" + uid}))
			}
			return pods
		},
	},
}

func kubeflow(kind string, index int) map[string]string {
	labels := map[string]string{
		"training.kubeflow.org/job-name": "train", "training.kubeflow.org/replica-type": kind,
		"training.kubeflow.org/replica-index": strconv.Itoa(index), "training.kubeflow.org/operator-name": "training-operator",
	}
	if kind != "worker" {
		labels["training.kubeflow.org/job-role"] = kind
	}
	return labels
}

// define installs a framework's kind, without its schema.
func (f framework) define(t *testing.T) {
	t.Helper()
	name := f.plural + "." + f.group
	manifest := fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %s
  annotations: {api-approved.kubernetes.io: "unapproved, for a test"}
spec:
  group: %s
  scope: Namespaced
  names: {kind: %s, plural: %s, singular: %s}
  versions:
  - name: %s
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
    subresources: {status: {}}
`, name, f.group, f.kind, f.plural, strings.ToLower(f.kind), f.version)
	if out := kubectl(t, manifest, "apply", "-f", "-"); out.ExitCode != 0 {
		t.Fatal(out.Stderr)
	}
	t.Cleanup(func() { cluster.Kubectl(context.Background(), "", "delete", "crd", name) })
	established(t, name)
}

// create makes the object and, as its controller would, the pods.
func (f framework) create(t *testing.T, m made) {
	t.Helper()
	manifest := fmt.Sprintf("apiVersion: %s/%s\nkind: %s\nmetadata: {name: train, namespace: %s}\nspec: %s\n",
		f.group, f.version, f.kind, m.space, strings.ReplaceAll(f.object, "@POOL@", m.pool))
	out := kubectl(t, manifest, "create", "-f", "-", "-o", "jsonpath={.metadata.uid}")
	if out.ExitCode != 0 {
		t.Fatal(out.Stderr)
	}
	t.Cleanup(func() {
		cluster.Kubectl(context.Background(), "", "-n", m.space, "delete", f.plural+"."+f.group, "train")
	})
	for _, pod := range f.pods(m, out.Stdout) {
		createPod(t, pod)
	}
}

// createJob and createStatefulSet leave the pods to kube-controller-manager.
func createJob(t *testing.T, m made) {
	t.Helper()
	job := harness.TrainingJob(m.space, "train", "default-scheduler", controllerRanks)
	job.Spec.Template.Spec.NodeSelector = map[string]string{harness.PoolLabel: m.pool}
	_, err := cluster.Client.BatchV1().Jobs(m.space).Create(t.Context(), job, metav1.CreateOptions{})
	check(t, err)
}

func createStatefulSet(t *testing.T, m made) {
	t.Helper()
	replicas := int32(controllerRanks)
	labels := map[string]string{"app": "train"}
	pod := m.pod("", labels, map[string]string{"rankward.io/gang": "train"})
	set := &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: m.space, Name: "train"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, ServiceName: "train", PodManagementPolicy: appsv1.ParallelPodManagement,
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: pod.Annotations}, Spec: pod.Spec},
		},
	}
	_, err := cluster.Client.AppsV1().StatefulSets(m.space).Create(t.Context(), set, metav1.CreateOptions{})
	check(t, err)
	t.Cleanup(func() {
		background := metav1.DeletePropagationBackground
		cluster.Client.AppsV1().StatefulSets(m.space).Delete(context.Background(), "train", metav1.DeleteOptions{PropagationPolicy: &background})
	})
}

// ranksOf a namespace: its pods with GPUs.
func ranksOf(ctx context.Context, space string) ([]corev1.Pod, error) {
	list, err := cluster.Client.CoreV1().Pods(space).List(ctx, metav1.ListOptions{})
	if err != nil {
		return nil, err
	}
	var ranks []corev1.Pod
	for _, pod := range list.Items {
		if _, ok := pod.Spec.Containers[0].Resources.Requests["nvidia.com/gpu"]; ok {
			ranks = append(ranks, pod)
		}
	}
	return ranks, nil
}

// Whoever makes the pods, the gang and its size are known: with one node too few none of its ranks
// starts, with one more all do.
func TestGangsOfEveryControllerStartWholeOrNotAtAll(t *testing.T) {
	installed(t)
	create := map[string]func(t *testing.T, m made){"job": createJob, "statefulset": createStatefulSet}
	names := []string{"job", "statefulset"}
	for _, f := range frameworks {
		f.define(t)
		create[f.name] = f.create
		names = append(names, f.name)
	}
	// Each mode starts the server anew: kinds that are there then are watched.
	inBothModes(t, nil, func(t *testing.T, mode string) {
		for _, name := range names {
			pool := name + "-" + mode
			space := namespace(t, "made-by-"+pool, nil)
			nodes(t, harness.Leaf(pool, "a", controllerRanks-1))
			create[name](t, made{space, pool})
		}
		for _, name := range names {
			t.Run(name+"-waits", func(t *testing.T) {
				eachRank(t, "made-by-"+name+"-"+mode, "to wait for the whole gang", func(pod *corev1.Pod) bool {
					return pod.Spec.NodeName == "" && strings.Contains(whyUnschedulable(pod), noRoomForTheGang)
				})
			})
		}
		for _, name := range names {
			nodes(t, harness.Leaf(name+"-"+mode, "b", 1))
		}
		for _, name := range names {
			t.Run(name+"-starts", func(t *testing.T) {
				eachRank(t, "made-by-"+name+"-"+mode, "to be bound", func(pod *corev1.Pod) bool { return pod.Spec.NodeName != "" })
			})
		}
	})
}

func eachRank(t *testing.T, space, what string, holds func(pod *corev1.Pod) bool) {
	t.Helper()
	within(t, long, "each rank in "+space+" "+what, func() error {
		ranks, err := ranksOf(t.Context(), space)
		if err != nil {
			return err
		}
		for i := range ranks {
			if !holds(&ranks[i]) {
				return fmt.Errorf("%s: node %q, %s", ranks[i].Name, ranks[i].Spec.NodeName, describe(&ranks[i]))
			}
		}
		if len(ranks) != controllerRanks {
			return fmt.Errorf("%d ranks", len(ranks))
		}
		return nil
	})
}
