#include "openb.hpp"

#include <array>
#include <string>
#include <utility>

namespace rankward::sim {
namespace {

using formats::GpuLinks;
using topology::PathType;

struct Kind {
  std::int64_t nodes;
  std::int64_t gpus;
  std::string_view model;
  std::int64_t cpu_milli;
  std::int64_t memory_mib;
};

// openb_node_list_gpu_node.csv, counted.
constexpr std::array kKinds{
    Kind{549, 8, "G2", 96'000, 393'216},     Kind{387, 2, "T4", 104'000, 524'288},
    Kind{107, 2, "P100", 16'000, 122'880},   Kind{39, 8, "G3", 128'000, 786'432},
    Kind{28, 4, "V100M16", 32'000, 131'072}, Kind{22, 2, "P100", 64'000, 262'144},
    Kind{21, 8, "V100M32", 96'000, 786'432}, Kind{19, 1, "V100M16", 8'000, 32'768},
    Kind{17, 4, "T4", 96'000, 393'216},      Kind{9, 4, "V100M32", 48'000, 376'832},
    Kind{7, 8, "V100M16", 64'000, 262'144},  Kind{3, 1, "P100", 8'000, 61'440},
    Kind{2, 1, "A10", 128'000, 1'048'576},   Kind{2, 2, "P100", 8'000, 61'440},
    Kind{1, 8, "V100M16", 82'000, 344'064},
};

}  // namespace

formats::MachineModel openb_machine(std::string_view model, std::int64_t gpus) {
  formats::MachineModel machine;
  machine.name = std::string(model) + "x" + std::to_string(gpus);
  machine.product = std::string(model);
  machine.gpus = gpus;
  machine.link_layer = topology::LinkLayer::kEthernet;
  machine.nic_rate = {12.5};
  machine.nics = 0;
  machine.links = GpuLinks::kPcie;
  // Assumed: the newest kind has NVSwitch and four RoCE ports, V100s of eight two ports.
  if (model == "G3") {
    machine.links = GpuLinks::kNvSwitch;
    machine.nics = 4;
  } else if (gpus == 8) {
    machine.nics = 2;
    machine.nic_path = PathType::kNode;
    if (model.starts_with("V100")) machine.links = GpuLinks::kPairs;
  }
  return machine;
}

formats::ClusterModel openb_cluster() {
  formats::ClusterModel cluster;
  cluster.name = "openb";
  std::int64_t hosts = 0;
  for (const Kind& kind : kKinds) {
    formats::MachineModel machine = openb_machine(kind.model, kind.gpus);
    machine.cpu_milli = kind.cpu_milli;
    machine.memory = {kind.memory_mib << 20};
    machine.weight = kind.nodes;
    cluster.machines.push_back(std::move(machine));
    hosts += kind.nodes;
  }
  cluster.spines = {{0, hosts}};
  return cluster;
}

}  // namespace rankward::sim
