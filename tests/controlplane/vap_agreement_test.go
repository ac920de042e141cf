package controlplane

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	sigsyaml "sigs.k8s.io/yaml"

	"rankward.io/tests/controlplane/harness"
)

// warnings collects what the API server says beside its answers.
type warnings struct {
	mutex sync.Mutex
	texts []string
}

func (w *warnings) HandleWarningHeader(_ int, _ string, text string) {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	w.texts = append(w.texts, text)
}

func (w *warnings) take() []string {
	w.mutex.Lock()
	defer w.mutex.Unlock()
	out := w.texts
	w.texts = nil
	return out
}

// judges asks the API server what the policies and the webhook say of a pod, in one request.
type judges struct {
	client   kubernetes.Interface
	warnings *warnings
	// Rules that the policies leave to the webhook.
	unexpressed []string
}

func newJudges(t *testing.T) *judges {
	t.Helper()
	out := &judges{warnings: &warnings{}}
	config := rest.CopyConfig(cluster.Admin)
	config.WarningHandler = out.warnings
	out.client = must(t, func() (*kubernetes.Clientset, error) { return kubernetes.NewForConfig(config) })
	return out
}

// verdict is the rules by which one judge would deny and warn, each once, sorted.
type verdict struct{ denied, warned []string }

func (v verdict) String() string {
	return fmt.Sprintf("denied by %v, warned of by %v", v.denied, v.warned)
}

func (v verdict) equals(other verdict) bool {
	return slices.Equal(v.denied, other.denied) && slices.Equal(v.warned, other.warned)
}

func (v verdict) without(rules []string) verdict {
	unwanted := func(rule string) bool { return slices.Contains(rules, rule) }
	return verdict{slices.DeleteFunc(slices.Clone(v.denied), unwanted), slices.DeleteFunc(slices.Clone(v.warned), unwanted)}
}

func add(rules []string, rule string) []string {
	if at, known := slices.BinarySearch(rules, rule); !known {
		return slices.Insert(rules, at, rule)
	}
	return rules
}

var (
	byPolicy    = regexp.MustCompile(`^Validation failed for ValidatingAdmissionPolicy 'rankward-(enforce|warn|audit)' with binding '[^']*': (?s:.*?)\[([A-Z]+-\d\d)\]`)
	byWebhook   = regexp.MustCompile(`^\[([A-Z]+-\d\d)\]`)
	byHook      = regexp.MustCompile(`admission webhook "(pods|unconditional)\.rankward\.io" denied the request`)
	cutOff      = regexp.MustCompile(`^and \d+ more findings?$`)
	unexpressed = regexp.MustCompile(`(?m)^#   ([A-Z]+-\d\d): `)
)

// sortOut tells the policies' verdict, all of whose bindings warn, from the webhook's.
func (j *judges) sortOut(t *testing.T, err error) (policies, webhook verdict, texts []string) {
	t.Helper()
	texts = j.warnings.take()
	for _, text := range texts {
		if match := byPolicy.FindStringSubmatch(text); match != nil {
			switch match[1] {
			case "enforce":
				policies.denied = add(policies.denied, match[2])
			case "warn":
				policies.warned = add(policies.warned, match[2])
			}
		} else if match := byWebhook.FindStringSubmatch(text); match != nil {
			webhook.warned = add(webhook.warned, match[1])
		} else if strings.Contains(text, "ValidatingAdmissionPolicy") {
			t.Errorf("not understood: %s", text)
		}
	}
	if err == nil {
		return policies, webhook, texts
	}
	texts = append(texts, err.Error())
	var status apierrors.APIStatus
	if !errors.As(err, &status) || !byHook.MatchString(err.Error()) {
		t.Fatalf("refused by something else: %v", err)
	}
	for _, cause := range status.Status().Details.Causes {
		webhook.denied = add(webhook.denied, string(cause.Type))
	}
	return policies, webhook, texts
}

func (j *judges) create(t *testing.T, pod *corev1.Pod) (policies, webhook verdict, texts []string) {
	t.Helper()
	_, err := j.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	return j.sortOut(t, err)
}

// Marks a pod that the policies pass over, so that the webhook's warnings are not cut on their account:
// the API server lets 4,096 characters through.
const webhookAlone = "rankward-test-webhook-alone"

