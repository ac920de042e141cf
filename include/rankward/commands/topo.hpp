// `rankward topo`: what one machine is made of and what its links carry.
#pragma once

#include <string>

#include "rankward/commands/console.hpp"

namespace rankward::commands {

struct TopoOptions {
  // What `nvidia-smi topo -m` printed, Nodes in YAML or JSON, or the text of a topology annotation;
  // "-": standard input.
  std::string file;
  bool json = false;
  bool annotation = false;  // print the annotation rankward.io/topology of that one machine instead
};

// Prints GPUs with their nearest NICs, NICs, kinds of GPU pairs, and the bandwidths that placement
// reckons with: b_inter for RDMA between machines, b_intra between GPUs. Exit code 0, or 3: input
// that cannot be read, or no annotation can be made of it.
int topo(const TopoOptions& options, const Console& console);

}  // namespace rankward::commands
