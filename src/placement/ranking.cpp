#include "rankward/placement/ranking.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cmath>
#include <limits>
#include <optional>
#include <tuple>
#include <utility>

#include "class_of_ranks.hpp"
#include "domain_outlook.hpp"
#include "fabric_tier.hpp"
#include "node_shape.hpp"
#include "predictor.hpp"
#include "rankward/placement/reservations.hpp"
#include "room_left.hpp"

namespace rankward::placement {

namespace {

constexpr int kBestScore = 10;

// What a candidate is compared by, in this order.
struct Place {
  // Number of the 2 % bucket, then the tier, then doubts: all that most are told apart by, in one
  // number. Doubts: 1: links not known, 2: node not known; then, one bit below each: by our own
  // count it does not hold the pod, and it takes a part of a node on which all devices are free.
  std::uint64_t key = 0;
  std::int64_t left_over = 0;
  std::uint32_t node = UINT32_MAX;  // its index; nothing known of it: the greatest
  std::uint32_t candidate = 0;
  const Prediction* prediction = nullptr;  // the Predictor's

  [[nodiscard]] std::uint32_t seconds() const { return static_cast<std::uint32_t>(key >> 32U); }
  [[nodiscard]] bool has(std::uint32_t doubt) const { return (key & doubt) != 0; }
  void set_seconds(std::uint32_t bucket) { key |= std::uint64_t{bucket} << 32U; }
  void set_tier(std::uint32_t tier) { key |= std::uint64_t{std::min(tier, 0xFFFFFFU)} << 8U; }
};
constexpr std::uint32_t kBreaksWholeFree = 1;
constexpr std::uint32_t kNotCounted = 2;
constexpr std::uint32_t kLinksUnknown = 4;
constexpr std::uint32_t kNodeUnknown = 8;

struct LeftOver {
  std::uint32_t doubts = 0;
  std::int64_t devices = 0;
};

// What the first device that the node counts says; all devices of one node move together.
LeftOver count_left_over(const Request& request, const NodeState& node) {
  LeftOver out;
  for (const DeviceRequest& device : request.devices) {
    if (device.kind == kube::DeviceKind::kFraction) continue;
    const DeviceAmount* has = node.device(device.resource);
    const std::int64_t free = has == nullptr ? 0 : has->free();
    if (free < device.count) out.doubts |= kNotCounted;
    out.devices = std::max<std::int64_t>(0, free - device.count);
    if (out.devices > 0 && has->used == 0) out.doubts |= kBreaksWholeFree;
    break;
  }
  return out;
}

// Buckets start at the least seconds and at each value that is 2 % above the last start.
class Buckets {
 public:
  explicit Buckets(const std::vector<Place>& places) {
    std::vector<double> seconds;
    const Prediction* last = nullptr;
    for (const Place& place : places) {
      // Most nodes equal their neighbours.
      if (place.prediction != last) seconds.push_back(place.prediction->seconds.value);
      last = place.prediction;
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
        asks_for_nothing_(!request.asks_for_devices() && !request.gang),
        predictor_(request, snapshot, options) {}

  void rank(std::size_t most, Ranking& ranking) {
    const auto& reasons = ranking.reasons;
    look_around(reasons);
    places_.reserve(candidates_.size());
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (!reasons[i]) add(i);
    }
    const Buckets buckets(places_);
    const Prediction* last = nullptr;
    std::uint32_t bucket = 0;
    for (Place& place : places_) {
      if (place.prediction != last) bucket = buckets.of(place.prediction->seconds.value);
      last = place.prediction;
      place.set_seconds(place.has(kNodeUnknown) ? UINT32_MAX : bucket);
    }
    ranking.fitting = places_.size();
    const auto order = [this](const Place& a, const Place& b) { return before(a, b); };
    const Scale scale = scale_of_scores();
    if (most < places_.size()) {
      const auto end = places_.begin() + static_cast<std::ptrdiff_t>(most);
      std::nth_element(places_.begin(), end, places_.end(), order);
      places_.resize(most);
    }
    std::sort(places_.begin(), places_.end(), order);
    ranking.fits.reserve(places_.size());
    for (const Place& place : places_)
      ranking.fits.push_back({place.candidate, *place.prediction, score_of(place, scale)});
  }

 private:
  // What scores are measured against.
  struct Scale {
    double best = std::numeric_limits<double>::infinity();  // seconds
    int least_known = kBestScore;
  };

  // The rest of the gang has to find room too; with one rank missing there is no rest. Only nodes
  // that are no slower count as room: a leaf that has to be filled up with a slow one is no better
  // than two.
  void look_around(const std::vector<std::optional<ReasonCode>>& reasons) {
    const auto missing = predictor_.gang().missing();
    if (!missing || *missing < 2) return;
    struct Alone {
      double seconds;  // were all ranks on such nodes under one leaf
      std::uint32_t candidate;
    };
    std::vector<Alone> alone;
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (reasons[i] || !candidates_[i].index) continue;
      alone.push_back({predictor_.on(*candidates_[i].index, kLeafTier).seconds.value, i});
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
    Place& place = places_.emplace_back();
    place.candidate = candidate;
    const bool penalised = options_.unknown_topology != UnknownTopology::kAllow;
    const auto index = candidates_[candidate].index;
    if (!index) {
      place.prediction = &predictor_.on_unknown_node();
      if (penalised) place.key |= kNodeUnknown;
    } else {
      place.node = index->value;
      place.prediction = &predict_on(candidate);
      if (penalised && !place.prediction->topology_known) place.key |= kLinksUnknown;
      if (!asks_for_nothing_) {
        const LeftOver& left = left_over_on(*index);
        place.key |= left.doubts;
        place.left_over = left.devices;
      } else if (has_accelerators(snapshot_.node(*index))) {
        place.key |= kNotCounted;
      }
    }
    place.set_tier(place.prediction->tier);
  }

  // A shape has the node's devices and what is used of them; its neighbours are mostly the same.
  [[nodiscard]] const LeftOver& left_over_on(NodeIndex index) {
    const NodeShape* shape = snapshot_.shape(index);
    if (shape != last_shape_) {
      last_shape_ = shape;
      const auto [entry, is_new] = left_over_.try_emplace(shape);
      if (is_new) entry->second = count_left_over(request_, snapshot_.node(index));
      last_left_over_ = entry->second;
    }
    return last_left_over_;
  }

  [[nodiscard]] const Prediction& predict_on(std::uint32_t candidate) {
    const NodeIndex index = *candidates_[candidate].index;
    if (tiers_.empty()) return predictor_.on(index);
    const Prediction& at_leaf = predictor_.on(index, kLeafTier);
    if (tiers_[candidate] == kLeafTier || at_leaf.nodes == 1) return at_leaf;
    return predictor_.on(index, tiers_[candidate]);
  }

  // Whatever else is put first within 2 %, the best score is that of the least seconds.
  [[nodiscard]] Scale scale_of_scores() const {
    Scale scale;
    std::uint32_t first_bucket = UINT32_MAX;
    for (const Place& place : places_)
      first_bucket = std::min(first_bucket, place.seconds());
    for (const Place& place : places_) {
      if (place.seconds() == first_bucket) {
        scale.best = std::min(scale.best, place.prediction->seconds.value);
      }
    }
    const Prediction* last = nullptr;
    for (const Place& place : places_) {
      if (place.has(kNodeUnknown)) continue;
      if (place.prediction == last && !asks_for_nothing_) continue;
      last = place.prediction;
      scale.least_known = std::min(scale.least_known, known_score(place, scale));
    }
    return scale;
  }

  [[nodiscard]] int known_score(const Place& place, const Scale& scale) const {
    if (asks_for_nothing_ && place.has(kNotCounted)) return 0;
    return placement::score_of(place.prediction->seconds.value, scale.best);
  }

  // Nodes that nobody knows are last in order and never ahead by score.
  [[nodiscard]] int score_of(const Place& place, const Scale& scale) const {
    const int score = known_score(place, scale);
    return !place.has(kNodeUnknown) ? score : std::min(score, scale.least_known);
  }

  // Names last; nodes of a snapshot are numbered by name, which is cheaper to compare.
  [[nodiscard]] bool before(const Place& a, const Place& b) const {
    if (a.key != b.key) return a.key < b.key;
    if (a.left_over != b.left_over) return a.left_over < b.left_over;
    if (a.node != UINT32_MAX && b.node != UINT32_MAX) return a.node < b.node;
    return candidates_[a.candidate].name < candidates_[b.candidate].name;
  }

  const Request& request_;
  const Snapshot& snapshot_;
  std::span<const Candidate> candidates_;
  const Options& options_;
  const bool asks_for_nothing_;
  Predictor predictor_;
  std::vector<std::uint32_t> tiers_;  // by candidate; empty: no gang to look ahead for
  std::vector<Place> places_;
  boost::unordered_flat_map<const NodeShape*, LeftOver> left_over_;
  const NodeShape* last_shape_ = nullptr;
  LeftOver last_left_over_;
};

// Why nodes are refused, whatever others hold on them. Where the shape of a node says all that is
// read, the first of its kind answers for the rest.
class Judge {
 public:
  Judge(const Request& request, const kube::PodSpec& spec, const Snapshot& snapshot,
        const Options& options)
      : request_(request),
        spec_(spec),
        snapshot_(snapshot),
        options_(options),
        ranks_(request, GangView(request, snapshot, options), snapshot) {}

