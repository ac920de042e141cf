package harness

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// caBundlePlaceholder is what manifests/README.md tells a user to replace.
const caBundlePlaceholder = "Q0FfQlVORExF"

// Installation is Rankward as a user installs it beside a scheduler: the loopback overlay, a
// ServiceAccount's token with the manifests' role, both doors with strict mTLS, and a stock
// kube-scheduler that runs manifests/scheduler-configuration.yaml.
type Installation struct {
	Rankward  *Rankward
	Scheduler *Scheduler

	cluster      *ControlPlane
	root         string
	certificates Certificates
	kubeconfig   string
	extenderPort int
	webhookPort  int
	settings     map[string]any
}

// Render is `kubectl kustomize` of a folder under manifests/ with the CA put in.
func (cp *ControlPlane) Render(ctx context.Context, root, folder, caFile string) (string, error) {
	output, err := cp.Kubectl(ctx, "", "kustomize", filepath.Join(root, "manifests", folder))
	if err != nil {
		return "", err
	}
	if output.ExitCode != 0 {
		return "", errors.New(output.Stderr)
	}
	ca, err := os.ReadFile(caFile)
	if err != nil {
		return "", err
	}
	return strings.ReplaceAll(output.Stdout, caBundlePlaceholder, base64.StdEncoding.EncodeToString(ca)), nil
}

// Apply is `kubectl apply -f -`.
func (cp *ControlPlane) Apply(ctx context.Context, manifest string) error {
	output, err := cp.Kubectl(ctx, manifest, "apply", "-f", "-")
	if err == nil && output.ExitCode != 0 {
		err = errors.New(output.Stderr)
	}
	return err
}

// Install starts Rankward and a scheduler on a control plane whose AdmissionConfiguration expects
// the webhook on webhookPort.
func Install(ctx context.Context, cluster *ControlPlane, root string, certificates Certificates, webhookPort int) (*Installation, error) {
	kubeconfig, registration, err := installObjects(ctx, cluster, root, certificates, webhookPort)
	if err != nil {
		return nil, err
	}
	i := &Installation{cluster: cluster, root: root, certificates: certificates, kubeconfig: kubeconfig, webhookPort: webhookPort}
	if i.extenderPort, err = FreePort(); err != nil {
		return nil, err
	}
	if err := i.Start(ctx); err != nil {
		return nil, err
	}
	// Registered once somebody answers: the entry for pods fails closed.
	if err := cluster.Apply(ctx, registration); err != nil {
		return nil, err
	}
	return i, i.StartScheduler(ctx)
}

// InstallPermissions applies what Rankward needs beside a scheduler, without its webhook, and returns
// a kubeconfig of its ServiceAccount.
func InstallPermissions(ctx context.Context, cluster *ControlPlane, root string, certificates Certificates) (string, error) {
	kubeconfig, _, err := installObjects(ctx, cluster, root, certificates, 0)
	return kubeconfig, err
}

// ShippedWebhook starts Rankward with the configuration of its webhook's Deployment, without a scheduler
// and with nothing read from the API server. The registration that is returned is to be applied.
func ShippedWebhook(ctx context.Context, cluster *ControlPlane, root string, certificates Certificates, webhookPort int) (*Rankward, string, error) {
	_, registration, err := installObjects(ctx, cluster, root, certificates, webhookPort)
	if err != nil {
		return nil, "", err
	}
	configuration, err := os.ReadFile(filepath.Join(root, "manifests", "base", "webhook.yaml"))
	if err != nil {
		return nil, "", err
	}
	rankward, err := StartRankward(ctx, RankwardOptions{Name: "rankward-webhook", Dir: cluster.Dir, Certificates: certificates,
		Configuration: string(configuration), WebhookPort: webhookPort})
	if err != nil {
		return nil, "", err
	}
	cluster.Adopt(rankward.Process)
	return rankward, registration, nil
}

// installObjects applies the loopback overlay but for the webhook's registration, which is returned
// for when somebody answers.
func installObjects(ctx context.Context, cluster *ControlPlane, root string, certificates Certificates, webhookPort int) (kubeconfig, registration string, err error) {
	text, err := cluster.Render(ctx, root, "overlays/loopback", certificates.CAFile)
	if err != nil {
		return "", "", err
	}
	text = strings.ReplaceAll(text, "https://127.0.0.1:9443", fmt.Sprintf("https://127.0.0.1:%d", webhookPort))
	var rest []string
	for _, document := range strings.Split(text, "\n---\n") {
		if strings.Contains(document, "kind: ValidatingWebhookConfiguration") {
			registration = document
		} else {
			rest = append(rest, document)
		}
	}
	if err := cluster.Apply(ctx, strings.Join(rest, "\n---\n")); err != nil {
		return "", "", err
	}
	token, err := ServiceAccountToken(ctx, cluster.Client, "rankward-system", "rankward")
	if err != nil {
		return "", "", err
	}
	kubeconfig, err = cluster.Kubeconfig("rankward", token)
	return kubeconfig, registration, err
}

