// Values of the rankward.io annotations that a pod may carry, in their accepted forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rankward/kube/meta.hpp"
#include "rankward/kube/rankward_keys.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/result.hpp"

namespace rankward::placement {

using kube::kGangKey;
using kube::kGangSizeKey;
using kube::kGpuMemoryKey;
using kube::kMaxGangSize;
using kube::kMessageSizeKey;
using kube::kRankKey;
using kube::kSharingKey;
using kube::kTopologyPreferredKey;
using kube::kTopologyRequiredKey;
using kube::kTransportKey;
using kube::small_number;

// Nothing where the key is absent; kInvalid with key and accepted form otherwise.
[[nodiscard]] Result<std::optional<std::string>> read_name(const kube::StringMap& annotations,
                                                           std::string_view key);
[[nodiscard]] Result<std::optional<std::int32_t>> read_gang_size(
    const kube::StringMap& annotations);
[[nodiscard]] Result<std::optional<std::int32_t>> read_rank(const kube::StringMap& annotations);
[[nodiscard]] Result<std::optional<TransportWish>> read_transport(
    const kube::StringMap& annotations);
[[nodiscard]] Result<std::optional<SharingWish>> read_sharing(const kube::StringMap& annotations);
[[nodiscard]] Result<std::optional<topology::Bytes>> read_bytes(const kube::StringMap& annotations,
                                                                std::string_view key);
[[nodiscard]] Result<std::optional<std::string>> read_topology_level(
    const kube::StringMap& annotations, std::string_view key);

}  // namespace rankward::placement
