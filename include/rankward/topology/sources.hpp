// Labels of a Node -> NodeTopology, and the merge with what the node's own report says.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "rankward/kube/node.hpp"
#include "rankward/result.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::topology {

// One way in which a provider or tool labels the fabric, nearest tier first.
struct FabricScheme {
  std::string name;                // "topograph"
  std::vector<std::string> tiers;  // label keys, nearest first
};

struct LabelOptions {
  // Tried in order; the first scheme of which the node carries a usable label is used, unless a
  // later one reads the same labels and more.
  std::vector<FabricScheme> fabric_schemes = default_fabric_schemes();
  std::string clique_key = "nvidia.com/gpu.clique";
  // Read where clique_key says nothing, and only where the value has the same form: on AWS
  // Topograph's accelerator is a capacity reservation that several cliques share, not NVLink's
  // reach (topograph 289).
  std::vector<std::string> clique_like_keys = {"accelerator.topograph.run/sub-domain",
                                               "accelerator.topograph.run/domain",
                                               "network.topology.nvidia.com/accelerator"};
  // Values that stand for "not known", such as OCI's no-imds-data.
  std::vector<std::string> placeholders = {"no-imds-data", "unknown", "none", "null"};

  // Topograph (tier-0..7, and its two older forms), GCE without its host level, AWS, OCI.
  static std::vector<FabricScheme> default_fabric_schemes();
};

// What the labels and allocatable of the node say. Never fails: a label that cannot be read is
// unknown.
[[nodiscard]] NodeTopology from_labels(const kube::Node& node, const LabelOptions& options);

// The report wins where it says something; labels fill the rest.
[[nodiscard]] NodeTopology merge(NodeTopology report, const NodeTopology& labels);

// Real memory of one slice by GPU model and profile, where neither a label nor a report gives it.
// Figures: `nvidia-smi mig -lgip` outputs collected in NVIDIA/mig-parted issues and the MIG user
// guide; where two outputs differ the smaller. Nothing for models and profiles that nobody has
// published.
[[nodiscard]] std::optional<Bytes> measured_slice_memory(std::string_view product,
                                                         std::string_view profile);

struct SliceMemory {
  Bytes least;
  Bytes most;
};
// The same over every model that has such a profile, where the model is not known: "1g.10gb" is
// 9.50 GiB on an A100, 9.75 GiB on an H100. Nothing for profiles that nobody has published.
[[nodiscard]] std::optional<SliceMemory> measured_slice_memory(std::string_view profile);

}  // namespace rankward::topology
