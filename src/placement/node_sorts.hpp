// Sorts of the knapsack out of the planner's nodes.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "planner_nodes.hpp"
#include "share_knapsack.hpp"

namespace rankward::placement {

// Profiles and kinds that differ in nothing that matters here are one.
class NodeSorts {
 public:
  void add_fixed(std::vector<std::int32_t> shares) {
    NodeSort sort;
    complete_ = complete_ && !shares.empty();
    sort.shares = std::move(shares);
    sort.count = 1;
    sort.must = true;
    sorts_.push_back(std::move(sort));
  }

  // The number of the sort.
  std::size_t add(const NodeProfile& profile, std::vector<std::int32_t> shares,
                  std::uint32_t count) {
    NodeSort sort;
    sort.room = profile.room;
    sort.whole_free = profile.whole_free;
    if (profile.whole_free && profile.full == shares.back()) sort.full = profile.full;
    const auto [place, added] = known_.try_emplace(
        Key(std::move(shares), sort.room, sort.whole_free, sort.full), sorts_.size());
    if (added) {
      sort.shares = std::get<0>(place->first);
      sorts_.push_back(std::move(sort));
    }
    sorts_[place->second].count += static_cast<std::int32_t>(count);
    return place->second;
  }

  [[nodiscard]] std::optional<Packing> pack(std::int32_t count, std::int32_t pods) const {
    if (!complete_) return std::nullopt;
    return placement::pack(sorts_, count, pods);
  }

 private:
  using Key = std::tuple<std::vector<std::int32_t>, std::int64_t, bool, std::int32_t>;
  std::vector<NodeSort> sorts_;
  std::map<Key, std::size_t> known_;
  bool complete_ = true;  // every fixed node has a share
};

}  // namespace rankward::placement
