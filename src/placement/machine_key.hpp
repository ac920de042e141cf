// Equal machines under one object.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>

#include "rankward/topology/node_topology.hpp"

namespace rankward::placement {

// Every field of the topology as bytes: equal keys, equal topologies.
[[nodiscard]] std::string topology_key(const topology::NodeTopology& topology);

// The topology without what tells two machines of one make apart.
[[nodiscard]] topology::NodeTopology without_identity(topology::NodeTopology topology);

// Gives out one shared object for equal topologies, as long as somebody holds it.
class TopologyPool {
 public:
  [[nodiscard]] std::shared_ptr<const topology::NodeTopology> intern(
      topology::NodeTopology topology);

 private:
  void drop_unused();

  std::unordered_map<std::string, std::weak_ptr<const topology::NodeTopology>> known_;
  std::size_t sweep_at_ = 1024;
};

}  // namespace rankward::placement
