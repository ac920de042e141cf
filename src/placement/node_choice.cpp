#include "node_choice.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "share_knapsack.hpp"

namespace rankward::placement {

namespace {

// Sets of GPU indexes by number, ascending. nullptr stands for all of them.
using GpuSets = std::vector<std::uint32_t>;

// Combinations of GPU sets that are tried before the search for fewer of them is cut.
constexpr int kMostTries = 4000;

class Chooser {
 public:
  Chooser(const PlanNodes& nodes, const DomainContents& contents, const PlanLimit& limit,
          std::int32_t pods, std::int32_t count)
      : nodes_(nodes), contents_(contents), limit_(limit), pods_(pods), count_(count) {}

  std::optional<NodeChoice> choose() {
    auto best = pack_with(nullptr);
    if (!best) return std::nullopt;
    for (std::int64_t size = 1; size < best->gpu_sets; ++size) {
      if (auto fewer = with_so_many_sets(size, *best)) return fewer;
      if (tries_ > kMostTries) return without_needless_sets(std::move(*best));
    }
    return best;
  }

 private:
  // A sort of the knapsack and the nodes behind it.
  struct Sorts {
    std::vector<NodeSort> sorts;
    std::vector<std::vector<std::uint32_t>> nodes;  // positions in PlanNodes, by sort
    bool complete = true;                           // every fixed node has a share
  };

  [[nodiscard]] std::vector<std::int32_t> allowed(const NodeKind& kind, std::int32_t from,
                                                  const GpuSets* sets) const {
    std::vector<std::int32_t> shares;
    const std::int32_t most = std::min(kind.most, pods_);
    for (std::int32_t share = from; share <= most; ++share) {
      if (!limit_.allows(kind, share)) continue;
      const std::uint32_t gpus = kind.table->at(share).gpus;
      if (sets != nullptr && !std::binary_search(sets->begin(), sets->end(), gpus)) continue;
      shares.push_back(share);
    }
    return shares;
  }

  [[nodiscard]] Sorts sorts_with(const GpuSets* sets) const {
    Sorts result;
    for (const std::uint32_t position : contents_.fixed) {
      NodeSort sort;
      sort.shares = allowed(nodes_.kind(nodes_.nodes[position]), 0, sets);
      sort.count = 1;
      sort.must = true;
      result.complete = result.complete && !sort.shares.empty();
      result.sorts.push_back(std::move(sort));
      result.nodes.push_back({position});
    }
    // Kinds that differ in nothing that matters here are one sort.
    std::map<std::tuple<std::vector<std::int32_t>, std::int64_t, bool, std::int32_t>, std::size_t>
        known;
    for (const DomainContents::Alike& alike : contents_.alike) {
      const NodeKind& kind = nodes_.kinds[alike.kind];
      NodeSort sort;
      sort.shares = allowed(kind, 1, sets);
      if (sort.shares.empty()) continue;
      sort.room = kind.room;
      sort.whole_free = kind.whole_free;
      const auto top = sort.shares.back();
      if (kind.whole_free && !nodes_.breaks(kind, top)) sort.full = top;
      const auto [place, added] = known.try_emplace(
          {sort.shares, sort.room, sort.whole_free, sort.full}, result.sorts.size());
      if (added) {
        result.sorts.push_back(std::move(sort));
        result.nodes.emplace_back();
      }
      auto& members = result.nodes[place->second];
      members.insert(members.end(), alike.nodes.begin(), alike.nodes.end());
    }
    for (std::size_t i = 0; i < result.sorts.size(); ++i) {
      std::sort(result.nodes[i].begin(), result.nodes[i].end());
      result.sorts[i].count = static_cast<std::int32_t>(result.nodes[i].size());
    }
    return result;
  }

