package harness

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/util/yaml"
	sigsyaml "sigs.k8s.io/yaml"
)

// Scheduler is a running kube-scheduler.
type Scheduler struct {
	*Process
	MetricsURL string // https, self-signed certificate, readable by anyone on loopback
}

// SchedulerOptions of one kube-scheduler process.
type SchedulerOptions struct {
	// Name tells the log files of several schedulers apart.
	Name string
	// Configuration is a KubeSchedulerConfiguration in YAML. Its clientConnection is replaced, and
	// leader election is switched off unless KeepLeaderElection.
	Configuration      string
	KeepLeaderElection bool
	// LeaderElection are keys of the file's leaderElection that are to be set on top of it.
	LeaderElection map[string]any
	// Token of the identity to run as; empty is system:kube-scheduler.
	Token        string
	Verbosity    int
	FeatureGates []string // "Name=true"
}

// StartScheduler runs a kube-scheduler and returns once it is healthy.
func (cp *ControlPlane) StartScheduler(ctx context.Context, options SchedulerOptions) (*Scheduler, error) {
	token := options.Token
	if token == "" {
		token = schedulerToken
	}
	kubeconfig, err := cp.Kubeconfig(options.Name, token)
	if err != nil {
		return nil, err
	}
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(options.Configuration), &config); err != nil {
		return nil, fmt.Errorf("scheduler configuration: %w", err)
	}
	config["clientConnection"] = map[string]any{"kubeconfig": kubeconfig, "qps": 5000, "burst": 5000}
	if !options.KeepLeaderElection {
		config["leaderElection"] = map[string]any{"leaderElect": false}
	}
	if election, _ := config["leaderElection"].(map[string]any); election != nil {
		for key, value := range options.LeaderElection {
			election[key] = value
		}
	}
	text, err := sigsyaml.Marshal(config)
	if err != nil {
		return nil, err
	}
	path := filepath.Join(cp.Dir, options.Name+".scheduler.yaml")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	port, err := FreePort()
	if err != nil {
		return nil, err
	}
	args := []string{"--config", path,
		"--bind-address=127.0.0.1", "--secure-port", strconv.Itoa(port),
		"--authorization-always-allow-paths=/metrics,/healthz,/livez,/readyz",
		"--v", strconv.Itoa(options.Verbosity)}
	if len(options.FeatureGates) > 0 {
		args = append(args, "--feature-gates="+strings.Join(options.FeatureGates, ","))
	}
	process, err := cp.runAs("kube-scheduler", options.Name, args...)
	if err != nil {
		return nil, err
	}
	scheduler := &Scheduler{Process: process, MetricsURL: fmt.Sprintf("https://127.0.0.1:%d/metrics", port)}
	return scheduler, cp.waitHealthz(ctx, process, port)
}

// Leads tells whether this process holds the scheduler's Lease, by its own metric. One that does not
// answer does not.
func (s *Scheduler) Leads(ctx context.Context) bool {
	// It signs its own certificate at start; loopback, and only a figure is read.
	client := &http.Client{Timeout: 2 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.MetricsURL, nil)
	if err != nil {
		return false
	}
	response, err := client.Do(request)
	if err != nil {
		return false
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	return err == nil && strings.Contains(string(text), "\nleader_election_master_status{name=\"kube-scheduler\"} 1\n")
}

// ExtenderConfiguration is manifests/scheduler-configuration.yaml with its address and files
// replaced by those of this machine, and nothing else.
func ExtenderConfiguration(root string, port int, certificates Certificates) (string, error) {
	text, err := os.ReadFile(filepath.Join(root, "manifests", "scheduler-configuration.yaml"))
	if err != nil {
		return "", err
	}
	return Localize(string(text), port, certificates)
}

// Localize points the extender of a KubeSchedulerConfiguration at a port of loopback and at the
// certificates of this machine.
func Localize(configuration string, port int, certificates Certificates) (string, error) {
	config := map[string]any{}
	if err := yaml.Unmarshal([]byte(configuration), &config); err != nil {
		return "", fmt.Errorf("scheduler configuration: %w", err)
	}
	extenders, _ := config["extenders"].([]any)
	if len(extenders) != 1 {
		return "", fmt.Errorf("scheduler configuration: %d extenders, want 1", len(extenders))
	}
	extender := extenders[0].(map[string]any)
	extender["urlPrefix"] = fmt.Sprintf("https://127.0.0.1:%d", port)
	tls, _ := extender["tlsConfig"].(map[string]any)
	if tls == nil || extender["enableHTTPS"] != true {
		return "", fmt.Errorf("scheduler configuration: the extender has no tlsConfig or no enableHTTPS")
	}
	tls["caFile"] = certificates.CAFile
	tls["certFile"] = certificates.Scheduler.CertFile
	tls["keyFile"] = certificates.Scheduler.KeyFile
	out, err := sigsyaml.Marshal(config)
	return string(out), err
}

// PlainConfiguration is a scheduler without an extender. percentage 0 is the adaptive default.
func PlainConfiguration(schedulerName string, percentage int) string {
	return fmt.Sprintf(`apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: %s
  percentageOfNodesToScore: %d
`, schedulerName, percentage)
}

// LogLines are the lines of a klog log that hold every one of the given parts.
func LogLines(log string, parts ...string) []string {
	var lines []string
next:
	for _, line := range strings.Split(log, "\n") {
		for _, part := range parts {
			if !strings.Contains(line, part) {
				continue next
			}
		}
		lines = append(lines, line)
	}
	return lines
}

// LogField reads key=value or key="value" from a klog line; empty where it is absent.
func LogField(line, key string) string {
	match := regexp.MustCompile(`\b` + regexp.QuoteMeta(key) + `="?([^"\s]*)`).FindStringSubmatch(line)
	if match == nil {
		return ""
	}
	return match[1]
}
