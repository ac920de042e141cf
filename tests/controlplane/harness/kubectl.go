package harness

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"strings"
)

// Output of a program that a person would have typed.
type Output struct {
	Stdout, Stderr string
	ExitCode       int
}

// Kubectl runs kubectl as the cluster's administrator with stdin as given.
func (cp *ControlPlane) Kubectl(ctx context.Context, stdin string, args ...string) (Output, error) {
	kubeconfig, err := cp.AdminKubeconfig()
	if err != nil {
		return Output{}, err
	}
	cmd := exec.CommandContext(ctx, cp.Binaries.Path("kubectl"), args...)
	// Its discovery cache would otherwise go to the home folder, keyed by a port that another
	// control plane may have had.
	cmd.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig, "KUBECACHEDIR="+cp.Dir+"/kubectl-cache", "KUBERC=off")
	cmd.Stdin = strings.NewReader(stdin)
	return execute(cmd)
}

// execute runs a program to its end; a status other than 0 is part of the output, not an error.
func execute(cmd *exec.Cmd) (Output, error) {
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Output{}, err
	}
	return Output{stdout.String(), stderr.String(), cmd.ProcessState.ExitCode()}, nil
}
