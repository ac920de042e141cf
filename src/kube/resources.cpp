#include "rankward/kube/resources.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstddef>

#include "device_names.hpp"
#include "qualified_name.hpp"

namespace rankward::kube {
namespace {

using std::string_view;

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}

std::optional<DeviceKind> named_kind(string_view resource) {
  for (const auto& [name, kind] : kDeviceNames) {
    const bool matches = name.ends_with('*') ? resource.starts_with(name.substr(0, name.size() - 1))
                                             : resource == name;
    if (matches) return kind;
  }
  return std::nullopt;
}

// Removes the prefix; false where there is none or nothing follows it.
bool strip_prefix(string_view& text, string_view prefix) {
  if (!text.starts_with(prefix) || text.size() == prefix.size()) return false;
  text.remove_prefix(prefix.size());
  return true;
}

bool strip_suffix(string_view& text, string_view suffix) {
  if (!text.ends_with(suffix) || text.size() == suffix.size()) return false;
  text.remove_suffix(suffix.size());
  return true;
}

// Removes a number without leading zeros.
bool strip_number(string_view& text) {
  std::size_t length = 0;
  while (length < text.size() && is_digit(text[length]))
    ++length;
  if (length == 0 || text[0] == '0') return false;
  text.remove_prefix(length);
  return true;
}

bool strip_literal(string_view& text, string_view literal) {
  if (!text.starts_with(literal)) return false;
  text.remove_prefix(literal.size());
  return true;
}

// [Nc.]Ng.Ngb and attributes: the MIG user guide's names with '+' written as '.' in resource names
// ("1g.10gb.me", "1g.24gb-me", "1g.24gb.me.all", "1c.3g.20gb"). Any lower-case word passes for an
// attribute, since drivers add them; ".shared" is the plugin's, not the profile's.
bool is_mig_profile(string_view text) {
  if (!strip_number(text)) return false;
  if (strip_literal(text, "c.") && !strip_number(text)) return false;
  if (!strip_literal(text, "g.") || !strip_number(text) || !strip_literal(text, "gb")) return false;
  while (!text.empty()) {
    if (text[0] != '.' && text[0] != '-') return false;
    text.remove_prefix(1);
    const auto end = std::find_if_not(text.begin(), text.end(), is_lower);
    const auto length = static_cast<std::size_t>(end - text.begin());
    if (length == 0 || text.substr(0, length) == "shared") return false;
    text.remove_prefix(length);
  }
  return true;
}

// gpu.intel.com/i915, xe and what later drivers are called; "i915_monitoring" shows every GPU of
// the node to one pod and grants none.
bool is_intel_gpu(string_view resource) {
  return strip_prefix(resource, "gpu.intel.com/") && !resource.ends_with("monitoring");
}

// amd.com/cpx_nps4 and the like: one partition of an MI300, which software sees as a GPU of its
// own (k8s-device-plugin, resource_naming_strategy=mixed).
bool is_amd_partition(string_view resource) {
  if (!strip_prefix(resource, "amd.com/")) return false;
  const auto mode =
      std::find(kAmdPartitionModes.begin(), kAmdPartitionModes.end(), resource.substr(0, 3));
  if (mode == kAmdPartitionModes.end()) return false;
  resource.remove_prefix(3);
  return strip_literal(resource, "_nps") && strip_number(resource) && resource.empty();
}

// huawei.com/Ascend910, Ascend310P; their memory (HAMi) and their vNPU templates ("Ascend910-2c")
// are parts of one.
std::optional<DeviceKind> ascend_kind(string_view resource) {
  if (!strip_prefix(resource, "huawei.com/Ascend")) return std::nullopt;
  const bool part = resource.find('-') != string_view::npos;
  return part ? DeviceKind::kFraction : DeviceKind::kWholeGpu;
}

DeviceKind unshared_kind(string_view resource) {
  if (string_view mig = resource; strip_prefix(mig, "nvidia.com/mig-")) {
    return is_mig_profile(mig) ? DeviceKind::kMigSlice : DeviceKind::kNone;
  }
  if (const auto kind = named_kind(resource)) return *kind;
  if (is_intel_gpu(resource) || is_amd_partition(resource)) return DeviceKind::kWholeGpu;
  return ascend_kind(resource).value_or(DeviceKind::kNone);
}

// Whether a word that only RDMA resources carry stands in the name.
bool names_rdma(string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  constexpr std::array<string_view, 6> kParts = {"rdma",     "mlnx", "mellanox",
                                                 "connectx", "roce", "infiniband"};
  for (const string_view part : kParts) {
    if (lower.find(part) != std::string::npos) return true;
  }
  // "ib" and "hca" are short: as words only, a number after them allowed ("sriov_ib0").
  constexpr std::array<string_view, 2> kWords = {"ib", "hca"};
  string_view rest = lower;
  while (!rest.empty()) {
    const auto end = std::find_if_not(rest.begin(), rest.end(), is_alphanumeric);
    string_view word = rest.substr(0, static_cast<std::size_t>(end - rest.begin()));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    while (!word.empty() && is_digit(word.back()))
      word.remove_suffix(1);
    if (std::find(kWords.begin(), kWords.end(), word) != kWords.end()) return true;
  }
  return false;
}

// RFC 1123 subdomain of at most `limit` characters.
bool is_subdomain(string_view text, std::size_t limit) {
  if (text.empty() || text.size() > limit) return false;
  const auto word = [](char c) { return is_lower(c) || is_digit(c); };
  while (true) {
    const string_view label = text.substr(0, text.find('.'));
    if (label.empty() || !word(label.front()) || !word(label.back())) return false;
    for (const char c : label) {
      if (!word(c) && c != '-') return false;
    }
    if (label.size() == text.size()) return true;
    text.remove_prefix(label.size() + 1);
  }
}

}  // namespace

