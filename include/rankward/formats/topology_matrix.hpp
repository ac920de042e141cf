// What `nvidia-smi topo -m` prints: GPUs and NICs of one machine and the paths between them.
#pragma once

#include <cstddef>
#include <string_view>

#include "rankward/result.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::formats {

// 16 GPUs and 64 NICs print about 50 KiB.
inline constexpr std::size_t kMaxMatrixBytes = std::size_t{256} << 10;
inline constexpr std::size_t kMaxMatrixColumns = 256;

// Whether this looks like the matrix rather than YAML or JSON: its first word is a GPU.
[[nodiscard]] bool is_topology_matrix(std::string_view text);

// Reads tabs or blanks between columns, the escape codes of a terminal, every age of the format:
// NICs by device (mlx5_0) or by number with a legend below, with or without NUMA columns, SOC for
// what is SYS now. Where the matrix was cut off, as `head` does, rows that are missing are filled
// from the columns of the others and what nobody says stays unknown.
//
// * Indexes are those printed; inside a container they are the container's.
// * Gpu::numa_node is the column NUMA Affinity: not GPU NUMA ID, which is the GPU's own memory on
//   Grace, and nothing for "N/A", a list, or a field of which it is not certain whose it is.
// * A NIC without a line in the legend keeps its title (NIC0) as its device. NUMA nodes of NICs are
//   not printed and not derived: on Grace even NODE crosses sockets (dranet, GB200).
// * Bus ids, rates, link layers, states and models are not in the matrix and stay unknown; EFA
//   devices are not in it at all, so no NIC column does not mean no RDMA.
// * `sources` is empty: the text does not say which node it is of, nor who reports it.
//
// kInvalid with line and row: the matrix of `topo -p2p` (OK, NS, ...), cells that are not a path, X
// off the diagonal, rows without a column, rows that are too short. kTooLarge over the two limits.
[[nodiscard]] Result<topology::NodeTopology> read_topology_matrix(std::string_view text);

}  // namespace rankward::formats