// Start runs the server on the ports that the API server and the scheduler know.
func (i *Installation) Start(ctx context.Context) error {
	rankward, err := StartRankward(ctx, RankwardOptions{
		Name: "rankward", Dir: i.cluster.Dir, Certificates: i.certificates, Kubeconfig: i.kubeconfig,
		ExtenderPort: i.extenderPort, WebhookPort: i.webhookPort, Settings: i.settings,
	})
	if err != nil {
		return err
	}
	i.Rankward = rankward
	i.cluster.Adopt(rankward.Process)
	return nil
}

// Restart ends the server in good order and starts it with keys of its configuration set; nil: as it
// is by default.
func (i *Installation) Restart(ctx context.Context, settings map[string]any) error {
	if err := i.Stop(); err != nil {
		return err
	}
	i.settings = settings
	return i.Start(ctx)
}

// StartScheduler runs the scheduler that asks this installation.
func (i *Installation) StartScheduler(ctx context.Context) error {
	configuration, err := ExtenderConfiguration(i.root, i.extenderPort, i.certificates)
	if err != nil {
		return err
	}
	i.Scheduler, err = i.cluster.StartScheduler(ctx, SchedulerOptions{
		Name: "kube-scheduler", Configuration: configuration, Verbosity: 10,
	})
	return err
}

// Stop ends the server in good order; nil says that it ended with status 0.
func (i *Installation) Stop() error { return i.Rankward.Stop(30 * time.Second) }

// StartInstalled is everything at once, in a temporary folder: binaries, certificates, control plane
// with controller manager, Rankward, scheduler.
func StartInstalled(ctx context.Context, progress io.Writer) (*ControlPlane, *Installation, error) {
	cluster, certificates, webhookPort, err := StartWithCertificates(ctx, progress)
	if err != nil {
		return nil, nil, err
	}
	root, err := Repository()
	if err == nil {
		var installation *Installation
		if installation, err = Install(ctx, cluster, root, certificates, webhookPort); err == nil {
			return cluster, installation, nil
		}
	}
	cluster.Stop()
	return nil, nil, err
}

// StartWithCertificates starts a control plane whose AdmissionConfiguration presents the development
// certificates on the webhook port that is returned.
func StartWithCertificates(ctx context.Context, progress io.Writer) (*ControlPlane, Certificates, int, error) {
	return startWithCertificates(ctx, progress, Options{ControllerManager: true})
}

// StartAudited is the same with an audit log.
func StartAudited(ctx context.Context, progress io.Writer) (*ControlPlane, Certificates, int, error) {
	return startWithCertificates(ctx, progress, Options{ControllerManager: true, Audit: true})
}

// StartWithGates is a control plane without controllers and without a webhook whose API server has
// feature gates and API versions on.
func StartWithGates(ctx context.Context, progress io.Writer, gates, runtimeConfig []string) (*ControlPlane, Certificates, error) {
	cluster, certificates, _, err := startWithCertificates(ctx, progress, Options{FeatureGates: gates, RuntimeConfig: runtimeConfig})
	return cluster, certificates, err
}

func startWithCertificates(ctx context.Context, progress io.Writer, options Options) (*ControlPlane, Certificates, int, error) {
	fail := func(err error) (*ControlPlane, Certificates, int, error) { return nil, Certificates{}, 0, err }
	root, err := Repository()
	if err != nil {
		return fail(err)
	}
	binaries, err := EnsureBinaries(ctx, RequestedVersion(), progress)
	if err != nil {
		return fail(err)
	}
	dir, err := os.MkdirTemp("", "rankward-controlplane-")
	if err != nil {
		return fail(err)
	}
	certificates, err := DevelopmentCertificates(root, filepath.Join(dir, "certs"))
	if err != nil {
		return fail(err)
	}
	webhookPort, err := FreePort()
	if err != nil {
		return fail(err)
	}
	options.Binaries, options.Dir, options.RemoveDir = binaries, dir, true
	options.WebhookClients = map[string]KeyPair{fmt.Sprintf("127.0.0.1:%d", webhookPort): certificates.APIServer}
	cluster, err := Start(ctx, options)
	return cluster, certificates, webhookPort, err
}
