#include "annotations.hpp"

#include <array>
#include <utility>

namespace rankward::placement {

namespace {

Error not_in_form(std::string_view key, std::string_view accepted) {
  return Error::invalid(std::string(accepted))
      .at_field("metadata.annotations[\"" + std::string(key) + "\"]");
}

// The value of a key of kube::rankward_keys(): nullptr where it is absent.
Result<const std::string*> read_checked(const kube::StringMap& annotations, std::string_view key) {
  const std::string* text = kube::find(annotations, key);
  if (text == nullptr) return text;
  const kube::RankwardKey* known = kube::find_rankward_key(key);
  if (!known->accepts(*text)) return not_in_form(key, known->accepted);
  return text;
}

template <class T>
using Choice = std::pair<std::string_view, T>;

template <class T, std::size_t N>
Result<std::optional<T>> read_choice(const kube::StringMap& annotations, std::string_view key,
                                     const std::array<Choice<T>, N>& choices) {
  const auto text = read_checked(annotations, key);
  if (!text) return text.error();
  if (*text == nullptr) return std::optional<T>();
  for (const auto& [name, value] : choices)
    if (**text == name) return std::optional<T>(value);
  return not_in_form(key, kube::find_rankward_key(key)->accepted);
}

Result<std::optional<std::int32_t>> read_number(const kube::StringMap& annotations,
                                                std::string_view key) {
  const auto text = read_checked(annotations, key);
  if (!text) return text.error();
  return *text == nullptr ? std::nullopt : small_number(**text, kMaxGangSize);
}

}  // namespace

Result<std::optional<std::string>> read_name(const kube::StringMap& annotations,
                                             std::string_view key) {
  const auto text = read_checked(annotations, key);
  if (!text) return text.error();
  return *text == nullptr ? std::nullopt : std::optional<std::string>(**text);
}

Result<std::optional<std::int32_t>> read_gang_size(const kube::StringMap& annotations) {
  return read_number(annotations, kGangSizeKey);
}

Result<std::optional<std::int32_t>> read_rank(const kube::StringMap& annotations) {
  return read_number(annotations, kRankKey);
}

Result<std::optional<TransportWish>> read_transport(const kube::StringMap& annotations) {
  static constexpr std::array<Choice<TransportWish>, 4> kChoices{{
      {"rdma-required", TransportWish::kRdmaRequired},
      {"rdma-preferred", TransportWish::kRdmaPreferred},
      {"tcp", TransportWish::kTcp},
      {"any", TransportWish::kAny},
  }};
  return read_choice(annotations, kTransportKey, kChoices);
}

Result<std::optional<SharingWish>> read_sharing(const kube::StringMap& annotations) {
  static constexpr std::array<Choice<SharingWish>, 3> kChoices{{
      {"exclusive", SharingWish::kExclusive},
      {"mig", SharingWish::kMig},
      {"shared", SharingWish::kShared},
  }};
  return read_choice(annotations, kSharingKey, kChoices);
}

Result<std::optional<topology::Bytes>> read_bytes(const kube::StringMap& annotations,
                                                  std::string_view key) {
  const auto text = read_checked(annotations, key);
  if (!text) return text.error();
  if (*text == nullptr) return std::optional<topology::Bytes>();
  return std::optional(topology::Bytes{kube::annotated_bytes(**text).value()});
}

Result<std::optional<std::string>> read_topology_level(const kube::StringMap& annotations,
                                                       std::string_view key) {
  const std::string* text = kube::find(annotations, key);
  if (text == nullptr) return std::optional<std::string>();
  if (!kube::is_topology_level(*text)) {
    return not_in_form(key, kube::find_rankward_key(kTopologyRequiredKey)->accepted);
  }
  return std::optional<std::string>(*text);
}

}  // namespace rankward::placement
