#include "node_choice.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "node_sorts.hpp"

namespace rankward::placement {

namespace {

// Sets of GPU indexes by number, ascending.
using GpuSets = std::vector<std::uint32_t>;

// Work on fewer sets of GPUs before the search is cut: sorts of nodes looked at, and combinations.
constexpr std::int64_t kMostLooks = 20'000;
constexpr std::int64_t kMostCombinations = 50'000;

class Chooser {
 public:
  explicit Chooser(const ChoiceQuestion& question) : question_(question), nodes_(*question.nodes) {
    for (const std::uint32_t position : *question.fixed)
      fixed_room_ += nodes_.profile(nodes_.nodes[position]).room;
  }

  std::optional<NodeChoice> choose(const NodeChoice* best) {
    auto choice = by_profile(best);
    if (!choice || choice->gpu_sets < 2) return choice;
    group_by_kind();
    for (std::int64_t size = 1; size < choice->gpu_sets && !is_cut(); ++size) {
      if (auto fewer = with_so_many_sets(size, *choice)) return fewer;
    }
    return is_cut() ? without_needless_sets(std::move(*choice)) : choice;
  }

 private:
  struct Alike {
    std::uint32_t kind = 0;
    std::vector<std::uint32_t> nodes;  // positions, ascending
    // Allowed shares and the set of GPUs of each.
    std::vector<std::pair<std::int32_t, std::uint32_t>> shares;
  };
  // The most that nodes can take with one set of GPUs, and how many nodes there are.
  struct Offer {
    std::int32_t share = 0;
    std::int64_t nodes = 0;
  };

  [[nodiscard]] bool is_cut() const {
    return looks_ > kMostLooks || combinations_ > kMostCombinations;
  }

  void finish(NodeChoice& choice, const Packing& packing) {
    choice.broken = packing.broken;
    choice.left_over = packing.room + fixed_room_ - question_.pods;
    std::set<std::uint32_t> used;
    for (const NodeShare& share : choice.shares)
      used.insert(gpus_of(share.node, share.pods));
    choice.gpu_sets = static_cast<std::int64_t>(used.size());
    std::sort(choice.shares.begin(), choice.shares.end(),
              [](const NodeShare& a, const NodeShare& b) { return a.node < b.node; });
  }

  std::uint32_t gpus_of(std::uint32_t position, std::int32_t pods) {
    return question_.tables->gpus(*nodes_.kind(nodes_.nodes[position]).table, pods);
  }

  // Without a look at sets of GPUs.
  std::optional<NodeChoice> by_profile(const NodeChoice* best) {
    NodeSorts sorts;
    for (const std::uint32_t position : *question_.fixed)
      sorts.add_fixed(question_.limit.shares(nodes_.profile(nodes_.nodes[position]), 0));
    const auto counts = question_.tree->counts(*question_.domain);
    constexpr std::size_t kNone = SIZE_MAX;
    std::vector<std::size_t> sort_of(nodes_.profiles.size(), kNone);
    for (std::uint32_t profile = 0; profile < counts.size(); ++profile) {
      if (counts[profile] == 0) continue;
      auto shares = question_.limit.shares(nodes_.profiles[profile], 1);
      if (shares.empty()) continue;
      sort_of[profile] = sorts.add(nodes_.profiles[profile], std::move(shares), counts[profile]);
    }
    const auto packing = sorts.pack(question_.count, question_.pods);
    if (!packing) return std::nullopt;
    const std::int64_t left_over = packing->room + fixed_room_ - question_.pods;
    if (best != nullptr &&
        std::tie(packing->broken, left_over) > std::tie(best->broken, best->left_over)) {
      return std::nullopt;
    }
    NodeChoice choice;
    for (std::size_t i = 0; i < question_.fixed->size(); ++i)
      choice.shares.push_back({(*question_.fixed)[i], packing->by_sort[i].shares.front()});
    members_ = question_.tree->members(*question_.domain);
    std::vector<std::size_t> given(packing->by_sort.size(), 0);
    for (const std::uint32_t position : members_) {
      if (choice.shares.size() == static_cast<std::size_t>(question_.count)) break;
      if (nodes_.nodes[position].fixed > 0) continue;
      const std::size_t sort = sort_of[nodes_.profile_of(position)];
      if (sort == kNone || given[sort] == packing->by_sort[sort].shares.size()) continue;
      choice.shares.push_back({position, packing->by_sort[sort].shares[given[sort]++]});
    }
    finish(choice, *packing);
    return choice;
  }

  void group_by_kind() {
    std::vector<std::size_t> places(nodes_.kinds.size(), SIZE_MAX);
    std::map<std::uint32_t, Offer> offers;
    for (const std::uint32_t position : members_) {
      if (nodes_.nodes[position].fixed > 0) continue;
      const std::uint32_t kind = nodes_.nodes[position].kind;
      if (places[kind] == SIZE_MAX) {
        places[kind] = alike_.size();
        alike_.push_back({kind, {}, {}});
        ShareTable& table = *nodes_.kinds[kind].table;
        for (const std::int32_t share :
             question_.limit.shares(nodes_.profiles[nodes_.kinds[kind].profile], 1)) {
          alike_.back().shares.emplace_back(share, question_.tables->gpus(table, share));
        }
      }
      alike_[places[kind]].nodes.push_back(position);
    }
    for (const Alike& alike : alike_) {
      for (const auto& [share, gpus] : alike.shares) {
        Offer& offer = offers[gpus];
        offer.share = std::max(offer.share, share);
        offer.nodes += static_cast<std::int64_t>(alike.nodes.size());
      }
    }
    for (const std::uint32_t position : *question_.fixed) {
      for (const std::int32_t share : fixed_shares(position, nullptr)) {
        Offer& offer = offers[gpus_of(position, share)];
        offer.share = std::max(offer.share, share);
        ++offer.nodes;
      }
    }
    for (const auto& [gpus, offer] : offers) {
      sets_.push_back(gpus);
      offers_.push_back(offer);
    }
  }

