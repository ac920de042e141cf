#include <gtest/gtest.h>

#include <string>

#include "nodes.hpp"

namespace rankward::topology {
namespace {

using testing::node;
using testing::read;

std::string show(const std::vector<MigProfile>& profiles) {
  std::string text;
  for (const MigProfile& slice : profiles) {
    text += slice.profile + " x" + std::to_string(slice.count);
    text += slice.memory ? " " + std::to_string(slice.memory->count / kMebibyte) : " ?";
    text += slice.memory_from_table ? " table; " : "; ";
  }
  return text;
}

// NVIDIA/cloud-native-docs, H100 under all-balanced. Case 05.
TEST(MigProfiles, ReadGfdsMixedLabels) {
  const NodeTopology read_node = read({{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                                       {"nvidia.com/gpu.memory", "81559"},
                                       {"nvidia.com/gpu.count", "1"},
                                       {"nvidia.com/gpu.replicas", "0"},
                                       {"nvidia.com/mig.strategy", "mixed"},
                                       {"nvidia.com/mig-1g.10gb.count", "2"},
                                       {"nvidia.com/mig-1g.10gb.memory", "9984"},
                                       {"nvidia.com/mig-1g.10gb.replicas", "1"},
                                       {"nvidia.com/mig-1g.10gb.slices.gi", "1"},
                                       {"nvidia.com/mig-2g.20gb.count", "1"},
                                       {"nvidia.com/mig-2g.20gb.memory", "20096"},
                                       {"nvidia.com/mig-3g.40gb.count", "1"},
                                       {"nvidia.com/mig-3g.40gb.memory", "40320"}},
                                      {{"nvidia.com/gpu", 0},
                                       {"nvidia.com/mig-1g.10gb", 2},
                                       {"nvidia.com/mig-2g.20gb", 1},
                                       {"nvidia.com/mig-3g.40gb", 1}});
  EXPECT_EQ(show(read_node.mig_profiles), "1g.10gb x2 9984; 2g.20gb x1 20096; 3g.40gb x1 40320; ");
  EXPECT_EQ(read_node.sharing, SharingMode::kMigMixed);
  EXPECT_EQ(read_node.replicas, 0);
  EXPECT_EQ(read_node.gpu_count, 1);
}

// Case 10: memory labels without counts; 3g.20gb is left in the status at 0.
TEST(MigProfiles, NeverOfferAKeyLeftAtZero) {
  const kube::StringMap labels = {{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB"},
                                  {"nvidia.com/mig.strategy", "mixed"},
                                  {"nvidia.com/mig-1g.5gb.memory", "4864"},
                                  {"nvidia.com/mig-2g.10gb.memory", "9856"}};
  kube::Node a100 = node(labels, {{"nvidia.com/gpu", 0},
                                  {"nvidia.com/mig-1g.5gb", 2},
                                  {"nvidia.com/mig-2g.10gb", 1},
                                  {"nvidia.com/mig-3g.20gb", 0}});
  const char* expected = "1g.5gb x2 4864; 2g.10gb x1 9856; ";
  EXPECT_EQ(show(from_labels(a100, {}).mig_profiles), expected);
  // As in run-ai/fake-gpu-operator's sample: capacity 1 beside allocatable 0.
  a100.capacity["nvidia.com/mig-3g.20gb"] = kube::Quantity(1);
  EXPECT_EQ(show(from_labels(a100, {}).mig_profiles), expected);
}

TEST(MigProfiles, CountUnhealthySlicesOfAProfileThatIsOffered) {
  kube::Node a100 = node({}, {{"nvidia.com/mig-1g.5gb", 5}});
  a100.capacity["nvidia.com/mig-1g.5gb"] = kube::Quantity(7);
  EXPECT_EQ(show(from_labels(a100, {}).mig_profiles), "1g.5gb x7 ?; ");
}

TEST(MigProfiles, KeepWhatLabelsCountThoughThePluginAdvertisesNothing) {
  EXPECT_EQ(show(read({{"nvidia.com/mig-1g.5gb.count", "7"}}, {{"nvidia.com/mig-1g.5gb", 0}})
                     .mig_profiles),
            "1g.5gb x7 ?; ");
  EXPECT_EQ(show(read({{"nvidia.com/mig-1g.5gb.count", "0"}}).mig_profiles), "");
}

TEST(MigProfiles, TakeMemoryFromTheTableWhereNoLabelSaysIt) {
  EXPECT_EQ(show(read({{"nvidia.com/gpu.product", "NVIDIA-H200"}}, {{"nvidia.com/mig-1g.18gb", 7}})
                     .mig_profiles),
            "1g.18gb x7 16384 table; ");
  EXPECT_EQ(show(read({{"nvidia.com/gpu.product", "NVIDIA-H200"},
                       {"nvidia.com/mig-1g.18gb.memory", "16128"}},
                      {{"nvidia.com/mig-1g.18gb", 7}})
                     .mig_profiles),
            "1g.18gb x7 16128; ")
      << "a label beats the table";
  EXPECT_EQ(show(read({}, {{"nvidia.com/mig-1g.10gb", 56}}).mig_profiles), "1g.10gb x56 ?; ")
      << "no product, case 07: nothing is read off the name";
}

TEST(MigProfiles, DivideReplicasOfSlices) {
  EXPECT_EQ(show(read({{"nvidia.com/mig-1g.5gb.replicas", "4"}}, {{"nvidia.com/mig-1g.5gb", 28}})
                     .mig_profiles),
            "1g.5gb x7 ?; ");
  EXPECT_EQ(
      show(read({{"nvidia.com/mig-1g.5gb.replicas", "4"}}, {{"nvidia.com/mig-1g.5gb.shared", 28}})
               .mig_profiles),
      "1g.5gb x7 ?; ");
  EXPECT_EQ(show(read({{"nvidia.com/mig-1g.5gb.replicas", "0"}}, {{"nvidia.com/mig-1g.5gb", 7}})
                     .mig_profiles),
            "1g.5gb x7 ?; ");
}

// NVIDIA/cloud-native-docs, mig-k8s.rst. Case 09.
TEST(MigProfiles, AreOneUnderTheSingleStrategy) {
  const NodeTopology single = read({{"nvidia.com/gpu.product", "A100-PCIE-40GB-MIG-1g.5gb"},
                                    {"nvidia.com/gpu.count", "7"},
                                    {"nvidia.com/gpu.memory", "4864"},
                                    {"nvidia.com/mig.strategy", "single"}},
                                   {{"nvidia.com/gpu", 7}});
  EXPECT_EQ(show(single.mig_profiles), "1g.5gb x7 4864; ");
  EXPECT_EQ(single.single_profile, "1g.5gb");
  EXPECT_EQ(single.product, "A100-PCIE-40GB");
  EXPECT_EQ(single.gpu_count, 7);
  EXPECT_EQ(single.gpu_memory, Bytes{4864 * kMebibyte});
  EXPECT_EQ(show(read({{"nvidia.com/gpu.product", "A100-PCIE-40GB-MIG-1g.5gb"},
                       {"nvidia.com/gpu.count", "7"}})
                     .mig_profiles),
            "1g.5gb x7 4864 table; ");
}

// k8s-device-plugin internal/lm: a single strategy that cannot hold.
TEST(MigProfiles, AreNoneBehindMigInvalid) {
  const NodeTopology invalid =
      read({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB-MIG-INVALID"},
            {"nvidia.com/gpu.count", "0"},
            {"nvidia.com/gpu.memory", "0"},
            {"nvidia.com/gpu.replicas", "0"}});
  EXPECT_TRUE(invalid.mig_invalid);
  EXPECT_TRUE(invalid.mig_profiles.empty());
  EXPECT_EQ(invalid.sharing, SharingMode::kMigSingle);
  EXPECT_EQ(invalid.gpu_count, std::nullopt);
  EXPECT_EQ(invalid.gpu_memory, std::nullopt);
}

TEST(MigProfiles, IgnoreKeysThatNameNoProfile) {
  EXPECT_EQ(show(read({{"nvidia.com/mig-x.count", "3"},
                       {"nvidia.com/mig-manager.count", "3"},
                       {"nvidia.com/mig-1g.5gb.engines.copy", "1"}},
                      {{"nvidia.com/mig-x", 3}})
                     .mig_profiles),
            "");
}

}  // namespace
}  // namespace rankward::topology