// agree sends a pod twice, once past the policies, and compares what both say.
func (j *judges) agree(t *testing.T, pod *corev1.Pod, send func(*corev1.Pod) error) verdict {
	t.Helper()
	policies, _, first := j.sortOut(t, send(pod))
	marked := pod.DeepCopy()
	marked.Labels = map[string]string{webhookAlone: ""}
	_, webhook, second := j.sortOut(t, send(marked))
	webhook = webhook.without(j.unexpressed)
	if slices.ContainsFunc(second, cutOff.MatchString) {
		// The webhook's warnings are bounded: what it had no room for is known from the policies alone.
		policies.warned = slices.DeleteFunc(policies.warned, func(rule string) bool { return !slices.Contains(webhook.warned, rule) })
	}
	if !policies.equals(webhook) {
		text := must(t, func() ([]byte, error) { return sigsyaml.Marshal(pod) })
		t.Errorf("%s/%s: the policies: %v; the webhook: %v\n%s\n%s\n%s", pod.Namespace, pod.Name, policies, webhook,
			strings.Join(first, "\n"), strings.Join(second, "\n"), text)
	}
	return webhook
}

// agreed is agree for a new pod.
func (j *judges) agreed(t *testing.T, pod *corev1.Pod) verdict {
	t.Helper()
	return j.agree(t, pod, func(pod *corev1.Pod) error {
		return errorOf(j.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}}))
	})
}

// applyPolicies puts what `rankward generate vap` prints into force, every binding with the action Warn, and
// removes it when the test ends. probe is a pod that it warns of.
func (j *judges) applyPolicies(t *testing.T, settings map[string]any, probe *corev1.Pod) {
	t.Helper()
	arguments := []string{"generate", "vap"}
	if settings != nil {
		file := filepath.Join(t.TempDir(), "rankward.yaml")
		configuration := map[string]any{"apiVersion": "config.rankward.io/v1alpha1", "kind": "RankwardConfiguration"}
		for key, value := range settings {
			configuration[key] = value
		}
		check(t, os.WriteFile(file, must(t, func() ([]byte, error) { return sigsyaml.Marshal(configuration) }), 0o600))
		arguments = append(arguments, "--config", file)
	}
	out := must(t, func() (harness.Output, error) { return harness.RunRankward(t.Context(), arguments...) })
	if out.ExitCode != 0 {
		t.Fatalf("exit code %d: %s", out.ExitCode, out.Stderr)
	}
	for _, match := range unexpressed.FindAllStringSubmatch(out.Stdout, -1) {
		j.unexpressed = append(j.unexpressed, match[1])
	}
	var manifest []string
	for _, object := range documents(t, out.Stdout) {
		spec := object["spec"].(map[string]any)
		if object["kind"] == "ValidatingAdmissionPolicyBinding" {
			spec["validationActions"] = []string{"Warn"}
		} else {
			for _, each := range spec["validations"].([]any) {
				// Its rule alone, instead of all that would be denied.
				validation := each.(map[string]any)
				validation["messageExpression"] = strings.TrimSuffix(validation["expression"].(string), ` == ""`)
			}
			spec["matchConditions"] = append(spec["matchConditions"].([]any), map[string]any{
				"name": "not-for-the-webhook", "expression": fmt.Sprintf(`!(%q in object.metadata.?labels.orValue({}))`, webhookAlone)})
		}
		manifest = append(manifest, string(must(t, func() ([]byte, error) { return sigsyaml.Marshal(object) })))
	}
	applied := kubectl(t, strings.Join(manifest, "---\n"), "apply", "-f", "-")
	if applied.ExitCode != 0 {
		t.Fatal(applied.Stderr)
	}
	t.Cleanup(func() {
		cluster.Kubectl(context.Background(), strings.Join(manifest, "---\n"), "delete", "-f", "-")
		harness.WaitFor(context.Background(), "the policies to be gone", patience, patience/100, func() error {
			j.client.CoreV1().Pods(probe.Namespace).Create(context.Background(), probe, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if texts := strings.Join(j.warnings.take(), "\n"); strings.Contains(texts, "ValidatingAdmissionPolicy") {
				return errors.New(texts)
			}
			return nil
		})
	})
	eventually(t, "the policies to be in force", func() error {
		policies, _, texts := j.create(t, probe)
		if len(policies.denied) == 0 || len(policies.warned) == 0 {
			return fmt.Errorf("%v: %v", policies, texts)
		}
		return nil
	})
}

// runtimeClassesFor makes the classes that the pods name: the API server refuses others.
func runtimeClassesFor(t *testing.T, names []string) {
	t.Helper()
	for _, name := range names {
		class := &nodev1.RuntimeClass{ObjectMeta: metav1.ObjectMeta{Name: name}, Handler: "handler"}
		_, err := cluster.Client.NodeV1().RuntimeClasses().Create(t.Context(), class, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			cluster.Client.NodeV1().RuntimeClasses().Delete(context.Background(), name, metav1.DeleteOptions{})
		})
	}
}

