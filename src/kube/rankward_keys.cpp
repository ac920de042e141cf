#include "rankward/kube/rankward_keys.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>

#include "rankward/kube/quantity.hpp"

namespace rankward::kube {
namespace {

using std::string_view;

constexpr std::size_t kMaxName = 253;   // as Kubernetes limits object names
constexpr std::size_t kMaxLevel = 317;  // a label key: prefix of 253, slash, name of 63

// More than any node has; what is longer is no such list.
constexpr std::int32_t kMaxGpuIndex = 1023;
constexpr std::size_t kMaxIndexList = 1024;  // bytes

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

bool is_name(string_view text) {
  return !text.empty() && text.size() <= kMaxName &&
         std::all_of(text.begin(), text.end(), is_name_character);
}

bool is_gang_size(string_view text) {
  return small_number(text, kMaxGangSize).value_or(0) >= 1;
}

bool is_rank(string_view text) {
  return small_number(text, kMaxGangSize - 1).has_value();
}

bool is_transport(string_view text) {
  return text == "rdma-required" || text == "rdma-preferred" || text == "tcp" || text == "any";
}

bool is_sharing(string_view text) {
  return text == "exclusive" || text == "mig" || text == "shared";
}

bool is_bytes(string_view text) {
  return annotated_bytes(text).has_value();
}

bool is_true(string_view text) {
  return text == "true";
}

bool is_index_list(string_view text) {
  return gpu_indexes(text).has_value();
}

constexpr string_view kBytes = "must be a positive quantity of bytes, at most 1Pi, such as 12Gi";
constexpr string_view kLevel = "must be a node label's key or the name of a tier";
constexpr string_view kTrue = "must be \"true\"";

constexpr std::array kKeys{
    RankwardKey{kGangKey, KeyPlace::kPodAnnotation,
                "must be 1 to 253 letters, digits, '-', '_' or '.'", is_name},
    RankwardKey{kGangSizeKey, KeyPlace::kPodAnnotation, "must be a whole number from 1 to 100000",
                is_gang_size},
    RankwardKey{kRankKey, KeyPlace::kPodAnnotation, "must be a whole number from 0 to 99999",
                is_rank},
    RankwardKey{kTopologyRequiredKey, KeyPlace::kPodAnnotation, kLevel, is_topology_level},
    RankwardKey{kTopologyPreferredKey, KeyPlace::kPodAnnotation, kLevel, is_topology_level},
    RankwardKey{kTransportKey, KeyPlace::kPodAnnotation,
                "must be one of rdma-required, rdma-preferred, tcp, any", is_transport},
    RankwardKey{kSharingKey, KeyPlace::kPodAnnotation, "must be one of exclusive, mig, shared",
                is_sharing},
    RankwardKey{kGpuMemoryKey, KeyPlace::kPodAnnotation, kBytes, is_bytes},
    RankwardKey{kMessageSizeKey, KeyPlace::kPodAnnotation, kBytes, is_bytes},
    RankwardKey{kWithKueueKey, KeyPlace::kPodAnnotation, kTrue, is_true},
    RankwardKey{kAssignedGpusKey, KeyPlace::kPodAnnotation, "must be indexes of GPUs, such as 0,1",
                is_index_list},
    RankwardKey{kFabricTestKey, KeyPlace::kPodLabel, kTrue, is_true},
    RankwardKey{"rankward.io/topology", KeyPlace::kNodeAnnotation, "must be a node's report"},
    RankwardKey{kIsolationKey, KeyPlace::kNamespaceLabel, "must be \"required\""},
    RankwardKey{kSloKey, KeyPlace::kNamespaceLabel, "may be any label value"},
    RankwardKey{"rankward.io/scheduler", KeyPlace::kNamespaceLabel, kTrue},
};

}  // namespace

std::span<const RankwardKey> rankward_keys() {
  return kKeys;
}

const RankwardKey* find_rankward_key(std::string_view key) {
  const auto found = std::find_if(kKeys.begin(), kKeys.end(),
                                  [key](const RankwardKey& known) { return known.key == key; });
  return found == kKeys.end() ? nullptr : found;
}

std::optional<std::int32_t> small_number(std::string_view text, std::int32_t most) {
  std::int32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || text.front() == '-' || value > most) {
    return std::nullopt;
  }
  return value;
}

std::optional<std::int64_t> annotated_bytes(std::string_view text) {
  const auto quantity = Quantity::parse(text);
  if (!quantity || quantity->sign() <= 0 || quantity->value() > kMaxAnnotatedBytes) {
    return std::nullopt;
  }
  return quantity->value();
}

std::optional<std::vector<std::uint32_t>> gpu_indexes(std::string_view text) {
  if (text.size() > kMaxIndexList) return std::nullopt;
  std::vector<std::uint32_t> indexes;
  while (true) {
    const std::size_t comma = text.find(',');
    const auto index = small_number(text.substr(0, comma), kMaxGpuIndex);
    if (!index) return std::nullopt;
    indexes.push_back(static_cast<std::uint32_t>(*index));
    if (comma == string_view::npos) return indexes;
    text.remove_prefix(comma + 1);
  }
}

bool is_topology_level(std::string_view text) {
  return !text.empty() && text.size() <= kMaxLevel &&
         std::count(text.begin(), text.end(), '/') <= 1 &&
         std::all_of(text.begin(), text.end(),
                     [](char c) { return c == '/' || is_name_character(c); });
}

}  // namespace rankward::kube
