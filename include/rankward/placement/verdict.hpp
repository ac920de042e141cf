// One pod against one node: fit, or a reason; and what the pod's collective would take there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankward/placement/reason.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

enum class UnknownTopology : std::uint8_t { kAllow, kPenalise, kReject };

struct Options {
  UnknownTopology unknown_topology = UnknownTopology::kPenalise;
  // Factors of the highest fabric tier that a gang crosses: one leaf, next tier, top. The last from
  // Arnold (arXiv 2509.15940): up to 17 % slower across pods.
  std::vector<double> phi = {1.0, 0.9, 0.83};
  std::size_t max_candidates = 100;
};

// Who asks. A filter call must not repeat the scheduler's own counting (placement.md): DRA may
// serve nvidia.com/gpu on a node whose allocatable has no such key, and our snapshot may lag.
enum class Use : std::uint8_t { kFilter, kExplain };

// Numbers behind a verdict, for plan, explain and the log; never for the scheduler's event.
// Amounts are devices of `resource`; what nobody has said is absent.
struct Details {
  std::string resource;  // the one that the reason is about, else the first accelerator asked for
  std::optional<std::int64_t> need, capacity, allocatable, used, free;
  std::optional<std::int64_t> unhealthy;   // registered but not allocatable, or by the report
  std::optional<std::int64_t> labels_say;  // physical GPUs, nvidia.com/gpu.count
  // Of one device. On a time-sliced GPU co-tenants take theirs from has_memory.
  std::optional<topology::Bytes> need_memory, has_memory, declared_by_others;
  std::optional<std::int64_t> undeclared_cotenants;
  std::vector<std::int64_t> free_per_numa;  // by NUMA node number
  std::vector<std::string> offers;          // "nvidia.com/mig-2g.20gb: 1", by name
  std::vector<ReasonCode> also;             // further reasons on the same node
  std::string note;                         // one sentence, may name what failed
};

struct Verdict {
  std::optional<ReasonCode> reason;  // nothing: fits
  Details details;                   // filled for Use::kExplain only, of nodes that fit too

  [[nodiscard]] bool fits() const { return !reason.has_value(); }
};

// The pod against one node, other nodes and gangs left aside. The reason nearest to the silicon
// wins (host, advertise, match), but what makes the whole node unavailable comes before all. A pod
// that asks for no device, or has its devices from DRA claims alone, fits.
[[nodiscard]] Verdict judge(const Request& request, const kube::PodSpec& spec,
                            const NodeState& node, const Options& options, Use use);

// The verdict on a node of which the snapshot has nothing but the name. Filter follows
// options.unknown_topology; explain has nothing to explain with.
[[nodiscard]] Verdict judge_unknown_node(const Options& options, Use use);

// Whether preemption could change such a refusal: FailedNodes, else FailedAndUnresolvableNodes.
// True only for reasons of occupancy, and only where the node would fit with nobody on it.
[[nodiscard]] bool preemption_could_help(ReasonCode refused_for, const Request& request,
                                         const kube::PodSpec& spec, const NodeState& node,
                                         const Options& options);

}  // namespace rankward::placement
