// A bound on B and on the ring step, and the shares of each node that keep to it.
#pragma once

#include <cstdint>
#include <vector>

#include "planner_nodes.hpp"

namespace rankward::placement {

struct PlanLimit {
  std::uint32_t tier = 0;  // crossed by the gang
  double phi = 1;          // of that tier
  double bandwidth = 0;    // GB/s, no less
  double step = 0;         // seconds, no more

  [[nodiscard]] bool allows(const NodeKind& kind, std::int32_t pods) const {
    const ShareLinks& links = kind.table->at(pods);
    return links.bandwidth(tier, phi) >= bandwidth && links.step <= step;
  }
};

// The nodes of one domain, counted by kind. Nodes with fixed ranks stand one by one: they are part
// of every plan.
struct DomainContents {
  struct Alike {
    std::uint32_t kind = 0;
    std::vector<std::uint32_t> nodes;  // positions in PlanNodes::nodes, ascending
  };
  std::vector<Alike> alike;          // by first node
  std::vector<std::uint32_t> fixed;  // positions, ascending
};

}  // namespace rankward::placement
