// Package harness runs a real control plane on loopback: etcd, kube-apiserver, kube-scheduler and
// kube-controller-manager as child processes, with Node objects that no kubelet stands behind, and
// Rankward beside them. The tests, the demo on a control plane and the benchmarks share it.
package harness

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// Identities of the control plane; the tokens are of a throwaway cluster on loopback.
const (
	adminToken     = "harness-admin"
	schedulerToken = "harness-kube-scheduler"
)

// Options of a control plane.
type Options struct {
	Binaries Binaries
	// Dir holds data, certificates and logs. RemoveDir: Stop removes it, unless the environment
	// variable RANKWARD_KEEP_LOGS is set.
	Dir       string
	RemoveDir bool
	// ControllerManager makes Jobs and Deployments create their own pods.
	ControllerManager bool
	// FeatureGates ("Name=true") and RuntimeConfig ("group/version=true") of kube-apiserver, on top
	// of those that the manifests need.
	FeatureGates, RuntimeConfig []string
	// WebhookClients maps the host:port of a webhook (or NAME.NAMESPACE.svc) to the client
	// certificate that the API server presents there.
	WebhookClients map[string]KeyPair
	// Audit keeps the API server's audit log; see ControlPlane.Audit.
	Audit bool
}

// ControlPlane is a running etcd and kube-apiserver, and what else was started with them.
type ControlPlane struct {
	Dir       string
	URL       string
	Binaries  Binaries
	CAFile    string
	Admin     *rest.Config // system:masters, no client-side rate limit
	Client    kubernetes.Interface
	Audit     *AuditLog // nil where it was not asked for
	authority *Authority

	removeDir bool
	mutex     sync.Mutex
	processes []*Process // in order of start
}

// Start runs a control plane and returns once it is ready. On failure nothing is left running and
// the error holds the end of the logs.
func Start(ctx context.Context, options Options) (*ControlPlane, error) {
	cp := &ControlPlane{Dir: options.Dir, Binaries: options.Binaries, removeDir: options.RemoveDir}
	if err := cp.start(ctx, options); err != nil {
		err = fmt.Errorf("control plane: %w\n%s", err, cp.LogTails())
		cp.Stop()
		return nil, err
	}
	return cp, nil
}

func (cp *ControlPlane) start(ctx context.Context, options Options) error {
	ports, err := FreePorts(3)
	if err != nil {
		return err
	}
	etcdURL := fmt.Sprintf("http://127.0.0.1:%d", ports[0])
	peerURL := fmt.Sprintf("http://127.0.0.1:%d", ports[1])
	cp.URL = fmt.Sprintf("https://127.0.0.1:%d", ports[2])

	if _, err := cp.run("etcd", "--data-dir", filepath.Join(cp.Dir, "etcd"),
		"--listen-client-urls", etcdURL, "--advertise-client-urls", etcdURL,
		"--listen-peer-urls", peerURL, "--unsafe-no-fsync", "--log-level=warn"); err != nil {
		return err
	}
	if err := cp.startAPIServer(etcdURL, ports[2], options); err != nil {
		return err
	}
	cp.Admin = &rest.Config{
		Host: cp.URL, BearerToken: adminToken, QPS: -1,
		WarningHandler:  rest.NoWarnings{}, // who wants to see them asks by a client of its own
		TLSClientConfig: rest.TLSClientConfig{CAFile: cp.CAFile},
	}
	if cp.Client, err = kubernetes.NewForConfig(cp.Admin); err != nil {
		return err
	}
	if err := cp.waitFor(ctx, "kube-apiserver to be ready", 60*time.Second, func() error {
		return cp.Client.Discovery().RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}); err != nil {
		return err
	}
	if options.ControllerManager {
		return cp.startControllerManager(ctx)
	}
	return nil
}

