#include "nominations.hpp"

#include <algorithm>
#include <map>

namespace rankward::cluster {
namespace {

using placement::Instant;

// The slots of one part that no pod stands on.
class OpenSlots {
 public:
  explicit OpenSlots(const placement::ReservedPart& part) : part_(part) {
    for (std::size_t i = 0; i < part.slots.size(); ++i) {
      const auto& slot = part.slots[i];
      taken_.push_back(slot.bound);
      if (!slot.bound && !slot.uid.empty()) by_uid_.emplace(slot.uid, i);
    }
  }

  std::string take_own(const std::string& uid) {
    const auto own = by_uid_.find(uid);
    return own == by_uid_.end() ? std::string() : take(own->second);
  }
  std::string take_rank(std::optional<std::int32_t> rank) {
    if (!rank || *rank < 0 || static_cast<std::size_t>(*rank) >= taken_.size()) return {};
    // Also one that was given to an earlier try of that rank, whose pod is not here any more.
    return take(static_cast<std::size_t>(*rank));
  }
  std::string take_on(const std::string& node) {
    if (node.empty()) return {};
    for (std::size_t i = 0; i < taken_.size(); ++i) {
      if (is_free(i) && part_.slots[i].node == node) return take(i);
    }
    return {};
  }
  std::string take_next() {
    while (next_ < taken_.size() && !is_free(next_))
      ++next_;
    return next_ < taken_.size() ? take(next_) : std::string();
  }

 private:
  [[nodiscard]] bool is_free(std::size_t i) const {
    return !taken_[i] && part_.slots[i].uid.empty();
  }
  std::string take(std::size_t i) {
    if (taken_[i]) return {};
    taken_[i] = true;
    return part_.slots[i].node;
  }

  const placement::ReservedPart& part_;
  std::vector<bool> taken_;
  std::map<std::string, std::size_t> by_uid_;
  std::size_t next_ = 0;
};

}  // namespace

std::vector<std::string> nodes_of_members(const placement::GangState& gang,
                                          const placement::Reservation& reservation) {
  std::map<std::string, OpenSlots, std::less<>> parts;
  for (const auto& part : reservation.parts)
    parts.emplace(part.role, OpenSlots(part));
  std::vector<std::string> out(gang.pending.size());
  // Each round gives to those that the rounds before have left without.
  const auto round = [&](const auto& take) {
    for (std::size_t i = 0; i < gang.pending.size(); ++i) {
      const auto& member = gang.pending[i];
      if (!out[i].empty() || member.deleting) continue;
      const auto part = parts.find(member.role());
      if (part != parts.end()) out[i] = take(part->second, member);
    }
  };
  using Member = placement::PendingMember;
  round([](OpenSlots& open, const Member& member) { return open.take_own(member.uid); });
  round([](OpenSlots& open, const Member& member) { return open.take_rank(member.rank()); });
  round([](OpenSlots& open, const Member& member) { return open.take_on(member.nominated_node); });
  round([](OpenSlots& open, const Member&) { return open.take_next(); });
  return out;
}

Nominations::Decision Nominations::decide(const placement::PendingMember& member,
                                          const std::string& wanted, Instant now) {
  const std::string& shown = member.nominated_node;
  auto found = pods_.find(member.uid);
  if (found == pods_.end()) {
    if (shown.empty() && wanted.empty()) return {};
    found = pods_.emplace(member.uid, Entry()).first;
  }
  Entry& entry = found->second;
  entry.look = look_;
  if (shown == entry.ours) entry.echoed = true;
  // A value that equals the plan stands, whoever wrote it; whose it is is asked before it is
  // changed.
  if (!wanted.empty() && shown == wanted) {
    if (now.milliseconds > entry.written_at + timing_.calm) entry.wait = 0;
    return {};
  }
  const bool awaits_echo =
      entry.written_at != 0 && !entry.echoed && now.milliseconds < entry.written_at + timing_.echo;
  const std::string& stands = awaits_echo ? entry.ours : shown;
  if (stands == wanted) return {};
  if (now.milliseconds < entry.not_before) return {NominationStep::kWait, stands};
  if (stands.empty()) {
    if (entry.ours != wanted) return {NominationStep::kSet, stands};
    // It stood and is gone, since a failed attempt clears it; the plan still holds.
    if (entry.wait == 0) {
      entry.wait = timing_.least_renewal;
      entry.renew_at = now.milliseconds + entry.wait;
    }
    const bool due = now.milliseconds >= entry.renew_at;
    return {due ? NominationStep::kRenew : NominationStep::kWait, stands};
  }
  if (stands == entry.ours) {
    return {wanted.empty() ? NominationStep::kClear : NominationStep::kChange, stands};
  }
  if (entry.foreign == stands) return {NominationStep::kForeign, stands};
  return {NominationStep::kAsk, stands};
}

void Nominations::written(const std::string& uid, const std::string& node, Instant now) {
  Entry& entry = pods_[uid];
  entry.look = look_;
  if (entry.ours == node && !node.empty()) {
    entry.wait = std::min(timing_.longest_renewal, 2 * entry.wait);
    entry.renew_at = now.milliseconds + entry.wait;
  }
  entry.ours = node;
  entry.echoed = false;
  entry.written_at = now.milliseconds;
}

void Nominations::conflicted(const std::string& uid, Instant now) {
  Entry& entry = pods_[uid];
  entry.look = look_;
  entry.not_before = now.milliseconds + timing_.after_conflict;
}

void Nominations::answered(const std::string& uid, const std::string& value, bool ours) {
  Entry& entry = pods_[uid];
  entry.look = look_;
  if (ours) {
    entry.ours = value;
    entry.foreign.reset();
  } else {
    entry.foreign = value;
  }
}

void Nominations::end_look() {
  std::erase_if(pods_, [this](const auto& pair) { return pair.second.look != look_; });
}

}  // namespace rankward::cluster
