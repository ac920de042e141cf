// Reading single label values: unreadable is unknown, never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rankward/kube/meta.hpp"
#include "rankward/topology/units.hpp"

namespace rankward::topology {

// No node has more devices, replicas counted one by one.
inline constexpr std::int64_t kMostDevices = std::int64_t{1} << 20;

// A count of devices or replicas: digits only, at most kMostDevices.
[[nodiscard]] std::optional<std::int64_t> label_count(const kube::StringMap& labels,
                                                      std::string_view key);

// A memory label of GFD, in MiB. One release wrote bytes (gpu-feature-discovery 26); since no
// device has 16 TiB, a value above 16 Mi is bytes. 0 is unknown.
[[nodiscard]] std::optional<Bytes> label_memory(const kube::StringMap& labels,
                                                std::string_view key);

// "" where the label is absent.
[[nodiscard]] std::string_view label_text(const kube::StringMap& labels, std::string_view key);

}  // namespace rankward::topology
