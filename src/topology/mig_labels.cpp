#include "mig_labels.hpp"

#include <algorithm>
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

// Only what is allocatable now: a key of an earlier geometry stays at 0, sometimes beside a
// capacity above 0 (run-ai/fake-gpu-operator's samples have one).
void read_status(const kube::Node& node, SlicesByProfile& slices) {
  for (auto it = node.allocatable.lower_bound(kPrefix);
       it != node.allocatable.end() && std::string_view(it->first).starts_with(kPrefix); ++it) {
    const auto profile = kube::mig_profile(it->first);
    std::int64_t count = it->second.value();
    if (!profile || count <= 0) continue;
    // Capacity holds the unhealthy slices too.
    const auto all = node.capacity.find(it->first);
    if (all != node.capacity.end()) count = std::max(count, all->second.value());
    Slices& entry = slices[std::string(*profile)];
    entry.registered += std::min(count, kMostDevices);
  }
}

}  // namespace

std::vector<MigProfile> mixed_profiles(const kube::Node& node, std::string_view product) {
  SlicesByProfile slices;
  read_labels(node.metadata.labels, slices);
  read_status(node, slices);

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
