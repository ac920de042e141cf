#include "rankward/placement/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "class_of_ranks.hpp"
#include "domain_outlook.hpp"
#include "fabric_tier.hpp"
#include "predictor.hpp"
#include "rankward/placement/reservations.hpp"
#include "room_left.hpp"

namespace rankward::placement {

namespace {

constexpr int kBestScore = 10;

// What a candidate is compared by, in this order.
struct Place {
  std::uint32_t seconds = 0;  // number of the 2 % bucket
  std::uint32_t tier = 0;
  // 1: links not known, 2: node not known; then, one bit below each: by our own count it does not
  // hold the pod, and it takes a part of a node on which all devices are free.
  std::uint32_t doubts = 0;
  std::uint32_t entry = 0;
  std::int64_t left_over = 0;
};
constexpr std::uint32_t kBreaksWholeFree = 1;
constexpr std::uint32_t kNotCounted = 2;
constexpr std::uint32_t kLinksUnknown = 4;
constexpr std::uint32_t kNodeUnknown = 8;

// Fills in what the first device that the node counts says; all devices of one node move together.
void count_left_over(const Request& request, const NodeState& node, Place& place) {
  for (const DeviceRequest& device : request.devices) {
    if (device.kind == kube::DeviceKind::kFraction) continue;
    const DeviceAmount* has = node.device(device.resource);
    const std::int64_t free = has == nullptr ? 0 : has->free();
    if (free < device.count) place.doubts |= kNotCounted;
    place.left_over = std::max<std::int64_t>(0, free - device.count);
    if (place.left_over > 0 && has->used == 0) place.doubts |= kBreaksWholeFree;
    return;
  }
}

// Buckets start at the least seconds and at each value that is 2 % above the last start.
class Buckets {
 public:
  explicit Buckets(const std::vector<Ranked>& entries) {
    std::vector<double> seconds;
    double last = -1;
    for (const Ranked& entry : entries) {
      // Most nodes equal their neighbours.
      if (entry.prediction.seconds.value != last) seconds.push_back(entry.prediction.seconds.value);
      last = entry.prediction.seconds.value;
    }
    std::sort(seconds.begin(), seconds.end());
    for (const double value : seconds) {
      if (starts_.empty() || value > starts_.back() * kEqualSeconds) starts_.push_back(value);
    }
  }
  [[nodiscard]] std::uint32_t of(double seconds) const {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), seconds);
    return static_cast<std::uint32_t>(next - starts_.begin());
  }

 private:
  std::vector<double> starts_;
};

// round(10 * best / T): all that the scheduler can tell apart.
int score_of(double seconds, double best) {
  if (seconds <= best) return kBestScore;
  const double ratio = best / seconds;
  return std::clamp(static_cast<int>(std::lround(kBestScore * ratio)), 0, kBestScore);
}

class Ranker {
 public:
  Ranker(const Request& request, const Snapshot& snapshot, std::span<const Candidate> candidates,
         const Options& options)
      : request_(request),
        snapshot_(snapshot),
        candidates_(candidates),
        options_(options),
        predictor_(request, snapshot, options) {}

