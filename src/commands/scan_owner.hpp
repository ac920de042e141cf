// Who made a pod, as people know it.
#pragma once

#include <string>

#include "rankward/kube/meta.hpp"

namespace rankward::commands {

// "DaemonSet/agent"; a ReplicaSet of a Deployment is "Deployment/web": the Deployment controller
// names it NAME-HASH and labels its pods pod-template-hash=HASH. "Pod/NAME" for a pod of nobody.
[[nodiscard]] std::string owner_of(const kube::ObjectMeta& pod);

}  // namespace rankward::commands
