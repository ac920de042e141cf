#include "fabric_tier.hpp"

#include <algorithm>

namespace rankward::placement {

std::uint32_t top_tier(const Options& options) {
  return static_cast<std::uint32_t>(std::max<std::size_t>(1, options.phi.size()));
}

std::uint32_t common_tier(const topology::FabricPosition& a, const topology::FabricPosition& b,
                          const Options& options) {
  if (!a.clique.empty() && a.clique == b.clique) return kCliqueTier;
  const std::size_t tiers = std::min(a.domains.size(), b.domains.size());
  // From the top down, as long as they agree; a domain that nobody named is passed over.
  std::size_t lowest = tiers;
  for (std::size_t i = tiers; i-- > 0;) {
    if (a.domains[i].empty() || b.domains[i].empty()) continue;
    if (a.domains[i] != b.domains[i]) break;
    lowest = i;
  }
  if (lowest < tiers) return static_cast<std::uint32_t>(lowest) + kLeafTier;
  return std::max(top_tier(options), static_cast<std::uint32_t>(tiers) + kLeafTier);
}

double factor_of(std::uint32_t tier, const Options& options) {
  if (tier == kCliqueTier || options.phi.empty()) return 1;
  return options.phi[std::min<std::size_t>(tier, options.phi.size()) - kLeafTier];
}

}  // namespace rankward::placement