// probePod is one that the defaults deny and warn of.
func probePod(namespace string) *corev1.Pod {
	probe := pod(namespace, "probe", nil)
	probe.Spec.Containers[0].Env = []corev1.EnvVar{{Name: "CUDA_VERSION", Value: "9.0"}}
	probe.Spec.Volumes = []corev1.Volume{{Name: "dev", VolumeSource: corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/dev/nvidia0/"}}}}
	return probe
}

func TestVapAgreesWithTheWebhookOnGeneratedPods(t *testing.T) {
	installed(t)
	spaces := []string{namespace(t, "agreement", nil), namespace(t, "gpu-operator", nil), namespace(t, "nvidia-device-plugin", nil)}
	webhookAnswers(t, spaces[0])
	runtimeClassesFor(t, runtimeClasses)
	j := newJudges(t)
	j.applyPolicies(t, nil, probePod(spaces[0]))
	tally := newTally()
	generator := newPodGenerator(20260801, spaces, []string{"default", "nvidia-driver", "trainer"})
	for range 300 {
		tally.count(j.agreed(t, generator.next()))
	}
	tally.holds(t, 300, "ANN-01", "ENV-01", "ENV-02", "ENV-03", "ENV-05", "ENV-06", "HP-01", "HP-02", "HP-04", "HP-05", "HP-07",
		"PRIV-01", "PRIV-02", "PRIV-03", "RT-01", "SCH-01", "SCH-03")
}

// Every rule that is off or silent by default is warned of, modes differ by namespace, and
// exemptions end or belong to one kind of owner.
func TestVapAgreesWithTheWebhookUnderAnotherConfiguration(t *testing.T) {
	installation := installed(t)
	spaces := []string{namespace(t, "lenient", nil), namespace(t, "strict", nil), namespace(t, "agents", nil)}
	runtimeClassesFor(t, runtimeClasses)
	settings := map[string]any{"schedulerNames": []string{"second-scheduler", "default-scheduler"}, "admission": map[string]any{
		"modes": map[string]any{"HP-03": "warn", "ENV-04": "warn", "RT-02": "warn", "ANN-01": "warn", "HP-07": "audit"},
		"namespaceModes": []map[string]any{
			{"rule": "HP-01", "mode": "off", "namespaces": []string{"lenient"}},
			{"rule": "ENV-01", "mode": "warn", "namespaces": []string{"lenient", "agents"}},
			{"rule": "HP-02", "mode": "enforce", "namespaces": []string{"strict"}},
			{"rule": "ENV-03", "mode": "enforce", "namespaces": []string{"strict"}},
			{"rule": "ANN-01", "mode": "enforce", "namespaces": []string{"strict"}},
		},
		"exemptions": []map[string]any{
			{"namespaces": []string{"agents"}, "serviceAccounts": []string{"trainer"}, "ownerKinds": []string{"DaemonSet"},
				"rules": []string{"HP-01", "HP-02", "HP-04", "PRIV-01"}, "reason": "agents of the node", "expires": "2199-01-01T00:00:00Z"},
			{"namespaces": []string{"agents"}, "serviceAccounts": []string{"default"},
				"rules": []string{"HP-04", "ENV-02"}, "reason": "until the agents are replaced", "expires": "2199-01-01T00:00:00Z"},
			{"namespaces": []string{"lenient"}, "serviceAccounts": []string{"trainer"},
				"rules": []string{"HP-02", "ENV-02"}, "reason": "over", "expires": "2020-01-01T00:00:00Z"},
		},
		"presets":           []map[string]any{{"name": "gpu-operator", "namespaces": []string{"agents"}}},
		"runtimeClasses":    []string{"nvidia*"},
		"envNames":          []string{"NVIDIA_VISIBLE_DEVICES", "DOCKER_RESOURCE_GPU"},
		"gpuTolerationKeys": []string{"team"},
		"allowedHostPaths":  []string{"/data", "/mnt/dev", "/dev/shm"},
		"vendors": []map[string]any{{"name": "Example NPU", "resources": []string{"example.com/np*"}, "devicePaths": []string{"/dev/nvid"},
			"envNames": []string{"CUDA_VISIBLE_DEVICES"}, "annotations": []string{"npu.example.com"}}},
	}}
	configured(t, installation, settings)
	webhookAnswers(t, spaces[1])
	j := newJudges(t)
	j.applyPolicies(t, settings, probePod(spaces[1]))
	tally := newTally()
	generator := newPodGenerator(20260802, spaces, []string{"default", "nvidia-driver", "trainer"})
	for range 200 {
		tally.count(j.agreed(t, generator.next()))
	}
	tally.holds(t, 200, "ANN-01", "ENV-01", "ENV-02", "ENV-03", "ENV-04", "HP-01", "HP-02", "HP-03", "HP-04", "HP-08", "RT-01", "RT-02",
		"SCH-02")
}

// The pods of the written cases, as far as the API server takes them.
func TestVapAgreesWithTheWebhookOnTheCases(t *testing.T) {
	installed(t)
	space := namespace(t, "default-cases", nil)
	webhookAnswers(t, space)
	j := newJudges(t)
	j.applyPolicies(t, nil, probePod(space))
	runtimeClassesFor(t, runtimeClasses)
	folders := []string{filepath.Join(root, "tests", "cases")}
	if corpus := os.Getenv("RANKWARD_CORPUS"); corpus != "" {
		folders = append(folders, filepath.Join(corpus, "cases"))
	}
	tally, invalid := newTally(), 0
	known := map[string]bool{space: true}
	for _, folder := range folders {
		files := must(t, func() ([]string, error) { return filepath.Glob(filepath.Join(folder, "*", "*pod*.yaml")) })
		for _, file := range files {
			for _, pod := range casePods(t, file) {
				if pod.Namespace == "" {
					pod.Namespace = space
				}
				if !known[pod.Namespace] {
					known[pod.Namespace] = true
					_, err := cluster.Client.CoreV1().Namespaces().Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: pod.Namespace}}, metav1.CreateOptions{})
					if err == nil {
						t.Cleanup(func() {
							cluster.Client.CoreV1().Namespaces().Delete(context.Background(), pod.Namespace, metav1.DeleteOptions{})
						})
					} else if !apierrors.IsAlreadyExists(err) {
						t.Fatal(err)
					}
				}
				_, err := j.client.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
				if apierrors.IsInvalid(err) || apierrors.IsBadRequest(err) {
					invalid++
					continue
				}
				j.warnings.take()
				tally.count(j.agreed(t, pod))
			}
		}
	}
	t.Logf("%d pods are none to the API server", invalid)
	tally.holds(t, 60, "HP-01", "ENV-01")
}

