#include "products.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

#include "product_words.hpp"
#include "rankward/topology/bandwidth.hpp"

namespace rankward::topology {
namespace {

TEST(ProductWords, MatchWholeWordsInGfdAndNvmlForm) {
  const struct {
    const char* product;
    std::vector<std::string_view> words;
    bool match;
  } cases[] = {
      {"NVIDIA-H100-80GB-HBM3", {"H100", "HBM3"}, true},
      {"NVIDIA H100 80GB HBM3", {"H100", "HBM3"}, true},
      {"NVIDIA A100 80GB PCIe", {"A100", "PCIE"}, true},
      {"NVIDIA-H200", {"H20"}, false},
      {"NVIDIA-GB200", {"B200"}, false},
      {"GRID-A100X-40C", {"A100"}, false},
      {"NVIDIA-A100--SXM4", {"A100", "SXM4"}, true},
      {"", {"A100"}, false},
  };
  for (const auto& c : cases)
    EXPECT_EQ(ProductWords(c.product).has(c.words), c.match) << c.product;
}

TEST(ProductWords, BoundTheWordsOfAnyName) {
  const std::string endless(100000, '-');
  EXPECT_FALSE(ProductWords(endless).has(std::array<std::string_view, 1>{"A100"}));
  std::string many;
  for (int i = 0; i < 1000; ++i)
    many += "x-";
  EXPECT_TRUE(ProductWords(many).has(std::array<std::string_view, 1>{"X"}));
}

TEST(ProductWords, TellTheSameProductInTwoForms) {
  EXPECT_TRUE(same_product("NVIDIA A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB"));
  EXPECT_TRUE(same_product("NVIDIA A100 80GB PCIe", "NVIDIA-A100-80GB-PCIe"));
  EXPECT_FALSE(same_product("NVIDIA A100-SXM4-80GB", "NVIDIA-A100-SXM4-40GB"));
  EXPECT_FALSE(same_product("NVIDIA H200", "NVIDIA-H200-NVL"));
}

TEST(GpuModels, GiveNvLinkBandwidthOfOneGpuAsNcclModelsIt) {
  const struct {
    const char* product;
    double bandwidth;  // 0: no NVLink, or nothing known
  } cases[] = {
      {"NVIDIA-A100-SXM4-80GB", 240},
      {"A100-SXM-80GB", 240},
      {"NVIDIA-H100-80GB-HBM3", 370.8},
      {"NVIDIA-H200", 370.8},
      {"NVIDIA-B200", 721.8},
      {"NVIDIA-GB200", 721.8},
      {"NVIDIA-A800-SXM4-80GB", 160},
      {"Tesla-V100-SXM3-32GB", 120},
      {"NVIDIA-L40S", 0},
      {"Tesla-T4", 0},
      {"AMD-Instinct-MI300X", 0},
      {"", 0},
  };
  for (const auto& c : cases) {
    NodeTopology node;
    node.product = c.product;
    const auto bandwidth = nvlink_per_gpu(node);
    EXPECT_DOUBLE_EQ(bandwidth ? bandwidth->value : 0, c.bandwidth) << c.product;
  }
}

TEST(GpuModels, ComeFromTheGpusWhereTheNodeNamesNone) {
  NodeTopology node;
  node.gpus.resize(2);
  node.gpus[0].model = "NVIDIA H200";
  node.gpus[1].model = "NVIDIA H200";
  ASSERT_NE(gpu_model(node), nullptr);
  EXPECT_EQ(gpu_model(node), gpu_model("NVIDIA-H200"));
  node.gpus[1].model = "NVIDIA A30";
  EXPECT_EQ(gpu_model(node), nullptr) << "two models: neither speaks for the node";
}

}  // namespace
}  // namespace rankward::topology
