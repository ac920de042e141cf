// What the rules on host paths share.
#pragma once

#include <string>
#include <string_view>

#include "host_path_table.hpp"
#include "rule.hpp"

namespace rankward::admission {

// The entry of that kind that the path is, lies below or, where the sub path is not known, can
// come to; or nullptr.
[[nodiscard]] inline const HostPathEntry* entry_of(const PodFacts& pod, const HostPathUse& use,
                                                   HostPathKind kind) {
  const HostPathTable& table = pod.policy().host_paths();
  if (const HostPathEntry* entry = table.look_up(use.canonical, kind)) return entry;
  return use.any_below ? table.look_up_below(use.canonical, kind) : nullptr;
}

// An observation at that path: `volumes[0] "dev": hostPath "/dev/nvidia0" gives an NVIDIA GPU.`
[[nodiscard]] Observation observe_path(const PodFacts& pod, const HostPathUse& use,
                                       std::string_view gives);

}  // namespace rankward::admission
