#include "annotations.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include "rankward/kube/quantity.hpp"

namespace rankward::placement {

namespace {

constexpr std::size_t kMaxName = 253;   // as Kubernetes limits object names
constexpr std::size_t kMaxLevel = 317;  // a label key: prefix of 253, slash, name of 63

// Far above any GPU's memory or message; sums of these over a node's devices stay within 64 bits.
constexpr std::int64_t kMaxBytes = std::int64_t{1} << 50;

Error not_in_form(std::string_view key, std::string accepted) {
  return Error::invalid(std::move(accepted))
      .at_field("metadata.annotations[\"" + std::string(key) + "\"]");
}

bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '_' || c == '.';
}

template <class T>
using Choice = std::pair<std::string_view, T>;

template <class T, std::size_t N>
Result<std::optional<T>> read_choice(const kube::StringMap& annotations, std::string_view key,
                                     const std::array<Choice<T>, N>& choices) {
  const std::string* text = kube::find(annotations, key);
  if (text == nullptr) return std::optional<T>();
  std::string accepted = "must be one of";
  for (const auto& [name, value] : choices) {
    if (*text == name) return std::optional<T>(value);
    accepted += (name == choices.front().first ? " " : ", ") + std::string(name);
  }
  return not_in_form(key, std::move(accepted));
}

Result<std::optional<std::int32_t>> read_number(const kube::StringMap& annotations,
                                                std::string_view key, std::int32_t least,
                                                std::int32_t most) {
  const std::string* text = kube::find(annotations, key);
  if (text == nullptr) return std::optional<std::int32_t>();
  const auto value = small_number(*text, most);
  if (!value || *value < least) {
    return not_in_form(key, "must be a whole number from " + std::to_string(least) + " to " +
                                std::to_string(most));
  }
  return value;
}

}  // namespace

std::optional<std::int32_t> small_number(std::string_view text, std::int32_t most) {
  std::int32_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stopped != end || text.front() == '-' || value > most) {
    return std::nullopt;
  }
  return value;
}

Result<std::optional<std::string>> read_name(const kube::StringMap& annotations,
                                             std::string_view key) {
  const std::string* text = kube::find(annotations, key);
  if (text == nullptr) return std::optional<std::string>();
  if (text->empty() || text->size() > kMaxName ||
      !std::all_of(text->begin(), text->end(), is_name_character)) {
    return not_in_form(key, "must be 1 to 253 letters, digits, '-', '_' or '.'");
  }
  return std::optional<std::string>(*text);
}

Result<std::optional<std::int32_t>> read_gang_size(const kube::StringMap& annotations) {
  return read_number(annotations, kGangSizeKey, 1, kMaxGangSize);
}

Result<std::optional<std::int32_t>> read_rank(const kube::StringMap& annotations) {
  return read_number(annotations, kRankKey, 0, kMaxGangSize - 1);
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
  const std::string* text = kube::find(annotations, key);
  if (text == nullptr) return std::optional<topology::Bytes>();
  const auto quantity = kube::Quantity::parse(*text);
  if (!quantity || quantity->sign() <= 0 || quantity->value() > kMaxBytes) {
    return not_in_form(key, "must be a positive quantity of bytes, at most 1Pi, such as 12Gi");
  }
  return std::optional<topology::Bytes>(topology::Bytes{quantity->value()});
}

Result<std::optional<std::string>> read_topology_level(const kube::StringMap& annotations,
                                                       std::string_view key) {
  const std::string* text = kube::find(annotations, key);
  if (text == nullptr) return std::optional<std::string>();
  if (text->empty() || text->size() > kMaxLevel ||
      std::count(text->begin(), text->end(), '/') > 1 ||
      !std::all_of(text->begin(), text->end(),
                   [](char c) { return c == '/' || is_name_character(c); })) {
    return not_in_form(key, "must be a node label's key or the name of a tier");
  }
  return std::optional<std::string>(*text);
}

}  // namespace rankward::placement
