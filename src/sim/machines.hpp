// One host of a model, as the API server and its own report would show it.
#pragma once

#include <string>
#include <string_view>

#include "rankward/sim/models.hpp"

namespace rankward::sim {

// A shared RDMA device: the number is a limit on pods, not a count of NICs.
inline constexpr std::string_view kRdmaResource = "rdma/ib";
inline constexpr std::int64_t kSharedRdmaDevices = 1'000;
inline constexpr std::int64_t kPodsPerNode = 110;  // the kubelet's default

// Empty: not known.
struct Position {
  std::string leaf;
  std::string spine;
  std::string clique;
};

[[nodiscard]] topology::NodeTopology report_of(const formats::MachineModel& machine);
[[nodiscard]] SimulatedNode make_host(std::string name, const formats::MachineModel& machine,
                                      const Position& position);

}  // namespace rankward::sim
