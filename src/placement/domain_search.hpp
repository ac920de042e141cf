// How few nodes of a domain hold a gang within a bound.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner_limit.hpp"

namespace rankward::placement {

// Works out the allowed shares once for all domains of a tier.
//
// The allowed shares of a node are mostly an interval [lo, hi], since bandwidth to other nodes
// rises with the share and bandwidth inside falls; then the nodes of largest hi decide, and only
// where their lo sum up to more than there are pods is more to be tried. A device plugin that picks
// better for three GPUs than for two leaves a gap; then one number of nodes after the other is
// tried. (Of gangs above 64 pods only 16 more than the least: beyond, the bound counts as not met.)
class DomainSearch {
 public:
  // `fixed`: positions of the nodes with fixed ranks, which are part of every plan. All outlive
  // the search.
  DomainSearch(const PlanNodes& nodes, const std::vector<std::uint32_t>& fixed,
               const PlanLimit& limit, std::int32_t pods);

  [[nodiscard]] const PlanLimit& limit() const { return limit_; }
  // The fewest nodes, at least two and those with fixed ranks included, on which the pods find room
  // with every share allowed; `counts` are the domain's open nodes by profile. Nothing where all of
  // them do not.
  [[nodiscard]] std::optional<std::int32_t> fewest_nodes(
      std::span<const std::uint32_t> counts) const;

 private:
  struct Allowed {
    std::uint32_t profile = 0;
    std::int32_t lo = 0;
    std::int32_t hi = 0;
    bool gaps = false;
    std::vector<std::int32_t> shares;  // ascending
  };

  static Allowed allowed(std::uint32_t profile, std::vector<std::int32_t> shares);
  // Tries one number of nodes after the other.
  [[nodiscard]] std::optional<std::int32_t> by_packing(std::span<const std::uint32_t> counts,
                                                       std::int64_t from) const;

  PlanLimit limit_;
  std::int32_t pods_;
  bool possible_ = true;  // every fixed node has an allowed share
  bool fixed_gaps_ = false;
  std::int64_t fixed_lo_ = 0;
  std::int64_t fixed_hi_ = 0;
  std::vector<Allowed> fixed_;
  std::vector<Allowed> open_;  // largest hi first
};

}  // namespace rankward::placement
