#include "rankward/placement/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "domain_outlook.hpp"
#include "predictor.hpp"

namespace rankward::placement {

namespace {

// placement.md, objective (2): differences below are no reason to break other rules.
constexpr double kEqualSeconds = 1.02;
constexpr int kBestScore = 10;

// What a candidate is compared by, in this order.
struct Place {
  std::uint32_t seconds = 0;  // number of the 2 % bucket
  std::uint32_t tier = 0;
  std::uint8_t unknown = 0;        // 1: links not known, 2: node not known
  bool not_counted = false;        // by our own count it does not hold the pod
  bool breaks_whole_free = false;  // takes a part of a node on which all devices are free
  std::int64_t left_over = 0;

  [[nodiscard]] auto key() const {
    return std::tie(seconds, tier, unknown, not_counted, breaks_whole_free, left_over);
  }
};

struct Entry {
  Ranked ranked;
  Place place;
};

// Fills in what the first device that the node counts says; all devices of one node move together.
void count_left_over(const Request& request, const NodeState& node, Place& place) {
  for (const DeviceRequest& device : request.devices) {
    if (device.kind == kube::DeviceKind::kFraction) continue;
    const std::int64_t free = node.free(device.resource).value_or(0);
    place.not_counted = free < device.count;
    place.left_over = std::max<std::int64_t>(0, free - device.count);
    place.breaks_whole_free =
        place.left_over > 0 && node.used.find(device.resource) == node.used.end();
    return;
  }
}

void number_buckets(std::vector<Entry>& entries) {
  std::vector<double> seconds;
  seconds.reserve(entries.size());
  for (const Entry& entry : entries)
    seconds.push_back(entry.ranked.prediction.seconds.value);
  std::sort(seconds.begin(), seconds.end());
  seconds.erase(std::unique(seconds.begin(), seconds.end()), seconds.end());
  std::vector<double> starts;
  for (const double value : seconds) {
    if (starts.empty() || value > starts.back() * kEqualSeconds) starts.push_back(value);
  }
  for (Entry& entry : entries) {
    const auto next =
        std::upper_bound(starts.begin(), starts.end(), entry.ranked.prediction.seconds.value);
    entry.place.seconds = static_cast<std::uint32_t>(next - starts.begin());
  }
}

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
    for (std::uint32_t i = 0; i < candidates_.size(); ++i) {
      if (verdicts[i].fits()) add(i);
    }
    number_buckets(entries_);
    put_unknown_nodes_last();
    std::vector<std::uint32_t> order(entries_.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(), [this](std::uint32_t a, std::uint32_t b) {
      return before(entries_[a], entries_[b]);
    });
    return scored(order);
  }

 private:
  [[nodiscard]] bool asks_for_nothing() const {
    return !request_.asks_for_devices() && !request_.gang;
  }

  // The rest of the gang has to find room too; with one rank missing there is no rest.
  void look_around(const std::vector<Verdict>& verdicts) {
    const auto missing = predictor_.gang().missing();
    if (!missing || *missing < 2) return;
    missing_ = *missing;
    outlook_.emplace(options_);
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (!verdicts[i].fits() || !candidates_[i].index) continue;
      const NodeState& node = snapshot_.node(*candidates_[i].index);
      outlook_->add(node.topology->fabric, std::min(missing_, hosts_pods(request_, node)));
    }
  }

  void add(std::uint32_t candidate) {
    Entry entry;
    entry.ranked.candidate = candidate;
    const auto index = candidates_[candidate].index;
    if (!index) {
      entry.ranked.prediction = predictor_.on_unknown_node();
      if (options_.unknown_topology != UnknownTopology::kAllow) entry.place.unknown = 2;
    } else {
      const NodeState& node = snapshot_.node(*index);
      entry.ranked.prediction = predictor_.on(*index, tier_of(node));
      if (!entry.ranked.prediction.topology_known &&
          options_.unknown_topology != UnknownTopology::kAllow) {
        entry.place.unknown = 1;
      }
      if (asks_for_nothing()) {
        entry.place.not_counted = has_accelerators(node);
      } else {
        count_left_over(request_, node, entry.place);
      }
    }
    entry.place.tier = entry.ranked.prediction.tier;
    entries_.push_back(std::move(entry));
  }

  [[nodiscard]] std::optional<std::uint32_t> tier_of(const NodeState& node) const {
    if (!outlook_) return std::nullopt;
    return std::max(predictor_.gang().tier_with(node),
                    outlook_->tier(node.topology->fabric, missing_));
  }

  void put_unknown_nodes_last() {
    for (Entry& entry : entries_) {
      if (entry.place.unknown == 2) entry.place.seconds = UINT32_MAX;
    }
  }

  // Names last; nodes of a snapshot are numbered by name, which is cheaper to compare.
  [[nodiscard]] bool before(const Entry& a, const Entry& b) const {
    if (a.place.key() != b.place.key()) return a.place.key() < b.place.key();
    const Candidate& one = candidates_[a.ranked.candidate];
    const Candidate& other = candidates_[b.ranked.candidate];
    if (one.index && other.index) return *one.index < *other.index;
    return one.name < other.name;
  }

  [[nodiscard]] std::vector<Ranked> scored(const std::vector<std::uint32_t>& order) {
    double best = std::numeric_limits<double>::infinity();
    for (const Entry& entry : entries_)
      best = std::min(best, entry.ranked.prediction.seconds.value);
    std::vector<Ranked> ranked;
    ranked.reserve(order.size());
    for (const std::uint32_t i : order) {
      Entry& entry = entries_[i];
      entry.ranked.score = score_of(entry.ranked.prediction.seconds.value, best);
      if (asks_for_nothing() && entry.place.not_counted) entry.ranked.score = 0;
      ranked.push_back(std::move(entry.ranked));
    }
    return ranked;
  }

  const Request& request_;
  const Snapshot& snapshot_;
  std::span<const Candidate> candidates_;
  const Options& options_;
  Predictor predictor_;
  std::optional<DomainOutlook> outlook_;
  std::int64_t missing_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace

Ranking rank(const Request& request, const kube::PodSpec& spec, const Snapshot& snapshot,
             std::span<const Candidate> candidates, const Options& options, Use use) {
  Ranking ranking;
  ranking.verdicts.reserve(candidates.size());
  for (const Candidate& candidate : candidates) {
    ranking.verdicts.push_back(
        candidate.index ? judge(request, spec, snapshot.node(*candidate.index), options, use)
                        : judge_unknown_node(options, use));
  }
  ranking.fits = Ranker(request, snapshot, candidates, options).rank(ranking.verdicts);
  return ranking;
}

}  // namespace rankward::placement
