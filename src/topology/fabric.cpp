#include "fabric.hpp"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

namespace rankward::topology {

namespace {

bool same_letters(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](unsigned char x, unsigned char y) {
    return std::tolower(x) == std::tolower(y);
  });
}

// "" where the label is absent, empty or a placeholder.
std::string_view usable_value(const kube::StringMap& labels, std::string_view key,
                              const LabelOptions& options) {
  const std::string* value = kube::find(labels, key);
  if (value == nullptr) return {};
  for (const std::string& placeholder : options.placeholders) {
    if (same_letters(*value, placeholder)) return {};
  }
  return *value;
}

bool is_digits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](unsigned char c) { return std::isdigit(c) != 0; });
}

// <cluster UUID>.<clique id>, with a cluster UUID that is not all zeros: that is what NVML says of
// a GPU that hangs on no multi-node fabric, and all such nodes would seem to be in one clique.
bool is_clique(std::string_view value) {
  const std::size_t dot = value.rfind('.');
  if (dot == std::string_view::npos || !is_digits(value.substr(dot + 1))) return false;
  const std::string_view uuid = value.substr(0, dot);
  if (uuid.size() != 36) return false;
  bool all_zeros = true;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    const bool dash = i == 8 || i == 13 || i == 18 || i == 23;
    const auto c = static_cast<unsigned char>(uuid[i]);
    if (dash ? c != '-' : std::isxdigit(c) == 0) return false;
    if (!dash && c != '0') all_zeros = false;
  }
  return !all_zeros;
}

std::string clique(const kube::StringMap& labels, const LabelOptions& options) {
  const std::string_view own = usable_value(labels, options.clique_key, options);
  if (is_clique(own)) return std::string(own);
  for (const std::string& key : options.clique_like_keys) {
    const std::string_view value = usable_value(labels, key, options);
    if (is_clique(value)) return std::string(value);
  }
  return {};
}

// The keys of the scheme of which the node carries a usable label, sorted.
std::vector<std::string_view> usable_keys(const FabricScheme& scheme, const kube::StringMap& labels,
                                          const LabelOptions& options) {
  std::vector<std::string_view> keys;
  for (const std::string& key : scheme.tiers) {
    if (!usable_value(labels, key, options).empty()) keys.emplace_back(key);
  }
  std::sort(keys.begin(), keys.end());
  return keys;
}

const FabricScheme* choose_scheme(const kube::StringMap& labels, const LabelOptions& options) {
  const FabricScheme* chosen = nullptr;
  std::vector<std::string_view> read;
  for (const FabricScheme& scheme : options.fabric_schemes) {
    auto keys = usable_keys(scheme, labels, options);
    if (keys.empty()) continue;
    // Both of Topograph's old schemes have a `spine`; the one that also explains `block` is meant.
    const bool says_more = keys.size() > read.size() &&
                           std::includes(keys.begin(), keys.end(), read.begin(), read.end());
    if (chosen == nullptr || says_more) {
      chosen = &scheme;
      read = std::move(keys);
    }
  }
  return chosen;
}

}  // namespace

std::vector<FabricScheme> LabelOptions::default_fabric_schemes() {
  FabricScheme topograph{"topograph", {}};
  constexpr int kTopographTiers = 8;
  for (int tier = 0; tier < kTopographTiers; ++tier) {
    topograph.tiers.push_back("fabric.topograph.run/tier-" + std::to_string(tier));
  }
  return {
      std::move(topograph),
      {"topograph-0.5",
       {"network.topology.nvidia.com/leaf", "network.topology.nvidia.com/spine",
        "network.topology.nvidia.com/core"}},
      {"topograph-old",
       {"network.topology.nvidia.com/block", "network.topology.nvidia.com/spine",
        "network.topology.nvidia.com/datacenter"}},
      // Without gce-topology-host: it names the physical machine under the VM. GPU VMs fill their
      // machine, so each node would be a leaf of its own and any two nodes would cross a tier.
      {"gce", {"cloud.google.com/gce-topology-subblock", "cloud.google.com/gce-topology-block"}},
      {"aws",
       {"topology.k8s.aws/network-node-layer-3", "topology.k8s.aws/network-node-layer-2",
        "topology.k8s.aws/network-node-layer-1"}},
      {"oci",
       {"oci.oraclecloud.com/rdma.local_block_id", "oci.oraclecloud.com/rdma.network_block_id",
        "oci.oraclecloud.com/rdma.hpc_island_id"}},
      {"oci-host",
       {"oci.oraclecloud.com/host.rack_id", "oci.oraclecloud.com/host.network_block_id"}},
  };
}

FabricPosition fabric_position(const kube::StringMap& labels, const LabelOptions& options) {
  FabricPosition position;
  position.clique = clique(labels, options);
  const FabricScheme* scheme = choose_scheme(labels, options);
  if (scheme == nullptr) return position;
  for (const std::string& key : scheme->tiers) {
    position.domains.emplace_back(usable_value(labels, key, options));
    position.keys.push_back(key);
  }
  // A gap in the middle keeps its place; what is missing at the top is not there.
  while (!position.domains.empty() && position.domains.back().empty()) {
    position.domains.pop_back();
    position.keys.pop_back();
  }
  return position;
}

}  // namespace rankward::topology
