// Paths of the host as an attacker or a careless person may write them, made comparable.
#pragma once

#include <string>
#include <string_view>

namespace rankward::admission {

// The path as the kernel would walk it, symbolic links aside: rooted, without `//`, `.`, `..` and
// trailing `/`. Bytes are left alone.
[[nodiscard]] std::string lexically_clean(std::string_view path);

// Cleaned, and other names of one place replaced: /var/run is /run, and /proc/PID/root/x is /x for
// any PID, `self` and `thread-self`, as often as it occurs. Idempotent.
[[nodiscard]] std::string canonical_host_path(std::string_view path);

// canonical_host_path of a mount's subPath inside a volume.
[[nodiscard]] std::string join_sub_path(std::string_view volume_path, std::string_view sub_path);

// Whether `path` is `ancestor` or lies below it, by segment. Both canonical.
[[nodiscard]] bool is_within(std::string_view path, std::string_view ancestor);

}  // namespace rankward::admission
