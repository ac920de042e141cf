// What a whole gang gets: from the watch alone, and for a filter call of one of its pods.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/placement/plan.hpp"
#include "rankward/placement/ranking.hpp"
#include "rankward/placement/reservations.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

// Why a gang is not planned as a whole.
enum class GangStanding : std::uint8_t {
  kPlanned,        // a reservation holds its places
  kNotPlannable,   // size not known, or elastic: greedy, pod by pod
  kIncomplete,     // from the watch only: not all of its pods exist yet
  kGatedByOthers,  // a pod carries a gate that is not ours: neither planned nor nominated
  kPinned,         // another controller has tied its pods to nodes: verified, never planned anew
  kWhole,          // all of its ranks are bound
  kRefused,        // there is no plan that holds it: `refusal` says why
  kWaiting,        // the watch has yet to show what a plan needs, as refusal.note says: ask again
};

// A pod's owner is watched and has not been seen: its word on the gang's size is waited for so
// long.
inline constexpr std::int64_t kOwnerPatienceMilliseconds = 5'000;

struct GangOutcome {
  GangStanding standing = GangStanding::kNotPlannable;
  // Where planned. The same object as in the view where nothing had to be changed.
  std::shared_ptr<const Reservation> reservation;
  PlanRefusal refusal;
};

// The gang planned, or its plan mended, from the watch alone: all nodes of the Snapshot are open to
// it. Nominations that its pods already carry are its plan. `complete`: only once as many pods
// exist as the gang has ranks. Publish outcome.reservation by compare-and-swap.
[[nodiscard]] GangOutcome plan_gang(const ClusterView& view, std::string_view gang_key, Instant now,
                                    bool complete, const Options& options);

struct CallAnswer {
  GangOutcome gang;          // kNotPlannable for pods without a gang
  bool plan_missed = false;  // no open place was among the nodes offered: planned anew
  bool planned_now = false;  // this call made or changed the plan
  // Of the names that were given, in their order. `fits`: the pod's place in the plan with score
  // 10, and nothing else; without a plan as rank() has it, and beside ranks that stand only what is
  // as good for the gang as the best. `reasons` is empty where a plan answers: nobody reads
  // reasons where something fits. Both are empty where the gang is kWaiting.
  Ranking ranking;
  // Reservations to publish; null: nothing changed.
  std::shared_ptr<const Reservations> next;
};

// One filter or prioritize call about the pod of which `request` was made, whole gangs and what
// others hold included. Pure: the same view, request and names give the same answer; `now` only
// slides limits. `most` as in rank().
[[nodiscard]] CallAnswer answer_call(const ClusterView& view, const Request& request,
                                     const kube::Pod& pod, std::span<const std::string_view> names,
                                     Instant now, const Options& options,
                                     std::size_t most = SIZE_MAX);

}  // namespace rankward::placement