func (cp *ControlPlane) startAPIServer(etcdURL string, port int, options Options) error {
	authority, err := NewAuthority(filepath.Join(cp.Dir, "pki"), "harness-kubernetes-ca")
	if err != nil {
		return err
	}
	cp.authority, cp.CAFile = authority, authority.CertFile
	serving, err := authority.Issue("kube-apiserver", "kube-apiserver", "127.0.0.1", "localhost",
		"kubernetes.default.svc")
	if err != nil {
		return err
	}
	accounts, err := authority.Issue("service-accounts", "service-accounts")
	if err != nil {
		return err
	}
	tokens := filepath.Join(cp.Dir, "tokens.csv")
	if err := os.WriteFile(tokens, []byte(
		adminToken+`,admin,admin,"system:masters"`+"\n"+
			schedulerToken+",system:kube-scheduler,system:kube-scheduler\n"), 0o600); err != nil {
		return err
	}
	admission, err := cp.writeAdmissionConfiguration(options.WebhookClients)
	if err != nil {
		return err
	}
	args := []string{
		"--etcd-servers", etcdURL,
		"--bind-address=127.0.0.1", "--advertise-address=127.0.0.1", "--secure-port", strconv.Itoa(port),
		"--tls-cert-file", serving.CertFile, "--tls-private-key-file", serving.KeyFile,
		"--client-ca-file", authority.CertFile,
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file", accounts.CertFile,
		"--service-account-signing-key-file", accounts.KeyFile,
		"--token-auth-file", tokens, "--authorization-mode=RBAC",
		"--service-cluster-ip-range=10.0.0.0/24", "--allow-privileged=true",
		"--endpoint-reconciler-type=none",
		// TaintNodesByCondition would taint every new Node not-ready, ServiceAccount would refuse
		// pods of a namespace until its default account exists.
		"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition",
		"--admission-control-config-file", admission,
	}
	if options.Audit {
		log, flags, err := newAuditLog(cp.Dir)
		if err != nil {
			return err
		}
		cp.Audit = log
		args = append(args, flags...)
	}
	gates, runtimeConfig := options.FeatureGates, options.RuntimeConfig
	if options.Binaries.Minor() < 36 {
		// MutatingAdmissionPolicy is v1 and on from 1.36; before, v1beta1 behind a gate.
		gates = append([]string{"MutatingAdmissionPolicy=true"}, gates...)
		runtimeConfig = append([]string{"admissionregistration.k8s.io/v1beta1=true"}, runtimeConfig...)
	}
	if len(gates) > 0 {
		args = append(args, "--feature-gates="+strings.Join(gates, ","))
	}
	if len(runtimeConfig) > 0 {
		args = append(args, "--runtime-config="+strings.Join(runtimeConfig, ","))
	}
	_, err = cp.run("kube-apiserver", args...)
	return err
}

func (cp *ControlPlane) writeAdmissionConfiguration(clients map[string]KeyPair) (string, error) {
	var users strings.Builder
	for host, pair := range clients {
		fmt.Fprintf(&users, "- name: %q\n  user: {client-certificate: %q, client-key: %q}\n", host, pair.CertFile, pair.KeyFile)
	}
	list := "users: []\n"
	if users.Len() > 0 {
		list = "users:\n" + users.String()
	}
	kubeconfig := filepath.Join(cp.Dir, "webhook-clients.kubeconfig")
	if err := os.WriteFile(kubeconfig, []byte("apiVersion: v1\nkind: Config\n"+list), 0o600); err != nil {
		return "", err
	}
	path := filepath.Join(cp.Dir, "admission.yaml")
	text := "apiVersion: apiserver.config.k8s.io/v1\nkind: AdmissionConfiguration\nplugins:\n"
	for _, plugin := range []string{"MutatingAdmissionWebhook", "ValidatingAdmissionWebhook"} {
		text += fmt.Sprintf(`- name: %s
  configuration:
    apiVersion: apiserver.config.k8s.io/v1
    kind: WebhookAdmissionConfiguration
    kubeConfigFile: %s
`, plugin, kubeconfig)
	}
	return path, os.WriteFile(path, []byte(text), 0o600)
}

func (cp *ControlPlane) startControllerManager(ctx context.Context) error {
	port, err := FreePort()
	if err != nil {
		return err
	}
	kubeconfig, err := cp.Kubeconfig("kube-controller-manager", adminToken)
	if err != nil {
		return err
	}
	process, err := cp.run("kube-controller-manager", "--kubeconfig", kubeconfig,
		"--service-account-private-key-file", filepath.Join(cp.Dir, "pki", "service-accounts.key"),
		"--root-ca-file", cp.CAFile, "--leader-elect=false",
		"--bind-address=127.0.0.1", "--secure-port", strconv.Itoa(port),
		// No kubelet renews a lease here: these two would mark every Node NotReady and evict.
		"--controllers=*,-node-lifecycle-controller,-taint-eviction-controller",
		"--concurrent-job-syncs=5")
	if err != nil {
		return err
	}
	return cp.waitHealthz(ctx, process, port)
}

