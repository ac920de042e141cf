#include "rankward/placement/waiting.hpp"

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <optional>

#include "availability.hpp"
#include "node_shape.hpp"
#include "room_left.hpp"

namespace rankward::placement {

namespace {

// judge() for Use::kExplain, with what it reads of a node's shape worked out once.
class Reasons {
 public:
  Reasons(const WaitingPod& pod, const Options& options) : pod_(pod), options_(options) {}

  std::optional<ReasonCode> on(const NodeState& node) {
    if (closed_to(*pod_.spec, *node.node)) return ReasonCode::kNodeUnavailable;
    if (!shape_is_enough(*pod_.request, *node.shape) || short_of(*pod_.request, node)) {
      return work_out(node);
    }
    const auto [entry, is_new] = known_.try_emplace(node.shape.get());
    if (is_new) entry->second = work_out(node);
    return entry->second;
  }

 private:
  [[nodiscard]] std::optional<ReasonCode> work_out(const NodeState& node) const {
    return judge(*pod_.request, *pod_.spec, node, options_, Use::kExplain).reason;
  }

  const WaitingPod& pod_;
  const Options& options_;
  boost::unordered_flat_map<const NodeShape*, std::optional<ReasonCode>> known_;
};

}  // namespace

WaitingOutlook outlook(const ClusterView& view, const WaitingPod& pod, const Options& options) {
  WaitingOutlook out;
  const Snapshot& snapshot = *view.snapshot;
  Reasons reasons(pod, options);
  std::array<std::size_t, kReasonCodes> counts{};
  for (NodeIndex index; index.value < snapshot.size(); ++index.value) {
    const NodeState& node = snapshot.node(index);
    ++out.nodes;
    auto reason = reasons.on(node);
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
