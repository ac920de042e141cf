#include "waiting_pods.hpp"

#include <algorithm>

namespace rankward::cluster {
namespace {

static_assert(placement::kReasonCodes <= 64);

// As bits: what is wrong before the scheduler's matching begins.
std::uint64_t below_matching(const placement::WaitingOutlook& outlook) {
  std::uint64_t bits = 0;
  for (const auto& reason : outlook.reasons) {
    const auto stage = placement::reason(reason.code).stage;
    if (stage == placement::Stage::kHost || stage == placement::Stage::kAdvertise) {
      bits |= std::uint64_t{1} << static_cast<unsigned>(reason.code);
    }
  }
  return bits;
}

}  // namespace

void WaitingPods::follow(const placement::Snapshot& snapshot, placement::Instant now) {
  const auto& waiting = snapshot.waiting_pods();
  std::erase_if(turns_, [&](const auto& turn) { return !waiting.contains(turn.first); });
  for (const auto& [uid, pod] : waiting)
    turns_.try_emplace(uid, Turn{.at = now.milliseconds + timing_.grace});
}

bool WaitingPods::may_wake_for(const Turn& turn, placement::Instant now) {
  // From the sixth on they come no more often than the scheduler's own tries.
  const auto doublings = static_cast<unsigned>(std::clamp(turn.wakes - 1, 0, 5));
  const auto least = std::max(timing_.least_between_wakes,
                              timing_.a_pod * static_cast<std::int64_t>(turns_.size()));
  const auto wait = std::min(least << doublings, timing_.longest_wait);
  if (now.milliseconds < last_wake_ + wait) return false;
  last_wake_ = now.milliseconds;
  for (auto& [uid, each] : turns_) {
    if (each.had_room) ++each.wakes;
  }
  return true;
}

void WaitingPods::told(const Finding& finding) {
  const auto turn = turns_.find(finding.pod->uid);
  if (turn != turns_.end()) turn->second.told |= finding.news;
}

std::optional<WaitingPods::Finding> WaitingPods::look(
    const placement::ClusterView& view, placement::Instant now, const placement::Options& options,
    const std::function<bool(const kube::PodSpec&)>& served) {
  if (now.milliseconds < not_before_) return std::nullopt;
  not_before_ = now.milliseconds + timing_.pause;
  follow(*view.snapshot, now);
  const auto next =
      std::min_element(turns_.begin(), turns_.end(),
                       [](const auto& a, const auto& b) { return a.second.at < b.second.at; });
  if (next == turns_.end() || now.milliseconds < next->second.at) return std::nullopt;
  Turn& turn = next->second;
  turn.wait = std::clamp(2 * turn.wait, timing_.least_wait, timing_.longest_wait);
  turn.at = now.milliseconds + turn.wait;
  const auto& pod = view.snapshot->waiting_pods().find(next->first)->second;
  if (!served(*pod->spec)) return std::nullopt;
  Finding finding{pod, placement::outlook(view, *pod, options)};
  turn.had_room = finding.outlook.has_room;
  if (turn.had_room) {
    finding.shall_wake = may_wake_for(turn, now);
  } else {
    turn.wakes = 0;
    const auto wrong = below_matching(finding.outlook);
    if ((wrong & ~turn.told) != 0) finding.news = wrong;
    turn.told &= wrong;
  }
  return finding;
}

}  // namespace rankward::cluster
