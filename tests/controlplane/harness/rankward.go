package harness

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	sigsyaml "sigs.k8s.io/yaml"
)

// RankwardBinary is the program under test: RANKWARD_BIN, or what `make build` leaves.
func RankwardBinary() (string, error) {
	path := os.Getenv("RANKWARD_BIN")
	if path == "" {
		root, err := Repository()
		if err != nil {
			return "", err
		}
		path = filepath.Join(root, "build", "release", "rankward")
	}
	if !exists(path) {
		return "", fmt.Errorf("%s does not exist: run `make build`, or name the program in RANKWARD_BIN", path)
	}
	return path, nil
}

// RankwardOptions of one `rankward serve`.
type RankwardOptions struct {
	Name         string // of the log and configuration files
	Dir          string
	Certificates Certificates
	// Configuration is a RankwardConfiguration in YAML; empty is both doors with strict mTLS. Its
	// addresses, ports and files are replaced by those of this machine, everything else stays.
	Configuration string
	// Settings are keys of the configuration's top level that are to be set on top of it.
	Settings     map[string]any
	Kubeconfig   string // empty: standalone, each pod judged alone
	ExtenderPort int    // 0: any
	WebhookPort  int    // 0: any
	Env          []string
}

const bothDoors = `
apiVersion: config.rankward.io/v1alpha1
kind: RankwardConfiguration
doors: [extender, webhook]
schedulerNames: [default-scheduler]
tls:
  extender: {}
  webhook: {requireClientCertificate: true}
log: {verbosity: 4, format: json}
`

func (o RankwardOptions) configuration() (map[string]any, error) {
	text := o.Configuration
	if text == "" {
		text = bothDoors
	}
	config := map[string]any{}
	if err := sigsyaml.Unmarshal([]byte(text), &config); err != nil {
		return nil, fmt.Errorf("%s: configuration: %w", o.Name, err)
	}
	tls, _ := config["tls"].(map[string]any)
	for door := range tls {
		files, _ := tls[door].(map[string]any)
		if files == nil {
			return nil, fmt.Errorf("%s: configuration: tls.%s is no mapping", o.Name, door)
		}
		files["certFile"] = o.Certificates.Server.CertFile
		files["keyFile"] = o.Certificates.Server.KeyFile
		files["clientCAFile"] = o.Certificates.CAFile
	}
	for key, value := range o.Settings {
		config[key] = value
	}
	config["ports"] = map[string]any{"address": "127.0.0.1", "extender": o.ExtenderPort, "webhook": o.WebhookPort, "status": 0}
	if o.Kubeconfig != "" {
		config["kubeconfig"] = o.Kubeconfig
	}
	return config, nil
}

// Rankward is a running `rankward serve`.
type Rankward struct {
	*Process
	ExtenderPort, WebhookPort, StatusPort int
	ConfigPath                            string
	Certificates                          Certificates
}

// StartRankward writes a configuration, starts the server and returns once its doors listen and,
// where it has an API server to read, its first snapshot is there.
func StartRankward(ctx context.Context, options RankwardOptions) (*Rankward, error) {
	binary, err := RankwardBinary()
	if err != nil {
		return nil, err
	}
	config, err := options.configuration()
	if err != nil {
		return nil, err
	}
	text, err := sigsyaml.Marshal(config)
	if err != nil {
		return nil, err
	}
	r := &Rankward{ConfigPath: filepath.Join(options.Dir, options.Name+".yaml"), Certificates: options.Certificates}
	if err := os.WriteFile(r.ConfigPath, text, 0o600); err != nil {
		return nil, err
	}
	// Of its own for each start, so that ports are read from this process's lines alone.
	os.Remove(filepath.Join(options.Dir, options.Name+".log"))
	if r.Process, err = startProcess(options.Dir, options.Name, options.Env, binary,
		"serve", "--config", r.ConfigPath,
		// No load balancer has to notice first that this one is going.
		"--drain-seconds=0"); err != nil {
		return nil, err
	}
	doors, _ := config["doors"].([]any)
	err = WaitFor(ctx, options.Name+" to listen", 20*time.Second, 20*time.Millisecond, func() error {
		if !r.Running() {
			return fmt.Errorf("%w: it ended: %v\n%s", errGivenUp, r.err, r.LogTail())
		}
		ports := map[string]int{}
		for _, line := range r.LogLines("listening") {
			door, _ := line["door"].(string)
			port, _ := line["port"].(float64)
			ports[door] = int(port)
		}
		r.ExtenderPort, r.WebhookPort, r.StatusPort = ports["extender"], ports["webhook"], ports["status"]
		if len(ports) < len(doors)+1 {
			return fmt.Errorf("listening so far: %v", ports)
		}
		return nil
	})
	if err == nil {
		err = r.waitReady(ctx)
	}
	if err != nil {
		err = fmt.Errorf("%w\n%s", err, r.LogTail())
		r.Stop(time.Second)
		return nil, err
	}
	return r, nil
}

