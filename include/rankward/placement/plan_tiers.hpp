// How near each other a plan's ranks were asked to be, and how near they are.
#pragma once

#include <cstdint>
#include <optional>

#include "rankward/placement/reservations.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

// Tiers as in Prediction::tier: 0 is one node or NVLink clique, 1 the leaf.
struct PlanTiers {
  // The lowest that a part or the gang's owner asks for, required or preferred. Nothing: nobody
  // asks, or by a label that is no tier of the fabric.
  std::optional<std::uint32_t> asked;
  std::uint32_t achieved = 0;  // of the part that is spread most
  friend bool operator==(const PlanTiers&, const PlanTiers&) = default;
};

[[nodiscard]] PlanTiers tiers_of(const Reservation& reservation, const Snapshot& snapshot);

}  // namespace rankward::placement
