#include "rankward/placement/reservations.hpp"

#include <algorithm>
#include <set>
#include <utility>

namespace rankward::placement {

namespace {

// A pod of the gang that the watch shows on a node.
struct Standing {
  std::string_view uid;
  std::string_view node;
  std::string_view role;
};

std::vector<Standing> standing_pods(const Snapshot& snapshot, std::string_view gang_key) {
  std::vector<Standing> pods;
  const NodeIndex* last = nullptr;
  for (const NodeIndex& index : snapshot.bound_members(gang_key)) {
    if (last != nullptr && *last == index) continue;
    last = &index;
    const NodeState& node = snapshot.node(index);
    for (const Holder& holder : node.holders) {
      if (holder.gang_key != gang_key) continue;
      pods.push_back({holder.uid, node.node->metadata.name, holder.role});
    }
  }
  return pods;
}

std::set<std::string_view> pending_uids(const GangState* gang) {
  std::set<std::string_view> uids;
  if (gang == nullptr) return uids;
  for (const PendingMember& member : gang->pending) {
    if (!member.deleting) uids.insert(member.uid);
  }
  return uids;
}

Slot stood(const Standing& pod) {
  return {.node = std::string(pod.node),
          .uid = std::string(pod.uid),
          .asked = true,
          .seen = true,
          .bound = true};
}

class SlotMatcher {
 public:
  SlotMatcher(ReservedPart& part, const std::vector<Standing>& standing,
              const std::set<std::string_view>& pending)
      : part_(part), pending_(pending) {
    for (const Standing& pod : standing) {
      if (pod.role == part.role) standing_.push_back(pod);
    }
  }

  void run() {
    give_back();
    for (const Standing& pod : standing_)
      settle(pod);
  }

 private:
  [[nodiscard]] bool stands(std::string_view uid) const {
    return std::any_of(standing_.begin(), standing_.end(),
                       [uid](const Standing& pod) { return pod.uid == uid; });
  }

  // Whoever has a slot and is neither pending nor bound any more has ended; whoever the watch has
  // never shown may still come.
  void give_back() {
    for (Slot& slot : part_.slots) {
      if (slot.uid.empty()) continue;
      if (pending_.contains(slot.uid)) {
        slot.seen = true;
        slot.bound = false;
      } else if (slot.seen && !stands(slot.uid)) {
        slot = Slot{slot.node, {}, false, false, false};
      }
    }
  }

  Slot* find(auto&& wanted) {
    const auto found = std::find_if(part_.slots.begin(), part_.slots.end(), wanted);
    return found == part_.slots.end() ? nullptr : &*found;
  }

  // The scheduler had the last word on where the pod went: a slot of that node is its own, and who
  // had that slot gets the one that became free.
  void settle(const Standing& pod) {
    Slot* own = find([&](const Slot& slot) { return slot.uid == pod.uid; });
    if (own != nullptr && own->node == pod.node) {
      own->seen = own->bound = true;
      return;
    }
    const auto here = [&](const Slot& slot) { return !slot.bound && slot.node == pod.node; };
    Slot* place = find([&](const Slot& slot) { return here(slot) && slot.uid.empty(); });
    if (place == nullptr) place = find(here);
    if (place == nullptr) {
      // It stands off the plan: then its slot is where it stands.
      if (own != nullptr) *own = stood(pod);
      return;
    }
    if (own != nullptr) {
      std::swap(own->uid, place->uid);
      std::swap(own->asked, place->asked);
      std::swap(own->seen, place->seen);
      std::swap(own->rank, place->rank);
      own->bound = false;
    }
    *place = stood(pod);
  }

