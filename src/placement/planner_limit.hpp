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

  [[nodiscard]] bool allows(const ShareLinks& links) const {
    return links.bandwidth(tier, phi) >= bandwidth && links.step <= step;
  }
  // Allowed numbers of new pods, ascending.
  [[nodiscard]] std::vector<std::int32_t> shares(const NodeProfile& profile,
                                                 std::int32_t from) const {
    std::vector<std::int32_t> shares;
    for (std::int32_t pods = from; pods <= profile.most(); ++pods) {
      if (allows(profile.links[static_cast<std::size_t>(pods)])) shares.push_back(pods);
    }
    return shares;
  }
};

}  // namespace rankward::placement
