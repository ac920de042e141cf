#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "fabric.hpp"
#include "label_values.hpp"
#include "mig_labels.hpp"
#include "rankward/kube/resources.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::topology {

namespace {

constexpr std::int64_t kMostMebibytes = std::int64_t{16} << 20;

std::optional<std::int64_t> digits(std::string_view text) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// What GFD puts behind the name of the card: "-MIG-1g.5gb" under the single strategy,
// "-MIG-INVALID" where that strategy cannot hold, and last "-SHARED" for replicas under the plain
// resource name.
struct Product {
  std::string card;
  std::string single_profile;
  bool shared = false;
  bool mig_invalid = false;
};

Product split_product(std::string_view text) {
  constexpr std::string_view kShared = "-SHARED";
  constexpr std::string_view kMig = "-MIG-";
  Product product;
  if (text.ends_with(kShared)) {
    product.shared = true;
    text.remove_suffix(kShared.size());
  }
  if (const std::size_t at = text.rfind(kMig); at != std::string_view::npos) {
    const std::string_view profile = text.substr(at + kMig.size());
    const std::string resource = "nvidia.com/mig-" + std::string(profile);
    if (profile == "INVALID") {
      product.mig_invalid = true;
      text = text.substr(0, at);
    } else if (kube::mig_profile(resource)) {
      product.single_profile = profile;
      text = text.substr(0, at);
    }
  }
  product.card = text;
  return product;
}

std::int64_t registered(const kube::Node& node, std::string_view resource) {
  const auto it = node.capacity.find(resource);
  return it == node.capacity.end() ? 0 : it->second.value();
}

SharingMode sharing_mode(const kube::Node& node, const Product& product, const NodeTopology& said) {
  if (!product.single_profile.empty() || product.mig_invalid) return SharingMode::kMigSingle;
  const std::string_view strategy =
      label_text(node.metadata.labels, "nvidia.com/gpu.sharing-strategy");
  const bool renamed = registered(node, "nvidia.com/gpu.shared") > 0;
  if (product.shared || renamed || said.replicas.value_or(0) > 1) {
    // Releases before the strategy label knew time-slicing only; and where it is missing, memory
    // that is not divided is the careful reading.
    return strategy == "mps" ? SharingMode::kMps : SharingMode::kTimeSlicing;
  }
  if (!said.mig_profiles.empty()) return SharingMode::kMigMixed;
  if (said.replicas == 1 || strategy == "none") return SharingMode::kExclusive;
  // Before GFD wrote replicas there was no sharing to write of; the plugin's own count must agree.
  if (!said.replicas && said.gpu_count && *said.gpu_count > 0 &&
      registered(node, "nvidia.com/gpu") == *said.gpu_count) {
    return SharingMode::kExclusive;
  }
  return SharingMode::kUnknown;
}

std::optional<MigState> mig_state(const kube::StringMap& labels) {
  const std::string* state = kube::find(labels, "nvidia.com/mig.config.state");
  if (state == nullptr) return std::nullopt;
  if (*state == "success") return MigState::kSuccess;
  if (*state == "pending") return MigState::kPending;
  if (*state == "rebooting") return MigState::kRebooting;
  if (*state == "failed") return MigState::kFailed;
  return MigState::kUnknown;
}

bool is_paused_for_mig(const kube::StringMap& labels) {
  constexpr std::string_view kDeploy = "nvidia.com/gpu.deploy.";
  for (auto it = labels.lower_bound(kDeploy);
       it != labels.end() && std::string_view(it->first).starts_with(kDeploy); ++it) {
    if (it->second == "paused-for-mig-change") return true;
  }
  return false;
}

std::string driver_version(const kube::StringMap& labels) {
  const std::string_view full = label_text(labels, "nvidia.com/cuda.driver-version.full");
  if (!full.empty()) return std::string(full);
  constexpr std::pair<std::string_view, std::string_view> kForms[] = {
      {"nvidia.com/cuda.driver-version.", "revision"},
      {"nvidia.com/cuda.driver.", "rev"},
  };
  for (const auto& [prefix, last] : kForms) {
    std::string version(label_text(labels, std::string(prefix) + "major"));
    if (version.empty()) continue;
    for (const std::string_view part : {std::string_view("minor"), last}) {
      const std::string_view value = label_text(labels, std::string(prefix) + std::string(part));
      if (value.empty()) break;
      version += "." + std::string(value);
    }
    return version;
  }
  return {};
}

bool has_gfd_labels(const kube::StringMap& labels) {
  constexpr std::string_view kKeys[] = {"nvidia.com/gpu.product", "nvidia.com/gpu.count",
                                        "nvidia.com/gpu.memory", "nvidia.com/mig.capable",
                                        "nvidia.com/mig.strategy"};
  return std::any_of(std::begin(kKeys), std::end(kKeys), [&labels](std::string_view key) {
    return kube::find(labels, key) != nullptr;
  });
}

bool has_accelerators(const kube::ResourceList& resources) {
  return std::any_of(resources.begin(), resources.end(),
                     [](const auto& entry) { return kube::is_accelerator(entry.first); });
}

void add(NodeTopology& topology, Source source) {
  topology.sources |= static_cast<std::uint8_t>(source);
}

}  // namespace