  ReservedPart& part_;
  const std::set<std::string_view>& pending_;
  std::vector<Standing> standing_;
};

bool is_over(const Reservation& reservation, Instant now, const ReservationLimits& limits) {
  return now.milliseconds - reservation.touched.milliseconds > limits.sliding_milliseconds ||
         now.milliseconds - reservation.made.milliseconds > limits.hard_milliseconds;
}

// What was not rebuilt is the same object in the next Snapshot.
bool is_unchanged(const Snapshot& last, const Snapshot& next, std::string_view gang_key) {
  return last.gang(gang_key) == next.gang(gang_key) &&
         &last.bound_members(gang_key) == &next.bound_members(gang_key);
}

bool same_slots(const Reservation& a, const Reservation& b) {
  const auto equal = [](const Slot& x, const Slot& y) {
    return x.node == y.node && x.uid == y.uid && x.asked == y.asked && x.seen == y.seen &&
           x.bound == y.bound;
  };
  for (std::size_t i = 0; i < a.parts.size(); ++i) {
    const auto& slots = a.parts[i].slots;
    if (!std::equal(slots.begin(), slots.end(), b.parts[i].slots.begin(), equal)) return false;
  }
  return a.seen == b.seen;
}

std::shared_ptr<const Reservation> matched(const std::shared_ptr<const Reservation>& reservation,
                                           const Snapshot& snapshot) {
  auto next = std::make_shared<Reservation>(*reservation);
  const GangState* gang = snapshot.gang(reservation->gang_key);
  const auto standing = standing_pods(snapshot, reservation->gang_key);
  const auto pending = pending_uids(gang);
  next->seen = next->seen || !pending.empty() || !standing.empty();
  for (ReservedPart& part : next->parts)
    SlotMatcher(part, standing, pending).run();
  if (same_slots(*reservation, *next)) return reservation;
  return next;
}

// Null: nothing is left to remember.
std::shared_ptr<const Unplanned> still_unplanned(const std::shared_ptr<const Unplanned>& unplanned,
                                                 const Snapshot& snapshot, Instant now,
                                                 const ReservationLimits& limits) {
  if (now.milliseconds - unplanned->touched.milliseconds > limits.sliding_milliseconds) {
    return nullptr;
  }
  if (unplanned->ranks.empty()) return unplanned;
  const auto standing = standing_pods(snapshot, unplanned->gang_key);
  const auto is_settled = [&](const LetGo& rank) {
    return now.milliseconds - rank.at.milliseconds > kUnseenRankMilliseconds ||
           std::any_of(standing.begin(), standing.end(),
                       [&](const Standing& pod) { return pod.uid == rank.uid; });
  };
  if (std::none_of(unplanned->ranks.begin(), unplanned->ranks.end(), is_settled)) return unplanned;
  auto next = std::make_shared<Unplanned>(*unplanned);
  std::erase_if(next->ranks, is_settled);
  return next;
}

bool is_gone(const Reservation& reservation, const Snapshot& snapshot) {
  return reservation.seen && snapshot.bound_members(reservation.gang_key).empty() &&
         pending_uids(snapshot.gang(reservation.gang_key)).empty();
}

}  // namespace

const ReservedPart* Reservation::part(std::string_view role) const {
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [role](const ReservedPart& part) { return part.role == role; });
  return found == parts.end() ? nullptr : &*found;
}

bool Reservation::whole() const {
  return std::all_of(parts.begin(), parts.end(), [](const ReservedPart& part) {
    return std::all_of(part.slots.begin(), part.slots.end(),
                       [](const Slot& slot) { return slot.bound; });
  });
}

const Reservation* Reservations::find(std::string_view gang_key) const {
  const auto found = map_.find(gang_key);
  return found == map_.end() ? nullptr : found->second.get();
}

const Unplanned* Reservations::find_unplanned(std::string_view gang_key) const {
  const auto found = unplanned_.find(gang_key);
  return found == unplanned_.end() ? nullptr : found->second.get();
}

Reservations Reservations::with(std::shared_ptr<const Unplanned> unplanned) const {
  Reservations next = *this;
  std::string key = unplanned->gang_key;
  next.unplanned_.insert_or_assign(std::move(key), std::move(unplanned));
  return next;
}

