// The closed list of reasons why a node does not take a pod. Texts go word for word into
// Kubernetes' FailedScheduling event, which groups equal strings and cuts at 1,024 characters: so
// no names, no numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rankward::placement {

// Where between silicon and container it stops.
enum class Stage : std::uint8_t { kHost, kAdvertise, kMatch, kInject };
[[nodiscard]] std::string_view to_string(Stage stage);

enum class ReasonCode : std::uint8_t {
  kGpuUnhealthy,
  kHostCountMismatch,
  kTopologyStale,
  kTopologyUnknown,
  kNotAdvertised,
  kNothingAllocatable,
  kDevicesUnhealthy,
  kMigReconfiguring,
  kMigConfigFailed,
  kMigNotApplied,
  kSharingMismatch,
  kNotAGpuNode,
  kWrongResourceName,
  kSharedNotExclusive,
  kReplicasNotGpus,
  kSliceNotWholeGpu,
  kMemoryTooSmall,
  kMixedGpuModels,
  kRdmaMissing,
  kTransportMismatch,
  kOutsideFabricDomain,
  kCliqueMismatch,
  kGangIncompatible,
  kInsufficientGpu,
  kInsufficientNic,
  kReservedForGang,
  kGangDoesNotFit,
  kPlannedElsewhere,
  kNumaCannotAlign,
  kGpuLinkTooFar,
  kNoGpuDirect,
  kNodeUnavailable,
  kRuntimeRejected,
};
inline constexpr std::size_t kReasonCodes = 33;

enum class PreemptionHelps : std::uint8_t { kNo, kYes, kIfEmptyNodeFits };

struct Reason {
  ReasonCode code;
  std::string_view name;  // "MemoryTooSmall": logs, metrics, explain
  Stage stage;
  std::string_view text;  // at most 80 characters, fixed
  PreemptionHelps preemption_helps;
  bool new_node_helps;   // could a node that is added later take the pod
  bool autoscaler_sees;  // the scheduler's own filters refuse too, so an autoscaler can simulate it
  bool usable_in_filter;  // false: a count that the scheduler has already judged (placement.md)
  std::string_view next_step;  // for a person
};

[[nodiscard]] const Reason& reason(ReasonCode code);
[[nodiscard]] std::span<const Reason> reasons();

}  // namespace rankward::placement
