package harness

import (
	"errors"
	"os"
	"path/filepath"
)

// Repository is the root of the work tree: the nearest folder above the working directory that
// holds both CMakeLists.txt and manifests/.
func Repository() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for {
		if exists(filepath.Join(dir, "CMakeLists.txt")) && exists(filepath.Join(dir, "manifests")) {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("run this inside the work tree: no folder above holds CMakeLists.txt and manifests/")
		}
		dir = parent
	}
}

// CacheDir is where built binaries are kept, outside the work tree so that `git clean` and a fresh
// clone do not cost a second ten-minute build.
func CacheDir() (string, error) {
	base := os.Getenv("XDG_CACHE_HOME")
	if base == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		base = filepath.Join(home, ".cache")
	}
	return filepath.Join(base, "rankward", "controlplane"), nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
