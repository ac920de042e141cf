#include "domain_search.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace rankward::placement {

namespace {

// Shares of equal nodes that the limit allows.
struct Allowed {
  std::vector<std::int32_t> shares;  // ascending; of fixed nodes 0 may be one
  std::int32_t count = 0;

  [[nodiscard]] std::int32_t lo() const { return shares.front(); }
  [[nodiscard]] std::int32_t hi() const { return shares.back(); }
  [[nodiscard]] bool has_gaps() const {
    return hi() - lo() + 1 != static_cast<std::int32_t>(shares.size());
  }
};

Allowed allowed_shares(const NodeKind& kind, std::int32_t from, std::int32_t pods,
                       const PlanLimit& limit) {
  Allowed allowed;
  const std::int32_t most = std::min(kind.most, pods);
  for (std::int32_t share = from; share <= most; ++share) {
    if (limit.allows(kind, share)) allowed.shares.push_back(share);
  }
  return allowed;
}

// Which sums of shares come out, by the number of nodes: one bit a sum.
class Sums {
 public:
  explicit Sums(std::int32_t pods)
      : pods_(static_cast<std::size_t>(pods)), words_((pods_ + 64) / 64), rows_(1, row()) {
    rows_.front()[0] = 1;
  }

  void add(const std::vector<std::int32_t>& shares, bool must) {
    std::vector<std::vector<std::uint64_t>> next(rows_.size() + 1, row());
    for (std::size_t nodes = 0; nodes < rows_.size(); ++nodes) {
      if (!must) merge(rows_[nodes], 0, next[nodes]);
      for (const std::int32_t share : shares)
        merge(rows_[nodes], static_cast<std::size_t>(share), next[nodes + 1]);
    }
    rows_ = std::move(next);
  }

  [[nodiscard]] std::optional<std::int32_t> fewest() const {
    for (std::size_t nodes = 2; nodes < rows_.size(); ++nodes) {
      if ((rows_[nodes][pods_ / 64] >> (pods_ % 64) & 1) != 0) {
        return static_cast<std::int32_t>(nodes);
      }
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::vector<std::uint64_t> row() const {
    return std::vector<std::uint64_t>(words_, 0);
  }

  static void merge(const std::vector<std::uint64_t>& from, std::size_t shift,
                    std::vector<std::uint64_t>& into) {
    const std::size_t words = shift / 64;
    const std::size_t bits = shift % 64;
    for (std::size_t i = words; i < into.size(); ++i) {
      into[i] |= from[i - words] << bits;
      if (bits != 0 && i > words) into[i] |= from[i - words - 1] >> (64 - bits);
    }
  }

  std::size_t pods_;
  std::size_t words_;
  std::vector<std::vector<std::uint64_t>> rows_;
};

std::optional<std::int32_t> by_sums(const std::vector<Allowed>& fixed,
                                    const std::vector<Allowed>& open, std::int32_t pods) {
  Sums sums(pods);
  for (const Allowed& each : fixed)
    sums.add(each.shares, true);
  for (const Allowed& each : open) {
    // More than that many of one sort no plan has.
    const std::int32_t most = std::min(each.count, pods / std::max(1, each.lo()));
    for (std::int32_t i = 0; i < most; ++i)
      sums.add(each.shares, false);
  }
  return sums.fewest();
}

}  // namespace

std::optional<std::int32_t> fewest_nodes(const PlanNodes& nodes, const DomainContents& contents,
                                         const PlanLimit& limit, std::int32_t pods) {
  std::vector<Allowed> fixed;
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  bool gaps = false;
  for (const std::uint32_t position : contents.fixed) {
    Allowed allowed = allowed_shares(nodes.kind(nodes.nodes[position]), 0, pods, limit);
    if (allowed.shares.empty()) return std::nullopt;
    allowed.count = 1;
    lo += allowed.lo();
    hi += allowed.hi();
    gaps = gaps || allowed.has_gaps();
    fixed.push_back(std::move(allowed));
  }
  std::vector<Allowed> open;
  std::int64_t room = hi;
  for (const DomainContents::Alike& alike : contents.alike) {
    Allowed allowed = allowed_shares(nodes.kinds[alike.kind], 1, pods, limit);
    if (allowed.shares.empty()) continue;
    allowed.count = static_cast<std::int32_t>(alike.nodes.size());
    room += std::int64_t{allowed.hi()} * allowed.count;
    gaps = gaps || allowed.has_gaps();
    open.push_back(std::move(allowed));
  }
  if (room < pods) return std::nullopt;
  if (gaps) return by_sums(fixed, open, pods);

  std::sort(open.begin(), open.end(), [](const Allowed& a, const Allowed& b) {
    return a.hi() != b.hi() ? a.hi() > b.hi() : a.lo() < b.lo();
  });
  std::int64_t count = static_cast<std::int64_t>(fixed.size());
  for (const Allowed& each : open) {
    if (hi >= pods && count >= 2) break;
    const std::int64_t need = hi >= pods ? 0 : (pods - hi + each.hi() - 1) / each.hi();
    const std::int64_t take = std::min<std::int64_t>(each.count, std::max(need, 2 - count));
    count += take;
    lo += take * each.lo();
    hi += take * each.hi();
  }
  if (count < 2) return std::nullopt;
  if (lo <= pods) return static_cast<std::int32_t>(count);
  return by_sums(fixed, open, pods);
}

}  // namespace rankward::placement
