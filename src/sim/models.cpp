#include "rankward/sim/models.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "machines.hpp"
#include "openb.hpp"
#include "random.hpp"

namespace rankward::sim {
namespace {

using formats::ClusterModel;
using formats::MachineModel;
using topology::PathType;

ClusterModel fabric_850() {
  MachineModel good;
  good.name = "nic-a-gpu";
  good.weight = 84;
  MachineModel half = good;
  half.name = "nic-two-gpus";
  half.nics = 4;
  half.weight = 8;
  MachineModel far = good;
  far.name = "far-nics";
  far.nics = 2;
  far.nic_path = PathType::kSys;
  far.weight = 4;
  MachineModel tcp = good;
  tcp.name = "no-rdma";
  tcp.nics = 0;
  tcp.weight = 4;
  return {"fabric-850", {good, half, far, tcp}, {{47, 362}, {46, 306}, {29, 179}}, 0};
}

// The same fabric without faults, to tell what packing alone is worth.
ClusterModel uniform_fabric_850() {
  ClusterModel model = fabric_850();
  model.name = "fabric-850-uniform";
  model.machines.resize(1);
  return model;
}

ClusterModel nvl72() {
  MachineModel tray;
  tray.name = "gb200-tray";
  tray.product = "NVIDIA-GB200";
  tray.gpus = 4;
  tray.nics = 4;
  tray.cpu_milli = 144'000;
  tray.memory = {std::int64_t{960} << 30};
  return {"nvl72", {tray}, {{6, 108}, {6, 108}}, 18};
}

// Which machine each host is: as many of each as its weight says, what rounding leaves to the
// first, shuffled.
std::vector<const MachineModel*> machines_of(const ClusterModel& model, std::size_t hosts,
                                             std::uint64_t seed) {
  double all = 0;
  for (const MachineModel& machine : model.machines)
    all += static_cast<double>(machine.weight);
  std::vector<const MachineModel*> machines;
  machines.reserve(hosts);
  for (const MachineModel& machine : model.machines) {
    const double share = static_cast<double>(machine.weight) / all * static_cast<double>(hosts);
    const auto count = std::min(hosts - machines.size(), static_cast<std::size_t>(share + 0.5));
    machines.insert(machines.end(), count, &machine);
  }
  machines.resize(hosts, &model.machines.front());
  Random random(seed);
  for (std::size_t i = hosts; i > 1; --i)
    std::swap(machines[i - 1], machines[random.below(i)]);
  return machines;
}

}  // namespace

std::vector<std::string> built_in_clusters() {
  return {"fabric-850", "nvl72", "openb", "fabric-850-uniform"};
}

Result<ClusterModel> built_in_cluster(std::string_view name) {
  if (name == "fabric-850") return fabric_850();
  if (name == "fabric-850-uniform") return uniform_fabric_850();
  if (name == "nvl72") return nvl72();
  if (name == "openb") return openb_cluster();
  return Error(ErrorKind::kNotFound, fmt::format("\"{}\" is no built-in cluster; known: {}", name,
                                                 fmt::join(built_in_clusters(), ", ")));
}

std::vector<SimulatedNode> hosts_of(const ClusterModel& model, std::uint64_t seed) {
  std::size_t count = 0;
  for (const auto& spine : model.spines)
    count += static_cast<std::size_t>(spine.hosts);
  const auto machines = machines_of(model, count, seed);
  std::vector<SimulatedNode> hosts;
  hosts.reserve(count);
  for (std::size_t s = 0; s < model.spines.size(); ++s) {
    const auto& spine = model.spines[s];
    const std::int64_t leaves = std::max<std::int64_t>(1, spine.leaves);
    for (std::int64_t i = 0; i < spine.hosts; ++i) {
      const std::int64_t leaf = i * leaves / spine.hosts;
      const std::int64_t first = (leaf * spine.hosts + leaves - 1) / leaves;  // host of the leaf
      Position position;
      if (spine.leaves > 0) {
        position.spine = fmt::format("s{}", s);
        position.leaf = fmt::format("s{}-l{:03}", s, leaf);
      }
      if (model.clique_hosts > 0) {
        // As NVML prints them: the cluster's UUID, then the clique's number.
        position.clique = fmt::format("7d2f8c10-5b1e-4c7a-9a53-{:04}{:08}.{}", s, leaf,
                                      (i - first) / model.clique_hosts + 1);
      }
      hosts.push_back(make_host(fmt::format("s{}-l{:03}-h{:05}", s, leaf, i),
                                *machines[hosts.size()], position));
    }
  }
  std::sort(hosts.begin(), hosts.end(), [](const SimulatedNode& a, const SimulatedNode& b) {
    return a.node.metadata.name < b.node.metadata.name;
  });
  return hosts;
}

}  // namespace rankward::sim
