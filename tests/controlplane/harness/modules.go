package harness

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"
)

// Module is a version of somebody else's Go module of which files are used, not code.
type Module struct {
	Path, Version string
	Sum           string // as in go.sum
}

// Folder with the module's files, in Go's module cache.
func (m Module) Folder(ctx context.Context) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", m.Path+"@"+m.Version)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	var found struct{ Dir, Sum, Error string }
	if err == nil {
		err = json.Unmarshal(out, &found)
	}
	switch {
	case err != nil:
		return "", fmt.Errorf("go mod download %s@%s: %w: %s%s", m.Path, m.Version, err, out, stderr.String())
	case found.Sum != m.Sum:
		return "", fmt.Errorf("%s@%s has the sum %s, want %s", m.Path, m.Version, found.Sum, m.Sum)
	}
	return found.Dir, nil
}