  std::optional<ReasonCode> filter(NodeIndex index, bool taken_by_others) {
    const NodeShape* shape = snapshot_.shape(index);
    if (!shape_is_enough(request_, *shape)) {
      return answer(work_out(snapshot_.node(index)), taken_by_others);
    }
    if (shape != last_shape_) {
      const auto [entry, is_new] = known_.try_emplace(shape);
      if (is_new) entry->second = work_out(snapshot_.node(index));
      last_shape_ = shape;
      last_ = entry->second;
    }
    return answer(last_, taken_by_others);
  }

  Verdict explain(const NodeState& node, bool taken_by_others) {
    Verdict verdict = judge(request_, spec_, node, options_, Use::kExplain);
    if (verdict.fits() && taken_by_others) verdict.reason = ReasonCode::kReservedForGang;
    if (verdict.fits() && !ranks_.admits(node)) verdict.reason = ReasonCode::kTransportMismatch;
    return verdict;
  }

 private:
  struct Judged {
    std::optional<ReasonCode> reason;
    bool admitted = true;  // to the transport class of the gang's ranks
  };

  Judged work_out(const NodeState& node) {
    Judged judged;
    judged.reason = judge(request_, spec_, node, options_, Use::kFilter).reason;
    if (!judged.reason) judged.admitted = ranks_.admits(node);
    return judged;
  }
  static std::optional<ReasonCode> answer(const Judged& judged, bool taken_by_others) {
    if (judged.reason) return judged.reason;
    if (taken_by_others) return ReasonCode::kReservedForGang;
    if (!judged.admitted) return ReasonCode::kTransportMismatch;
    return std::nullopt;
  }