// waitHealthz waits for the /healthz of a component that serves with a self-signed certificate.
func (cp *ControlPlane) waitHealthz(ctx context.Context, process *Process, port int) error {
	// Its certificate is made at start in its memory; loopback, and only a status is read.
	client := &http.Client{Timeout: time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	defer client.CloseIdleConnections()
	url := fmt.Sprintf("https://127.0.0.1:%d/healthz", port)
	return cp.waitFor(ctx, process.Name+" to be healthy", 60*time.Second, func() error {
		if !process.Running() {
			return fmt.Errorf("%w: %s ended: %v\n%s", errGivenUp, process.Name, process.err, process.LogTail())
		}
		response, err := client.Get(url)
		if err != nil {
			return err
		}
		defer response.Body.Close()
		if response.StatusCode != http.StatusOK {
			return errors.New(response.Status)
		}
		return nil
	})
}

// Kubeconfig writes a kubeconfig for a bearer token and returns its path.
func (cp *ControlPlane) Kubeconfig(user, token string) (string, error) {
	path := filepath.Join(cp.Dir, user+".kubeconfig")
	text := fmt.Sprintf(`apiVersion: v1
kind: Config
clusters:
- name: harness
  cluster: {server: %q, certificate-authority: %q}
users:
- name: %q
  user: {token: %q}
contexts:
- name: harness
  context: {cluster: harness, user: %q}
current-context: harness
`, cp.URL, cp.CAFile, user, token, user)
	return path, os.WriteFile(path, []byte(text), 0o600)
}

// AdminKubeconfig is the kubeconfig of a cluster administrator.
func (cp *ControlPlane) AdminKubeconfig() (string, error) {
	return cp.Kubeconfig("admin", adminToken)
}

// Issue makes a client certificate of the cluster's CA, by which the API server knows commonName
// as a user.
func (cp *ControlPlane) Issue(file, commonName string, names ...string) (KeyPair, error) {
	return cp.authority.Issue(file, commonName, names...)
}

// run starts a program of the control plane under its own name.
func (cp *ControlPlane) run(name string, args ...string) (*Process, error) {
	return cp.runAs(name, name, args...)
}

func (cp *ControlPlane) runAs(program, name string, args ...string) (*Process, error) {
	process, err := StartProcess(cp.Dir, name, cp.Binaries.Path(program), args...)
	if err != nil {
		return nil, err
	}
	cp.Adopt(process)
	return process, nil
}

// Adopt makes Stop end the process, before those started earlier.
func (cp *ControlPlane) Adopt(process *Process) {
	cp.mutex.Lock()
	defer cp.mutex.Unlock()
	cp.processes = append(cp.processes, process)
}

// LogTails is the end of every process's log.
func (cp *ControlPlane) LogTails() string {
	return cp.logTails(func(*Process) bool { return true })
}

// LogTailsOfTheEnded is the end of the logs of those that nobody asked to end.
func (cp *ControlPlane) LogTailsOfTheEnded() string {
	return cp.logTails(func(p *Process) bool { return !p.Running() && !p.asked.Load() })
}

func (cp *ControlPlane) logTails(wanted func(*Process) bool) string {
	cp.mutex.Lock()
	defer cp.mutex.Unlock()
	var text strings.Builder
	for _, process := range cp.processes {
		if wanted(process) {
			fmt.Fprintln(&text, process.LogTail())
		}
	}
	return text.String()
}

// Stop ends every process, the latest first, and removes the temporary folder.
func (cp *ControlPlane) Stop() {
	cp.mutex.Lock()
	processes := cp.processes
	cp.processes = nil
	cp.mutex.Unlock()
	for i := len(processes) - 1; i >= 0; i-- {
		// kube-apiserver drains for up to a minute; nothing here needs that.
		processes[i].Stop(3 * time.Second)
	}
	if cp.removeDir && os.Getenv("RANKWARD_KEEP_LOGS") == "" {
		os.RemoveAll(cp.Dir)
	}
}

var errGivenUp = errors.New("given up")

func (cp *ControlPlane) waitFor(ctx context.Context, what string, patience time.Duration, ready func() error) error {
	return WaitFor(ctx, what, patience, 50*time.Millisecond, ready)
}

// WaitFor calls ready until it returns nil, the time is up, or it returns an error that will not
// go away (one that wraps errGivenUp).
func WaitFor(ctx context.Context, what string, patience, interval time.Duration, ready func() error) error {
	deadline := time.Now().Add(patience)
	for {
		err := ready()
		if err == nil {
			return nil
		}
		if errors.Is(err, errGivenUp) || time.Now().After(deadline) {
			return fmt.Errorf("waited %s for %s: %w", patience, what, err)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(interval):
		}
	}
}

// Report prints where the logs are, for a person who wants to read more than the tails.
func (cp *ControlPlane) Report(w io.Writer) {
	fmt.Fprintf(w, "control plane: Kubernetes %s at %s, logs in %s\n", cp.Binaries.Version, cp.URL, cp.Dir)
}
