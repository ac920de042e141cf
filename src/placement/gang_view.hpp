// The ranks of a pod's gang that are bound already, as far as they hold GPUs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "node_links.hpp"
#include "rankward/placement/ranking.hpp"

namespace rankward::placement {

// The members on one node.
struct GangNode {
  NodeIndex index;
  std::uint32_t pods = 0;
  std::int64_t gpus = 0;
  std::optional<std::uint64_t> held;  // which GPUs, where all of them are known
};

class GangView {
 public:
  GangView(const Request& request, const Snapshot& snapshot, const Options& options);

  [[nodiscard]] bool empty() const { return nodes_.empty(); }
  [[nodiscard]] const std::vector<GangNode>& nodes() const { return nodes_; }
  [[nodiscard]] const GangNode* on(NodeIndex index) const;
  [[nodiscard]] std::int64_t gpus() const { return gpus_; }
  [[nodiscard]] std::uint32_t pods() const { return pods_; }
  // Pods of the gang that are not bound yet, this one included; nothing where the size is unknown.
  [[nodiscard]] std::optional<std::int32_t> missing() const;
  // The highest tier that the gang crosses once it is on this node too.
  [[nodiscard]] std::uint32_t tier_with(const NodeState& node) const;

 private:
  const Snapshot& snapshot_;
  const Options& options_;
  std::vector<GangNode> nodes_;  // by index
  std::int64_t gpus_ = 0;
  std::uint32_t pods_ = 0;
  std::uint32_t tier_ = 0;  // crossed by the bound ones alone
  std::optional<std::int32_t> size_;
};

}  // namespace rankward::placement
