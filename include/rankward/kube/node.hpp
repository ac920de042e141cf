// core/v1 Node: only the fields that placement reads.
#pragma once

#include <string>
#include <vector>

#include "rankward/kube/meta.hpp"
#include "rankward/kube/resources.hpp"

namespace rankward::kube {

struct Taint {
  std::string key;
  std::string value;
  std::string effect;  // NoSchedule, PreferNoSchedule, NoExecute
};

enum class Readiness : std::uint8_t { kReady, kNotReady, kUnknown };

struct Node {
  ObjectMeta metadata;
  bool unschedulable = false;
  std::vector<Taint> taints;
  // All devices that the plugin registered, and the healthy ones among them.
  ResourceList capacity;
  ResourceList allocatable;
  // Whether the Ready condition is "True"; kUnknown where there is no such condition. A status of
  // "Unknown" (the kubelet is silent) is not ready, as the node controller's taint has it.
  Readiness ready = Readiness::kUnknown;
};

}  // namespace rankward::kube
