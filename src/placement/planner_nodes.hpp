// What the planner knows of nodes: room and links, alike ones under one number.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/placement/plan.hpp"
#include "share_table.hpp"

namespace rankward::placement {

// Nodes with the same links and the same room.
struct NodeKind {
  const ShareTable* table = nullptr;
  std::int64_t room = 0;          // c_n: pods that fit now
  std::int32_t most = 0;          // of this gang: no more than it has
  std::int64_t free_devices = 0;  // of the first device that the pod asks for
  bool whole_free = false;        // nobody has any of them
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
  std::vector<NodeKind> kinds;
  std::vector<PlanNode> nodes;  // with room or fixed ranks, ascending
  std::int64_t devices_per_pod = 0;

  [[nodiscard]] const NodeKind& kind(const PlanNode& node) const { return kinds[node.kind]; }
  // Whether that many pods take a part of a node on which all devices are free.
  [[nodiscard]] bool breaks(const NodeKind& kind, std::int32_t pods) const {
    return kind.whole_free && pods > 0 && kind.free_devices > pods * devices_per_pod;
  }
};

[[nodiscard]] PlanNodes look_at_nodes(const PlanQuestion& question, const Snapshot& snapshot,
                                      const HeldPlaces& held, const Options& options,
                                      ShareTables& tables);

// The domain of a node by a tier name (clique, leaf, spine, core) or a label key. Where the key is
// the label of a fabric tier the domain is the whole path down to it, since leaf names may repeat
// from spine to spine. "" where the node says nothing of it.
[[nodiscard]] std::string domain_by(std::string_view level, const NodeState& node);

}  // namespace rankward::placement
