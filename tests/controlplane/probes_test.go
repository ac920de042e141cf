package controlplane

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// probe runs one of the project's own test programs, which speaks lines on stdin and stdout.
func probe(t *testing.T, variable, built, stdin string, args ...string) []string {
	t.Helper()
	path := os.Getenv(variable)
	if path == "" {
		path = filepath.Join(root, "build", "release", "tests", built)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatalf("%s: %v; build the tests or name the program in %s", built, err, variable)
	}
	cmd := exec.CommandContext(t.Context(), path, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %v: %v\n%s", built, args, err, stderr.String())
	}
	return strings.Split(strings.TrimSuffix(stdout.String(), "\n"), "\n")
}
