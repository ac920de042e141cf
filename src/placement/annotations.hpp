// Values of the rankward.io annotations that a pod may carry, in their accepted forms.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rankward/kube/meta.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/result.hpp"

namespace rankward::placement {

inline constexpr std::string_view kGangKey = "rankward.io/gang";
inline constexpr std::string_view kGangSizeKey = "rankward.io/gang-size";
inline constexpr std::string_view kRankKey = "rankward.io/rank";
inline constexpr std::string_view kTransportKey = "rankward.io/transport";
inline constexpr std::string_view kSharingKey = "rankward.io/sharing";
inline constexpr std::string_view kGpuMemoryKey = "rankward.io/gpu-memory";
inline constexpr std::string_view kMessageSizeKey = "rankward.io/message-size";
inline constexpr std::string_view kTopologyRequiredKey = "rankward.io/topology-required";
inline constexpr std::string_view kTopologyPreferredKey = "rankward.io/topology-preferred";
// Where an agent writes which GPUs the kubelet gave to the pod: "0,1", numbered as in the node's
// report.
inline constexpr std::string_view kAssignedGpusKey = "rankward.io/assigned-gpus";

// Larger gangs than any cluster that Kubernetes supports (5,000 nodes of 16 GPUs, one a pod).
inline constexpr std::int32_t kMaxGangSize = 100'000;

// Digits only, at most `most`. Nothing for any other text: no sign, no blank, no point.
[[nodiscard]] std::optional<std::int32_t> small_number(std::string_view text, std::int32_t most);

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
