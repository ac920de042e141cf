#include "mig_labels.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "label_values.hpp"
#include "rankward/kube/resources.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::topology {

namespace {

constexpr std::string_view kPrefix = "nvidia.com/mig-";

struct Slices {
  std::optional<Bytes> memory;
  std::optional<std::int64_t> labelled;  // by GFD
  std::int64_t replicas = 1;
  std::int64_t registered = 0;  // by the device plugin, replicas counted one by one
};

using SlicesByProfile = std::map<std::string, Slices, std::less<>>;

// The profile of `nvidia.com/mig-<profile>.<attribute>`; a profile has dots of its own.
std::optional<std::string_view> profile_before(std::string_view key, std::string_view attribute) {
  if (!key.ends_with(attribute)) return std::nullopt;
  return kube::mig_profile(key.substr(0, key.size() - attribute.size()));
}

void read_labels(const kube::StringMap& labels, SlicesByProfile& slices) {
  for (auto it = labels.lower_bound(kPrefix);
       it != labels.end() && std::string_view(it->first).starts_with(kPrefix); ++it) {
    const std::string_view key = it->first;
    if (const auto profile = profile_before(key, ".count")) {
      slices[std::string(*profile)].labelled = label_count(labels, key);
    } else if (const auto sized = profile_before(key, ".memory")) {
      slices[std::string(*sized)].memory = label_memory(labels, key);
    } else if (const auto shared = profile_before(key, ".replicas")) {
      // GFD writes 0 for "no sharing" on some releases.
      slices[std::string(*shared)].replicas =
          std::max<std::int64_t>(1, label_count(labels, key).value_or(1));
    }
  }
}

void read_status(const kube::ResourceList& capacity, SlicesByProfile& slices) {
  for (auto it = capacity.lower_bound(kPrefix);
       it != capacity.end() && std::string_view(it->first).starts_with(kPrefix); ++it) {
    const auto profile = kube::mig_profile(it->first);
    const std::int64_t count = it->second.value();
    if (!profile || count <= 0) continue;
    Slices& entry = slices[std::string(*profile)];
    if (__builtin_add_overflow(entry.registered, count, &entry.registered)) {
      entry.registered = count;
    }
  }
}

}  // namespace

std::vector<MigProfile> mixed_profiles(const kube::Node& node, std::string_view product) {
  SlicesByProfile slices;
  read_labels(node.metadata.labels, slices);
  read_status(node.capacity, slices);

  std::vector<MigProfile> profiles;
  for (const auto& [profile, entry] : slices) {
    const std::int64_t count = entry.labelled.value_or(entry.registered / entry.replicas);
    if (count <= 0) continue;
    MigProfile result{profile, entry.memory, false, count};
    if (!result.memory) {
      result.memory = measured_slice_memory(product, profile);
      result.memory_from_table = result.memory.has_value();
    }
    profiles.push_back(std::move(result));
  }
  return profiles;
}

}  // namespace rankward::topology
