#include "fabric.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankward::topology {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

FabricPosition position(const kube::StringMap& labels, const LabelOptions& options = {}) {
  return fabric_position(labels, options);
}

TEST(FabricPosition, ReadsEachSchemeNearestFirst) {
  const struct {
    const char* name;
    kube::StringMap labels;
    std::vector<std::string> domains;
  } cases[] = {
      {"topograph",
       {{"fabric.topograph.run/tier-0", "leaf-17"},
        {"fabric.topograph.run/tier-1", "spine-3"},
        {"fabric.topograph.run/tier-2", "core-1"}},
       {"leaf-17", "spine-3", "core-1"}},
      {"topograph 0.5",
       {{"network.topology.nvidia.com/core", "core-1"},
        {"network.topology.nvidia.com/leaf", "leaf-17"},
        {"network.topology.nvidia.com/spine", "spine-3"}},
       {"leaf-17", "spine-3", "core-1"}},
      {"topograph before",
       {{"network.topology.nvidia.com/block", "b"},
        {"network.topology.nvidia.com/datacenter", "d"},
        {"network.topology.nvidia.com/spine", "s"}},
       {"b", "s", "d"}},
      {"aws",
       {{"topology.k8s.aws/network-node-layer-1", "nn-top"},
        {"topology.k8s.aws/network-node-layer-2", "nn-mid"},
        {"topology.k8s.aws/network-node-layer-3", "nn-leaf"}},
       {"nn-leaf", "nn-mid", "nn-top"}},
      {"gce",
       {{"cloud.google.com/gce-topology-block", "b"},
        {"cloud.google.com/gce-topology-subblock", "sb"},
        {"cloud.google.com/gce-topology-host", "h"}},
       {"sb", "b"}},
      {"oci",
       {{"oci.oraclecloud.com/rdma.hpc_island_id", "i"},
        {"oci.oraclecloud.com/rdma.network_block_id", "n"},
        {"oci.oraclecloud.com/rdma.local_block_id", "l"}},
       {"l", "n", "i"}},
      {"oci host",
       {{"oci.oraclecloud.com/host.rack_id", "r"},
        {"oci.oraclecloud.com/host.network_block_id", "n"}},
       {"r", "n"}},
  };
  for (const auto& c : cases) {
    const FabricPosition read = position(c.labels);
    EXPECT_EQ(read.domains, c.domains) << c.name;
    ASSERT_EQ(read.keys.size(), read.domains.size()) << c.name;
    for (std::size_t i = 0; i < read.keys.size(); ++i) {
      EXPECT_EQ(c.labels.at(read.keys[i]), read.domains[i]) << c.name;
    }
  }
}

TEST(FabricPosition, ReadsUpToEightTiersOfTopograph) {
  kube::StringMap labels;
  for (int tier = 0; tier < 9; ++tier) {
    labels["fabric.topograph.run/tier-" + std::to_string(tier)] = "d" + std::to_string(tier);
  }
  EXPECT_THAT(position(labels).domains,
              ElementsAre("d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7"));
}

TEST(FabricPosition, PrefersTopographsNewKeysWhereBothStand) {
  EXPECT_THAT(position({{"fabric.topograph.run/tier-0", "new"},
                        {"network.topology.nvidia.com/leaf", "old"},
                        {"network.topology.nvidia.com/spine", "old-spine"}})
                  .domains,
              ElementsAre("new"));
}

TEST(FabricPosition, KeepsThePlaceOfAMissingTier) {
  const FabricPosition read =
      position({{"fabric.topograph.run/tier-1", "spine"}, {"fabric.topograph.run/tier-3", "top"}});
  EXPECT_THAT(read.domains, ElementsAre("", "spine", "", "top"));
  EXPECT_EQ(read.keys[2], "fabric.topograph.run/tier-2");
}

TEST(FabricPosition, TakesPlaceholdersForUnknown) {
  for (const char* value : {"no-imds-data", "unknown", "None", "NULL", ""}) {
    const FabricPosition read = position({{"oci.oraclecloud.com/rdma.local_block_id", value}});
    EXPECT_THAT(read.domains, IsEmpty()) << value;
    EXPECT_THAT(read.keys, IsEmpty()) << value;
  }
  EXPECT_THAT(position({{"oci.oraclecloud.com/rdma.local_block_id", "no-imds-data"},
                        {"oci.oraclecloud.com/host.rack_id", "r7"}})
                  .domains,
              ElementsAre("r7"))
      << "a scheme of placeholders alone is passed over";
}

TEST(FabricPosition, ReadsConfiguredKeys) {
  LabelOptions options;
  options.fabric_schemes = {{"site", {"example.com/rack", "example.com/row"}}};
  options.clique_key = "example.com/nvlink";
  options.placeholders = {"tbd"};
  const FabricPosition read =
      position({{"example.com/rack", "tbd"},
                {"example.com/row", "unknown"},
                {"fabric.topograph.run/tier-0", "leaf"},
                {"example.com/nvlink", "3183419e-9edc-4f0e-86e8-d895a9fb06be.1"}},
               options);
  EXPECT_THAT(read.domains, ElementsAre("", "unknown"));
  EXPECT_EQ(read.clique, "3183419e-9edc-4f0e-86e8-d895a9fb06be.1");
}

// kubernetes-sigs/dra-driver-nvidia-gpu 377: two racks, one clique id.
TEST(FabricPosition, ComparesCliquesWhole) {
  const auto a =
      position({{"nvidia.com/gpu.clique", "3183419e-9edc-4f0e-86e8-d895a9fb06be.17044"}});
  const auto b =
      position({{"nvidia.com/gpu.clique", "bbc2edac-6ffb-43a0-9053-cae96152c90a.17044"}});
  EXPECT_EQ(a.clique, "3183419e-9edc-4f0e-86e8-d895a9fb06be.17044");
  EXPECT_NE(a.clique, b.clique);
}

TEST(FabricPosition, TakesNoCliqueFromWhatIsNotOne) {
  for (const char* value :
       {"00000000-0000-0000-0000-000000000000.0", "3183419e-9edc-4f0e-86e8-d895a9fb06be",
        "3183419e-9edc-4f0e-86e8-d895a9fb06be.", "3183419e.1", ".1", "unknown", ""}) {
    EXPECT_EQ(position({{"nvidia.com/gpu.clique", value}}).clique, "") << value;
  }
}

TEST(FabricPosition, TakesTopographsAcceleratorForACliqueOnlyInItsForm) {
  const char* clique = "3183419e-9edc-4f0e-86e8-d895a9fb06be.7";
  EXPECT_EQ(position({{"accelerator.topograph.run/sub-domain", clique}}).clique, clique);
  EXPECT_EQ(position({{"network.topology.nvidia.com/accelerator", clique}}).clique, clique);
  // On AWS the value is a capacity reservation, over several cliques.
  EXPECT_EQ(position({{"network.topology.nvidia.com/accelerator", "cr-0a1b2c3d4e5f"}}).clique, "");
  EXPECT_EQ(position({{"nvidia.com/gpu.clique", "bbc2edac-6ffb-43a0-9053-cae96152c90a.1"},
                      {"accelerator.topograph.run/sub-domain", clique}})
                .clique,
            "bbc2edac-6ffb-43a0-9053-cae96152c90a.1");
}

}  // namespace
}  // namespace rankward::topology
