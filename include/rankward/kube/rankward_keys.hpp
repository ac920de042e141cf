// The labels and annotations of rankward.io: the object that each belongs on and the values that it
// takes. One table for placement, which reads them, and admission, which refuses what would not be
// read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace rankward::kube {

inline constexpr std::string_view kRankwardPrefix = "rankward.io/";

inline constexpr std::string_view kGangKey = "rankward.io/gang";
inline constexpr std::string_view kGangSizeKey = "rankward.io/gang-size";
inline constexpr std::string_view kRankKey = "rankward.io/rank";
inline constexpr std::string_view kTopologyRequiredKey = "rankward.io/topology-required";
inline constexpr std::string_view kTopologyPreferredKey = "rankward.io/topology-preferred";
inline constexpr std::string_view kTransportKey = "rankward.io/transport";
inline constexpr std::string_view kSharingKey = "rankward.io/sharing";
// Peak need of one GPU.
inline constexpr std::string_view kGpuMemoryKey = "rankward.io/gpu-memory";
inline constexpr std::string_view kMessageSizeKey = "rankward.io/message-size";
// "true": a gang of ours beside a Kueue queue, on purpose.
inline constexpr std::string_view kWithKueueKey = "rankward.io/with-kueue";
// Where an agent writes which GPUs the kubelet gave to the pod: "0,1", numbered as in the node's
// report.
inline constexpr std::string_view kAssignedGpusKey = "rankward.io/assigned-gpus";
inline constexpr std::string_view kFabricTestKey = "rankward.io/fabric-test";
inline constexpr std::string_view kIsolationKey = "rankward.io/isolation";
inline constexpr std::string_view kSloKey = "rankward.io/slo";

// Larger gangs than any cluster that Kubernetes supports (5,000 nodes of 16 GPUs, one a pod).
inline constexpr std::int32_t kMaxGangSize = 100'000;
// Far above any GPU's memory or message; sums of these over a node's devices stay within 64 bits.
inline constexpr std::int64_t kMaxAnnotatedBytes = std::int64_t{1} << 50;

enum class KeyPlace : std::uint8_t {
  kPodAnnotation,
  kPodLabel,
  kNodeAnnotation,
  kNamespaceLabel,
};

struct RankwardKey {
  std::string_view key;
  KeyPlace place{};
  std::string_view accepted;  // "must be a whole number from 1 to 100000"
  // Whether the value is in that form. nullptr: values are not judged where the table is used.
  bool (*accepts)(std::string_view value) = nullptr;
};

// In the order in which documentation and messages name them.
[[nodiscard]] std::span<const RankwardKey> rankward_keys();
// nullptr for a key that is not in the table.
[[nodiscard]] const RankwardKey* find_rankward_key(std::string_view key);

// Digits only, at most `most`. Nothing for any other text: no sign, no blank, no point.
[[nodiscard]] std::optional<std::int32_t> small_number(std::string_view text, std::int32_t most);
// A positive Quantity of at most kMaxAnnotatedBytes, in bytes rounded up.
[[nodiscard]] std::optional<std::int64_t> annotated_bytes(std::string_view text);
// The list that kAssignedGpusKey holds; nothing where it is in another form.
[[nodiscard]] std::optional<std::vector<std::uint32_t>> gpu_indexes(std::string_view text);
// The form of a node label's key or of a tier's name.
[[nodiscard]] bool is_topology_level(std::string_view text);

}  // namespace rankward::kube
