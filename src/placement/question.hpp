// One accelerator resource of a pod against one node: what every check is asked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

struct Question {
  const Request& request;
  const DeviceRequest& device;
  const NodeState& node;
  const topology::NodeTopology& topology;  // the machine: without UUIDs and place in the fabric
  Use use;
  // Of device.resource; nothing where the node's status does not have the key.
  std::optional<std::int64_t> capacity;
  std::optional<std::int64_t> allocatable;

  [[nodiscard]] bool whole_gpus() const { return device.kind == kube::DeviceKind::kWholeGpu; }
  [[nodiscard]] bool is_nvidia() const { return device.resource.starts_with("nvidia.com/"); }
  // The node hands out replicas of one GPU under this name.
  [[nodiscard]] bool shared() const;
  // The node hands out MIG slices under this name.
  [[nodiscard]] bool sliced() const;
  // The report speaks of the devices that the name stands for.
  [[nodiscard]] bool reported() const { return whole_gpus() && !topology.gpus.empty(); }
};

[[nodiscard]] Question ask(const Request& request, const DeviceRequest& device,
                           const NodeState& node, Use use);

// An amount of a list; nothing where the key is absent.
[[nodiscard]] std::optional<std::int64_t> amount(const kube::ResourceList& resources,
                                                 std::string_view name);

// Accelerators that the node has to give under other names, "nvidia.com/mig-2g.20gb: 1".
[[nodiscard]] std::vector<std::string> other_offers(const Question& question);

// What one device of this name has on the node, where labels, report or the measured table say.
[[nodiscard]] std::optional<topology::Bytes> device_memory(const Question& question);

// What the pods on the node have said of the memory they need of this resource.
struct CoTenants {
  topology::Bytes declared;     // sum over their devices
  std::int64_t undeclared = 0;  // pods that have not said
};
[[nodiscard]] CoTenants co_tenants(const Question& question);

// Free whole GPUs by NUMA node; empty where devices, their holders or their NUMA nodes are unknown.
[[nodiscard]] std::vector<std::int64_t> free_per_numa(const Question& question);

}  // namespace rankward::placement
