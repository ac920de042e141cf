#include "share_knapsack.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <limits>
#include <numeric>
#include <utility>

namespace rankward::placement {

namespace {

constexpr std::int32_t kImpossible = std::numeric_limits<std::int32_t>::max();
// Of one sort either nearly all or nearly none are taken, unless equal ones stand beside it: so far
// from both ends is looked for the rest.
constexpr std::int32_t kWindow = 64;

struct Cost {
  std::int64_t broken = 0;
  std::int64_t room = 0;
  friend auto operator<=>(const Cost&, const Cost&) = default;
};

// After some of the sorts: so many nodes and pods, and how they came about.
struct State {
  std::int32_t nodes = 0;
  std::int32_t pods = 0;
  Cost cost;
  std::uint32_t before = 0;  // state of the sort before
  std::int32_t taken = 0;    // nodes of this sort
  std::int32_t below = 0;    // by how much their shares stay below the largest, in all
};

class Knapsack {
 public:
  Knapsack(const std::vector<NodeSort>& sorts, std::int32_t count, std::int32_t pods)
      : sorts_(sorts), count_(count), pods_(pods), order_(sorts.size()) {
    std::iota(order_.begin(), order_.end(), std::size_t{0});
    std::stable_sort(order_.begin(), order_.end(), [this](std::size_t a, std::size_t b) {
      const NodeSort& one = sorts_[a];
      const NodeSort& other = sorts_[b];
      if (one.must != other.must) return one.must;
      if (one.shares.back() != other.shares.back()) return one.shares.back() > other.shares.back();
      return cost_at_most(one) < cost_at_most(other);
    });
    // How many nodes come before each place in the order, and how many pods they take at most.
    nodes_before_.assign(order_.size() + 1, 0);
    pods_before_.assign(order_.size() + 1, 0);
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const NodeSort& sort = sorts_[order_[i]];
      nodes_before_[i + 1] = nodes_before_[i] + sort.count;
      pods_before_[i + 1] = pods_before_[i] + std::int64_t{sort.count} * sort.shares.back();
    }
  }

  std::optional<Packing> run() {
    std::vector<std::vector<State>> layers(1, {State{}});
    for (std::size_t place = 0; place < order_.size(); ++place) {
      layers.push_back(add(layers.back(), place));
      if (layers.back().empty()) return std::nullopt;
    }
    const auto done = std::find_if(
        layers.back().begin(), layers.back().end(),
        [this](const State& state) { return state.nodes == count_ && state.pods == pods_; });
    if (done == layers.back().end()) return std::nullopt;
    return unwind(layers, *done);
  }

 private:
  static Cost cost_at_most(const NodeSort& sort) {
    return {sort.whole_free && sort.shares.back() != sort.full ? 1 : 0, sort.room};
  }

  // The most that so many nodes from this place of the order on can take; -1: there are fewer.
  [[nodiscard]] std::int64_t at_most(std::size_t place, std::int64_t nodes) const {
    const std::int64_t until = nodes_before_[place] + nodes;
    if (until > nodes_before_.back()) return -1;
    const auto after = std::lower_bound(nodes_before_.begin() + static_cast<std::ptrdiff_t>(place),
                                        nodes_before_.end(), until);
    const auto end = static_cast<std::size_t>(after - nodes_before_.begin());
    std::int64_t pods = pods_before_[end] - pods_before_[place];
    if (end > 0 && nodes_before_[end] > until) {
      pods -= (nodes_before_[end] - until) * sorts_[order_[end - 1]].shares.back();
    }
    return pods;
  }

  // How few nodes of the sort have to stay below their largest share to leave out so many pods
  // together.
  static std::vector<std::int32_t> fewest_below(const NodeSort& sort, std::int32_t most) {
    std::vector<std::int32_t> fewest(static_cast<std::size_t>(most) + 1, kImpossible);
    fewest[0] = 0;
    for (std::int32_t below = 1; below <= most; ++below) {
      for (const std::int32_t share : sort.shares) {
        const std::int32_t step = sort.shares.back() - share;
        if (step == 0 || step > below) continue;
        const std::int32_t rest = fewest[static_cast<std::size_t>(below - step)];
        if (rest != kImpossible) {
          auto& best = fewest[static_cast<std::size_t>(below)];
          best = std::min(best, rest + 1);
        }
      }
    }
    return fewest;
  }

