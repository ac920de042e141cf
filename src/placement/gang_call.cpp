#include "rankward/placement/gang_call.hpp"

#include <algorithm>
#include <boost/unordered/unordered_flat_map.hpp>
#include <utility>

#include "gang_need.hpp"
#include "gang_planning.hpp"
#include "unplanned.hpp"

namespace rankward::placement {

namespace {

// A call of the gang slides its limit, but not more often than this: each slide is a publication.
constexpr std::int64_t kSlideMilliseconds = 1000;
constexpr int kOwnScore = 10;

constexpr const char* kAwaitsOwner =
    "the object that owns it, which tells how many pods it has, has not been seen yet";
constexpr const char* kAwaitsRank =
    "one of its pods was placed a moment ago, and on which node has not been seen yet";

struct Call {
  const ClusterView& view;
  const Request& request;
  const kube::Pod& pod;
  std::span<const std::string_view> names;
  Instant now;
  const Options& options;
  std::size_t most;

  [[nodiscard]] const std::string& gang_key() const { return request.gang->key; }
  [[nodiscard]] const std::string& role() const { return request.gang->role; }
  [[nodiscard]] bool native_group() const { return !pod.spec.pod_group_name.empty(); }
  // kube-scheduler looks at the nominated node by itself before all others.
  [[nodiscard]] bool only_nominated() const {
    return names.size() == 1 && names.front() == pod.status.nominated_node_name;
  }
};

std::vector<Candidate> candidates_of(const Call& call) {
  std::vector<Candidate> candidates;
  candidates.reserve(call.names.size());
  NodeIndex guess;
  for (const std::string_view name : call.names) {
    const auto index = call.view.snapshot->find(name, guess);
    if (index) guess.value = index->value + 1;
    candidates.push_back({name, index});
  }
  return candidates;
}

Ranking greedy(const Call& call) {
  return rank(call.request, call.pod.spec, *call.view.snapshot, candidates_of(call), call.options,
              Use::kFilter, &call.view.held, call.most);
}

bool is_open(const Slot& slot) {
  return !slot.bound && slot.uid.empty();
}

// The slot that is this pod's by what is known of it, or any open one where its rank is not known.
// Nothing: all are bound or given to others.
struct OwnSlot {
  std::optional<std::size_t> index;
  bool any_open = false;
};

OwnSlot own_slot(const Request& request, const ReservedPart& part) {
  const auto& slots = part.slots;
  const auto known = std::find_if(slots.begin(), slots.end(),
                                  [&](const Slot& slot) { return slot.uid == request.uid; });
  if (known != slots.end()) return {static_cast<std::size_t>(known - slots.begin()), false};
  const auto rank = request.gang->rank;
  if (rank && static_cast<std::size_t>(*rank) < slots.size()) {
    // The newest try of a rank takes the place of the last one; of another rank, that had to take
    // this place, it does not.
    const auto index = static_cast<std::size_t>(*rank);
    const Slot& slot = slots[index];
    if (slot.bound) return {};
    if (!slot.asked || slot.rank == rank) return {index, false};
  }
  return {std::nullopt, std::any_of(slots.begin(), slots.end(), is_open)};
}

// Where a few nodes stand among the names of a call.
class Offered {
 public:
  Offered(const Call& call, const ReservedPart& part, const std::vector<std::size_t>& wanted) {
    for (const std::size_t index : wanted)
      positions_.try_emplace(part.slots[index].node, kAbsent);
    std::size_t left = positions_.size();
    for (std::uint32_t i = 0; i < call.names.size() && left > 0; ++i) {
      const auto found = positions_.find(call.names[i]);
      if (found == positions_.end() || found->second != kAbsent) continue;
      found->second = i;
      --left;
    }
  }
  [[nodiscard]] std::optional<std::uint32_t> position(std::string_view name) const {
    const auto found = positions_.find(name);
    if (found == positions_.end() || found->second == kAbsent) return std::nullopt;
    return found->second;
  }

