// Reservations made of plans: for a gang that has none, and for one whose plan has to be mended.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>

#include "gang_need.hpp"
#include "rankward/placement/plan.hpp"
#include "rankward/placement/reservations.hpp"

namespace rankward::placement {

// Nodes that a plan may use: those the scheduler offered, or, without any, all of the Snapshot.
struct PlanRoom {
  std::optional<std::span<const NodeIndex>> offered;  // ascending
};

struct Planned {
  std::shared_ptr<const Reservation> reservation;  // null: refusal says why
  PlanRefusal refusal;
};

// The missing ranks of all parts planned, what stands held fixed. `old` is the gang's reservation,
// null for none: its bound slots and those that were given to a pod which the Snapshot does not
// show yet stay where they are. Where only places that other gangs hold are in the way the reason
// is ReservedForGang.
[[nodiscard]] Planned plan_need(const ClusterView& view, std::string_view gang_key,
                                const GangNeed& need, const Reservation* old, PlanRoom room,
                                Instant now, const Options& options);

// The plan that nominations in the Snapshot spell out; null where not every missing rank has one,
// or they do not fit.
[[nodiscard]] std::shared_ptr<const Reservation> adopt_nominations(const ClusterView& view,
                                                                   std::string_view gang_key,
                                                                   const GangNeed& need,
                                                                   Instant now,
                                                                   const Options& options);

// Whether every slot that is not bound is on a node which can still be used.
[[nodiscard]] bool still_holds(const Reservation& reservation, const Snapshot& snapshot);

}  // namespace rankward::placement
