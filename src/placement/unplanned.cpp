#include "unplanned.hpp"

#include <algorithm>

#include "rankward/placement/gang_call.hpp"

namespace rankward::placement {

namespace {

std::shared_ptr<Unplanned> copied(const Unplanned* before, const std::string& gang_key,
                                  Instant now) {
  if (before == nullptr) return std::make_shared<Unplanned>(Unplanned{gang_key, now, now, {}});
  auto next = std::make_shared<Unplanned>(*before);
  next->touched = std::max(next->touched, now);
  return next;
}

}  // namespace

bool awaits_owner(const ClusterView& view, std::string_view gang_key, const kube::Pod& pod,
                  Instant now) {
  const GangState* gang = view.snapshot->gang(gang_key);
  if (gang != nullptr && !gang->facts.empty()) return false;
  const std::string_view kind = gang_kind(gang_key);
  if (!view.snapshot->hears_owners_of(kind)) return false;
  if (kind == kOwnGangKind && pod.metadata.controller() == nullptr) return false;
  const Unplanned* before = view.reservations->find_unplanned(gang_key);
  return before == nullptr ||
         now.milliseconds - before->since.milliseconds < kOwnerPatienceMilliseconds;
}

bool has_unseen_rank(const ClusterView& view, std::string_view gang_key, std::string_view uid,
                     Instant now) {
  const Unplanned* unplanned = view.reservations->find_unplanned(gang_key);
  if (unplanned == nullptr) return false;
  // Those that are seen bound are taken out with the Snapshot that shows them.
  return std::any_of(unplanned->ranks.begin(), unplanned->ranks.end(), [&](const LetGo& rank) {
    return rank.uid != uid && now.milliseconds - rank.at.milliseconds <= kUnseenRankMilliseconds;
  });
}

std::shared_ptr<const Unplanned> with_call(const Reservations& reservations,
                                           const std::string& gang_key, Instant now) {
  if (reservations.find_unplanned(gang_key) != nullptr) return nullptr;
  return copied(nullptr, gang_key, now);
}

std::shared_ptr<const Unplanned> with_rank_let_go(const Reservations& reservations,
                                                  const std::string& gang_key,
                                                  const std::string& uid, Instant now,
                                                  std::int64_t least_milliseconds) {
  const Unplanned* before = reservations.find_unplanned(gang_key);
  const auto is_it = [&](const LetGo& rank) { return rank.uid == uid; };
  if (before != nullptr) {
    const auto known = std::find_if(before->ranks.begin(), before->ranks.end(), is_it);
    if (known != before->ranks.end() &&
        now.milliseconds - known->at.milliseconds < least_milliseconds) {
      return nullptr;
    }
  }
  auto next = copied(before, gang_key, now);
  std::erase_if(next->ranks, is_it);
  next->ranks.push_back({uid, now});
  return next;
}

}  // namespace rankward::placement
