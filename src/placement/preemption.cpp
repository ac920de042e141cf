#include "rankward/placement/preemption.hpp"

#include <algorithm>

#include "room_left.hpp"

namespace rankward::placement {

namespace {

NodeState without(const NodeState& node, std::span<const std::string_view> uids) {
  NodeState rest = node;
  std::erase_if(rest.holders, [uids](const Holder& holder) {
    return std::find(uids.begin(), uids.end(), holder.uid) != uids.end();
  });
  rest.recount();
  return rest;
}

NodeState emptied(const NodeState& node) {
  NodeState empty;
  empty.node = node.node;
  empty.topology = node.topology;
  empty.machine = node.machine;
  empty.recount();
  return empty;
}

}  // namespace

bool fits_after_preemption(const Request& request, const kube::PodSpec& spec, const NodeState& node,
                           std::span<const std::string_view> victims, std::span<const Held> held,
                           const Options& options) {
  const auto fits = [&](const NodeState& rest) {
    return judge(request, spec, rest, options, Use::kFilter).fits() &&
           !is_taken_by_others(request, rest, held);
  };
  return victims.empty() ? fits(node) : fits(without(node, victims));
}

bool preemption_could_help(ReasonCode refused_for, const Request& request,
                           const kube::PodSpec& spec, const NodeState& node,
                           const Options& options) {
  const Reason& why = reason(refused_for);
  if (why.preemption_helps == PreemptionHelps::kNo) return false;
  // Also for plain occupancy: no preemption makes a node larger.
  const Use use = why.usable_in_filter ? Use::kFilter : Use::kExplain;
  return judge(request, spec, emptied(node), options, use).fits();
}

}  // namespace rankward::placement
