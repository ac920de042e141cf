// Nodes as people published them, read where RANKWARD_CORPUS names the folder that holds them.
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>

#include "rankward/topology/sources.hpp"

namespace rankward::topology {
namespace {

struct Expected {
  SharingMode sharing;
  std::optional<std::int64_t> gpu_count;
  std::optional<std::int64_t> mebibytes;
  std::string product;
  std::size_t profiles;
};

// By file name under nodes/.
const std::map<std::string, Expected>& expectations() {
  static const std::map<std::string, Expected> kAll = {
      {"frag-mig-single-a100-7x1g5gb-labels.yaml",
       {SharingMode::kMigSingle, 7, 4864, "A100-PCIE-40GB", 1}},
      {"labels-h100-mig-mixed-all-balanced.yaml",
       {SharingMode::kMigMixed, 1, 81559, "NVIDIA-H100-80GB-HBM3", 3}},
      {"labels-h100-mig-single-all-disabled.yaml",
       {SharingMode::kExclusive, 1, 81559, "NVIDIA-H100-80GB-HBM3", 0}},
      {"mig-mixed-a100-2x1g5gb-1x2g10gb.yaml",
       {SharingMode::kMigMixed, 1, 40960, "NVIDIA-A100-SXM4-40GB", 2}},
      {"mig-mixed-a100-4-instances.yaml",
       {SharingMode::kMigMixed, 1, 40960, "NVIDIA-A100-SXM4-40GB", 2}},
      {"t4-2gpu-exclusive-mig-strategy-mixed-not-capable.yaml",
       {SharingMode::kExclusive, 2, 15360, "Tesla-T4", 0}},
      {"frag-t4-g4dn-labels-old-gfd.yaml", {SharingMode::kExclusive, 1, 15109, "Tesla-T4", 0}},
      {"frag-gpu-memory-label-in-bytes.yaml",
       {SharingMode::kExclusive, 1, 40536, "A100-SXM4-40GB", 0}},
      {"frag-timeslicing-12-replicas.yaml",
       {SharingMode::kUnknown, std::nullopt, std::nullopt, "", 0}},
      {"frag-mig-plus-timeslicing-gpu0-shared128.yaml",
       {SharingMode::kTimeSlicing, std::nullopt, std::nullopt, "", 0}},
  };
  return kAll;
}

void read_resources(const YAML::Node& from, kube::ResourceList& into) {
  for (const auto& entry : from) {
    auto quantity = kube::Quantity::parse(entry.second.as<std::string>());
    if (quantity.has_value()) into[entry.first.as<std::string>()] = *quantity;
  }
}

kube::Node read_node(const YAML::Node& document) {
  kube::Node node;
  for (const auto& label : document["metadata"]["labels"]) {
    node.metadata.labels[label.first.as<std::string>()] = label.second.as<std::string>();
  }
  if (const YAML::Node status = document["status"]) {
    read_resources(status["capacity"], node.capacity);
    read_resources(status["allocatable"], node.allocatable);
  }
  return node;
}

TEST(PublishedNodes, ReadAsTheirPublishersDescribeThem) {
  const char* corpus = std::getenv("RANKWARD_CORPUS");
  if (corpus == nullptr) {
    std::cout << "not run: " << expectations().size() << " files\n";
    return;
  }
  for (const auto& [name, expected] : expectations()) {
    const auto path = std::filesystem::path(corpus) / "nodes" / name;
    ASSERT_TRUE(std::filesystem::exists(path)) << name;
    const NodeTopology node = from_labels(read_node(YAML::LoadFile(path.string())), {});
    EXPECT_EQ(static_cast<int>(node.sharing), static_cast<int>(expected.sharing)) << name;
    EXPECT_EQ(node.gpu_count, expected.gpu_count) << name;
    EXPECT_EQ(node.gpu_memory.has_value(), expected.mebibytes.has_value()) << name;
    if (node.gpu_memory && expected.mebibytes) {
      EXPECT_EQ(node.gpu_memory->count / kMebibyte, *expected.mebibytes) << name;
    }
    EXPECT_EQ(node.product, expected.product) << name;
    EXPECT_EQ(node.mig_profiles.size(), expected.profiles) << name;
    for (const MigProfile& slice : node.mig_profiles) {
      EXPECT_TRUE(slice.memory && !slice.memory_from_table) << name << " " << slice.profile;
    }
  }
}

}  // namespace
}  // namespace rankward::topology
