// The table of host paths as regular expressions over canonical paths that end in `/`.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>

#include "host_path_table.hpp"
#include "rankward/admission/policy.hpp"

namespace rankward::admission {

struct HostPathPattern {
  std::string is;      // a path of the kind, or below one
  std::string is_not;  // where an earlier entry of another kind decides; "" for none
  std::string below;   // a path below which one of the kind can lie
};

[[nodiscard]] HostPathPattern host_path_pattern(std::initializer_list<HostPathKind> kinds,
                                                const Policy& policy);

// Every path that some entry is about, and more: by its first segment. Short, where the patterns
// above are long, and matching costs as much as they are long.
[[nodiscard]] std::string known_root_pattern(const Policy& policy);

// What canonical_host_path cuts off a path that ends in `/`: `/proc/PID/root` as often as it stands
// there, and the `/` after it.
[[nodiscard]] std::string_view process_root_pattern();

}  // namespace rankward::admission