std::string_view label_text(const kube::StringMap& labels, std::string_view key) {
  const std::string* value = kube::find(labels, key);
  return value == nullptr ? std::string_view() : std::string_view(*value);
}

std::optional<std::int64_t> label_count(const kube::StringMap& labels, std::string_view key) {
  const auto value = digits(label_text(labels, key));
  return value && *value <= kMostDevices ? value : std::nullopt;
}

std::optional<Bytes> label_memory(const kube::StringMap& labels, std::string_view key) {
  const auto value = digits(label_text(labels, key));
  if (!value || *value == 0) return std::nullopt;
  if (*value <= kMostMebibytes) return Bytes{*value * kMebibyte};
  if (*value <= kMostMebibytes * kMebibyte) return Bytes{*value};
  return std::nullopt;
}

NodeTopology from_labels(const kube::Node& node, const LabelOptions& options) {
  const kube::StringMap& labels = node.metadata.labels;
  NodeTopology topology;

  const Product product = split_product(label_text(labels, "nvidia.com/gpu.product"));
  topology.product = product.card;
  topology.single_profile = product.single_profile;
  topology.mig_invalid = product.mig_invalid;
  topology.replicas = label_count(labels, "nvidia.com/gpu.replicas");
  topology.driver = driver_version(labels);
  // Behind -MIG-INVALID GFD writes 0 devices without memory, which tells nothing of the cards.
  if (!product.mig_invalid) {
    topology.gpu_count = label_count(labels, "nvidia.com/gpu.count");
    topology.gpu_memory = label_memory(labels, "nvidia.com/gpu.memory");
  }

  topology.mig_capable = label_text(labels, "nvidia.com/mig.capable") == "true";
  topology.mig_state = mig_state(labels);
  topology.mig_config = label_text(labels, "nvidia.com/mig.config");
  topology.mig_paused = is_paused_for_mig(labels);
  if (product.single_profile.empty()) {
    topology.mig_profiles = mixed_profiles(node, topology.product);
  } else {
    MigProfile only{product.single_profile, topology.gpu_memory, false,
                    topology.gpu_count.value_or(0)};
    if (!only.memory) {
      only.memory = measured_slice_memory(topology.product, only.profile);
      only.memory_from_table = only.memory.has_value();
    }
    topology.mig_profiles.push_back(std::move(only));
  }
  topology.sharing = sharing_mode(node, product, topology);
  topology.fabric = fabric_position(labels, options);

  if (has_gfd_labels(labels)) add(topology, Source::kGfdLabels);
  if (!topology.fabric.clique.empty() || !topology.fabric.domains.empty()) {
    add(topology, Source::kFabricLabels);
  }
  if (has_accelerators(node.capacity) || has_accelerators(node.allocatable)) {
    add(topology, Source::kAllocatable);
  }
  return topology;
}

}  // namespace rankward::topology
