// The mutating companion. An image can carry NVIDIA_VISIBLE_DEVICES=all, which nobody sees at
// admission; a variable of the pod beats that of the image and of envFrom, so each container
// without a GPU request gets one that hands it nothing.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "rankward/admission/judge.hpp"
#include "rankward/admission/policy.hpp"

namespace rankward::admission {

inline constexpr std::string_view kVoidVariable = "NVIDIA_VISIBLE_DEVICES";
inline constexpr std::string_view kVoidValue = "void";

// One variable for one container.
struct VoidAddition {
  std::string_view list;      // "containers", "initContainers" or "ephemeralContainers"
  std::size_t index = 0;      // in that list
  bool first_in_env = false;  // the container has no env yet
};

struct CompanionReview {
  Operation operation = Operation::kCreate;
  std::string_view sub_resource;  // "ephemeralcontainers", or ""
  const Subject& pod;
  const Subject* old_pod = nullptr;  // on UPDATE
};

// Every container that asks for no accelerator and does not set the variable itself: of a pod that
// is created, or of the ephemeral containers that are added. Empty for excluded namespaces, pods
// whose ENV-01 is exempt or off, mirror pods, pods on their way out, and any other request. What is
// added is not added again.
[[nodiscard]] std::vector<VoidAddition> void_additions(const Policy& policy,
                                                       const CompanionReview& review,
                                                       UnixSeconds now);

}  // namespace rankward::admission
