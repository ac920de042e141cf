#include "gang_view.hpp"

#include <algorithm>

#include "fabric_tier.hpp"

namespace rankward::placement {

namespace {

// The members on a node; leader pods without GPUs are no ranks.
GangNode members_on(NodeIndex index, const NodeState& node, const Request& request) {
  GangNode members{index, 0, 0, std::uint64_t{0}};
  for (const Holder& holder : node.holders) {
    if (holder.gang_key != request.gang->key || holder.uid == request.uid || holder.gpus == 0) {
      continue;
    }
    ++members.pods;
    members.gpus += holder.gpus;
    if (static_cast<std::int64_t>(holder.gpu_indexes.size()) != holder.gpus ||
        node.topology->gpus.size() > 64) {
      members.held.reset();
      continue;
    }
    for (std::size_t i = 0; members.held && i < node.topology->gpus.size(); ++i) {
      const auto& indexes = holder.gpu_indexes;
      if (std::find(indexes.begin(), indexes.end(), node.topology->gpus[i].index) !=
          indexes.end()) {
        *members.held |= std::uint64_t{1} << i;
      }
    }
  }
  return members;
}

}  // namespace

GangView::GangView(const Request& request, const Snapshot& snapshot, const Options& options)
    : snapshot_(snapshot), options_(options) {
  if (!request.gang) return;
  size_ = request.gang->size;
  const NodeIndex* last = nullptr;
  for (const NodeIndex& index : snapshot.bound_members(request.gang->key)) {
    if (last != nullptr && *last == index) continue;
    last = &index;
    GangNode members = members_on(index, snapshot.node(index), request);
    if (members.pods == 0) continue;
    gpus_ += members.gpus;
    pods_ += members.pods;
    if (!nodes_.empty()) tier_ = tier_with(snapshot.node(index));
    nodes_.push_back(members);
  }
}

const GangNode* GangView::on(NodeIndex index) const {
  const auto found =
      std::lower_bound(nodes_.begin(), nodes_.end(), index,
                       [](const GangNode& node, NodeIndex wanted) { return node.index < wanted; });
  return found != nodes_.end() && found->index == index ? &*found : nullptr;
}

std::optional<std::int32_t> GangView::missing() const {
  if (!size_) return std::nullopt;
  return std::max(1, *size_ - static_cast<std::int32_t>(pods_));
}

// Domains are nested, so where a node meets one member tells where it meets all that meet below.
std::uint32_t GangView::tier_with(const NodeState& node) const {
  if (nodes_.empty()) return 0;
  const NodeState& first = snapshot_.node(nodes_.front().index);
  if (nodes_.size() == 1 && &first == &node) return 0;
  return std::max(tier_, common_tier(first.topology->fabric, node.topology->fabric, options_));
}

}  // namespace rankward::placement
