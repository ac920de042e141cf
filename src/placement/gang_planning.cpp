#include "gang_planning.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace rankward::placement {

namespace {

// Roles of one gang are told apart by the planner as if they were other gangs: what one of them
// takes is not free for the next.
std::string part_key(std::string_view gang_key, std::string_view role) {
  return std::string(gang_key) + "\n" + std::string(role);
}

bool can_be_used(const Snapshot& snapshot, const std::string& name) {
  const auto index = snapshot.find(name);
  if (!index) return false;
  const kube::Node& node = *snapshot.node(*index).node;
  return !node.unschedulable && node.ready != kube::Readiness::kNotReady;
}

Slot stood(std::string_view node, const Holder& holder) {
  return {.node = std::string(node), .uid = holder.uid, .asked = true, .seen = true, .bound = true};
}

// Slots of a part before its missing ranks are planned: what stands and what was given away.
std::vector<Slot> standing_slots(const Snapshot& snapshot, std::string_view gang_key,
                                 const PartNeed& need, const ReservedPart* old, bool keep_asked) {
  std::vector<Slot> slots(static_cast<std::size_t>(need.size));
  std::set<std::string_view> placed;
  // What was given to a pod that the scheduler may have bound without our having seen it.
  if (old != nullptr) {
    for (std::size_t i = 0; i < std::min(slots.size(), old->slots.size()); ++i) {
      const Slot& slot = old->slots[i];
      const bool kept =
          slot.bound || (keep_asked && slot.asked && can_be_used(snapshot, slot.node));
      if (!kept) continue;
      slots[i] = slot;
      placed.insert(slot.uid);
    }
  }
  std::vector<const Holder*> rest;
  std::map<const Holder*, std::string_view> node_of;
  const NodeIndex* last = nullptr;
  for (const NodeIndex& index : snapshot.bound_members(gang_key)) {
    if (last != nullptr && *last == index) continue;
    last = &index;
    const NodeState& node = snapshot.node(index);
    for (const Holder& holder : node.holders) {
      if (holder.gang_key != gang_key || holder.role != need.role || holder.gpus == 0 ||
          placed.contains(holder.uid)) {
        continue;
      }
      node_of[&holder] = node.node->metadata.name;
      const auto slot = static_cast<std::size_t>(holder.rank.value_or(-1));
      if (slot < slots.size() && slots[slot].uid.empty()) {
        slots[slot] = stood(node_of[&holder], holder);
      } else if (!holder.rank) {
        rest.push_back(&holder);
      }
    }
  }
  std::sort(rest.begin(), rest.end(),
            [](const Holder* a, const Holder* b) { return a->uid < b->uid; });
  for (const Holder* holder : rest) {
    const auto open =
        std::find_if(slots.begin(), slots.end(), [](const Slot& slot) { return slot.uid.empty(); });
    if (open == slots.end()) break;
    *open = stood(node_of[holder], *holder);
  }
  return slots;
}

bool is_open(const Slot& slot) {
  return slot.node.empty();
}

// Who had a slot before the plan was made anew keeps its number.
void keep_owners(const ReservedPart* old, std::vector<Slot>& slots) {
  if (old == nullptr) return;
  for (std::size_t i = 0; i < std::min(slots.size(), old->slots.size()); ++i) {
    if (!slots[i].uid.empty() || old->slots[i].bound) continue;
    slots[i].uid = old->slots[i].uid;
    slots[i].seen = old->slots[i].seen;
  }
}

PlanResult plan_part(const PartNeed& need, std::int32_t pods, const std::vector<NodeIndex>& fixed,
                     const PlanRoom& room, std::string_view required_topology,
                     const Snapshot& snapshot, const HeldPlaces& held, const Options& options) {
  PlanQuestion question;
  question.request = need.request.get();
  question.spec = need.spec.get();
  question.pods = pods;
  question.fixed = fixed;
  question.required_topology = required_topology;
  if (room.offered) {
    question.among = room.offered;
    question.use = Use::kFilter;
  }
  return make_plan(question, snapshot, held, options);
}

}  // namespace

