// What is written to a pod: its nomination, our scheduling gate, an Event about it. Each patch is a
// JSON patch (RFC 6902) whose tests the API server checks against the pod as it is at that moment,
// so that nothing is done to another pod of the same name or over another's value.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "rankward/result.hpp"

namespace rankward::formats {

// By this name the API server knows our writes in metadata.managedFields.
inline constexpr std::string_view kFieldManager = "rankward";

// status.nominatedNodeName from `seen` ("" for none) to `node` ("" for none), through pods/status.
// Refused (422) where the pod is another one or has another nomination.
[[nodiscard]] std::string nomination_patch(std::string_view uid, std::string_view seen,
                                           std::string_view node);

// Takes the gate at that position of spec.schedulingGates away. Refused (422) where the pod is
// another one or another gate stands there.
[[nodiscard]] std::string gate_patch(std::string_view uid, std::size_t position,
                                     std::string_view gate);

// What a pod says of its nomination.
struct NominationHead {
  std::string uid;
  std::string nominated_node;    // "" for none
  bool nominated_by_us = false;  // metadata.managedFields names kFieldManager as its owner
};
[[nodiscard]] Result<NominationHead> read_nomination(std::string_view pod_json);

// One events.k8s.io/v1 Event about a pod.
struct PodEvent {
  std::string name_space;  // of the pod, and so of the Event
  std::string pod;
  std::string uid;
  bool warning = false;
  std::string reason;    // "GangPlanned"; at most 128 bytes
  std::string action;    // "Planning"; at most 128 bytes
  std::string note;      // cut at 1,024 bytes, between characters
  std::string time;      // RFC 3339 with microseconds
  std::string instance;  // which of our processes
  std::string suffix;    // makes the Event's name; hexadecimal
};
[[nodiscard]] std::string write_event(const PodEvent& event);

// A claim for no device in our own namespace. kube-scheduler takes any change to a ResourceClaim as
// a reason to look again at the pods that an extender has refused (manifests/README.md).
[[nodiscard]] std::string write_wake_claim(std::string_view name_space, std::string_view name);
// Merge patch of one annotation.
[[nodiscard]] std::string wake_patch(std::string_view value);

}  // namespace rankward::formats
