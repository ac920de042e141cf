// A knapsack over sorts of nodes: so many nodes, so many pods, at the least cost.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace rankward::placement {

// Nodes between which nothing but their names decides.
struct NodeSort {
  std::vector<std::int32_t> shares;  // allowed, ascending
  std::int32_t count = 0;
  bool must = false;        // all of them are part of the choice
  std::int64_t room = 0;    // c_n, 0 for nodes of fixed ranks: those count in every choice
  bool whole_free = false;  // breaks unless it takes `full`
  std::int32_t full = -1;   // the share that leaves no device; -1: none does
};

struct SortShares {
  std::vector<std::int32_t> shares;  // one a node, largest first
};

struct Packing {
  std::int64_t broken = 0;
  std::int64_t room = 0;            // sum over the chosen nodes
  std::vector<SortShares> by_sort;  // in the order of the sorts
};

// Exactly `count` nodes with shares that add up to `pods`: fewest broken, then least room. Starts
// from the nodes that take most. Where `count` is the fewest that can do it, what they could take
// beyond `pods` is less than one node's share, so that few partial sums have to be followed.
[[nodiscard]] std::optional<Packing> pack(const std::vector<NodeSort>& sorts, std::int32_t count,
                                          std::int32_t pods);

}  // namespace rankward::placement
