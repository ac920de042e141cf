package harness

import (
	"fmt"
	"os"
	"strings"
)

// Machine is what a reader of figures has to know.
func Machine() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown machine"
	}
	model, cores := "unknown CPU", 0
	for _, line := range strings.Split(string(text), "\n") {
		key, value, _ := strings.Cut(line, ":")
		if strings.TrimSpace(key) == "model name" {
			model = strings.TrimSpace(value)
			cores++
		}
	}
	return fmt.Sprintf("%d x %s, everything on the same cores", cores, model)
}
