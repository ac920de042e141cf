#pragma once

#include <vector>

#include "rankward/kube/node.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::topology {

// Slices with names of their own, by profile: what GFD's labels count, and what the device plugin
// has registered. A key that is left in the status at 0 from an earlier geometry is no offer.
[[nodiscard]] std::vector<MigProfile> mixed_profiles(const kube::Node& node,
                                                     std::string_view product);

}  // namespace rankward::topology
