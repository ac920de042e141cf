#include "gang_keeper_rounds.hpp"

#include <algorithm>
#include <utility>

#include "rankward/kube/node.hpp"

namespace rankward::cluster {
namespace {

using placement::ClusterView;
using placement::GangStanding;
using placement::GangState;
using placement::PendingMember;
using placement::Reservation;

// Renewals and holds come due by time alone.
constexpr std::int64_t kLookAtLeast = 500;
// And not more often than this, however many Snapshots come: a look costs with every waiting pod.
constexpr std::int64_t kLookAtMost = 25;
constexpr std::int64_t kLeastSlide = 5'000;
constexpr std::int64_t kLongestLeftAlone = 600'000;
// Short waits are no news: pods of a gang are made one after the other, plans follow within a look.
constexpr std::int64_t kWaitingGrace = 5'000;

bool carries(const GangState& gang, auto&& what) {
  return std::any_of(gang.pending.begin(), gang.pending.end(),
                     [&](const PendingMember& member) { return !member.deleting && what(member); });
}

bool is_ready(const placement::Snapshot& snapshot, std::string_view name) {
  const auto index = snapshot.find(name);
  return index && snapshot.node(*index).node->ready == kube::Readiness::kReady;
}

std::shared_ptr<const Reservation> reservation_of(const ClusterView& view, std::string_view key) {
  const auto found = view.reservations->all().find(key);
  return found == view.reservations->all().end() ? nullptr : found->second;
}

}  // namespace

GangRounds::GangRounds(PlanBoard& board, GangWrites& writes, const GangKeeperOptions& options,
                       std::function<bool()> leading, std::string instance,
                       std::function<double()> random)
    : board_(board),
      writes_(writes),
      options_(options),
      leading_(std::move(leading)),
      instance_(std::move(instance)),
      random_(std::move(random)),
      nominations_({.least_renewal = options.timing.least_renewal.count()}),
      events_({.interval = options.timing.event_interval.count()}),
      wake_(options.timing.wake_interval.count()),
      tokens_(options.rate.per_second, options.rate.burst),
      backoff_(std::chrono::milliseconds(500), std::chrono::milliseconds(10'000)) {}

bool GangRounds::run() {
  const auto now = board_.now();
  const bool leading = leading_();
  const auto view = board_.view();
  if (view != seen_) {
    seen_ = view;
    ++view_number_;
    unfinished_ = true;
  }
  take_ended(*view, now, leading);
  const bool rested = now.milliseconds >= looked_at_ + kLookAtMost;
  if ((unfinished_ && rested) || now.milliseconds >= looked_at_ + kLookAtLeast) {
    look(*view, now, leading);
    looked_at_ = now.milliseconds;
    unfinished_ = false;
  }
  if (!leading) return false;
  const bool more = perform();
  // Behind the writes: it may take milliseconds.
  if (!more) look_at_waiting(*view, now);
  post_events();
  wake_if_due();
  return more;
}

void GangRounds::look(const ClusterView& view, Instant now, bool leading) {
  urgent_.clear();
  actions_.clear();
  ++look_;
  nominations_.begin_look();
  std::vector<const GangState*> gangs;
  view.snapshot->for_each_pending_gang([&](const GangState& gang) { gangs.push_back(&gang); });
  std::sort(gangs.begin(), gangs.end(),
            [](const GangState* a, const GangState* b) { return a->key < b->key; });
  for (const auto* gang : gangs)
    look_at(view, *gang, now, leading);
  nominations_.end_look();
  std::erase_if(records_, [this](const auto& entry) { return entry.second.look != look_; });
  std::erase_if(left_alone_, [&](const auto& entry) {
    return now.milliseconds > entry.second.until + kLongestLeftAlone;
  });
}

void GangRounds::look_at(const ClusterView& view, const GangState& gang, Instant now,
                         bool leading) {
  if (!carries(gang, [](const PendingMember&) { return true; })) return;
  if (carries(gang, [this](const PendingMember& member) { return !is_served(*member.spec); }))
    return;
  Record& record = records_[gang.key];
  record.look = look_;
  Sight sight{.gang = gang, .record = record};
  sight.gated = carries(gang, [](const PendingMember& member) { return member.gated; });
  sight.sleeps = carries(gang, [](const PendingMember& member) { return member.unschedulable; });
  plan(sight, view, now, leading);
  if (!leading) return;
  choose_nodes(sight, view);
  wake_sleepers(sight, now);
  compare_nominations(sight, now);
  compare_gates(sight, now);
  tell(sight, now);
}

bool GangRounds::is_served(const kube::PodSpec& spec) const {
  static const std::string kDefault = "default-scheduler";
  const auto& names = options_.scheduler_names;
  const std::string& name = spec.scheduler_name.empty() ? kDefault : spec.scheduler_name;
  return names.empty() || std::find(names.begin(), names.end(), name) != names.end();
}

bool GangRounds::is_left_alone(const std::string& key, Instant now) const {
  const auto found = left_alone_.find(key);
  return found != left_alone_.end() && now.milliseconds < found->second.until;
}

// Calls plan too, in whichever replica is asked. Here a gang is planned by the leader, which also
// writes the plan down; by every replica where a call may not do it (native groups) and where it is
// written down already and has to be read back. Once it is complete; before that only where the
// scheduler has been told no: an event wakes it milliseconds before our watch shows what happened,
// so it may have been told too early, and no other event may come.
void GangRounds::plan(Sight& sight, const ClusterView& view, Instant now, bool leading) {
  Record& record = sight.record;
  const auto& key = sight.gang.key;
  if (carries(sight.gang, [](const PendingMember& member) { return member.gated_by_others; })) {
    record.outcome.reset();
    sight.standing = GangStanding::kGatedByOthers;
    return;
  }
  auto current = reservation_of(view, key);
  const bool is_ours_to_plan = leading || carries(sight.gang, [](const PendingMember& member) {
                                 return !member.nominated_node.empty() ||
                                        (member.spec && !member.spec->pod_group_name.empty());
                               });
  // The scheduler has not even seen a gated gang: its places cannot have been left unused.
  const bool rests = !current && !sight.gated && is_left_alone(key, now);
  if (is_ours_to_plan && !rests && record.planned_on != view_number_ &&
      now.milliseconds >= record.plan_at) {
    auto outcome = plan_and_publish(key, sight.gated || !sight.sleeps);
    record.planned_on = view_number_;
    const auto least = options_.timing.least_replan.count();
    record.plan_wait =
        outcome.standing == GangStanding::kRefused
            ? std::clamp(2 * record.plan_wait, least, options_.timing.longest_replan.count())
            : least;
    record.plan_at = now.milliseconds + record.plan_wait;
    if (outcome.standing == GangStanding::kPlanned && outcome.reservation != current) {
      ++counters_.planned;
      if (options_.on_planned) {
        options_.on_planned(placement::tiers_of(*outcome.reservation, *view.snapshot));
      }
      sight.planned_now = true;
      sight.sleeps = sight.sleeps || record.refused;
    }
    record.refused = outcome.standing == GangStanding::kRefused;
    current = outcome.reservation;
    record.outcome = std::move(outcome);
  }
  if (std::exchange(record.held_up, false) && current) {
    slide(key, now);
    record.gates.restart(now);
  }
  const bool pinned = record.outcome && record.outcome->standing == GangStanding::kPinned;
  if (current && !pinned) {
    sight.standing = GangStanding::kPlanned;
    sight.reservation = std::move(current);
  } else if (!record.outcome) {
    sight.standing = GangStanding::kIncomplete;
  } else if (record.outcome->standing == GangStanding::kPlanned) {
    sight.standing = GangStanding::kRefused;  // its reservation has ended
  } else {
    sight.standing = record.outcome->standing;
  }
}

// A nomination would wake its pod; without one they sleep on beside their plan.
void GangRounds::wake_sleepers(const Sight& sight, Instant now) {
  if (!sight.planned_now || !sight.sleeps || sight.gated) return;
  if (!sight.all_exist || !may_nominate(now)) wake_.ask();
}

placement::GangOutcome GangRounds::plan_and_publish(const std::string& key, bool complete) {
  while (true) {
    const auto view = board_.view();
    auto outcome = placement::plan_gang(*view, key, board_.now(), complete, options_.placement);
    if (!outcome.reservation || outcome.reservation == reservation_of(*view, key)) return outcome;
    auto next = std::make_shared<const placement::Reservations>(
        view->reservations->with(outcome.reservation));
    if (board_.replace(view, std::move(next))) return outcome;
  }
}

// Nobody calls about a gang whose gates or nominations are still to be written. Its places must not
// end while it is we who keep it waiting; the hard limit stands.
void GangRounds::slide(const std::string& key, Instant now) {
  while (true) {
    const auto view = board_.view();
    const auto current = reservation_of(*view, key);
    if (!current || now.milliseconds < current->touched.milliseconds + kLeastSlide) return;
    auto touched = std::make_shared<Reservation>(*current);
    touched->touched = now;
    auto next = std::make_shared<const placement::Reservations>(
        view->reservations->with(std::shared_ptr<const Reservation>(std::move(touched))));
    if (board_.replace(view, std::move(next))) return;
  }
}

void GangRounds::choose_nodes(Sight& sight, const ClusterView& view) const {
  const auto& pending = sight.gang.pending;
  sight.nodes.assign(pending.size(), {});
  sight.all_exist = sight.standing != GangStanding::kIncomplete;
  if (sight.standing != GangStanding::kPlanned) return;
  auto nodes = nodes_of_members(sight.gang, *sight.reservation);
  std::ptrdiff_t open = 0;
  bool all_ready = true;
  for (const auto& part : sight.reservation->parts) {
    for (const auto& slot : part.slots) {
      if (slot.bound) continue;
      ++open;
      all_ready = all_ready && is_ready(*view.snapshot, slot.node);
    }
  }
  const auto filled =
      std::count_if(nodes.begin(), nodes.end(), [](const auto& node) { return !node.empty(); });
  sight.all_exist = filled == open;
  if (!all_ready) {
    sight.nominated = false;
    return;
  }
  // While a rank is being made again, the others keep what they have and nothing is added.
  for (std::size_t i = 0; i < pending.size(); ++i) {
    if (sight.all_exist || pending[i].nominated_node == nodes[i]) {
      sight.nodes[i] = std::move(nodes[i]);
    }
  }
}

void GangRounds::compare_nominations(Sight& sight, Instant now) {
  if (!may_nominate(now)) return;
  for (std::size_t i = 0; i < sight.gang.pending.size(); ++i) {
    const auto& member = sight.gang.pending[i];
    if (member.deleting) continue;
    auto [step, seen] = nominations_.decide(member, sight.nodes[i], now);
    if (step == NominationStep::kStands || step == NominationStep::kForeign) continue;
    sight.nominated = false;
    if (step == NominationStep::kWait) continue;
    Action action{.kind = step == NominationStep::kAsk ? Kind::kAsk : Kind::kNominate,
                  .step = step,
                  .pod = member.pod,
                  .uid = member.uid,
                  .seen = std::move(seen),
                  .node = sight.nodes[i],
                  .record = &sight.record};
    const bool takes_away = step == NominationStep::kClear || step == NominationStep::kChange;
    (takes_away ? urgent_ : actions_).push_back(std::move(action));
  }
}

void GangRounds::compare_gates(Sight& sight, Instant now) {
  if (!sight.gated || now.milliseconds < gates_rest_until_) return;
  GateHold& gates = sight.record.gates;
  const auto step = gates.decide(sight.standing, sight.all_exist, sight.nominated, now,
                                 options_.timing.gate_max_hold.count());
  if (step == GateStep::kHold) return;
  for (const auto& member : sight.gang.pending) {
    if (!member.gated || member.deleting || gates.awaits_echo(member.uid, now)) continue;
    actions_.push_back({.kind = Kind::kLift,
                        .planned = step == GateStep::kLiftPlanned,
                        .pod = member.pod,
                        .uid = member.uid,
                        .record = &sight.record});
  }
}

void GangRounds::tell(Sight& sight, Instant now) {
  Record& record = sight.record;
  if (sight.standing == GangStanding::kPlanned && sight.all_exist) {
    const auto& plan = *sight.reservation;
    const std::pair id{plan.made.milliseconds, plan.plan_number};
    // A plan that is read back from nominations was told of by who made it.
    bool read_back = false;
    for (std::size_t i = 0; i < sight.nodes.size(); ++i) {
      read_back = read_back || (!record.announced && !sight.nodes[i].empty() &&
                                sight.gang.pending[i].nominated_node == sight.nodes[i]);
    }
    if (record.announced != id && !read_back) {
      tell_about(sight.gang, "GangPlanned", false, planned_note(plan), 1, now);
    }
    record.announced = id;
  }
  const bool waits = sight.standing == GangStanding::kRefused ||
                     (sight.gated && (sight.standing == GangStanding::kIncomplete ||
                                      sight.standing == GangStanding::kNotPlannable));
  if (!waits || !record.outcome) {
    record.waiting_since.reset();
    return;
  }
  if (!record.waiting_since) record.waiting_since = now.milliseconds;
  if (now.milliseconds < *record.waiting_since + kWaitingGrace) return;
  // The reservation has ended and no other has been looked for since: that was told already.
  if (record.outcome->standing == GangStanding::kPlanned) return;
  tell_about(sight.gang, "GangWaiting", true,
             waiting_note(*record.outcome, sight.gang.pending.size(), sight.gated),
             kMostPodsOfEvent, now);
}

void GangRounds::take_ended(const ClusterView& view, Instant now, bool leading) {
  for (const auto& ended : board_.take_ended()) {
    const Reservation& reservation = *ended.reservation;
    // Whoever was refused for those places sleeps: no event of the cluster tells of them.
    wake_.ask();
    if (ended.why != placement::Ended::Why::kExpired) continue;
    LeftAlone& alone = left_alone_[reservation.gang_key];
    alone.wait = std::clamp<std::int64_t>(2 * alone.wait, options_.timing.after_expiry.count(),
                                          kLongestLeftAlone);
    alone.until = now.milliseconds + alone.wait;
    if (!leading) continue;
    report(Severity::kWarning, "places were held and not taken in time", reservation.gang_key, {});
    if (const auto* gang = view.snapshot->gang(reservation.gang_key)) {
      tell_about(*gang, "GangPlaceExpired", true, expired_note(reservation), kMostPodsOfEvent, now);
    }
  }
}

// One that would fit sleeps for a place that came free without an event of the cluster: another
// replica's reservation has ended, or the scheduler was quicker than the watch.
void GangRounds::look_at_waiting(const ClusterView& view, Instant now) {
  const auto finding = waiting_.look(view, now, options_.placement,
                                     [this](const auto& spec) { return is_served(spec); });
  if (!finding) return;
  if (finding->shall_wake) {
    wake_.ask();
  } else if (finding->news != 0 && now.milliseconds >= events_rest_until_) {
    auto events = events_.about(*finding->pod, "PodWaiting", no_room_note(finding->outlook), now);
    if (!events.empty()) waiting_.told(*finding);
    to_post_.insert(to_post_.end(), std::make_move_iterator(events.begin()),
                    std::make_move_iterator(events.end()));
  }
}

void GangRounds::tell_about(const GangState& gang, std::string_view reason, bool warning,
                            std::string note, std::size_t most, Instant now) {
  if (now.milliseconds < events_rest_until_) return;
  auto events = events_.about(gang, reason, warning, std::move(note), most, now);
  to_post_.insert(to_post_.end(), std::make_move_iterator(events.begin()),
                  std::make_move_iterator(events.end()));
}

bool GangRounds::may_nominate(Instant now) const {
  return options_.nominate && now.milliseconds >= nominations_rest_until_;
}

void GangRounds::report(Severity severity, std::string_view message, const std::string& object,
                        std::string error) const {
  if (options_.on_event) options_.on_event({severity, "gangs", object, message, std::move(error)});
}

GangKeeperStats GangRounds::stats() const {
  GangKeeperStats out;
  out.planned = counters_.planned;
  out.nominations_made = counters_.made;
  out.nominations_renewed = counters_.renewed;
  out.nominations_cleared = counters_.cleared;
  out.nominations_foreign = counters_.foreign;
  out.gates_lifted_planned = counters_.lifted_planned;
  out.gates_lifted_unplanned = counters_.lifted_unplanned;
  out.events = counters_.events;
  out.wakes = counters_.wakes;
  out.nominate_failures = counters_.nominate_failures;
  out.gate_failures = counters_.gate_failures;
  out.event_failures = counters_.event_failures;
  out.wake_failures = counters_.wake_failures;
  return out;
}

}  // namespace rankward::cluster