  const Request& request_;
  const kube::PodSpec& spec_;
  const Snapshot& snapshot_;
  const Options& options_;
  ClassOfRanks ranks_;
  boost::unordered_flat_map<const NodeShape*, Judged> known_;
  const NodeShape* last_shape_ = nullptr;
  Judged last_;
};

}  // namespace

Ranking rank(const Request& request, const kube::PodSpec& spec, const Snapshot& snapshot,
             std::span<const Candidate> candidates, const Options& options, Use use,
             const HeldPlaces* held, std::size_t most) {
  Ranking ranking;
  ranking.reasons.reserve(candidates.size());
  if (use == Use::kExplain) ranking.verdicts.reserve(candidates.size());
  if (held != nullptr && held->empty()) held = nullptr;
  Judge judge(request, spec, snapshot, options);
  for (const Candidate& candidate : candidates) {
    if (use == Use::kFilter && !candidate.index) {
      ranking.reasons.push_back(judge_unknown_node(options, use).reason);
      continue;
    }
    if (!candidate.index) {
      ranking.verdicts.push_back(judge_unknown_node(options, use));
      ranking.reasons.push_back(ranking.verdicts.back().reason);
      continue;
    }
    const NodeIndex index = *candidate.index;
    const bool taken =
        held != nullptr && is_taken_by_others(request, snapshot.node(index), held->on(index));
    if (use == Use::kFilter) {
      ranking.reasons.push_back(judge.filter(index, taken));
      continue;
    }
    ranking.verdicts.push_back(judge.explain(snapshot.node(index), taken));
    ranking.reasons.push_back(ranking.verdicts.back().reason);
  }
  Ranker(request, snapshot, candidates, options).rank(most, ranking);
  return ranking;
}

}  // namespace rankward::placement