DeviceKind device_kind(string_view resource_name) {
  if (string_view name = resource_name; strip_prefix(name, "deviceclass.resource.kubernetes.io/")) {
    return DeviceKind::kDraClass;
  }
  if (string_view name = resource_name; strip_suffix(name, ".shared")) {
    const DeviceKind whole = unshared_kind(name);
    const bool divisible = whole == DeviceKind::kWholeGpu || whole == DeviceKind::kMigSlice;
    return divisible ? DeviceKind::kSharedSlice : DeviceKind::kNone;
  }
  return unshared_kind(resource_name);
}

bool is_accelerator(string_view resource_name) {
  return device_kind(resource_name) != DeviceKind::kNone;
}

std::optional<string_view> mig_profile(string_view resource_name) {
  if (!strip_prefix(resource_name, "nvidia.com/mig-")) return std::nullopt;
  strip_suffix(resource_name, ".shared");
  if (!is_mig_profile(resource_name)) return std::nullopt;
  return resource_name;
}

bool is_rdma(string_view resource_name) {
  if (string_view name = resource_name; strip_prefix(name, "rdma/")) return true;
  constexpr std::array<string_view, 3> kNames = {"nvidia.com/hostdev", "vpc.amazonaws.com/efa",
                                                 "koordinator.sh/rdma"};
  if (std::find(kNames.begin(), kNames.end(), resource_name) != kNames.end()) return true;
  constexpr std::array<string_view, 4> kSriovPrefixes = {"intel.com/", "nvidia.com/",
                                                         "mellanox.com/", "openshift.io/"};
  for (const string_view prefix : kSriovPrefixes) {
    if (string_view name = resource_name; strip_prefix(name, prefix)) {
      return !is_accelerator(resource_name) && names_rdma(name);
    }
  }
  return false;
}

bool is_extended(string_view resource_name) {
  constexpr string_view kQuotaPrefix = "requests.";
  const std::size_t slash = resource_name.find('/');
  if (slash == string_view::npos) return false;
  if (resource_name.find("kubernetes.io/") != string_view::npos) return false;
  if (resource_name.starts_with(kQuotaPrefix)) return false;
  // A quota on it is called requests.NAME, which has to be a qualified name as well.
  return is_subdomain(resource_name.substr(0, slash), 253 - kQuotaPrefix.size()) &&
         is_name_part(resource_name.substr(slash + 1));
}

}  // namespace rankward::kube
