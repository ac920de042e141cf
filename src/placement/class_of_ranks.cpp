#include "class_of_ranks.hpp"

#include "network.hpp"
#include "transport_class.hpp"

namespace rankward::placement {

ClassOfRanks::ClassOfRanks(const Request& request, const GangView& gang, const Snapshot& snapshot)
    : request_(request) {
  if (request.gpus() <= 0) return;
  for (const GangNode& each : gang.nodes()) {
    std::string found = transport_class(request, snapshot.node(each.index));
    if (transport_class_ && *transport_class_ != found) {
      transport_class_.reset();
      return;
    }
    transport_class_ = std::move(found);
  }
}

bool ClassOfRanks::admits(const NodeState& node) {
  if (!transport_class_) return true;
  const Key key{node.machine.get(), network_of(request_, node).transport};
  const auto [known, is_new] = known_.try_emplace(key, false);
  if (is_new) known->second = transport_class(request_, node) == *transport_class_;
  return known->second;
}

}  // namespace rankward::placement
