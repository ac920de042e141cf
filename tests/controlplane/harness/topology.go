package harness

import (
	"encoding/json"
	"fmt"
)

// TopologyAnnotation is where a node's own report of its hardware stands; its form is
// docs/rankward-topology.schema.json.
const TopologyAnnotation = "rankward.io/topology"

// TopologyReport of eight H100 behind NVSwitch. near: each GPU shares a PCIe switch with one of
// eight 400 Gb/s InfiniBand ports, as in a DGX H100; else all GPUs sit on the first socket and two
// ports on the other.
func TopologyReport(near bool) string {
	if near {
		return topologyReport(8, true)
	}
	return topologyReport(2, false)
}

// TopologyReportWithoutNetwork has the GPUs and no port at all.
func TopologyReportWithoutNetwork() string { return topologyReport(0, true) }

func topologyReport(nicCount int, near bool) string {
	const gpuCount, gpusPerSocket = 8, 4
	gpus, nics := []map[string]any{}, []map[string]any{}
	var gpuPaths, nicPaths [][]string
	var nvlinks [][]int
	for i := range gpuCount {
		socket := i / gpusPerSocket
		if !near {
			socket = 0
		}
		gpus = append(gpus, map[string]any{"index": i, "numaNode": socket, "model": "NVIDIA H100 80GB HBM3",
			"memoryBytes": 81559 << 20, "health": "healthy"})
		paths, links, ways := make([]string, gpuCount), make([]int, gpuCount), make([]string, nicCount)
		for j := range gpuCount {
			paths[j], links[j] = "NVL", 18
			if i == j {
				paths[j], links[j] = "X", 0
			}
		}
		for j := range nicCount {
			switch {
			case !near || i/gpusPerSocket != j/gpusPerSocket:
				ways[j] = "SYS"
			case i == j:
				ways[j] = "PIX"
			default:
				ways[j] = "NODE"
			}
		}
		gpuPaths, nvlinks, nicPaths = append(gpuPaths, paths), append(nvlinks, links), append(nicPaths, ways)
	}
	for i := range nicCount {
		socket := i / gpusPerSocket
		if !near {
			socket = 1
		}
		nics = append(nics, map[string]any{"device": fmt.Sprintf("mlx5_%d", i), "numaNode": socket, "gigabytesPerSecond": 50,
			"linkLayer": "InfiniBand", "state": "active", "resource": "rdma/ib"})
	}
	text, err := json.Marshal(map[string]any{"version": 1, "gpuDirect": true, "gpus": gpus, "nics": nics,
		"gpuPaths": gpuPaths, "nvlinks": nvlinks, "nicPaths": nicPaths})
	if err != nil {
		panic(err) // maps, strings and numbers always marshal
	}
	return string(text)
}