namespace {

// One pass over the parts; `keep_asked`: slots whose pods were told of them stay.
Planned plan_parts(const ClusterView& view, std::string_view gang_key, const GangNeed& need,
                   const Reservation* old, bool keep_asked, const PlanRoom& room, Instant now,
                   const Options& options) {
  const Snapshot& snapshot = *view.snapshot;
  auto made = std::make_shared<Reservation>();
  made->gang_key = gang_key;
  made->made = old != nullptr ? old->made : now;
  made->touched = now;
  made->snapshot = snapshot.number();
  made->plan_number = (old != nullptr ? old->plan_number : 0) + 1;
  // Its owner alone is no pod: those may come with a later Snapshot, and are not gone.
  const GangState* gang = snapshot.gang(gang_key);
  made->seen =
      (gang != nullptr && !gang->pending.empty()) || !snapshot.bound_members(gang_key).empty();

  // Ranks that stay where they are, of all parts: they count in the collective.
  std::vector<NodeIndex> fixed;
  const auto fix = [&](const std::vector<Slot>& slots) {
    for (const Slot& slot : slots) {
      if (const auto index = snapshot.find(slot.node)) fixed.push_back(*index);
    }
  };
  for (const PartNeed& part : need.parts) {
    ReservedPart& reserved = made->parts.emplace_back();
    const ReservedPart* before = old == nullptr ? nullptr : old->part(part.role);
    reserved.role = part.role;
    reserved.request = part.request;
    if (before != nullptr && !reserved.request) reserved.request = before->request;
    reserved.slots = standing_slots(snapshot, gang_key, part, before, keep_asked);
    fix(reserved.slots);
  }

  // A role that no pod of the Snapshot has, though one was told its place.
  for (std::size_t i = 0; keep_asked && old != nullptr && i < old->parts.size(); ++i) {
    if (need.part(old->parts[i].role) != nullptr) continue;
    ReservedPart kept = old->parts[i];
    std::erase_if(kept.slots, [&](const Slot& slot) {
      return !slot.bound && !(slot.asked && can_be_used(snapshot, slot.node));
    });
    if (kept.slots.empty()) continue;
    fix(kept.slots);
    made->parts.push_back(std::move(kept));
  }

  Reservations others = view.reservations->without(gang_key);
  const auto take = [&](const ReservedPart& reserved) {
    auto taken = std::make_shared<Reservation>();
    taken->gang_key = part_key(gang_key, reserved.role);
    taken->parts.push_back(reserved);
    others = others.with(std::move(taken));
  };
  // What is kept without being bound is free in the Snapshot.
  for (ReservedPart& reserved : made->parts) {
    ReservedPart kept = reserved;
    std::erase_if(kept.slots, [](const Slot& slot) { return is_open(slot) || slot.bound; });
    if (!kept.slots.empty() && kept.request) take(kept);
  }
  Planned planned;
  for (std::size_t i = 0; i < need.parts.size(); ++i) {
    const PartNeed& part = need.parts[i];
    ReservedPart& reserved = made->parts[i];
    const auto open = static_cast<std::int32_t>(
        std::count_if(reserved.slots.begin(), reserved.slots.end(), is_open));
    if (open == 0 || !part.request) continue;
    PlanResult result = plan_part(part, open, fixed, room, need.required_topology, snapshot,
                                  HeldPlaces(others, snapshot), options);
    if (!result.found()) {
      planned.refusal = std::move(result.refusal);
      return planned;
    }
    auto next = result.plan->slots.begin();
    for (Slot& slot : reserved.slots) {
      if (is_open(slot)) slot.node = snapshot.node(*next++).node->metadata.name;
    }
    keep_owners(old == nullptr ? nullptr : old->part(part.role), reserved.slots);
    reserved.prediction = std::move(result.plan->prediction);
    if (i + 1 == need.parts.size()) break;
    fixed.insert(fixed.end(), result.plan->slots.begin(), result.plan->slots.end());
    take(reserved);
  }
  planned.reservation = std::move(made);
  return planned;
}

}  // namespace