  [[nodiscard]] std::optional<NodeChoice> pack_with(const GpuSets* sets) {
    ++tries_;
    const Sorts sorts = sorts_with(sets);
    if (!sorts.complete) return std::nullopt;
    const auto packing = pack(sorts.sorts, count_, pods_);
    if (!packing) return std::nullopt;
    NodeChoice choice;
    choice.broken = packing->broken;
    choice.left_over = packing->room - pods_;
    for (const std::uint32_t position : contents_.fixed)
      choice.left_over += nodes_.kind(nodes_.nodes[position]).room;
    std::set<std::uint32_t> used;
    for (std::size_t i = 0; i < sorts.sorts.size(); ++i) {
      const auto& shares = packing->by_sort[i].shares;
      for (std::size_t j = 0; j < shares.size(); ++j) {
        const std::uint32_t position = sorts.nodes[i][j];
        choice.shares.push_back({position, shares[j]});
        used.insert(nodes_.kind(nodes_.nodes[position]).table->at(shares[j]).gpus);
      }
    }
    choice.gpu_sets = static_cast<std::int64_t>(used.size());
    std::sort(choice.shares.begin(), choice.shares.end(),
              [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
    return choice;
  }

  // Every set of GPUs that some allowed share takes.
  [[nodiscard]] GpuSets all_sets() const {
    std::set<std::uint32_t> sets;
    const auto add = [&](const NodeKind& kind, std::int32_t from) {
      for (const std::int32_t share : allowed(kind, from, nullptr))
        sets.insert(kind.table->at(share).gpus);
    };
    for (const std::uint32_t position : contents_.fixed)
      add(nodes_.kind(nodes_.nodes[position]), 0);
    for (const DomainContents::Alike& alike : contents_.alike)
      add(nodes_.kinds[alike.kind], 1);
    return {sets.begin(), sets.end()};
  }

  static bool costs_the_same(const NodeChoice& a, const NodeChoice& b) {
    return a.broken == b.broken && a.left_over == b.left_over;
  }

  // The first combination of that many sets with which the choice costs no more than `best`.
  std::optional<NodeChoice> with_so_many_sets(std::int64_t size, const NodeChoice& best) {
    const GpuSets all = all_sets();
    if (static_cast<std::int64_t>(all.size()) < size) return std::nullopt;
    std::vector<std::size_t> chosen(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < chosen.size(); ++i)
      chosen[i] = i;
    GpuSets sets(chosen.size());
    while (tries_ <= kMostTries) {
      for (std::size_t i = 0; i < chosen.size(); ++i)
        sets[i] = all[chosen[i]];
      auto choice = pack_with(&sets);
      if (choice && costs_the_same(*choice, best)) return choice;
      std::size_t i = chosen.size();
      while (i > 0 && chosen[i - 1] == all.size() - chosen.size() + i - 1)
        --i;
      if (i == 0) return std::nullopt;
      ++chosen[i - 1];
      for (std::size_t j = i; j < chosen.size(); ++j)
        chosen[j] = chosen[j - 1] + 1;
    }
    return std::nullopt;
  }

  // Too many sets for all combinations: those of the choice one by one, dropped where the rest do.
  NodeChoice without_needless_sets(NodeChoice best) {
    std::set<std::uint32_t> used;
    for (const NodeShare& share : best.shares)
      used.insert(nodes_.kind(nodes_.nodes[share.node]).table->at(share.pods).gpus);
    GpuSets sets(used.begin(), used.end());
    for (std::size_t i = 0; i < sets.size();) {
      GpuSets fewer = sets;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      auto choice = pack_with(&fewer);
      if (choice && costs_the_same(*choice, best)) {
        best = std::move(*choice);
        sets = std::move(fewer);
      } else {
        ++i;
      }
    }
    return best;
  }

  const PlanNodes& nodes_;
  const DomainContents& contents_;
  const PlanLimit& limit_;
  std::int32_t pods_;
  std::int32_t count_;
  int tries_ = 0;
};

}  // namespace

bool NodeChoice::better_than(const NodeChoice& other) const {
  const auto numbers = [](const NodeChoice& choice) {
    return std::tie(choice.broken, choice.left_over, choice.gpu_sets);
  };
  if (numbers(*this) != numbers(other)) return numbers(*this) < numbers(other);
  return std::lexicographical_compare(
      shares.begin(), shares.end(), other.shares.begin(), other.shares.end(),
      [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
}

std::optional<NodeChoice> choose_nodes(const PlanNodes& nodes, const DomainContents& contents,
                                       const PlanLimit& limit, std::int32_t pods,
                                       std::int32_t count) {
  return Chooser(nodes, contents, limit, pods, count).choose();
}

}  // namespace rankward::placement
