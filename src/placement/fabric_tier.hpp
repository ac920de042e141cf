// How far up the fabric two nodes meet.
#pragma once

#include <cstdint>
#include <span>

#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

// Tiers are counted from 1, the leaf; 0 is one NVLink clique, which is nearer than any switch.
inline constexpr std::uint32_t kCliqueTier = 0;
inline constexpr std::uint32_t kLeafTier = 1;

// Nodes without fabric labels are one domain at the top tier, the last that phi has a factor for.
[[nodiscard]] std::uint32_t top_tier(const Options& options);

// The lowest tier at which both hang in the same domain, the top one where none is known. A domain
// counts as the same only where all above it are: leaf names may repeat from spine to spine.
[[nodiscard]] std::uint32_t common_tier(const topology::FabricPosition& a,
                                        const topology::FabricPosition& b, const Options& options);

// phi: what is left of the bandwidth between nodes where that tier is crossed.
[[nodiscard]] double factor_of(std::uint32_t tier, const Options& options);

}  // namespace rankward::placement
