// The part of a round that talks to the API server.
#include <algorithm>
#include <utility>

#include "gang_keeper_rounds.hpp"
#include "lease.hpp"

namespace rankward::cluster {
namespace {

// After so many the board is looked at again: a node may have gone in the meantime.
constexpr std::size_t kWritesARound = 50;

std::string hex(std::uint64_t number) {
  std::string out;
  for (int shift = 60; shift >= 0; shift -= 4) {
    const auto digit = (number >> static_cast<unsigned>(shift)) & 15U;
    if (digit != 0 || !out.empty()) out += "0123456789abcdef"[digit];
  }
  return out.empty() ? "0" : out;
}

}  // namespace

bool GangRounds::perform() {
  const auto urgent = std::exchange(urgent_, {});
  const auto others = std::exchange(actions_, {});
  std::size_t done = 0;
  for (const auto* list : {&urgent, &others}) {
    for (std::size_t i = 0; i < list->size(); ++i) {
      const Action& action = (*list)[i];
      const auto now = board_.now();
      if (now.milliseconds < pause_until_) return false;
      if (done == kWritesARound) {
        unfinished_ = true;
        return true;
      }
      if (!leading_()) return false;
      if (list == &others && !tokens_.take(now)) {
        hold_up(std::span(others).subspan(i));
        unfinished_ = true;
        return false;
      }
      ++done;
      if (!perform_one(action, now)) return false;
    }
  }
  // What was written is compared with the plan again at once: gates follow nominations.
  if (done > 0) unfinished_ = true;
  return false;
}

void GangRounds::hold_up(std::span<const Action> actions) {
  for (const Action& action : actions)
    action.record->held_up = true;
}

bool GangRounds::perform_one(const Action& action, Instant now) {
  switch (action.kind) {
    case Kind::kAsk:
      return perform_ask(action, now);
    case Kind::kNominate:
      return perform_nomination(action, now);
    case Kind::kLift:
      return perform_lift(action, now);
  }
  return true;
}

bool GangRounds::perform_nomination(const Action& action, Instant now) {
  if (!may_nominate(now)) return true;
  const auto outcome = writes_.nominate(action.pod, action.uid, action.seen, action.node);
  if (outcome.done()) {
    nominations_.written(action.uid, action.node, now);
    auto& counter = action.step == NominationStep::kClear   ? counters_.cleared
                    : action.step == NominationStep::kRenew ? counters_.renewed
                                                            : counters_.made;
    ++counter;
  } else {
    nominations_.conflicted(action.uid, now);
  }
  return take_in(outcome, counters_.nominate_failures, nominations_rest_until_,
                 "may not nominate (patch pods/status): gangs are placed without", action.pod, now);
}

bool GangRounds::perform_lift(const Action& action, Instant now) {
  if (now.milliseconds < gates_rest_until_) return true;
  const auto outcome = writes_.lift_gate(action.pod, action.uid);
  if (outcome.done()) {
    ++(action.planned ? counters_.lifted_planned : counters_.lifted_unplanned);
    if (!action.planned) {
      report(Severity::kWarning, "scheduling gate lifted without a plan", action.pod, {});
    }
  }
  // Gone, or lifted by somebody else: the watch will show it.
  if (outcome.result != WriteResult::kFailed) action.record->gates.lifted(action.uid, now);
  return take_in(outcome, counters_.gate_failures, gates_rest_until_,
                 "may not lift scheduling gates (patch pods): gated gangs wait", action.pod, now);
}

bool GangRounds::perform_ask(const Action& action, Instant now) {
  const auto head = writes_.nomination(action.pod);
  if (!head) {
    nominations_.conflicted(action.uid, now);
    return head.error().kind() != ErrorKind::kUnavailable;
  }
  if (head->uid != action.uid || head->nominated_node != action.seen) {
    nominations_.conflicted(action.uid, now);
    return true;
  }
  nominations_.answered(action.uid, action.seen, head->nominated_by_us);
  if (!head->nominated_by_us) {
    ++counters_.foreign;
    report(Severity::kInfo, "another's nomination is left alone", action.pod, {});
  }
  return true;
}

bool GangRounds::take_in(const WriteOutcome& outcome, std::atomic<std::uint64_t>& failures,
                         std::int64_t& rests_until, std::string_view what,
                         const std::string& object, Instant now) {
  switch (outcome.result) {
    case WriteResult::kDone:
      backoff_.reset();
      return true;
    case WriteResult::kGone:
      return true;
    case WriteResult::kConflict:
      // Rare, and each time the same where a policy of the cluster is against it.
      report(Severity::kInfo, "a write met something else than expected", object, outcome.what);
      return true;
    case WriteResult::kRefused:
      ++failures;
      rests_until = now.milliseconds + options_.timing.after_refusal.count();
      report(Severity::kWarning, what, object, outcome.what);
      return true;
    case WriteResult::kFailed:
      break;
  }
  ++failures;
  const auto wait = outcome.retry_after.value_or(backoff_.next(random_()));
  pause_until_ = now.milliseconds +
                 std::min<std::int64_t>(wait.count(), options_.timing.after_refusal.count());
  report(Severity::kWarning, "a write failed; later ones wait", object, outcome.what);
  return false;
}

void GangRounds::post_events() {
  auto events = std::exchange(to_post_, {});
  for (auto& event : events) {
    const auto now = board_.now();
    if (now.milliseconds < events_rest_until_ || now.milliseconds < pause_until_ || !leading_()) {
      return;
    }
    const auto wall = options_.clock->wall_now();
    event.time = format_micro_time(wall);
    event.instance = instance_;
    const auto micros =
        std::chrono::duration_cast<std::chrono::microseconds>(wall.time_since_epoch()).count();
    event.suffix = hex(static_cast<std::uint64_t>(micros)) + hex(event_number_++ & 0xFFU);
    const auto outcome = writes_.post_event(event);
    if (outcome.done()) ++counters_.events;
    (void)take_in(outcome, counters_.event_failures, events_rest_until_,
                  "may not write Events: what gangs wait for is in the log alone", event.pod, now);
  }
}

void GangRounds::wake_if_due() {
  const auto now = board_.now();
  if (!wake_.due(now) || now.milliseconds < wakes_rest_until_ || now.milliseconds < pause_until_ ||
      !leading_()) {
    return;
  }
  const auto outcome = writes_.wake(format_micro_time(options_.clock->wall_now()));
  if (outcome.done()) {
    ++counters_.wakes;
    wake_.done(now);
  } else {
    wake_.tried(now);
  }
  (void)take_in(outcome, counters_.wake_failures, wakes_rest_until_,
                "may not wake waiting pods: they are tried again within five minutes",
                "rankward-wake", now);
}

}  // namespace rankward::cluster
