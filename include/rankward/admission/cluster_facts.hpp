// What is known of the cluster beside the object that is judged. Each part may be missing: a rule
// that needs a missing one finds nothing.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "rankward/kube/meta.hpp"
#include "rankward/kube/volume.hpp"

namespace rankward::admission {

// An immutable value, shared between threads; made anew when something of it changes.
struct ClusterFacts {
  // Accelerator resource -> the most that one node has allocatable. Empty: Nodes are not known.
  std::map<std::string, std::int64_t, std::less<>> largest_node;
  // "namespace/claim" -> the volume that it is bound to, for volumes with hostPath or local alone.
  std::map<std::string, kube::PersistentVolume, std::less<>> claimed_volumes;
  // Namespace -> its labels.
  std::map<std::string, kube::StringMap, std::less<>> namespace_labels;
};

}  // namespace rankward::admission
