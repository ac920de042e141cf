// A NodeTopology as a person asks about it: who is near whom, and what the links carry.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "rankward/topology/bandwidth.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::commands {

// The nearest devices of the other kind, as positions in NodeTopology. None where no path is known.
struct Nearest {
  topology::PathType path = topology::PathType::kUnknown;
  std::vector<std::size_t> devices;
};

// All pairs of GPUs with one path.
struct PairKind {
  std::string path;  // "NV18", "PIX"
  std::size_t pairs = 0;
  topology::GigabytesPerSecond bandwidth;  // b_intra of such a pair
};

struct MachineLinks {
  std::vector<Nearest> nics_of_gpu;
  std::vector<topology::Bottleneck> inter_of_gpu;  // one GPU by itself over RDMA
  std::vector<Nearest> gpus_of_nic;
  std::vector<PairKind> pairs;  // nearest first
  std::size_t gpus = 0;         // where none is listed, as many as the labels count
  topology::Bottleneck intra;   // all GPUs
  topology::Bottleneck inter;   // all GPUs over RDMA
  // What was assumed since nobody reported it: "NIC rates (12 GB/s, 100 Gb/s)".
  std::vector<std::string> assumed;
};

[[nodiscard]] MachineLinks machine_links(const topology::NodeTopology& node);

}  // namespace rankward::commands
