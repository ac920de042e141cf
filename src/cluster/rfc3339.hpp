// Kubernetes' metav1.Time and MicroTime in text.
#pragma once

#include <chrono>
#include <optional>
#include <string_view>

namespace rankward::cluster {

// "2026-01-31T12:00:00Z", with or without a fraction, with Z or an offset such as +02:00. Nothing
// for anything else, dates that do not exist included. Fractions are cut to the clock's precision.
[[nodiscard]] std::optional<std::chrono::system_clock::time_point> parse_rfc3339(
    std::string_view text);

}  // namespace rankward::cluster
