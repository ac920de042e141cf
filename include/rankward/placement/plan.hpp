// A place for every rank of a gang, chosen as a whole by its bottleneck (placement.md, "The gang
// planner"), or why there is none.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankward/placement/ranking.hpp"
#include "rankward/placement/reason.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/placement/reservations.hpp"
#include "rankward/placement/snapshot.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

// Ranks that are alike: the same request, so many of them.
struct PlanQuestion {
  const Request* request = nullptr;  // of one rank; its `gang` may be absent
  const kube::PodSpec* spec = nullptr;
  std::int32_t pods = 1;  // ranks that need a slot
  // Ranks of the same gang that stand already, one entry each, any order; they stay. Members that
  // the Snapshot shows bound are not added by the planner: name them here.
  std::span<const NodeIndex> fixed;
  // Nodes to choose from, ascending. Nothing: every node of the Snapshot.
  std::optional<std::span<const NodeIndex>> among;
  // kFilter: the scheduler has offered `among`, so counts that only our own arithmetic misses are
  // no reason to leave a node out (each hosts at least one pod where nothing else is against it).
  // kExplain: the scheduler's own filters are judged here too.
  Use use = Use::kExplain;
  // A node-label key, on top of request->topology_required: all ranks in one of its values.
  std::string_view required_topology;
};

struct Plan {
  // Slot i's node. Contiguous along the fabric tree: slots of one node, then of its leaf, then of
  // its spine follow each other. `pods` entries.
  std::vector<NodeIndex> slots;
  // Of the whole gang, the fixed ranks included. `nodes` is h, `tier` the highest one crossed.
  Prediction prediction;
};

struct PlanRefusal {
  // GangDoesNotFit: too little room now. TransportMismatch: enough in all, but not in one transport
  // class, or not in that of the fixed ranks. OutsideFabricDomain: enough, but in no one domain of
  // the required tier; CliqueMismatch: that for NVLink cliques.
  ReasonCode reason = ReasonCode::kGangDoesNotFit;
  std::int32_t room = 0;  // the most ranks that one class and domain could take
  std::string note;       // one sentence with numbers, for the log, Events and explain
};

struct PlanResult {
  std::optional<Plan> plan;  // nothing: refusal says why
  PlanRefusal refusal;
  [[nodiscard]] bool found() const { return plan.has_value(); }
};

// Best plan by the objective of placement.md: T within 2 % of the least over all feasible plans,
// lowest tier, fewest nodes, fewest whole-free nodes broken, least left over, fewest distinct sets
// of GPU indexes, sorted node names. Pure and deterministic: the order of nodes changes nothing.
// Places that other gangs hold are taken; those that the request's own gang holds are free.
[[nodiscard]] PlanResult make_plan(const PlanQuestion& question, const Snapshot& snapshot,
                                   const HeldPlaces& held, const Options& options);

}  // namespace rankward::placement
