#include "host_path_verdict.hpp"

#include <array>

namespace rankward::admission {

std::optional<HostPathVerdict> verdict_on(const HostPathTable& table, std::string_view canonical,
                                          const HostPathCircumstances& here) {
  constexpr std::array kGrave{HostPathKind::kDeviceNode, HostPathKind::kDeviceRoot,
                              HostPathKind::kControlChannel};
  for (const HostPathKind kind : kGrave) {
    if (const HostPathEntry* entry = table.look_up(canonical, kind))
      return HostPathVerdict{entry, false};
    if (!here.any_below) continue;
    if (const HostPathEntry* entry = table.look_up_below(canonical, kind))
      return HostPathVerdict{entry, false};
  }
  if (const HostPathEntry* entry = table.look_up(canonical, HostPathKind::kHostRoot))
    return HostPathVerdict{entry, !here.can_open_devices};
  if (const HostPathEntry* entry = table.look_up(canonical, HostPathKind::kPodResources))
    return HostPathVerdict{entry, !here.writable};
  return std::nullopt;
}

}  // namespace rankward::admission
