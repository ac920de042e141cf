// Alibaba's cluster-trace-gpu-v2023 ("openb").
#pragma once

#include <string_view>

#include "rankward/formats/simulation.hpp"

namespace rankward::sim {

// All GPU nodes of the trace, by kind; weights are their numbers.
[[nodiscard]] formats::ClusterModel openb_cluster();

// The machine that a GPU model of the trace is taken for. G1, G2 and G3 are not disclosed there.
[[nodiscard]] formats::MachineModel openb_machine(std::string_view model, std::int64_t gpus);

}  // namespace rankward::sim
