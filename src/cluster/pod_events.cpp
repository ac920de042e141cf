#include "pod_events.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace rankward::cluster {
namespace {

constexpr std::size_t kMostNamed = 8;
constexpr std::size_t kMostRemembered = 10'000;

std::string count(std::size_t number, std::string_view noun) {
  return std::to_string(number) + " " + std::string(noun) + (number == 1 ? "" : "s");
}

// Three digits, as people write times.
std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g ms", seconds * 1e3);
  return text;
}

std::string gigabytes_per_second(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g GB/s", value);
  return text;
}

// Names with numbers behind them, the first few; then how many there are besides.
template <class Map, class Write>
std::string listed(const Map& map, const Write& write) {
  std::string out;
  std::size_t named = 0;
  for (const auto& entry : map) {
    if (named == kMostNamed) {
      return out + " and " + std::to_string(map.size() - named) + " more";
    }
    out += (named++ == 0 ? "" : ", ") + write(entry);
  }
  return out;
}

// The part that sets the pace.
const placement::ReservedPart* slowest(const placement::Reservation& reservation) {
  const auto found = std::max_element(
      reservation.parts.begin(), reservation.parts.end(),
      [](const auto& a, const auto& b) { return a.prediction.seconds < b.prediction.seconds; });
  return found == reservation.parts.end() ? nullptr : &*found;
}

// `pod` is namespace/name.
std::optional<formats::PodEvent> event_about(const std::string& pod, const std::string& uid) {
  const auto slash = pod.find('/');
  if (slash == std::string::npos) return std::nullopt;
  formats::PodEvent event;
  event.name_space = pod.substr(0, slash);
  event.pod = pod.substr(slash + 1);
  event.uid = uid;
  event.action = "Planning";
  return event;
}

}  // namespace

std::string planned_note(const placement::Reservation& reservation) {
  std::map<std::string, std::size_t> nodes;
  std::size_t ranks = 0;
  for (const auto& part : reservation.parts) {
    for (const auto& slot : part.slots)
      ++nodes[slot.node];
    ranks += part.slots.size();
  }
  std::string out =
      count(ranks, "rank") + " on " + count(nodes.size(), "node") + " (" +
      listed(nodes,
             [](const auto& node) { return node.first + ": " + std::to_string(node.second); }) +
      ")";
  const auto* part = slowest(reservation);
  if (part == nullptr || part->prediction.seconds.value <= 0) return out;
  out += ", " + milliseconds(part->prediction.seconds.value) + " predicted for an all-reduce";
  if (part->request) out += " of " + topology::to_string(part->request->message_size);
  if (std::isfinite(part->prediction.bandwidth.value)) {
    out += " at " + gigabytes_per_second(part->prediction.bandwidth.value);
  }
  if (!part->prediction.bottleneck.empty()) out += "; bottleneck: " + part->prediction.bottleneck;
  return out;
}

std::string waiting_note(const placement::GangOutcome& outcome, std::size_t pods, bool gated) {
  using placement::GangStanding;
  std::string out;
  switch (outcome.standing) {
    case GangStanding::kIncomplete:
      out = count(pods, "pod") + " of the gang exist, not all of its ranks";
      break;
    case GangStanding::kNotPlannable:
      out =
          "the gang cannot be planned as a whole: its size is not known "
          "(rankward.io/gang-size says it), it is elastic, or its first pod decides on the domain";
      break;
    default:
      out = placement::reason(outcome.refusal.reason).text;
      if (!outcome.refusal.note.empty()) out += ": " + outcome.refusal.note;
      break;
  }
  if (gated) out += ". Its pods are held back by the scheduling gate rankward.io/gang";
  return out;
}

std::string expired_note(const placement::Reservation& reservation) {
  std::string ranks;
  std::size_t missing = 0;
  std::size_t all = 0;
  for (const auto& part : reservation.parts) {
    for (std::size_t i = 0; i < part.slots.size(); ++i) {
      ++all;
      if (part.slots[i].bound) continue;
      if (++missing > kMostNamed) continue;
      ranks += ranks.empty() ? "" : ", ";
      if (!part.role.empty()) ranks += part.role + " ";
      ranks += std::to_string(i) + " (" + part.slots[i].node + ")";
    }
  }
  if (missing > kMostNamed) ranks += " and " + std::to_string(missing - kMostNamed) + " more";
  return std::to_string(missing) + " of " + count(all, "rank") +
         " did not come to their places in time, so the places are given back: " + ranks;
}

std::string no_room_note(const placement::WaitingOutlook& outlook) {
  std::string out = "no node of " + std::to_string(outlook.nodes) + " takes it";
  const placement::Reason* fault = nullptr;
  const auto written = [&](const placement::WaitingReason& each) {
    const auto& reason = placement::reason(each.code);
    return std::to_string(each.nodes) + ": " + std::string(reason.text) + " (" +
           std::string(reason.name) + ")";
  };
  for (const auto& each : outlook.reasons) {
    const auto& reason = placement::reason(each.code);
    if (fault == nullptr &&
        (reason.stage == placement::Stage::kHost || reason.stage == placement::Stage::kAdvertise)) {
      fault = &reason;
    }
  }
  if (!outlook.reasons.empty()) out += ": " + listed(outlook.reasons, written);
  if (fault != nullptr) {
    out += ". " + std::string(fault->name) + ": " + std::string(fault->next_step);
  }
  return out;
}

bool PodEvents::was_told(const std::string& key, placement::Instant now) const {
  const auto last = last_.find(key);
  return last != last_.end() && now.milliseconds < last->second + limits_.interval;
}

std::vector<formats::PodEvent> PodEvents::about(const placement::WaitingPod& pod,
                                                std::string_view reason, std::string note,
                                                placement::Instant now) {
  const std::string key = std::string(reason) + " " + pod.uid;
  if (was_told(key, now)) return {};
  auto event = event_about(pod.pod, pod.uid);
  if (!event || !bucket_.take(now)) return {};
  event->warning = true;
  event->reason = reason;
  event->note = std::move(note);
  forget_old(now);
  last_[key] = now.milliseconds;
  return {std::move(*event)};
}

std::vector<formats::PodEvent> PodEvents::about(const placement::GangState& gang,
                                                std::string_view reason, bool warning,
                                                std::string note, std::size_t most,
                                                placement::Instant now) {
  const std::string key = std::string(reason) + " " + gang.key;
  if (was_told(key, now)) return {};
  std::vector<formats::PodEvent> out;
  for (const auto& member : gang.pending) {
    if (out.size() == most) break;
    if (member.deleting) continue;
    auto event = event_about(member.pod, member.uid);
    if (!event || !bucket_.take(now)) continue;
    event->warning = warning;
    event->reason = reason;
    event->note = note;
    out.push_back(std::move(*event));
  }
  if (out.empty()) return out;
  forget_old(now);
  last_[key] = now.milliseconds;
  return out;
}

void PodEvents::forget_old(placement::Instant now) {
  if (last_.size() < kMostRemembered) return;
  std::erase_if(last_, [&](const auto& entry) {
    return now.milliseconds >= entry.second + limits_.interval;
  });
}

}  // namespace rankward::cluster