// casePods reads the pods of a file of cases.
func casePods(t *testing.T, file string) []*corev1.Pod {
	t.Helper()
	var out []*corev1.Pod
	for _, object := range documents(t, string(must(t, func() ([]byte, error) { return os.ReadFile(file) }))) {
		items, isList := object["items"].([]any)
		if !isList {
			items = []any{object}
		}
		for _, item := range items {
			if item.(map[string]any)["kind"] != "Pod" {
				continue
			}
			text := must(t, func() ([]byte, error) { return sigsyaml.Marshal(item) })
			pod := &corev1.Pod{}
			check(t, sigsyaml.Unmarshal(text, pod))
			// As a person would create it.
			pod.ResourceVersion, pod.UID, pod.DeletionTimestamp, pod.Status = "", "", nil, corev1.PodStatus{}
			for i := range pod.Spec.Containers {
				if pod.Spec.Containers[i].Image == "" {
					pod.Spec.Containers[i].Image = "registry.example/case:1"
				}
			}
			out = append(out, pod)
		}
	}
	return out
}

// tally counts what was judged, so that a test shows that its pods said something.
type tally struct {
	pods, clean, denied int
	rules               map[string]int
}

func newTally() *tally { return &tally{rules: map[string]int{}} }

func (c *tally) count(judged verdict) {
	c.pods++
	for _, rule := range slices.Concat(judged.denied, judged.warned) {
		c.rules[rule]++
	}
	if len(judged.denied) > 0 {
		c.denied++
	} else if len(judged.warned) == 0 {
		c.clean++
	}
}

func (c *tally) holds(t *testing.T, pods int, rules ...string) {
	t.Helper()
	t.Logf("%d pods, %d denied, %d without a finding; by rule: %v", c.pods, c.denied, c.clean, c.rules)
	if c.pods < pods || c.denied == 0 || c.clean == 0 {
		t.Errorf("too little was judged, want %d pods", pods)
	}
	for _, rule := range rules {
		if c.rules[rule] == 0 {
			t.Errorf("no pod met %s", rule)
		}
	}
}
