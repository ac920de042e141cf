// What HP-01, HP-02 and HP-04 together say of one path, for those who meet it outside of a pod's
// own hostPath volumes.
#pragma once

#include <optional>
#include <string_view>

#include "host_path_table.hpp"

namespace rankward::admission {

struct HostPathVerdict {
  const HostPathEntry* entry = nullptr;
  // A warning for the rules that judge hostPath volumes: files can be read, not devices opened.
  bool milder = false;
};

struct HostPathCircumstances {
  bool any_below = false;         // a sub path that is not known
  bool can_open_devices = false;  // some container is privileged, or nearly
  bool writable = false;          // somebody mounts it so
};

// Nothing for a path that these rules leave alone. `canonical`: canonical_host_path of it.
[[nodiscard]] std::optional<HostPathVerdict> verdict_on(const HostPathTable& table,
                                                        std::string_view canonical,
                                                        const HostPathCircumstances& here);

}  // namespace rankward::admission
