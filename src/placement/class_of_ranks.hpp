// The transport class that the bound ranks of a gang have set for the rest of it.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>
#include <string>

#include "gang_view.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/placement/snapshot.hpp"
#include "rankward/topology/bandwidth.hpp"

namespace rankward::placement {

class ClassOfRanks {
 public:
  // The request outlives this. Ranks that stand in several classes, placed before anybody looked,
  // set none.
  ClassOfRanks(const Request& request, const GangView& gang, const Snapshot& snapshot);

  [[nodiscard]] bool admits(const NodeState& node);

 private:
  using Key = std::pair<const topology::NodeTopology*, topology::Transport>;

  const Request& request_;
  std::optional<std::string> transport_class_;
  boost::unordered_flat_map<Key, bool> known_;  // machines of a cluster are few
};

}  // namespace rankward::placement
