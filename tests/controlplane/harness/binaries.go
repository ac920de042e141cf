package harness

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

// DefaultVersion is the newest Kubernetes that the tests were run with.
const DefaultVersion = "1.37.2"

// Binaries are the programs of one Kubernetes version.
type Binaries struct {
	Version string // without the leading v, as in 1.37.2
	paths   map[string]string
}

// Path of one program: etcd, kube-apiserver, kube-scheduler, kube-controller-manager or kubectl.
func (b Binaries) Path(name string) string { return b.paths[name] }

// Minor is the second number of the version.
func (b Binaries) Minor() int {
	var major, minor int
	fmt.Sscanf(b.Version, "%d.%d", &major, &minor)
	return minor
}

// In build order: what a failure would show soonest comes first.
var programs = []struct{ name, pkg string }{
	{"etcd", "go.etcd.io/etcd/server/v3"},
	{"kube-scheduler", "k8s.io/kubernetes/cmd/kube-scheduler"},
	{"kube-apiserver", "k8s.io/kubernetes/cmd/kube-apiserver"},
	{"kubectl", "k8s.io/kubernetes/cmd/kubectl"},
	{"kube-controller-manager", "k8s.io/kubernetes/cmd/kube-controller-manager"},
}

// RequestedVersion reads K8S from the environment.
func RequestedVersion() string {
	if v := os.Getenv("K8S"); v != "" {
		return strings.TrimPrefix(v, "v")
	}
	return DefaultVersion
}

// EnsureBinaries returns the five programs of a Kubernetes version. Each is taken from the folder
// that KUBEBUILDER_ASSETS names where it is there, else from the cache, else built from the Go
// modules that the version's go.mod pins. A cold build takes about twelve minutes on two cores, so
// progress goes to `progress` every ten seconds.
func EnsureBinaries(ctx context.Context, version string, progress io.Writer) (Binaries, error) {
	module, err := versionModule(version)
	if err != nil {
		return Binaries{}, err
	}
	stamp, err := moduleStamp(module)
	if err != nil {
		return Binaries{}, err
	}
	cache, err := CacheDir()
	if err != nil {
		return Binaries{}, err
	}
	bin := filepath.Join(cache, version, stamp)
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return Binaries{}, err
	}

	binaries := Binaries{Version: version, paths: map[string]string{}}
	var missing []int
	for i, program := range programs {
		if assets := os.Getenv("KUBEBUILDER_ASSETS"); assets != "" {
			if path := filepath.Join(assets, program.name); exists(path) {
				fmt.Fprintf(progress, "control plane: %s from KUBEBUILDER_ASSETS\n", program.name)
				binaries.paths[program.name] = path
				continue
			}
		}
		path := filepath.Join(bin, program.name)
		binaries.paths[program.name] = path
		if !exists(path) {
			missing = append(missing, i)
		}
	}
	start := time.Now()
	for n, i := range missing {
		what := fmt.Sprintf("%s %s (%d of %d)", programs[i].name, version, n+1, len(missing))
		if err := buildProgram(ctx, module, version, i, binaries.paths[programs[i].name], what, start, progress); err != nil {
			return Binaries{}, err
		}
	}
	return binaries, nil
}

func buildProgram(ctx context.Context, module, version string, index int, target, what string, start time.Time, progress io.Writer) error {
	program := programs[index]
	major, minor, _ := strings.Cut(version, ".")
	minor, _, _ = strings.Cut(minor, ".")
	ldflags := strings.Join([]string{
		"-s -w",
		"-X k8s.io/component-base/version.gitVersion=v" + version,
		"-X k8s.io/component-base/version.gitMajor=" + major,
		"-X k8s.io/component-base/version.gitMinor=" + minor,
		"-X k8s.io/client-go/pkg/version.gitVersion=v" + version,
	}, " ")
	// Built beside the target and renamed: an interrupted build leaves nothing that looks done.
	partial := fmt.Sprintf("%s.%d.partial", target, os.Getpid())
	defer os.Remove(partial)
	cmd := exec.CommandContext(ctx, "go", "build", "-ldflags", ldflags, "-o", partial, program.pkg)
	cmd.Dir = module
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0", "GOFLAGS=-mod=readonly -buildvcs=false", "GOWORK=off")
	var output strings.Builder
	cmd.Stdout, cmd.Stderr = &output, &output

	fmt.Fprintf(progress, "control plane: building %s, %.0f s so far\n", what, time.Since(start).Seconds())
	done := make(chan error, 1)
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("build %s: %w", program.name, err)
	}
	go func() { done <- cmd.Wait() }()
	tick := time.NewTicker(10 * time.Second)
	defer tick.Stop()
	for {
		select {
		case err := <-done:
			if err != nil {
				return fmt.Errorf("build %s: %w\n%s", program.name, err, tail(output.String(), 30))
			}
			return os.Rename(partial, target)
		case <-tick.C:
			fmt.Fprintf(progress, "control plane: building %s, %.0f s so far\n", what, time.Since(start).Seconds())
		}
	}
}

var kubernetesRequirement = regexp.MustCompile(`(?m)^\s*k8s\.io/kubernetes v(\S+)$`)

// versionModule is the folder whose go.mod pins the version: versions/<major.minor> or, for the
// default, the tests' own module, so that one build cache serves the tests and the programs.
func versionModule(version string) (string, error) {
	root, err := Repository()
	if err != nil {
		return "", err
	}
	tests := filepath.Join(root, "tests", "controlplane")
	folders, _ := filepath.Glob(filepath.Join(tests, "versions", "*"))
	var known []string
	for _, folder := range append([]string{tests}, folders...) {
		text, err := os.ReadFile(filepath.Join(folder, "go.mod"))
		if err != nil {
			continue
		}
		match := kubernetesRequirement.FindSubmatch(text)
		if match == nil {
			continue
		}
		if string(match[1]) == version {
			return folder, nil
		}
		known = append(known, string(match[1]))
	}
	return "", fmt.Errorf("K8S=%s: no go.mod pins it; there is one for %s (a new one goes into tests/controlplane/versions/<major.minor>)",
		version, strings.Join(known, ", "))
}

func moduleStamp(module string) (string, error) {
	text, err := os.ReadFile(filepath.Join(module, "go.mod"))
	if err != nil {
		return "", err
	}
	// Only what is built matters: not comments, order, or the requirements that a replacement
	// overrules, all of which change with what the tests import.
	var pins []string
	for _, line := range strings.Split(string(text), "\n") {
		line, _, _ = strings.Cut(line, "//")
		line = strings.TrimSpace(line)
		overruled := strings.HasPrefix(line, "k8s.io/") && strings.Contains(string(text), strings.Fields(line)[0]+" => ") &&
			!strings.Contains(line, "=>")
		if strings.Contains(line, " v") && !overruled {
			pins = append(pins, line)
		}
	}
	slices.Sort(pins)
	sum := sha256.Sum256([]byte(strings.Join(pins, "\n")))
	return hex.EncodeToString(sum[:6]), nil
}

func tail(text string, lines int) string {
	all := strings.Split(strings.TrimRight(text, "\n"), "\n")
	if len(all) > lines {
		all = all[len(all)-lines:]
	}
	return strings.Join(all, "\n")
}
