#include "rankward/placement/plan_tiers.hpp"

#include <algorithm>
#include <string>
#include <string_view>

#include "planner_nodes.hpp"

namespace rankward::placement {

PlanTiers tiers_of(const Reservation& reservation, const Snapshot& snapshot) {
  PlanTiers tiers;
  const auto ask = [&](std::string_view level, const ReservedPart& part) {
    if (level.empty() || part.slots.empty()) return;
    const auto index = snapshot.find(part.slots.front().node);
    const auto tier = index ? tier_by(level, snapshot.node(*index)) : std::nullopt;
    if (tier) tiers.asked = std::min(*tier, tiers.asked.value_or(*tier));
  };
  const GangState* gang = snapshot.gang(reservation.gang_key);
  const std::string* first = nullptr;
  bool on_one_node = true;
  for (const ReservedPart& part : reservation.parts) {
    tiers.achieved = std::max(tiers.achieved, part.prediction.tier);
    for (const Slot& slot : part.slots) {
      if (first == nullptr) first = &slot.node;
      on_one_node = on_one_node && slot.node == *first;
    }
    if (part.request) {
      ask(part.request->topology_required, part);
      ask(part.request->topology_preferred, part);
    }
    if (gang == nullptr) continue;
    for (const GangFacts& facts : gang->facts)
      ask(facts.required_topology, part);
  }
  // What is priced as the first of many says the tier of those.
  if (on_one_node) tiers.achieved = 0;
  return tiers;
}

}  // namespace rankward::placement
