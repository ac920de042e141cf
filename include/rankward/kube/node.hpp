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
  // The Ready condition; kUnknown where the condition is absent.
  Readiness ready = Readiness::kUnknown;
};

}  // namespace rankward::kube