Reservations Reservations::with(std::shared_ptr<const Reservation> reservation) const {
  Reservations next = *this;
  std::string key = reservation->gang_key;
  next.map_.insert_or_assign(std::move(key), std::move(reservation));
  return next;
}

Reservations Reservations::without(std::string_view gang_key) const {
  Reservations next = *this;
  const auto found = next.map_.find(gang_key);
  if (found != next.map_.end()) next.map_.erase(found);
  return next;
}

HeldPlaces::HeldPlaces(const Reservations& reservations, const Snapshot& snapshot) {
  for (const auto& [key, reservation] : reservations.all()) {
    for (const ReservedPart& part : reservation->parts) {
      if (!part.request) continue;
      for (const Slot& slot : part.slots) {
        if (slot.bound) continue;
        const auto index = snapshot.find(slot.node);
        if (!index) continue;
        auto& here = by_node_[index->value];
        if (here.empty() || here.back().request != part.request.get()) {
          here.push_back({key, part.request.get(), 0});
        }
        ++here.back().pods;
      }
    }
  }
}

std::span<const Held> HeldPlaces::on(NodeIndex node) const {
  const auto found = by_node_.find(node.value);
  if (found == by_node_.end()) return {};
  return found->second;
}

std::int64_t held_by_others(std::span<const Held> held, std::string_view gang_key,
                            std::string_view resource) {
  std::int64_t sum = 0;
  for (const Held& each : held) {
    if (each.gang_key == gang_key) continue;
    std::int64_t one = 0;
    if (resource == "pods") {
      one = 1;
    } else if (const auto asked = each.request->resources.find(resource);
               asked != each.request->resources.end()) {
      one = asked->second.value();
    }
    std::int64_t all = 0;
    if (__builtin_mul_overflow(one, std::int64_t{each.pods}, &all) ||
        __builtin_add_overflow(sum, all, &sum)) {
      return INT64_MAX;
    }
  }
  return sum;
}

std::shared_ptr<const ClusterView> make_view(std::shared_ptr<const Snapshot> snapshot,
                                             std::shared_ptr<const Reservations> reservations) {
  auto view = std::make_shared<ClusterView>();
  view->snapshot = std::move(snapshot);
  view->reservations = std::move(reservations);
  if (!view->reservations->empty()) view->held = HeldPlaces(*view->reservations, *view->snapshot);
  return view;
}

std::shared_ptr<const ClusterView> advance(const ClusterView& view,
                                           std::shared_ptr<const Snapshot> snapshot, Instant now,
                                           const ReservationLimits& limits,
                                           std::vector<Ended>* ended) {
  Reservations::Map next = view.reservations->all();
  bool changed = false;
  for (const auto& [key, reservation] : view.reservations->all()) {
    auto current = reservation;
    if (!is_unchanged(*view.snapshot, *snapshot, key)) current = matched(reservation, *snapshot);
    const bool whole = current->whole();
    const bool gone = !whole && is_gone(*current, *snapshot);
    if (whole || gone || is_over(*current, now, limits)) {
      if (!whole && ended != nullptr) {
        ended->push_back({current, gone ? Ended::Why::kGangGone : Ended::Why::kExpired});
      }
      next.erase(key);
      changed = true;
    } else if (current != reservation) {
      next.insert_or_assign(key, std::move(current));
      changed = true;
    }
  }
  Reservations::UnplannedMap unplanned;
  for (const auto& [key, each] : view.reservations->all_unplanned()) {
    auto current = still_unplanned(each, *snapshot, now, limits);
    changed = changed || current != each;
    if (current) unplanned.emplace(key, std::move(current));
  }
  if (!changed) return make_view(std::move(snapshot), view.reservations);
  return make_view(std::move(snapshot), std::make_shared<const Reservations>(
                                            Reservations(std::move(next), std::move(unplanned))));
}

}  // namespace rankward::placement
