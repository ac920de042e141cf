#include "machine_key.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace rankward::placement {

namespace {

using topology::NodeTopology;

// Appends values so that no two different sequences give the same bytes: lengths come first.
class KeyWriter {
 public:
  template <class T>
  requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void add(T value) {
    key_.append(reinterpret_cast<const char*>(&value), sizeof(value));
  }
  void add(const std::string& text) {
    add(text.size());
    key_ += text;
  }
  void add(topology::Bytes bytes) { add(bytes.count); }
  void add(topology::GigabytesPerSecond rate) { add(rate.value); }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(values.size());
    for (const T& value : values)
      add(value);
  }
  void add(const topology::MigProfile& slice) {
    add(slice.profile);
    add(slice.memory);
    add(slice.memory_from_table);
    add(slice.count);
  }
  void add(const topology::Gpu& gpu) {
    add(gpu.index);
    add(gpu.uuid);
    add(gpu.pci_bus_id);
    add(gpu.numa_node);
    add(gpu.memory);
    add(gpu.model);
    add(gpu.health);
    add(gpu.mig);
  }
  void add(const topology::Nic& nic) {
    add(nic.device);
    add(nic.pci_bus_id);
    add(nic.numa_node);
    add(nic.rate);
    add(nic.link_layer);
    add(nic.state);
    add(nic.resource);
  }
  void add(const topology::FabricPosition& fabric) {
    add(fabric.clique);
    add(fabric.domains);
    add(fabric.keys);
  }

  [[nodiscard]] std::string take() && { return std::move(key_); }

 private:
  std::string key_;
};

}  // namespace

std::string topology_key(const NodeTopology& topology) {
  KeyWriter key;
  key.add(topology.gpus);
  key.add(topology.nics);
  key.add(topology.gpu_paths);
  key.add(topology.nvlinks);
  key.add(topology.nic_paths);
  key.add(topology.gpu_count);
  key.add(topology.product);
  key.add(topology.gpu_memory);
  key.add(topology.replicas);
  key.add(topology.sharing);
  key.add(topology.single_profile);
  key.add(topology.mig_profiles);
  key.add(topology.mig_capable);
  key.add(topology.mig_state);
  key.add(topology.mig_config);
  key.add(topology.mig_paused);
  key.add(topology.mig_invalid);
  key.add(topology.topology_manager);
  key.add(topology.topology_manager_pod_scope);
  key.add(topology.gpu_direct);
  key.add(topology.driver);
  key.add(topology.reported_at);
  key.add(topology.fabric);
  key.add(topology.sources);
  return std::move(key).take();
}

NodeTopology without_identity(NodeTopology topology) {
  for (topology::Gpu& gpu : topology.gpus) {
    gpu.uuid.clear();
    gpu.pci_bus_id.clear();
  }
  for (topology::Nic& nic : topology.nics)
    nic.pci_bus_id.clear();
  topology.fabric = {};
  topology.reported_at.reset();
  topology.driver.clear();
  return topology;
}

std::shared_ptr<const NodeTopology> TopologyPool::intern(NodeTopology topology) {
  auto& place = known_[topology_key(topology)];
  if (auto shared = place.lock()) return shared;
  auto made = std::make_shared<const NodeTopology>(std::move(topology));
  place = made;
  if (known_.size() >= sweep_at_) drop_unused();
  return made;
}

// Reports change over the months; without this every state that a node was ever in would stay.
void TopologyPool::drop_unused() {
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  sweep_at_ = std::max<std::size_t>(1024, known_.size() * 2);
}

}  // namespace rankward::placement
