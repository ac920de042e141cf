#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "machines.hpp"
#include "rankward/topology/bandwidth.hpp"

namespace rankward::topology {
namespace {

using testing::bridged_pairs;
using testing::far_nics;
using testing::first;
using testing::hgx_h100;
using testing::machine;

double bandwidth(const NodeTopology& node, const std::vector<std::uint32_t>& gpus) {
  return intra_node(node, gpus).bandwidth.value;
}

TEST(IntraNode, IsUnboundedForOneGpu) {
  EXPECT_TRUE(std::isinf(bandwidth(hgx_h100(), {3})));
  EXPECT_TRUE(std::isinf(bandwidth(hgx_h100(), {3, 3})));
  EXPECT_TRUE(std::isinf(bandwidth(NodeTopology{}, {0})));
  EXPECT_EQ(intra_node(hgx_h100(), first(1)).step.value, 0);
}

TEST(IntraNode, IsTheWholeBundleThroughNvSwitch) {
  NodeTopology node = hgx_h100();
  node.product = "NVIDIA-H100-80GB-HBM3";
  for (const std::uint32_t count : {2u, 4u, 8u}) {
    const Bottleneck result = intra_node(node, first(count));
    EXPECT_NEAR(result.bandwidth.value, 371, 0.5) << count;  // NCCL: 18 x 20.6
    EXPECT_EQ(result.link, "NVSwitch");
    EXPECT_DOUBLE_EQ(result.step.value, 3.4e-6);
  }
}

TEST(IntraNode, TellsTheGenerationByTheNumberOfLinksWhereNoLabelNamesTheProduct) {
  EXPECT_NEAR(bandwidth(hgx_h100(), first(8)), 371, 0.5);  // only SM90 and later have 18
  EXPECT_EQ(bandwidth(machine({"X NV12 NV12", "NV12 X NV12", "NV12 NV12 X"}), first(3)), 240);
  EXPECT_EQ(bandwidth(machine({"X NV4", "NV4 X"}), first(2)), 48);  // could be an RTX A6000
}

TEST(IntraNode, ByProductAloneWhereLabelsNameAnNvSwitchMachine) {
  const struct {
    const char* product;
    std::int64_t gpus;
    double bandwidth;
    const char* link;
  } cases[] = {
      {"NVIDIA-A100-SXM4-40GB", 8, 240, "NVSwitch"},
      {"NVIDIA-A100-SXM4-40GB", 4, 80, "NVLink mesh, NV4"},  // HGX A100 4-GPU, as Polaris has
      {"NVIDIA-H200", 8, 370.8, "NVSwitch"},
      {"NVIDIA-H100-80GB-HBM3", 4, 123.6, "NVLink mesh, NV6"},
      {"NVIDIA-GB200", 4, 721.8, "NVSwitch"},
      {"NVIDIA-H100-PCIe", 8, 10, "GPU-GPU paths not known"},
      {"NVIDIA-L40S", 8, 10, "GPU-GPU paths not known"},
      {"Tesla-V100-SXM2-32GB", 8, 6, "GPU-GPU paths not known"},
      {"", 8, 6, "GPU-GPU paths not known"},
  };
  for (const auto& c : cases) {
    NodeTopology node;
    node.product = c.product;
    node.gpu_count = c.gpus;
    const Bottleneck result = intra_node(node, first(2));
    EXPECT_DOUBLE_EQ(result.bandwidth.value, c.bandwidth) << c.product << " x" << c.gpus;
    EXPECT_EQ(result.link, c.link) << c.product << " x" << c.gpus;
  }
}

TEST(IntraNode, FallsByTenTimesFromABridgedPairToFourCards) {
  const NodeTopology node = bridged_pairs();
  const Bottleneck pair = intra_node(node, std::vector<std::uint32_t>{2, 3});
  EXPECT_DOUBLE_EQ(pair.bandwidth.value, 240);
  EXPECT_EQ(pair.link, "GPU2-GPU3 NV12");
  const Bottleneck four = intra_node(node, first(4));
  EXPECT_DOUBLE_EQ(four.bandwidth.value, 10);
  EXPECT_EQ(four.link.substr(four.link.size() - 4), " SYS");
  EXPECT_DOUBLE_EQ(four.step.value, 5.7e-6);
  EXPECT_GE(pair.bandwidth.value / four.bandwidth.value, 10);
}

TEST(IntraNode, GoesAroundTheSlowestLinkWhereARingCan) {
  // A square with slow diagonals: the ring takes the sides.
  const NodeTopology square = machine({
      "X NV2 SYS NV1",
      "NV2 X NV1 SYS",
      "SYS NV1 X NV2",
      "NV1 SYS NV2 X",
  });
  const Bottleneck result = intra_node(square, first(4));
  EXPECT_DOUBLE_EQ(result.bandwidth.value, 12);
  EXPECT_EQ(result.link, "GPU0-GPU3 NV1");
  EXPECT_DOUBLE_EQ(bandwidth(square, {0, 1}), 24);
  EXPECT_DOUBLE_EQ(bandwidth(square, {0, 2}), 6);  // the diagonal itself
}

TEST(IntraNode, DependsOnWhichGpusOfPcieSwitches) {
  const NodeTopology node = far_nics();
  EXPECT_DOUBLE_EQ(bandwidth(node, {0, 1, 2, 3}), 12);
  EXPECT_DOUBLE_EQ(bandwidth(node, {0, 1, 4, 5}), 10);
  EXPECT_EQ(intra_node(node, std::vector<std::uint32_t>{4, 0}).link, "GPU0-GPU4 NODE");
}

TEST(IntraNode, TakesTheWorstPathForWhatTheMatrixDoesNotSay) {
  NodeTopology node = far_nics();
  EXPECT_DOUBLE_EQ(bandwidth(node, {0, 9}), 6) << "no such GPU in the report";
  node.gpu_paths[1] = node.gpu_paths[8] = PathType::kUnknown;
  EXPECT_DOUBLE_EQ(bandwidth(node, {0, 1}), 6);
  EXPECT_EQ(intra_node(node, first(2)).link, "GPU0-GPU1 ?");
  node.gpu_paths.pop_back();
  EXPECT_DOUBLE_EQ(bandwidth(node, {2, 3}), 6) << "a matrix of the wrong size says nothing";
}

TEST(IntraNode, TakesTheWorseDirectionOfAContradiction) {
  NodeTopology node = far_nics();
  node.gpu_paths[1] = PathType::kSys;
  EXPECT_DOUBLE_EQ(bandwidth(node, {0, 1}), 6);
}

TEST(IntraNode, GivesMigSlicesNoPeerAccess) {
  NodeTopology node;
  node.product = "NVIDIA-A100-SXM4-40GB";
  node.gpu_count = 56;
  node.sharing = SharingMode::kMigSingle;
  EXPECT_DOUBLE_EQ(bandwidth(node, first(2)), 10);
  EXPECT_EQ(intra_node(node, first(2)).link, "MIG slices have no peer access");
}

constexpr PathType kPcieFromNear[] = {PathType::kPix,  PathType::kPxb, PathType::kPhb,
                                      PathType::kNode, PathType::kSys, PathType::kUnknown};

NodeTopology random_machine(std::mt19937& random, std::size_t n) {
  NodeTopology node;
  node.gpus.resize(n);
  node.gpu_paths.assign(n * n, PathType::kSelf);
  node.nvlinks.assign(n * n, 0);
  constexpr const char* kProducts[] = {"", "NVIDIA-A100-PCIE-40GB", "NVIDIA-H100-PCIe", "Tesla-T4"};
  node.product = kProducts[random() % 4];
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b) {
      const bool nvlink = random() % 2 == 0;
      const PathType path = nvlink ? PathType::kNvLink : kPcieFromNear[random() % 6];
      const auto links = static_cast<std::uint8_t>(nvlink ? 1 + random() % 18 : 0);
      node.gpu_paths[a * n + b] = node.gpu_paths[b * n + a] = path;
      node.nvlinks[a * n + b] = node.nvlinks[b * n + a] = links;
    }
  }
  return node;
}