  [[nodiscard]] std::vector<State> add(const std::vector<State>& states, std::size_t place) const {
    const NodeSort& sort = sorts_[order_[place]];
    const std::int32_t share = sort.shares.back();
    std::int64_t most_below = 0;
    for (const State& state : states) {
      const std::int64_t most = state.pods + at_most(place, count_ - state.nodes);
      most_below = std::max(most_below, most - pods_);
    }
    most_below = std::min<std::int64_t>(most_below, std::int64_t{sort.count} * share);
    const auto fewest = fewest_below(sort, static_cast<std::int32_t>(most_below));

    std::vector<State> next;
    boost::unordered_flat_map<std::uint64_t, std::uint32_t> places;
    for (std::uint32_t from = 0; from < states.size(); ++from) {
      const State& state = states[from];
      const std::int32_t most = std::min(sort.count, count_ - state.nodes);
      for (std::int32_t taken = sort.must ? sort.count : 0; taken <= most; ++taken) {
        if (taken == kWindow && most > 2 * kWindow && !sort.must) taken = most - kWindow;
        const std::int64_t rest = at_most(place + 1, count_ - state.nodes - taken);
        if (rest < 0) continue;
        const std::int64_t pods = state.pods + std::int64_t{taken} * share;
        for (std::int32_t below = 0; pods + rest - below >= pods_; ++below) {
          if (static_cast<std::size_t>(below) >= fewest.size()) break;
          const std::int32_t partly = fewest[static_cast<std::size_t>(below)];
          if (partly > taken || pods - below > pods_) continue;
          State made{state.nodes + taken,
                     static_cast<std::int32_t>(pods - below),
                     state.cost,
                     from,
                     taken,
                     below};
          made.cost.room += sort.room * taken;
          if (sort.whole_free) made.cost.broken += share == sort.full ? partly : taken;
          keep_best(made, next, places);
        }
      }
    }
    return next;
  }

  static void keep_best(const State& made, std::vector<State>& states,
                        boost::unordered_flat_map<std::uint64_t, std::uint32_t>& places) {
    const std::uint64_t key =
        static_cast<std::uint64_t>(made.nodes) << 32 | static_cast<std::uint32_t>(made.pods);
    const auto [place, added] = places.try_emplace(key, static_cast<std::uint32_t>(states.size()));
    if (added) {
      states.push_back(made);
    } else if (made.cost < states[place->second].cost) {
      states[place->second] = made;
    }
  }

  static SortShares spell_out(const NodeSort& sort, std::int32_t taken, std::int32_t below) {
    SortShares result;
    const std::int32_t share = sort.shares.back();
    const auto fewest = fewest_below(sort, below);
    while (below > 0) {
      // Small steps first, so that shares stay even.
      for (auto each = sort.shares.rbegin(); each != sort.shares.rend(); ++each) {
        const std::int32_t step = share - *each;
        if (step == 0 || step > below) continue;
        if (fewest[static_cast<std::size_t>(below - step)] !=
            fewest[static_cast<std::size_t>(below)] - 1) {
          continue;
        }
        result.shares.push_back(*each);
        below -= step;
        break;
      }
    }
    result.shares.resize(static_cast<std::size_t>(taken), share);
    std::sort(result.shares.rbegin(), result.shares.rend());
    return result;
  }

  [[nodiscard]] Packing unwind(const std::vector<std::vector<State>>& layers,
                               const State& done) const {
    Packing packing{done.cost.broken, done.cost.room, std::vector<SortShares>(sorts_.size())};
    const State* state = &done;
    for (std::size_t place = order_.size(); place-- > 0;) {
      const std::size_t sort = order_[place];
      packing.by_sort[sort] = spell_out(sorts_[sort], state->taken, state->below);
      state = &layers[place][state->before];
    }
    return packing;
  }

  const std::vector<NodeSort>& sorts_;
  std::int32_t count_;
  std::int32_t pods_;
  std::vector<std::size_t> order_;
  std::vector<std::int64_t> nodes_before_;
  std::vector<std::int64_t> pods_before_;
};

}  // namespace

std::optional<Packing> pack(const std::vector<NodeSort>& sorts, std::int32_t count,
                            std::int32_t pods) {
  return Knapsack(sorts, count, pods).run();
}

}  // namespace rankward::placement