  std::vector<std::int32_t> fixed_shares(std::uint32_t position, const GpuSets* sets) {
    auto shares = question_.limit.shares(nodes_.profile(nodes_.nodes[position]), 0);
    std::erase_if(shares, [&](std::int32_t share) {
      return sets != nullptr &&
             !std::binary_search(sets->begin(), sets->end(), gpus_of(position, share));
    });
    return shares;
  }

  std::optional<NodeChoice> pack_with(const GpuSets& sets) {
    looks_ += static_cast<std::int64_t>(alike_.size() + question_.fixed->size());
    NodeSorts sorts;
    for (const std::uint32_t position : *question_.fixed)
      sorts.add_fixed(fixed_shares(position, &sets));
    std::map<std::size_t, std::vector<std::uint32_t>> nodes_of;
    for (const Alike& alike : alike_) {
      std::vector<std::int32_t> shares;
      for (const auto& [share, gpus] : alike.shares) {
        if (std::binary_search(sets.begin(), sets.end(), gpus)) shares.push_back(share);
      }
      if (shares.empty()) continue;
      const auto count = static_cast<std::uint32_t>(alike.nodes.size());
      auto& nodes = nodes_of[sorts.add(nodes_.profiles[nodes_.kinds[alike.kind].profile],
                                       std::move(shares), count)];
      nodes.insert(nodes.end(), alike.nodes.begin(), alike.nodes.end());
    }
    const auto packing = sorts.pack(question_.count, question_.pods);
    if (!packing) return std::nullopt;
    NodeChoice choice;
    for (std::size_t i = 0; i < question_.fixed->size(); ++i)
      choice.shares.push_back({(*question_.fixed)[i], packing->by_sort[i].shares.front()});
    for (auto& [sort, nodes] : nodes_of) {
      std::sort(nodes.begin(), nodes.end());
      const auto& shares = packing->by_sort[sort].shares;
      for (std::size_t i = 0; i < shares.size(); ++i)
        choice.shares.push_back({nodes[i], shares[i]});
    }
    finish(choice, *packing);
    return choice;
  }

  static bool costs_the_same(const NodeChoice& a, const NodeChoice& b) {
    return a.broken == b.broken && a.left_over == b.left_over;
  }

  // Whether nodes enough offer one of these sets, and together take all pods.
  [[nodiscard]] bool could_do(const std::vector<std::size_t>& chosen) const {
    std::int64_t nodes = 0;
    std::int64_t pods = 0;
    std::int32_t most = 0;
    for (const std::size_t each : chosen) {
      nodes += offers_[each].nodes;
      pods += offers_[each].nodes * offers_[each].share;
      most = std::max(most, offers_[each].share);
    }
    return nodes >= question_.count && pods >= question_.pods &&
           std::int64_t{most} * question_.count >= question_.pods;
  }

  // The first combination of that many sets with which the choice costs no more than `best`.
  std::optional<NodeChoice> with_so_many_sets(std::int64_t size, const NodeChoice& best) {
    if (static_cast<std::int64_t>(sets_.size()) < size) return std::nullopt;
    std::vector<std::size_t> chosen(static_cast<std::size_t>(size));
    for (std::size_t i = 0; i < chosen.size(); ++i)
      chosen[i] = i;
    GpuSets sets(chosen.size());
    while (!is_cut()) {
      ++combinations_;
      if (could_do(chosen)) {
        for (std::size_t i = 0; i < chosen.size(); ++i)
          sets[i] = sets_[chosen[i]];
        auto choice = pack_with(sets);
        if (choice && costs_the_same(*choice, best)) return choice;
      }
      std::size_t i = chosen.size();
      while (i > 0 && chosen[i - 1] == sets_.size() - chosen.size() + i - 1)
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
      used.insert(gpus_of(share.node, share.pods));
    GpuSets sets(used.begin(), used.end());
    looks_ = 0;
    for (std::size_t i = 0; i < sets.size() && looks_ <= kMostLooks;) {
      GpuSets fewer = sets;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      auto choice = pack_with(fewer);
      if (choice && costs_the_same(*choice, best)) {
        best = std::move(*choice);
        sets = std::move(fewer);
      } else {
        ++i;
      }
    }
    return best;
  }

  const ChoiceQuestion& question_;
  const PlanNodes& nodes_;
  std::int64_t fixed_room_ = 0;
  std::vector<std::uint32_t> members_;  // of the domain, ascending
  std::vector<Alike> alike_;            // by first node
  GpuSets sets_;                        // that some allowed share takes
  std::vector<Offer> offers_;           // of each of them
  std::int64_t looks_ = 0;
  std::int64_t combinations_ = 0;
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

std::optional<NodeChoice> choose_nodes(const ChoiceQuestion& question, const NodeChoice* best) {
  return Chooser(question).choose(best);
}

}  // namespace rankward::placement