 private:
  static constexpr std::uint32_t kAbsent = UINT32_MAX;
  boost::unordered_flat_map<std::string_view, std::uint32_t> positions_;
};

// The place that a call is answered with.
struct Place {
  std::size_t slot = 0;
  std::uint32_t position = 0;  // of its node among the names
};

// The pod's own place, or, where that is not offered, another open one; of `most` slots at most.
// Never several: the scheduler would take one of them without our knowing which, and what the next
// rank is told before the watch shows it could be the same.
std::optional<Place> place_in(const Call& call, const ReservedPart& part, std::size_t most) {
  const OwnSlot own = own_slot(call.request, part);
  if (!own.index && !own.any_open) return std::nullopt;
  std::vector<std::size_t> wanted;
  if (own.index) wanted.push_back(*own.index);
  for (std::size_t i = 0; i < part.slots.size() && wanted.size() < most; ++i) {
    if (is_open(part.slots[i]) && own.index != i) wanted.push_back(i);
  }
  const Offered offered(call, part, wanted);
  for (const std::size_t index : wanted) {
    const std::string& name = part.slots[index].node;
    const auto position = offered.position(name);
    const auto node = position ? call.view.snapshot->find(name) : std::nullopt;
    if (node && judge(call.request, call.pod.spec, call.view.snapshot->node(*node), call.options,
                      Use::kFilter)
                    .fits()) {
      return Place{index, *position};
    }
  }
  return std::nullopt;
}

std::optional<Place> place_in(const Call& call, const ReservedPart& part) {
  // Most calls find their own place among these; a plan may have a thousand.
  constexpr std::size_t kFirstLook = 8;
  auto place = place_in(call, part, kFirstLook);
  if (!place && part.slots.size() > kFirstLook) place = place_in(call, part, part.slots.size());
  return place;
}

// The reservation with this pod in its slot and its limit slid; null where nothing changes.
std::shared_ptr<const Reservation> taken(const Call& call, const Reservation& reservation,
                                         std::size_t part_index, std::size_t slot_index) {
  const Slot& slot = reservation.parts[part_index].slots[slot_index];
  const bool same = slot.uid == call.request.uid && slot.asked;
  if (same && call.now.milliseconds - reservation.touched.milliseconds < kSlideMilliseconds) {
    return nullptr;
  }
  auto next = std::make_shared<Reservation>(reservation);
  next->touched = std::max(reservation.touched, call.now);
  auto& slots = next->parts[part_index].slots;
  Slot& changed = slots[slot_index];
  // A pod that has to take another place gives its own back.
  for (Slot& other : slots) {
    if (&other != &changed && !other.bound && other.uid == call.request.uid) {
      other = Slot{other.node, {}, false, false, false};
    }
  }
  if (changed.uid != call.request.uid) changed.seen = false;
  changed.uid = call.request.uid;
  changed.asked = true;
  changed.rank = call.request.gang->rank;
  return next;
}

// What stays of a greedy answer beside ranks that stand: of several nodes that are equally fast the
// scheduler, which sees scores alone, would take the one that is emptiest.
void keep_beside(const Call& call, Ranking& ranking) {
  if (ranking.fits.empty() || call.view.snapshot->bound_members(call.gang_key()).empty()) return;
  const Prediction& best = ranking.fits.front().prediction;
  const auto worse = [bound = best.seconds.value * kEqualSeconds,
                      tier = best.tier](const Ranked& each) {
    return each.prediction.seconds.value > bound || each.prediction.tier > tier;
  };
  std::erase_if(ranking.fits, worse);
  ranking.fitting = ranking.fits.size();
}

// Every node refused: for what is against it itself, else for what is against the gang.
Ranking refused(const Call& call, ReasonCode code) {
  Ranking ranking;
  ranking.reasons.reserve(call.names.size());
  for (const Candidate& candidate : candidates_of(call)) {
    const Verdict verdict = candidate.index ? judge(call.request, call.pod.spec,
                                                    call.view.snapshot->node(*candidate.index),
                                                    call.options, Use::kFilter)
                                            : judge_unknown_node(call.options, Use::kFilter);
    ranking.reasons.emplace_back(verdict.reason.value_or(code));
  }
  return ranking;
}

std::vector<NodeIndex> offered_nodes(const Call& call) {
  std::vector<NodeIndex> nodes;
  nodes.reserve(call.names.size());
  for (const std::string_view name : call.names) {
    if (const auto index = call.view.snapshot->find(name)) nodes.push_back(*index);
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

bool is_among(const Reservation& reservation, const ClusterView& view,
              const std::vector<NodeIndex>& nodes) {
  for (const ReservedPart& part : reservation.parts) {
    for (const Slot& slot : part.slots) {
      const auto index = slot.bound ? std::nullopt : view.snapshot->find(slot.node);
      if (index && std::binary_search(nodes.begin(), nodes.end(), *index)) return true;
    }
  }
  return false;
}

// What a call may plan over: the nodes offered; where too few of them were offered (the scheduler
// samples) also the others, by our own judgement of them. Calls of native groups offer one domain
// after the other and decide nothing: all nodes.
Planned plan_for(const Call& call, const GangNeed& need, const Reservation* old) {
  if (call.native_group() || call.only_nominated()) {
    return plan_need(call.view, call.gang_key(), need, old, {}, call.now, call.options);
  }
  // The scheduler has fitted this pod on what it offers, and not a rank that asks for more.
  const PartNeed* part = need.part(call.role());
  if (part != nullptr && part->request && part->request->gpus() > call.request.gpus()) {
    return plan_need(call.view, call.gang_key(), need, old, {}, call.now, call.options);
  }
  const auto nodes = offered_nodes(call);
  PlanRoom room;
  room.offered = nodes;
  Planned planned = plan_need(call.view, call.gang_key(), need, old, room, call.now, call.options);
  if (planned.reservation || nodes.size() >= call.view.snapshot->size()) return planned;
  Planned wider = plan_need(call.view, call.gang_key(), need, old, {}, call.now, call.options);
  if (wider.reservation && is_among(*wider.reservation, call.view, nodes)) return wider;
  return planned;
}

void publish(const Call& call, std::shared_ptr<const Reservation> reservation, CallAnswer& answer) {
  answer.next = std::make_shared<const Reservations>(call.view.reservations->with(reservation));
  answer.gang.reservation = std::move(reservation);
}

bool is_large_enough(const ReservedPart& part, const Request& request) {
  return part.request && request.gpus() <= part.request->gpus();
}

// Answers out of the reservation; false where it has no place for this pod on a node offered.
bool answer_from(const Call& call, std::shared_ptr<const Reservation> reservation, bool is_new,
                 CallAnswer& answer) {
  const ReservedPart* part = reservation->part(call.role());
  if (part == nullptr || !is_large_enough(*part, call.request)) return false;
  const auto place = place_in(call, *part);
  if (!place) return false;
  answer.gang.standing = GangStanding::kPlanned;
  answer.ranking.fits = {{place->position, part->prediction, kOwnScore}};
  answer.ranking.fitting = 1;
  const auto part_index = static_cast<std::size_t>(part - reservation->parts.data());
  if (auto next = taken(call, *reservation, part_index, place->slot)) {
    publish(call, std::move(next), answer);
  } else if (is_new) {
    publish(call, std::move(reservation), answer);
  } else {
    answer.gang.reservation = std::move(reservation);
  }
  return true;
}

// A role may show up after the plan was made, become larger, or have a pod that asks for more GPUs
// than those that were known.
bool has_slots_for(const Reservation& reservation, const GangNeed& need) {
  return std::all_of(need.parts.begin(), need.parts.end(), [&](const PartNeed& part) {
    if (part.missing() <= 0) return true;
    const ReservedPart* reserved = reservation.part(part.role);
    return reserved != nullptr && std::ssize(reserved->slots) >= part.size &&
           (!part.request || is_large_enough(*reserved, *part.request));
  });
}

// The gang without a plan of its own, or with one that its pod can no longer follow.
CallAnswer answer_anew(const Call& call, const std::shared_ptr<const Reservation>& old) {
  CallAnswer answer;
  const Caller caller{call.request, call.pod};
  const GangNeed need = need_of(*call.view.snapshot, call.gang_key(), &caller);
  const PartNeed* part = need.part(call.role());
  const auto remember = [&](std::shared_ptr<const Unplanned> changed) {
    if (!changed) return;
    answer.next =
        std::make_shared<const Reservations>(call.view.reservations->with(std::move(changed)));
  };
  const auto by_itself = [&](GangStanding standing) {
    answer.gang.standing = standing;
    answer.ranking = greedy(call);
    keep_beside(call, answer.ranking);
    // Elastic and pinned gangs are never planned, so nothing is ever planned beside them.
    if (!need.elastic && !need.pinned && !answer.ranking.fits.empty()) {
      remember(with_rank_let_go(*call.view.reservations, call.gang_key(), call.request.uid,
                                call.now, kSlideMilliseconds));
    }
    return std::move(answer);
  };
  const auto wait = [&](const char* for_what) {
    answer.gang.standing = GangStanding::kWaiting;
    answer.gang.refusal.note = for_what;
    remember(with_call(*call.view.reservations, call.gang_key(), call.now));
    return std::move(answer);
  };
  if (need.gated_by_others) return by_itself(GangStanding::kGatedByOthers);
  if (need.pinned) return by_itself(GangStanding::kPinned);
  if (!need.plannable() || part == nullptr) {
    return !need.elastic && awaits_owner(call.view, call.gang_key(), call.pod, call.now)
               ? wait(kAwaitsOwner)
               : by_itself(GangStanding::kNotPlannable);
  }
  if (part->missing() <= 0) return by_itself(GangStanding::kWhole);
  if (has_unseen_rank(call.view, call.gang_key(), call.request.uid, call.now)) {
    return wait(kAwaitsRank);
  }

  std::shared_ptr<const Reservation> reservation;
  if (old == nullptr) {
    reservation = adopt_nominations(call.view, call.gang_key(), need, call.now, call.options);
    if (reservation && answer_from(call, reservation, true, answer)) return answer;
  } else {
    // Only a place that was lost is a reason to plan again; a rank too many is placed by itself.
    const ReservedPart* reserved = old->part(call.role());
    if (reserved != nullptr) {
      const OwnSlot own = own_slot(call.request, *reserved);
      if (!own.index && !own.any_open) return by_itself(GangStanding::kPlanned);
    }
    const bool holds = reserved != nullptr && is_large_enough(*reserved, call.request) &&
                       still_holds(*old, *call.view.snapshot);
    if (holds && (call.native_group() || call.only_nominated())) {
      answer.gang = {GangStanding::kPlanned, old, {}};
      answer.ranking = refused(call, ReasonCode::kPlannedElsewhere);
      return answer;
    }
    answer.plan_missed = holds;
  }
  Planned planned = plan_for(call, need, old.get());
  if (!planned.reservation) {
    answer.gang = {GangStanding::kRefused, nullptr, planned.refusal};
    answer.ranking = refused(call, planned.refusal.reason);
    return answer;
  }
  answer.planned_now = true;
  if (answer_from(call, planned.reservation, true, answer)) return answer;
  // A plan that stands elsewhere; this call was about other nodes.
  answer.gang.standing = GangStanding::kPlanned;
  publish(call, std::move(planned.reservation), answer);
  answer.ranking = refused(call, ReasonCode::kPlannedElsewhere);
  return answer;
}

}  // namespace

CallAnswer answer_call(const ClusterView& view, const Request& request, const kube::Pod& pod,
                       std::span<const std::string_view> names, Instant now, const Options& options,
                       std::size_t most) {
  const Call call{view, request, pod, names, now, options, most};
  CallAnswer answer;
  if (!request.gang || request.gpus() <= 0) {
    answer.ranking = greedy(call);
    return answer;
  }
  const auto& all = view.reservations->all();
  const auto found = all.find(request.gang->key);
  if (found == all.end()) return answer_anew(call, nullptr);
  if (answer_from(call, found->second, false, answer)) return answer;
  return answer_anew(call, found->second);
}

GangOutcome plan_gang(const ClusterView& view, std::string_view gang_key, Instant now,
                      bool complete, const Options& options) {
  const GangNeed need = need_of(*view.snapshot, gang_key, nullptr);
  const auto& all = view.reservations->all();
  const auto found = all.find(gang_key);
  const auto old = found == all.end() ? nullptr : found->second;
  const auto standing = [](GangStanding value) { return GangOutcome{value, nullptr, {}}; };
  if (need.gated_by_others) return standing(GangStanding::kGatedByOthers);
  if (need.pinned) return standing(GangStanding::kPinned);
  if (old && still_holds(*old, *view.snapshot) && has_slots_for(*old, need)) {
    return {GangStanding::kPlanned, old, {}};
  }
  if (!need.plannable() || need.awaits_first) return standing(GangStanding::kNotPlannable);
  if (need.whole()) return standing(GangStanding::kWhole);
  if (complete && !need.complete()) return standing(GangStanding::kIncomplete);
  if (has_unseen_rank(view, gang_key, {}, now)) return standing(GangStanding::kWaiting);
  if (!old) {
    if (auto adopted = adopt_nominations(view, gang_key, need, now, options)) {
      return {GangStanding::kPlanned, std::move(adopted), {}};
    }
  }
  Planned planned = plan_need(view, gang_key, need, old.get(), {}, now, options);
  if (!planned.reservation) {
    return {GangStanding::kRefused, nullptr, std::move(planned.refusal)};
  }
  return {GangStanding::kPlanned, std::move(planned.reservation), {}};
}

}  // namespace rankward::placement
