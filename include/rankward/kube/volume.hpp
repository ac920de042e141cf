// core/v1 PersistentVolume: only the fields that admission reads.
#pragma once

#include <optional>
#include <string>

#include "rankward/kube/meta.hpp"
#include "rankward/kube/pod.hpp"

namespace rankward::kube {

struct PersistentVolume {
  ObjectMeta metadata;
  std::optional<HostPathVolume> host_path;
  std::optional<std::string> local_path;  // spec.local.path, as written
  bool block = false;                     // volumeMode: Block, which passes the device node itself
  // spec.claimRef; both empty where the volume is not bound.
  std::string claim_namespace;
  std::string claim_name;
};

}  // namespace rankward::kube
