// A small cluster in memory with the faults that people meet, for `rankward demo` and for tests.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/node.hpp"

namespace rankward::sim {

// Eight H100s behind NVSwitch, four on each socket, and eight 400 Gb/s InfiniBand NICs, each behind
// one PCIe switch with one GPU (DGX H100 user guide). The annotation rankward.io/topology carries
// all of it.
[[nodiscard]] kube::Node dgx_h100(std::string_view name, std::string_view leaf,
                                  std::string_view spine);

// leaf-a: three free dgx_h100; one whose NICs all sit on the other socket; one without RDMA; one in
// MIG mode; one whose device plugin advertises nothing. leaf-b: four free dgx_h100. One spine above
// both.
[[nodiscard]] std::vector<kube::Node> embedded_cluster();

// The manifest, YAML, of `ranks` pods of eight GPUs and one RDMA device each that form one gang.
[[nodiscard]] std::string training_job(std::string_view name, int ranks);

}  // namespace rankward::sim
