#include "rankward/placement/waiting.hpp"

#include <algorithm>
#include <array>

#include "room_left.hpp"

namespace rankward::placement {

WaitingOutlook outlook(const ClusterView& view, const WaitingPod& pod, const Options& options) {
  WaitingOutlook out;
  const Snapshot& snapshot = *view.snapshot;
  std::array<std::size_t, kReasonCodes> counts{};
  for (NodeIndex index; index.value < snapshot.size(); ++index.value) {
    const NodeState& node = snapshot.node(index);
    ++out.nodes;
    auto reason = judge(*pod.request, *pod.spec, node, options, Use::kExplain).reason;
    if (!reason && is_taken_by_others(*pod.request, node, view.held.on(index))) {
      reason = ReasonCode::kReservedForGang;
    }
    if (reason) {
      ++counts[static_cast<std::size_t>(*reason)];
    } else {
      out.has_room = true;
      return out;
    }
  }
  for (std::size_t code = 0; code < counts.size(); ++code) {
    if (counts[code] > 0) out.reasons.push_back({static_cast<ReasonCode>(code), counts[code]});
  }
  std::stable_sort(
      out.reasons.begin(), out.reasons.end(),
      [](const WaitingReason& a, const WaitingReason& b) { return a.nodes > b.nodes; });
  return out;
}

}  // namespace rankward::placement
