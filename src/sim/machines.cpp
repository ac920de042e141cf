#include "machines.hpp"

#include <string>
#include <utility>

#include "rankward/topology/sources.hpp"

namespace rankward::sim {
namespace {

using formats::GpuLinks;
using formats::MachineModel;
using topology::NodeTopology;
using topology::PathType;

constexpr std::uint32_t kSockets = 2;
constexpr std::uint8_t kSwitchedLinks = 18;  // NVLinks between two GPUs; only that there are some
constexpr std::uint8_t kBridgeLinks = 4;     // of a pair of PCIe cards

std::uint32_t socket_of(std::int64_t device, std::int64_t devices) {
  return static_cast<std::uint32_t>(device * kSockets / devices);
}

// The PCIe switch that a device hangs below: as many switches as NICs, filled evenly.
std::int64_t switch_of(std::int64_t gpu, const MachineModel& machine) {
  return gpu * machine.nics / machine.gpus;
}

PathType gpu_path(std::int64_t a, std::int64_t b, const MachineModel& machine) {
  if (a == b) return PathType::kSelf;
  if (machine.links == GpuLinks::kNvSwitch) return PathType::kNvLink;
  if (machine.links == GpuLinks::kPairs && a / 2 == b / 2) return PathType::kNvLink;
  return socket_of(a, machine.gpus) == socket_of(b, machine.gpus) ? PathType::kPxb : PathType::kSys;
}

std::uint8_t nvlinks(std::int64_t a, std::int64_t b, const MachineModel& machine) {
  if (a == b || gpu_path(a, b, machine) != PathType::kNvLink) return 0;
  return machine.links == GpuLinks::kNvSwitch ? kSwitchedLinks : kBridgeLinks;
}

PathType nic_path(std::int64_t gpu, std::int64_t nic, const MachineModel& machine) {
  if (machine.nic_path == PathType::kSys) return PathType::kSys;
  if (socket_of(gpu, machine.gpus) != socket_of(nic, machine.nics)) return PathType::kSys;
  const bool below_one_switch =
      machine.nic_path == PathType::kPix && switch_of(gpu, machine) == nic;
  return below_one_switch ? PathType::kPix : PathType::kNode;
}

}  // namespace

NodeTopology report_of(const MachineModel& machine) {
  NodeTopology report;
  // GPUs all on the first socket where the NICs are all on the other.
  const bool one_socket = machine.nic_path == PathType::kSys;
  for (std::int64_t i = 0; i < machine.gpus; ++i) {
    topology::Gpu gpu;
    gpu.index = static_cast<std::uint32_t>(i);
    gpu.numa_node = one_socket ? 0 : socket_of(i, machine.gpus);
    gpu.model = machine.product;
    gpu.health = topology::Health::kHealthy;
    report.gpus.push_back(std::move(gpu));
    for (std::int64_t j = 0; j < machine.gpus; ++j) {
      report.gpu_paths.push_back(gpu_path(i, j, machine));
      report.nvlinks.push_back(nvlinks(i, j, machine));
    }
  }
  for (std::int64_t i = 0; i < machine.nics; ++i) {
    topology::Nic nic;
    nic.device = "mlx5_" + std::to_string(i);
    nic.numa_node = one_socket ? 1 : socket_of(i, machine.nics);
    nic.rate = machine.nic_rate;
    nic.link_layer = machine.link_layer;
    nic.state = topology::PortState::kActive;
    nic.resource = std::string(kRdmaResource);
    report.nics.push_back(std::move(nic));
  }
  for (std::int64_t gpu = 0; gpu < machine.gpus; ++gpu) {
    for (std::int64_t nic = 0; nic < machine.nics; ++nic)
      report.nic_paths.push_back(nic_path(gpu, nic, machine));
  }
  report.gpu_direct = true;
  report.sources = static_cast<std::uint8_t>(topology::Source::kAnnotation);
  return report;
}

SimulatedNode make_host(std::string name, const MachineModel& machine, const Position& position) {
  SimulatedNode host;
  kube::Node& node = host.node;
  node.metadata.name = name;
  node.metadata.labels = {{"kubernetes.io/hostname", name},
                          {"kubernetes.io/os", "linux"},
                          {"nvidia.com/gpu.product", machine.product},
                          {"nvidia.com/gpu.count", std::to_string(machine.gpus)},
                          {"nvidia.com/gpu.replicas", "1"},
                          {"nvidia.com/gpu.sharing-strategy", "none"}};
  const auto label = [&node](std::string_view key, const std::string& value) {
    if (!value.empty()) node.metadata.labels.emplace(key, value);
  };
  label("fabric.topograph.run/tier-0", position.leaf);
  label("fabric.topograph.run/tier-1", position.spine);
  label("nvidia.com/gpu.clique", position.clique);
  auto cpus = kube::Quantity::parse(std::to_string(machine.cpu_milli) + "m");
  node.allocatable = {{"cpu", *cpus},
                      {"memory", kube::Quantity(machine.memory.count)},
                      {"pods", kube::Quantity(kPodsPerNode)},
                      {"nvidia.com/gpu", kube::Quantity(machine.gpus)}};
  if (machine.nics > 0) {
    node.allocatable.emplace(kRdmaResource, kube::Quantity(kSharedRdmaDevices));
  }
  node.capacity = node.allocatable;
  node.ready = kube::Readiness::kReady;
  host.topology = topology::merge(report_of(machine), topology::from_labels(node, {}));
  return host;
}

}  // namespace rankward::sim