TEST(IntraNode, NeverGrowsWhenALinkIsMadeWorse) {
  std::mt19937 random(11);
  int changed = 0;
  for (int i = 0; i < 3000; ++i) {
    const std::size_t n = 2 + random() % 7;
    NodeTopology node = random_machine(random, n);
    const auto all = first(static_cast<std::uint32_t>(n));
    const double before = bandwidth(node, all);
    const std::size_t a = random() % n;
    const std::size_t b = (a + 1 + random() % (n - 1)) % n;
    PathType path = node.gpu_path(a, b);
    std::uint8_t links = node.nvlink_count(a, b);
    if (path == PathType::kNvLink && links > 1) {
      --links;
    } else if (path == PathType::kNvLink) {
      path = PathType::kSys;
      links = 0;
    } else if (path != PathType::kUnknown) {
      path = static_cast<PathType>(static_cast<int>(path) + 1);
    }
    node.gpu_paths[a * n + b] = node.gpu_paths[b * n + a] = path;
    node.nvlinks[a * n + b] = node.nvlinks[b * n + a] = links;
    const double after = bandwidth(node, all);
    ASSERT_LE(after, before) << "case " << i;
    if (after < before) ++changed;
  }
  EXPECT_GT(changed, 100) << "the links that were changed must matter";
}

TEST(IntraNode, IsTheSameForEveryOrderOfTheGpus) {
  std::mt19937 random(13);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t n = 2 + random() % 7;
    const NodeTopology node = random_machine(random, n);
    auto gpus = first(static_cast<std::uint32_t>(n));
    const Bottleneck sorted = intra_node(node, gpus);
    std::shuffle(gpus.begin(), gpus.end(), random);
    const Bottleneck shuffled = intra_node(node, gpus);
    ASSERT_EQ(sorted.bandwidth, shuffled.bandwidth) << "case " << i;
    ASSERT_EQ(sorted.link, shuffled.link) << "case " << i;
  }
}

TEST(IntraNode, IsTheSameForARenumberedMachine) {
  std::mt19937 random(17);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t n = 2 + random() % 7;
    const NodeTopology node = random_machine(random, n);
    auto order = first(static_cast<std::uint32_t>(n));
    std::shuffle(order.begin(), order.end(), random);
    NodeTopology renumbered = node;
    for (std::size_t a = 0; a < n; ++a) {
      for (std::size_t b = 0; b < n; ++b) {
        renumbered.gpu_paths[a * n + b] = node.gpu_path(order[a], order[b]);
        renumbered.nvlinks[a * n + b] = node.nvlink_count(order[a], order[b]);
      }
    }
    const auto all = first(static_cast<std::uint32_t>(n));
    ASSERT_EQ(bandwidth(node, all), bandwidth(renumbered, all)) << "case " << i;
  }
}

}  // namespace
}  // namespace rankward::topology
