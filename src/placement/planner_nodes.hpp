// What the planner knows of nodes: room and links, alike ones under one number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/placement/plan.hpp"
#include "share_table.hpp"

namespace rankward::placement {

// All that the objective sees of a node, but for which GPUs its pods get and where it hangs.
struct NodeProfile {
  std::vector<ShareLinks> links;  // by new pods, 0 included
  std::int64_t room = 0;          // c_n: pods that fit now
  bool whole_free = false;        // nobody has any of its devices
  std::int32_t full = -1;         // pods that leave it no device; -1: no number of them does

  // Of this gang: no more than it has.
  [[nodiscard]] std::int32_t most() const { return static_cast<std::int32_t>(links.size()) - 1; }
  // Whether so many pods take a part of a node on which all devices are free.
  [[nodiscard]] bool breaks(std::int32_t pods) const {
    return whole_free && pods > 0 && pods != full;
  }
  friend auto operator<=>(const NodeProfile&, const NodeProfile&) = default;
};

// Nodes of one profile with the same GPUs free.
struct NodeKind {
  ShareTable* table = nullptr;
  std::uint32_t profile = 0;
};

inline constexpr std::uint32_t kNoGroup = UINT32_MAX;

struct PlanNode {
  NodeIndex index;
  std::uint32_t kind = 0;
  std::int32_t fixed = 0;             // ranks of the gang that stand here
  std::uint32_t transport = 0;        // number of the transport class
  std::uint32_t required = kNoGroup;  // number of the domain that the gang has to stay in
  std::uint32_t preferred = kNoGroup;
};

struct PlanNodes {
  std::vector<NodeProfile> profiles;
  std::vector<NodeKind> kinds;
  std::vector<PlanNode> nodes;  // with room or fixed ranks, ascending

  [[nodiscard]] const NodeKind& kind(const PlanNode& node) const { return kinds[node.kind]; }
  [[nodiscard]] std::uint32_t profile_of(std::uint32_t position) const {
    return kinds[nodes[position].kind].profile;
  }
  [[nodiscard]] const NodeProfile& profile(const PlanNode& node) const {
    return profiles[kinds[node.kind].profile];
  }
};

[[nodiscard]] PlanNodes look_at_nodes(const PlanQuestion& question, const Snapshot& snapshot,
                                      const HeldPlaces& held, const Options& options,
                                      ShareTables& tables);

// The domain of a node by a tier name (clique, leaf, spine, core) or a label key. Where the key is
// the label of a fabric tier the domain is the whole path down to it, since leaf names may repeat
// from spine to spine. "" where the node says nothing of it.
[[nodiscard]] std::string domain_by(std::string_view level, const NodeState& node);
// The tier that such a level names on this node; nothing for a label that is no tier of the fabric.
[[nodiscard]] std::optional<std::uint32_t> tier_by(std::string_view level, const NodeState& node);

}  // namespace rankward::placement