Planned plan_need(const ClusterView& view, std::string_view gang_key, const GangNeed& need,
                  const Reservation* old, PlanRoom room, Instant now, const Options& options) {
  Planned planned = plan_parts(view, gang_key, need, old, true, room, now, options);
  if (!planned.reservation && old != nullptr) {
    planned = plan_parts(view, gang_key, need, old, false, room, now, options);
  }
  if (planned.reservation || view.reservations->without(gang_key).empty()) return planned;
  // Would it fit, were it not for places that others hold?
  const ClusterView alone{view.snapshot, std::make_shared<const Reservations>(), {}};
  if (plan_parts(alone, gang_key, need, nullptr, false, room, now, options).reservation) {
    planned.refusal.reason = ReasonCode::kReservedForGang;
  }
  return planned;
}

std::shared_ptr<const Reservation> adopt_nominations(const ClusterView& view,
                                                     std::string_view gang_key,
                                                     const GangNeed& need, Instant now,
                                                     const Options& options) {
  const Snapshot& snapshot = *view.snapshot;
  auto made = std::make_shared<Reservation>();
  made->gang_key = gang_key;
  made->made = made->touched = now;
  made->snapshot = snapshot.number();
  made->plan_number = 1;
  made->seen = true;
  for (const PartNeed& part : need.parts) {
    ReservedPart& reserved = made->parts.emplace_back();
    reserved.role = part.role;
    reserved.request = part.request;
    reserved.slots = standing_slots(snapshot, gang_key, part, nullptr, false);
    std::vector<NodeIndex> among;
    for (const PendingMember* member : part.pending) {
      const auto node = snapshot.find(member->nominated_node);
      if (!node) return nullptr;
      const auto rank = static_cast<std::size_t>(member->rank().value_or(-1));
      Slot* slot = rank < reserved.slots.size() && reserved.slots[rank].uid.empty()
                       ? &reserved.slots[rank]
                       : nullptr;
      for (std::size_t i = 0; slot == nullptr && i < reserved.slots.size(); ++i) {
        if (reserved.slots[i].uid.empty()) slot = &reserved.slots[i];
      }
      if (slot == nullptr) continue;
      *slot = {.node = member->nominated_node, .uid = member->uid, .seen = true};
      among.push_back(*node);
    }
    if (std::any_of(reserved.slots.begin(), reserved.slots.end(),
                    [](const Slot& slot) { return slot.uid.empty(); })) {
      return nullptr;
    }
    if (among.empty()) continue;
    // Whether they fit there together, and what they can expect.
    const auto pods = static_cast<std::int32_t>(among.size());
    std::sort(among.begin(), among.end());
    among.erase(std::unique(among.begin(), among.end()), among.end());
    const Reservations others = view.reservations->without(gang_key);
    PlanRoom room;
    room.offered = among;
    PlanResult result = plan_part(part, pods, part.bound, room, need.required_topology, snapshot,
                                  HeldPlaces(others, snapshot), options);
    if (!result.found()) return nullptr;
    reserved.prediction = std::move(result.plan->prediction);
  }
  if (!still_holds(*made, snapshot)) return nullptr;
  return made;
}

bool still_holds(const Reservation& reservation, const Snapshot& snapshot) {
  for (const ReservedPart& part : reservation.parts) {
    const std::string* last = nullptr;
    for (const Slot& slot : part.slots) {
      if (slot.bound || (last != nullptr && *last == slot.node)) continue;
      last = &slot.node;
      if (!can_be_used(snapshot, slot.node)) return false;
    }
  }
  return true;
}

}  // namespace rankward::placement
