#include <gtest/gtest.h>

#include "machines.hpp"
#include "nodes.hpp"

namespace rankward::topology {
namespace {

NodeTopology report_of_two() {
  NodeTopology report = testing::machine({"X NV12 PIX", "NV12 X SYS"}, 1);
  report.sources = static_cast<std::uint8_t>(Source::kAnnotation);
  report.reported_at = 1'700'000'000;
  return report;
}

NodeTopology labels_of_two() {
  return testing::read({{"nvidia.com/gpu.product", "NVIDIA-A100-SXM4-40GB"},
                        {"nvidia.com/gpu.count", "2"},
                        {"nvidia.com/gpu.memory", "40960"},
                        {"nvidia.com/gpu.replicas", "1"},
                        {"nvidia.com/mig.capable", "true"},
                        {"fabric.topograph.run/tier-0", "leaf-a"},
                        {"fabric.topograph.run/tier-1", "spine-1"},
                        {"nvidia.com/gpu.clique", "3183419e-9edc-4f0e-86e8-d895a9fb06be.1"}},
                       {{"nvidia.com/gpu", 2}});
}

TEST(Merge, FillsFromLabelsWhatTheReportDoesNotSay) {
  const NodeTopology node = merge(report_of_two(), labels_of_two());
  EXPECT_EQ(node.product, "NVIDIA-A100-SXM4-40GB");
  EXPECT_EQ(node.gpu_count, 2);
  EXPECT_EQ(node.gpu_memory, Bytes{40960 * kMebibyte});
  EXPECT_EQ(node.sharing, SharingMode::kExclusive);
  EXPECT_TRUE(node.mig_capable);
  EXPECT_EQ(node.fabric.domains, (std::vector<std::string>{"leaf-a", "spine-1"}));
  EXPECT_EQ(node.fabric.keys.size(), 2u);
  EXPECT_EQ(node.fabric.clique, "3183419e-9edc-4f0e-86e8-d895a9fb06be.1");
  EXPECT_EQ(node.reported_at, 1'700'000'000);
  ASSERT_EQ(node.gpus.size(), 2u);
  EXPECT_EQ(node.gpu_path(0, 1), PathType::kNvLink);
  EXPECT_EQ(node.nic_path(1, 0), PathType::kSys);
  for (const Gpu& gpu : node.gpus) {
    EXPECT_EQ(gpu.model, "NVIDIA-A100-SXM4-40GB");
    EXPECT_EQ(gpu.memory, Bytes{40960 * kMebibyte});
  }
  for (const Source source :
       {Source::kAnnotation, Source::kGfdLabels, Source::kFabricLabels, Source::kAllocatable}) {
    EXPECT_TRUE(node.has(source));
  }
}

TEST(Merge, LetsTheReportWinWhereItSaysSomething) {
  NodeTopology report = report_of_two();
  report.product = "NVIDIA A100-SXM4-80GB";
  report.gpu_memory = Bytes{81920 * kMebibyte};
  report.gpu_count = 8;
  report.sharing = SharingMode::kMps;
  report.fabric.domains = {"leaf-z"};
  report.fabric.keys = {"example.com/leaf"};
  report.gpus[0].memory = Bytes{81920 * kMebibyte};
  report.gpus[0].model = "NVIDIA A100-SXM4-80GB";
  const NodeTopology node = merge(report, labels_of_two());
  EXPECT_EQ(node.product, "NVIDIA A100-SXM4-80GB");
  EXPECT_EQ(node.gpu_memory, Bytes{81920 * kMebibyte});
  EXPECT_EQ(node.gpu_count, 8);
  EXPECT_EQ(node.sharing, SharingMode::kMps);
  EXPECT_EQ(node.fabric.domains, std::vector<std::string>{"leaf-z"});
  EXPECT_EQ(node.fabric.keys, std::vector<std::string>{"example.com/leaf"});
  EXPECT_EQ(node.gpus[0].memory, Bytes{81920 * kMebibyte});
}

TEST(Merge, IsTheLabelsAloneWithoutAReport) {
  const NodeTopology labels = labels_of_two();
  const NodeTopology node = merge(NodeTopology{}, labels);
  EXPECT_EQ(node.product, labels.product);
  EXPECT_EQ(node.fabric.domains, labels.fabric.domains);
  EXPECT_EQ(node.sources, labels.sources);
  EXPECT_TRUE(node.gpus.empty());
}

TEST(Merge, GivesNoSliceMemoryToACard) {
  const NodeTopology labels =
      testing::read({{"nvidia.com/gpu.product", "A100-PCIE-40GB-MIG-1g.5gb"},
                     {"nvidia.com/gpu.count", "7"},
                     {"nvidia.com/gpu.memory", "4864"}});
  NodeTopology report;
  report.gpus.resize(1);
  report.gpus[0].mig.push_back({"1g.5gb", std::nullopt, false, 7});
  const NodeTopology node = merge(report, labels);
  EXPECT_EQ(node.gpus[0].memory, std::nullopt);
  EXPECT_EQ(node.gpus[0].model, "A100-PCIE-40GB");
  EXPECT_EQ(node.gpus[0].mig[0].memory, Bytes{4864 * kMebibyte});
}

TEST(Merge, PrefersMeasuredSliceMemoryOverTheTable) {
  NodeTopology report;
  report.product = "NVIDIA-H200";
  report.mig_profiles = {{"1g.18gb", std::nullopt, false, 7},
                         {"1g.35gb", Bytes{1}, true, 1},
                         {"3g.71gb", Bytes{2}, false, 1},
                         {"7g.141gb", std::nullopt, false, 1}};
  NodeTopology labels;
  labels.mig_profiles = {{"1g.18gb", Bytes{16128 * kMebibyte}, false, 7},
                         {"1g.35gb", Bytes{33000 * kMebibyte}, false, 1},
                         {"3g.71gb", Bytes{3}, false, 1}};
  const NodeTopology node = merge(report, labels);
  EXPECT_EQ(node.mig_profiles[0].memory, Bytes{16128 * kMebibyte});
  EXPECT_FALSE(node.mig_profiles[0].memory_from_table);
  EXPECT_EQ(node.mig_profiles[1].memory, Bytes{33000 * kMebibyte});
  EXPECT_FALSE(node.mig_profiles[1].memory_from_table);
  EXPECT_EQ(node.mig_profiles[2].memory, Bytes{2}) << "the report's own measurement stands";
  EXPECT_EQ(node.mig_profiles[3].memory, Bytes{143104 * kMebibyte});
  EXPECT_TRUE(node.mig_profiles[3].memory_from_table);
}

TEST(Merge, SpeaksForNoOtherModelThanGfdDescribes) {
  NodeTopology report = report_of_two();
  report.gpus[0].model = "NVIDIA A100-SXM4-40GB";
  report.gpus[1].model = "NVIDIA A30";
  const NodeTopology node = merge(report, labels_of_two());
  EXPECT_EQ(node.gpus[0].memory, Bytes{40960 * kMebibyte});
  EXPECT_EQ(node.gpus[1].memory, std::nullopt);
}

}  // namespace
}  // namespace rankward::topology
