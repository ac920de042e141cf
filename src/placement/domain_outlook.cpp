#include "domain_outlook.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <limits>

#include "fabric_tier.hpp"

namespace rankward::placement {

namespace {

// Calls `visit(tier, id)` for each known domain, from the top down. An id stands for the domain and
// all above it, since leaf names may repeat. Two domains with one 64-bit hash would only share
// their room.
template <class Visit>
void for_each_domain(const topology::FabricPosition& fabric, Visit&& visit) {
  std::size_t id = 0;
  for (std::size_t i = fabric.domains.size(); i-- > 0;) {
    if (fabric.domains[i].empty()) continue;
    boost::hash_combine(id, i);
    boost::hash_combine(id, fabric.domains[i]);
    visit(static_cast<std::uint32_t>(i) + kLeafTier, id);
  }
  if (!fabric.clique.empty()) {
    std::size_t clique = 0;
    boost::hash_combine(clique, fabric.clique);
    visit(kCliqueTier, clique);
  }
}

}  // namespace

void DomainOutlook::add(const topology::FabricPosition& fabric, std::int64_t pods) {
  for_each_domain(fabric, [&](std::uint32_t, std::uint64_t id) {
    std::int64_t& room = room_[id];
    if (__builtin_add_overflow(room, pods, &room)) room = std::numeric_limits<std::int64_t>::max();
  });
}

std::uint32_t DomainOutlook::tier(const topology::FabricPosition& fabric, std::int64_t pods) const {
  std::uint32_t lowest =
      std::max(top_tier(options_), static_cast<std::uint32_t>(fabric.domains.size()) + kLeafTier);
  if (fabric.domains.empty()) lowest = top_tier(options_);
  for_each_domain(fabric, [&](std::uint32_t tier, std::uint64_t id) {
    const auto room = room_.find(id);
    if (room != room_.end() && room->second >= pods) lowest = std::min(lowest, tier);
  });
  return lowest;
}

}  // namespace rankward::placement
