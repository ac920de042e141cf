#include "plan_gangs.hpp"

#include <fmt/format.h>

#include <array>
#include <ostream>
#include <utility>

namespace rankward::commands {
namespace {

using placement::GangStanding;
using placement::ReservedPart;
using placement::Slot;

std::string tier_text(const placement::Prediction& prediction) {
  if (prediction.nodes <= 1) return "one node";
  static constexpr std::array kTiers = {"one NVLink clique", "one leaf", "one spine", "one core"};
  return prediction.tier < kTiers.size() ? kTiers[prediction.tier]
                                         : fmt::format("tier {}", prediction.tier);
}

}  // namespace

std::string GangPlan::node_of(const kube::Pod& pod) const {
  const std::string uid = pod.metadata.uid.empty() ? pod.metadata.full_name() : pod.metadata.uid;
  const auto gang = placement::gang_of(pod);
  if (!outcome.reservation || !gang || !*gang) return {};
  const ReservedPart* part = outcome.reservation->part((*gang)->role);
  if (part == nullptr) return {};
  for (const Slot& slot : part->slots) {
    if (slot.uid == uid) return slot.node;
  }
  const auto rank = (*gang)->rank;
  if (rank && static_cast<std::size_t>(*rank) < part->slots.size()) {
    return part->slots[static_cast<std::size_t>(*rank)].node;
  }
  // Without ranks slots go in the order of the pods.
  const placement::GangState* state = snapshot->gang(key);
  std::size_t position = 0;
  for (std::size_t i = 0; state != nullptr && i < state->pending.size(); ++i) {
    const placement::PendingMember& member = state->pending[i];
    if (member.role() != part->role) continue;
    if (member.uid == uid) break;
    ++position;
  }
  std::size_t open = 0;
  for (const Slot& slot : part->slots) {
    if (slot.bound) continue;
    if (open++ == position) return slot.node;
  }
  return {};
}

std::optional<GangPlan> plan_gang_of(const kube::Pod& pod,
                                     std::shared_ptr<const placement::Snapshot> snapshot) {
  const auto gang = placement::gang_of(pod);
  if (!gang || !*gang) return std::nullopt;
  GangPlan plan{(*gang)->key, {}, snapshot};
  const auto view =
      placement::make_view(std::move(snapshot), std::make_shared<const placement::Reservations>());
  plan.outcome = placement::plan_gang(*view, plan.key, {}, false, {});
  if (plan.outcome.standing == GangStanding::kRefused) return plan;
  if (!plan.planned()) return std::nullopt;
  std::size_t slots = 0;
  for (const ReservedPart& part : plan.outcome.reservation->parts)
    slots += part.slots.size();
  if (slots < 2) return std::nullopt;
  return plan;
}

void print_gang(const GangPlan& plan, const Console& console) {
  console.out << console.paint(Colour::kBold, "gang " + plan.key) << ": ";
  if (!plan.planned()) {
    const placement::Reason& reason = placement::reason(plan.outcome.refusal.reason);
    console.out << console.paint(Colour::kRed, "no rank is started") << '\n'
                << "  " << reason.name << " [" << placement::to_string(reason.stage)
                << "]: " << reason.text << '\n';
    if (!plan.outcome.refusal.note.empty()) {
      console.out << "  " << plan.outcome.refusal.note << '\n';
    }
    console.out << "  " << reason.next_step << "\n\n";
    return;
  }
  bool first = true;
  for (const ReservedPart& part : plan.outcome.reservation->parts) {
    const placement::Prediction& prediction = part.prediction;
    if (!first) console.out << "  ";
    first = false;
    console.out << console.paint(
                       Colour::kGreen,
                       fmt::format("{}{} ranks on {} {}", part.role.empty() ? "" : part.role + ": ",
                                   part.slots.size(), prediction.nodes,
                                   prediction.nodes == 1 ? "node" : "nodes"))
                << fmt::format(", {}; T {}, {}, {}\n", tier_text(prediction),
                               format_seconds(prediction.seconds.value),
                               format_bandwidth(prediction.bandwidth.value), prediction.bottleneck);
    Table table({"RANKS", "NODE", "PODS"});
    for (std::size_t i = 0; i < part.slots.size();) {
      std::size_t end = i + 1;
      while (end < part.slots.size() && part.slots[end].node == part.slots[i].node)
        ++end;
      table.add({{end - i == 1 ? std::to_string(i) : fmt::format("{}-{}", i, end - 1)},
                 {part.slots[i].node},
                 {std::to_string(end - i)}});
      i = end;
    }
    table.print(console, "  ");
  }
  console.out << '\n';
}

void write_gang(const GangPlan& plan, formats::JsonWriter& json) {
  json.begin_object().member("gang", plan.key).member("schedulable", plan.planned());
  if (!plan.planned()) {
    const placement::Reason& reason = placement::reason(plan.outcome.refusal.reason);
    json.member("code", reason.name)
        .member("stage", placement::to_string(reason.stage))
        .member("reason", reason.text)
        .member("room", plan.outcome.refusal.room)
        .member("note", plan.outcome.refusal.note)
        .member("nextStep", reason.next_step)
        .end_object();
    return;
  }
  json.key("parts").begin_array();
  for (const ReservedPart& part : plan.outcome.reservation->parts) {
    json.begin_object()
        .member("role", part.role)
        .member("seconds", part.prediction.seconds.value)
        .member("gigabytesPerSecond", part.prediction.bandwidth.value)
        .member("bottleneck", part.prediction.bottleneck)
        .member("nodes", part.prediction.nodes)
        .member("tier", part.prediction.tier)
        .key("slots")
        .begin_array();
    for (const Slot& slot : part.slots)
      json.value(slot.node);
    json.end_array().end_object();
  }
  json.end_array().end_object();
}

}  // namespace rankward::commands
