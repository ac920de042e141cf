#include "domain_search.hpp"

#include <algorithm>
#include <utility>

#include "share_knapsack.hpp"

namespace rankward::placement {

namespace {

// How many nodes more than the least are tried where the smallest shares of those are too large.
// Gangs of up to so many pods are tried out to the end.
constexpr std::int64_t kMostMore = 16;
constexpr std::int32_t kSmallGang = 64;

}  // namespace

DomainSearch::Allowed DomainSearch::allowed(std::uint32_t profile,
                                            std::vector<std::int32_t> shares) {
  Allowed result;
  result.profile = profile;
  result.lo = shares.front();
  result.hi = shares.back();
  result.gaps = result.hi - result.lo + 1 != static_cast<std::int32_t>(shares.size());
  result.shares = std::move(shares);
  return result;
}

DomainSearch::DomainSearch(const PlanNodes& nodes, const std::vector<std::uint32_t>& fixed,
                           const PlanLimit& limit, std::int32_t pods)
    : limit_(limit), pods_(pods) {
  for (const std::uint32_t position : fixed) {
    auto shares = limit.shares(nodes.profile(nodes.nodes[position]), 0);
    if (shares.empty()) {
      possible_ = false;
      return;
    }
    fixed_.push_back(allowed(nodes.profile_of(position), std::move(shares)));
    fixed_lo_ += fixed_.back().lo;
    fixed_hi_ += fixed_.back().hi;
    fixed_gaps_ = fixed_gaps_ || fixed_.back().gaps;
  }
  for (std::uint32_t profile = 0; profile < nodes.profiles.size(); ++profile) {
    auto shares = limit.shares(nodes.profiles[profile], 1);
    if (!shares.empty()) open_.push_back(allowed(profile, std::move(shares)));
  }
  std::stable_sort(open_.begin(), open_.end(), [](const Allowed& a, const Allowed& b) {
    return a.hi != b.hi ? a.hi > b.hi : a.lo < b.lo;
  });
}

std::optional<std::int32_t> DomainSearch::by_packing(std::span<const std::uint32_t> counts,
                                                     std::int64_t from) const {
  std::vector<NodeSort> sorts;
  std::vector<std::pair<std::int32_t, std::int64_t>> los;  // and how many have it
  std::int64_t nodes = 0;
  const auto add = [&](const Allowed& each, std::uint32_t count, bool must) {
    NodeSort sort;
    sort.shares = each.shares;
    sort.count = static_cast<std::int32_t>(count);
    sort.must = must;
    nodes += count;
    if (!must) los.emplace_back(each.lo, count);
    sorts.push_back(std::move(sort));
  };
  for (const Allowed& each : fixed_)
    add(each, 1, true);
  for (const Allowed& each : open_) {
    if (counts[each.profile] > 0) add(each, counts[each.profile], false);
  }
  std::sort(los.begin(), los.end());
  const auto least = [&](std::int64_t count) {
    std::int64_t sum = fixed_lo_;
    count -= static_cast<std::int64_t>(fixed_.size());
    for (const auto& [lo, has] : los) {
      const std::int64_t take = std::min(count, has);
      sum += take * lo;
      count -= take;
    }
    return sum;
  };
  std::int64_t until = std::min<std::int64_t>(nodes, pods_ + fixed_.size());
  if (pods_ > kSmallGang) until = std::min(until, from + kMostMore);
  for (std::int64_t count = from; count <= until && least(count) <= pods_; ++count) {
    const auto fewest = static_cast<std::int32_t>(count);
    if (pack(sorts, fewest, pods_)) return fewest;
  }
  return std::nullopt;
}

std::optional<std::int32_t> DomainSearch::fewest_nodes(
    std::span<const std::uint32_t> counts) const {
  if (!possible_) return std::nullopt;
  std::int64_t room = fixed_hi_;
  bool gaps = fixed_gaps_;
  for (const Allowed& each : open_) {
    room += std::int64_t{each.hi} * counts[each.profile];
    gaps = gaps || (each.gaps && counts[each.profile] > 0);
  }
  if (room < pods_) return std::nullopt;

  std::int64_t lo = fixed_lo_;
  std::int64_t hi = fixed_hi_;
  auto count = static_cast<std::int64_t>(fixed_.size());
  for (const Allowed& each : open_) {
    if (hi >= pods_ && count >= 2) break;
    const std::int64_t need = hi >= pods_ ? 0 : (pods_ - hi + each.hi - 1) / each.hi;
    const std::int64_t take =
        std::min<std::int64_t>(counts[each.profile], std::max(need, 2 - count));
    count += take;
    lo += take * each.lo;
    hi += take * each.hi;
  }
  if (count < 2) return std::nullopt;
  if (lo <= pods_ && !gaps) return static_cast<std::int32_t>(count);
  return by_packing(counts, count);
}

}  // namespace rankward::placement