  std::vector<Ranked> rank(const std::vector<Verdict>& verdicts) {
    look_around(verdicts);
    entries_.reserve(candidates_.size());
    places_.reserve(candidates_.size());
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (verdicts[i].fits()) add(i);
    }
    const Buckets buckets(entries_);
    for (Place& place : places_) {
      place.seconds = (place.doubts & kNodeUnknown) != 0
                          ? UINT32_MAX
                          : buckets.of(entries_[place.entry].prediction.seconds.value);
    }
    std::sort(places_.begin(), places_.end(),
              [this](const Place& a, const Place& b) { return before(a, b); });
    score();
    std::vector<Ranked> ranked;
    ranked.reserve(places_.size());
    for (const Place& place : places_)
      ranked.push_back(std::move(entries_[place.entry]));
    return ranked;
  }

 private:
  [[nodiscard]] bool asks_for_nothing() const {
    return !request_.asks_for_devices() && !request_.gang;
  }

  // The rest of the gang has to find room too; with one rank missing there is no rest. Only nodes
  // that are no slower count as room: a leaf that has to be filled up with a slow one is no better
  // than two.
  void look_around(const std::vector<Verdict>& verdicts) {
    const auto missing = predictor_.gang().missing();
    if (!missing || *missing < 2) return;
    struct Alone {
      double seconds;  // were all ranks on such nodes under one leaf
      std::uint32_t candidate;
    };
    std::vector<Alone> alone;
    at_leaf_.resize(candidates_.size());
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (!verdicts[i].fits() || !candidates_[i].index) continue;
      at_leaf_[i] = predictor_.on(*candidates_[i].index, kLeafTier);
      alone.push_back({at_leaf_[i].seconds.value, i});
    }
    std::sort(alone.begin(), alone.end(), [](const Alone& a, const Alone& b) {
      return std::tie(a.seconds, a.candidate) < std::tie(b.seconds, b.candidate);
    });
    tiers_.assign(candidates_.size(), kLeafTier);
    DomainOutlook outlook(options_);
    for (auto begin = alone.begin(); begin != alone.end();) {
      const double bound = begin->seconds * kEqualSeconds;
      const auto end = std::find_if(begin, alone.end(),
                                    [bound](const Alone& each) { return each.seconds > bound; });
      for (auto each = begin; each != end; ++each) {
        const NodeState& node = node_of(each->candidate);
        outlook.add(node.topology->fabric,
                    std::min<std::int64_t>(*missing, hosts_pods(request_, node)));
      }
      for (auto each = begin; each != end; ++each) {
        const NodeState& node = node_of(each->candidate);
        tiers_[each->candidate] = std::max(predictor_.gang().tier_with(node),
                                           outlook.tier(node.topology->fabric, *missing));
      }
      begin = end;
    }
  }

  [[nodiscard]] const NodeState& node_of(std::uint32_t candidate) const {
    return snapshot_.node(*candidates_[candidate].index);
  }

  void add(std::uint32_t candidate) {
    Place place;
    place.entry = static_cast<std::uint32_t>(entries_.size());
    Ranked& entry = entries_.emplace_back();
    entry.candidate = candidate;
    const bool penalised = options_.unknown_topology != UnknownTopology::kAllow;
    const auto index = candidates_[candidate].index;
    if (!index) {
      entry.prediction = predictor_.on_unknown_node();
      if (penalised) place.doubts |= kNodeUnknown;
    } else {
      const NodeState& node = snapshot_.node(*index);
      entry.prediction = predict_on(candidate);
      if (penalised && !entry.prediction.topology_known) place.doubts |= kLinksUnknown;
      if (!asks_for_nothing()) {
        count_left_over(request_, node, place);
      } else if (has_accelerators(node)) {
        place.doubts |= kNotCounted;
      }
    }
    place.tier = entry.prediction.tier;
    places_.push_back(place);
  }

  [[nodiscard]] Prediction predict_on(std::uint32_t candidate) {
    const NodeIndex index = *candidates_[candidate].index;
    if (tiers_.empty()) return predictor_.on(index);
    Prediction& at_leaf = at_leaf_[candidate];
    if (tiers_[candidate] == kLeafTier || at_leaf.nodes == 1) return std::move(at_leaf);
    return predictor_.on(index, tiers_[candidate]);
  }

  // Nodes that nobody knows are last in order and never ahead by score.
  void score() {
    if (places_.empty()) return;
    // Whatever else is put first within 2 %, the best score is that of the least seconds.
    const std::uint32_t first_bucket = places_.front().seconds;
    double best = std::numeric_limits<double>::infinity();
    for (const Place& place : places_) {
      if (place.seconds != first_bucket) break;
      best = std::min(best, entries_[place.entry].prediction.seconds.value);
    }
    int least_known = kBestScore;
    for (const Place& place : places_) {
      Ranked& entry = entries_[place.entry];
      entry.score = score_of(entry.prediction.seconds.value, best);
      if (asks_for_nothing() && (place.doubts & kNotCounted) != 0) entry.score = 0;
      if ((place.doubts & kNodeUnknown) == 0) {
        least_known = std::min(least_known, entry.score);
      } else {
        entry.score = std::min(entry.score, least_known);
      }
    }
  }

  // Names last; nodes of a snapshot are numbered by name, which is cheaper to compare.
  [[nodiscard]] bool before(const Place& a, const Place& b) const {
    if (a.seconds != b.seconds) return a.seconds < b.seconds;
    if (a.tier != b.tier) return a.tier < b.tier;
    if (a.doubts != b.doubts) return a.doubts < b.doubts;
    if (a.left_over != b.left_over) return a.left_over < b.left_over;
    const Candidate& one = candidates_[entries_[a.entry].candidate];
    const Candidate& other = candidates_[entries_[b.entry].candidate];
    if (one.index && other.index) return *one.index < *other.index;
    return one.name < other.name;
  }

  const Request& request_;
  const Snapshot& snapshot_;
  std::span<const Candidate> candidates_;
  const Options& options_;
  Predictor predictor_;
  // By candidate; empty: no gang to look ahead for.
  std::vector<Prediction> at_leaf_;
  std::vector<std::uint32_t> tiers_;
  std::vector<Ranked> entries_;
  std::vector<Place> places_;
};

}  // namespace

Ranking rank(const Request& request, const kube::PodSpec& spec, const Snapshot& snapshot,
             std::span<const Candidate> candidates, const Options& options, Use use,
             const HeldPlaces* held) {
  Ranking ranking;
  ranking.verdicts.reserve(candidates.size());
  ClassOfRanks ranks(request, GangView(request, snapshot, options), snapshot);
  for (const Candidate& candidate : candidates) {
    if (!candidate.index) {
      ranking.verdicts.push_back(judge_unknown_node(options, use));
      continue;
    }
    const NodeState& node = snapshot.node(*candidate.index);
    Verdict& verdict = ranking.verdicts.emplace_back(judge(request, spec, node, options, use));
    if (verdict.fits() && held != nullptr &&
        is_taken_by_others(request, node, held->on(*candidate.index))) {
      verdict.reason = ReasonCode::kReservedForGang;
    }
    if (verdict.fits() && !ranks.admits(node)) verdict.reason = ReasonCode::kTransportMismatch;
  }
  ranking.fits = Ranker(request, snapshot, candidates, options).rank(ranking.verdicts);
  return ranking;
}

}  // namespace rankward::placement