func (r *Rankward) waitReady(ctx context.Context) error {
	return WaitFor(ctx, r.Name+" to be ready", 30*time.Second, 50*time.Millisecond, func() error {
		status, body, err := r.Status("/readyz?verbose")
		if err != nil {
			return err
		}
		if status != 200 {
			return fmt.Errorf("/readyz: %d %s", status, body)
		}
		return nil
	})
}

// RunRankward runs a subcommand to its end.
func RunRankward(ctx context.Context, arguments ...string) (Output, error) {
	binary, err := RankwardBinary()
	if err != nil {
		return Output{}, err
	}
	return execute(exec.CommandContext(ctx, binary, arguments...))
}

// LogLines are the JSON log lines whose msg is the given one.
func (r *Rankward) LogLines(message string) []map[string]any { return r.LogLinesFrom(0, message) }

// LogLinesFrom are those after a position in the log, in bytes.
func (r *Rankward) LogLinesFrom(position int, message string) []map[string]any {
	var lines []map[string]any
	scanner := bufio.NewScanner(strings.NewReader(r.Log()[position:]))
	scanner.Buffer(nil, 1<<24)
	for scanner.Scan() {
		var line map[string]any
		// The last line may be half written.
		if json.Unmarshal(scanner.Bytes(), &line) == nil && line["msg"] == message {
			lines = append(lines, line)
		}
	}
	return lines
}

// Decisions are the decision lines of one pod ("namespace/name") and verb, oldest first.
func (r *Rankward) Decisions(pod, verb string) []map[string]any {
	var out []map[string]any
	for _, line := range r.LogLines("decision") {
		if line["pod"] == pod && line["verb"] == verb {
			out = append(out, line)
		}
	}
	return out
}

// BestNodes are the entries of a decision's ten best that have the highest score. kube-scheduler
// binds to any of equals.
func BestNodes(decision map[string]any) []map[string]any {
	entries, _ := decision["best"].([]any)
	var best []map[string]any
	highest := -1.0
	for _, entry := range entries {
		node, _ := entry.(map[string]any)
		score, _ := node["score"].(float64)
		if score > highest {
			highest, best = score, nil
		}
		if score == highest {
			best = append(best, node)
		}
	}
	return best
}

// Entry is the one of a node among a decision's best, or nil.
func Entry(best []map[string]any, node string) map[string]any {
	for _, entry := range best {
		if entry["node"] == node {
			return entry
		}
	}
	return nil
}

// ServiceAccountToken mints a token of an account, good for an hour.
func ServiceAccountToken(ctx context.Context, client kubernetes.Interface, namespace, name string) (string, error) {
	seconds := int64(3600)
	request, err := client.CoreV1().ServiceAccounts(namespace).CreateToken(ctx, name,
		&authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}},
		metav1.CreateOptions{})
	if err != nil {
		return "", err
	}
	return request.Status.Token, nil
}
