#include <gtest/gtest.h>

#include "nodes.hpp"

namespace rankward::topology {
namespace {

using testing::read;

TEST(FromLabels, ReadsAWholeGpuNode) {
  const NodeTopology node = read({{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"},
                                  {"nvidia.com/gpu.count", "8"},
                                  {"nvidia.com/gpu.memory", "81559"},
                                  {"nvidia.com/gpu.replicas", "1"},
                                  {"nvidia.com/gpu.sharing-strategy", "none"},
                                  {"nvidia.com/mig.capable", "true"},
                                  {"nvidia.com/mig.config", "all-disabled"},
                                  {"nvidia.com/mig.config.state", "success"},
                                  {"nvidia.com/mig.strategy", "single"},
                                  {"nvidia.com/cuda.driver-version.full", "550.54.15"},
                                  {"fabric.topograph.run/tier-0", "leaf-a"}},
                                 {{"nvidia.com/gpu", 8}});
  EXPECT_EQ(node.product, "NVIDIA-H100-80GB-HBM3");
  EXPECT_EQ(node.gpu_count, 8);
  EXPECT_EQ(node.gpu_memory, Bytes{81559 * kMebibyte});
  EXPECT_EQ(node.replicas, 1);
  EXPECT_EQ(node.sharing, SharingMode::kExclusive) << "single strategy, but no slices are made";
  EXPECT_EQ(node.single_profile, "");
  EXPECT_TRUE(node.mig_profiles.empty());
  EXPECT_TRUE(node.mig_capable);
  EXPECT_EQ(node.mig_state, MigState::kSuccess);
  EXPECT_EQ(node.mig_config, "all-disabled");
  EXPECT_FALSE(node.mig_paused);
  EXPECT_EQ(node.driver, "550.54.15");
  EXPECT_EQ(node.fabric.domains, std::vector<std::string>{"leaf-a"});
  EXPECT_TRUE(node.has(Source::kGfdLabels));
  EXPECT_TRUE(node.has(Source::kFabricLabels));
  EXPECT_TRUE(node.has(Source::kAllocatable));
  EXPECT_FALSE(node.has(Source::kAnnotation));
  EXPECT_TRUE(node.gpus.empty()) << "labels say nothing of single devices";
}

TEST(FromLabels, KnowsNothingOfAPlainNode) {
  const NodeTopology node = read({{"kubernetes.io/hostname", "cpu-1"}}, {{"cpu", 64}});
  EXPECT_EQ(node.sources, 0);
  EXPECT_EQ(node.gpu_count, std::nullopt);
  EXPECT_EQ(node.gpu_memory, std::nullopt);
  EXPECT_EQ(node.replicas, std::nullopt);
  EXPECT_EQ(node.mig_state, std::nullopt);
  EXPECT_EQ(node.sharing, SharingMode::kUnknown);
}

// gpu-feature-discovery 26: one release wrote bytes. Case 36.
TEST(FromLabels, ReadsMemoryInMebibytesOrBytes) {
  const struct {
    const char* label;
    std::optional<Bytes> memory;
  } cases[] = {
      {"81920", Bytes{81920 * kMebibyte}},
      {"15109", Bytes{15109 * kMebibyte}},
      {"42505273344", Bytes{42505273344}},
      {"16777216", Bytes{std::int64_t{16777216} * kMebibyte}},
      {"16777217", Bytes{16777217}},
      {"0", std::nullopt},
      {"", std::nullopt},
      {"-1", std::nullopt},
      {"+81920", std::nullopt},
      {" 81920", std::nullopt},
      {"81920MiB", std::nullopt},
      {"8e4", std::nullopt},
      {"99999999999999999", std::nullopt},
      {"9223372036854775807", std::nullopt},
      {"9223372036854775808", std::nullopt},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(read({{"nvidia.com/gpu.memory", c.label}}).gpu_memory, c.memory) << c.label;
  }
}

TEST(FromLabels, TakesUnreadableCountsForUnknown) {
  for (const char* value : {"", "-8", "8.0", "eight", "0x8", "1048577", "9223372036854775808"}) {
    const NodeTopology node =
        read({{"nvidia.com/gpu.count", value}, {"nvidia.com/gpu.replicas", value}});
    EXPECT_EQ(node.gpu_count, std::nullopt) << value;
    EXPECT_EQ(node.replicas, std::nullopt) << value;
  }
}

TEST(FromLabels, StripsWhatGfdAppendsToTheProduct) {
  const struct {
    const char* label;
    const char* product;
    const char* single_profile;
    bool invalid;
  } cases[] = {
      {"NVIDIA-A10G-SHARED", "NVIDIA-A10G", "", false},
      {"A100-PCIE-40GB-MIG-1g.5gb", "A100-PCIE-40GB", "1g.5gb", false},
      {"NVIDIA-H100-80GB-HBM3-MIG-1g.10gb-SHARED", "NVIDIA-H100-80GB-HBM3", "1g.10gb", false},
      {"NVIDIA-H100-80GB-HBM3-MIG-1g.10gb.me", "NVIDIA-H100-80GB-HBM3", "1g.10gb.me", false},
      {"NVIDIA-A100-SXM4-40GB-MIG-INVALID", "NVIDIA-A100-SXM4-40GB", "", true},
      {"NVIDIA-A100-SXM4-40GB", "NVIDIA-A100-SXM4-40GB", "", false},
      {"SHARED", "SHARED", "", false},
      {"CARD-MIG-like", "CARD-MIG-like", "", false},
      {"", "", "", false},
  };
  for (const auto& c : cases) {
    const NodeTopology node = read({{"nvidia.com/gpu.product", c.label}});
    EXPECT_EQ(node.product, c.product) << c.label;
    EXPECT_EQ(node.single_profile, c.single_profile) << c.label;
    EXPECT_EQ(node.mig_invalid, c.invalid) << c.label;
  }
}

TEST(FromLabels, TellsHowTheGpuIsHandedOut) {
  const struct {
    const char* name;
    kube::StringMap labels;
    testing::Counts status;
    SharingMode mode;
  } cases[] = {
      {"replicas 1", {{"nvidia.com/gpu.replicas", "1"}}, {}, SharingMode::kExclusive},
      {"time slicing, case 13",
       {{"nvidia.com/gpu.product", "NVIDIA-A10G-SHARED"},
        {"nvidia.com/gpu.replicas", "4"},
        {"nvidia.com/gpu.sharing-strategy", "time-slicing"}},
       {{"nvidia.com/gpu", 4}},
       SharingMode::kTimeSlicing},
      {"mps",
       {{"nvidia.com/gpu.replicas", "4"}, {"nvidia.com/gpu.sharing-strategy", "mps"}},
       {},
       SharingMode::kMps},
      {"replicas without a strategy",
       {{"nvidia.com/gpu.replicas", "12"}},
       {},
       SharingMode::kTimeSlicing},
      {"SHARED without replicas",
       {{"nvidia.com/gpu.product", "Tesla-T4-SHARED"}},
       {},
       SharingMode::kTimeSlicing},
      {"renamed, case 15",
       {},
       {{"nvidia.com/gpu", 0}, {"nvidia.com/gpu.shared", 128}},
       SharingMode::kTimeSlicing},
      {"an old GFD without replicas, the plugin agrees",
       {{"nvidia.com/gpu.product", "Tesla-T4"}, {"nvidia.com/gpu.count", "1"}},
       {{"nvidia.com/gpu", 1}},
       SharingMode::kExclusive},
      {"an old GFD without replicas, the plugin counts more",
       {{"nvidia.com/gpu.product", "Tesla-T4"}, {"nvidia.com/gpu.count", "1"}},
       {{"nvidia.com/gpu", 12}},
       SharingMode::kUnknown},
      {"a count without labels", {}, {{"nvidia.com/gpu", 12}}, SharingMode::kUnknown},
      {"single",
       {{"nvidia.com/gpu.product", "A100-PCIE-40GB-MIG-1g.5gb"}},
       {},
       SharingMode::kMigSingle},
      {"single, slices shared",
       {{"nvidia.com/gpu.product", "A100-PCIE-40GB-MIG-1g.5gb-SHARED"},
        {"nvidia.com/gpu.replicas", "4"}},
       {},
       SharingMode::kMigSingle},
      {"mixed",
       {{"nvidia.com/mig.strategy", "mixed"}, {"nvidia.com/gpu.replicas", "0"}},
       {{"nvidia.com/mig-1g.5gb", 7}},
       SharingMode::kMigMixed},
      {"mixed is said but nothing is sliced",
       {{"nvidia.com/mig.strategy", "mixed"}, {"nvidia.com/gpu.replicas", "1"}},
       {{"nvidia.com/gpu", 2}},
       SharingMode::kExclusive},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(static_cast<int>(read(c.labels, c.status).sharing), static_cast<int>(c.mode))
        << c.name;
  }
}

TEST(FromLabels, ReadsMigManagersState) {
  const std::pair<const char*, MigState> cases[] = {
      {"success", MigState::kSuccess},     {"pending", MigState::kPending},
      {"rebooting", MigState::kRebooting}, {"failed", MigState::kFailed},
      {"Success", MigState::kUnknown},     {"", MigState::kUnknown},
  };
  for (const auto& [value, state] : cases) {
    EXPECT_EQ(read({{"nvidia.com/mig.config.state", value}}).mig_state, state) << value;
  }
}

// NVIDIA/gpu-operator 2833, case 06.
TEST(FromLabels, SeesOperandsPausedForAMigChange) {
  const NodeTopology node = read({{"nvidia.com/gpu.deploy.dcgm", "true"},
                                  {"nvidia.com/gpu.deploy.device-plugin", "paused-for-mig-change"},
                                  {"nvidia.com/mig.config", "all-1g.5gb"},
                                  {"nvidia.com/mig.config.state", "pending"}},
                                 {{"nvidia.com/gpu", 0}});
  EXPECT_TRUE(node.mig_paused);
  EXPECT_EQ(node.mig_state, MigState::kPending);
  EXPECT_TRUE(node.mig_profiles.empty()) << "the wanted configuration promises no slices";
  EXPECT_FALSE(read({{"nvidia.com/gpu.deploy.device-plugin", "true"}}).mig_paused);
}

TEST(FromLabels, ReadsTheDriverInItsThreeForms) {
  const std::pair<kube::StringMap, const char*> cases[] = {
      {{{"nvidia.com/cuda.driver-version.full", "550.54.15"},
        {"nvidia.com/cuda.driver.major", "1"}},
       "550.54.15"},
      {{{"nvidia.com/cuda.driver-version.major", "550"},
        {"nvidia.com/cuda.driver-version.minor", "54"},
        {"nvidia.com/cuda.driver-version.revision", "15"}},
       "550.54.15"},
      {{{"nvidia.com/cuda.driver.major", "520"},
        {"nvidia.com/cuda.driver.minor", "56"},
        {"nvidia.com/cuda.driver.rev", "06"}},
       "520.56.06"},
      {{{"nvidia.com/cuda.driver.major", "460"}}, "460"},
      {{}, ""},
  };
  for (const auto& [labels, driver] : cases)
    EXPECT_EQ(read(labels).driver, driver);
}

TEST(FromLabels, SurvivesAnyLabelValue) {
  const char* keys[] = {"nvidia.com/gpu.product",         "nvidia.com/gpu.memory",
                        "nvidia.com/gpu.count",           "nvidia.com/mig-1g.5gb.count",
                        "nvidia.com/mig-1g.5gb.memory",   "nvidia.com/mig-.count",
                        "nvidia.com/mig-1g.5gb.replicas", "nvidia.com/gpu.clique",
                        "fabric.topograph.run/tier-0"};
  const std::string values[] = {"",
                                "-MIG-",
                                "-SHARED",
                                "-MIG--SHARED",
                                std::string(70000, '9'),
                                std::string("\0\xff", 2),
                                "-MIG-1g.5gb-MIG-INVALID"};
  for (const char* key : keys) {
    for (const std::string& value : values) {
      const NodeTopology node = read({{key, value}});
      EXPECT_EQ(node.gpu_count, std::nullopt) << key;
      EXPECT_EQ(node.gpu_memory, std::nullopt) << key;
    }
  }
}

}  // namespace
}  // namespace rankward::topology
