#include <gtest/gtest.h>

#include "rankward/topology/sources.hpp"

namespace rankward::topology {
namespace {

// Columns as `nvidia-smi mig -lgip` prints them: GiB to hundredths.
TEST(MeasuredSliceMemory, EqualsWhatNvidiaSmiPrints) {
  const struct {
    const char* product;
    const char* profile;
    const char* gibibytes;
  } cases[] = {
      {"NVIDIA-H200", "1g.18gb", "16.00"},
      {"NVIDIA-H200", "1g.35gb", "32.25"},
      {"NVIDIA-H200", "3g.71gb", "69.50"},
      {"NVIDIA-H200", "7g.141gb", "139.75"},
      {"NVIDIA-B200", "1g.23gb", "20.50"},  // 22.00 in an older output: the smaller
      {"NVIDIA-B200", "2g.45gb", "44.25"},
      {"NVIDIA-GB200", "1g.23gb", "22.00"},
      {"NVIDIA-GB200", "1g.24gb", "20.00"},
      {"NVIDIA-GB200", "1g.47gb", "45.50"},
      {"NVIDIA-A100-SXM4-40GB", "1g.5gb", "4.75"},
      {"NVIDIA-A100-SXM4-40GB", "7g.40gb", "39.25"},
      {"NVIDIA-A100-SXM4-80GB", "1g.10gb", "9.50"},
      {"NVIDIA A100 80GB PCIe", "3g.40gb", "39.25"},
      {"NVIDIA-H100-80GB-HBM3", "1g.10gb", "9.75"},
      {"NVIDIA-H100-PCIe", "7g.80gb", "79.25"},
      {"NVIDIA-H20", "1g.12gb", "11.00"},
      {"NVIDIA-GH200-480GB", "7g.96gb", "93.00"},
      {"NVIDIA-GH200-144G-HBM3e", "1g.18gb", "17.50"},
      {"NVIDIA-H100-NVL", "1g.24gb", "21.50"},
  };
  for (const auto& c : cases) {
    const auto memory = measured_slice_memory(c.product, c.profile);
    ASSERT_TRUE(memory.has_value()) << c.product << " " << c.profile;
    EXPECT_EQ(to_string(*memory).substr(0, std::string(c.gibibytes).size()), c.gibibytes)
        << c.product << " " << c.profile;
  }
}

// Values of nvidia.com/mig-<profile>.memory in real label sets, in MiB.
TEST(MeasuredSliceMemory, EqualsGfdsLabelsOfTheSameModel) {
  const struct {
    const char* product;
    const char* profile;
    std::int64_t mebibytes;
  } cases[] = {
      {"NVIDIA-H100-80GB-HBM3", "1g.10gb", 9984},  {"NVIDIA-H100-80GB-HBM3", "2g.20gb", 20096},
      {"NVIDIA-H100-80GB-HBM3", "3g.40gb", 40320}, {"NVIDIA-A100-SXM4-40GB", "1g.5gb", 4864},
      {"NVIDIA-A100-SXM4-40GB", "2g.10gb", 9856},  {"A100-PCIE-40GB", "1g.5gb", 4864},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(measured_slice_memory(c.product, c.profile), Bytes{c.mebibytes * kMebibyte})
        << c.product << " " << c.profile;
  }
}

TEST(MeasuredSliceMemory, SaysNothingOfWhatNobodyHasPublished) {
  const std::pair<const char*, const char*> cases[] = {
      {"NVIDIA-B200", "7g.180gb"},
      {"NVIDIA-GB200", "3g.93gb"},
      {"NVIDIA-B300", "1g.34gb"},
      {"NVIDIA-GH200-144G-HBM3e", "3g.72gb"},
      {"NVIDIA-A100-SXM4-40GB", "3g.40gb"},
      {"NVIDIA-A100-SXM-64GB", "1g.8gb"},
      {"NVIDIA-H100-80GB-HBM3", "1g.18gb"},
      {"Tesla-T4", "1g.5gb"},
      {"", "1g.5gb"},
      {"NVIDIA-H200", ""},
      {"NVIDIA-H200", "1c.2g.35gb"},
  };
  for (const auto& [product, profile] : cases) {
    EXPECT_EQ(measured_slice_memory(product, profile), std::nullopt) << product << " " << profile;
  }
}

TEST(MeasuredSliceMemory, IsThatOfThePlainProfileForEngineVariants) {
  for (const char* profile : {"1g.10gb", "1g.10gb.me", "1g.10gb+me"}) {
    EXPECT_EQ(measured_slice_memory("NVIDIA-H100-80GB-HBM3", profile), Bytes{9984 * kMebibyte});
  }
  for (const char* profile : {"1g.24gb", "1g.24gb-me", "1g.24gb+me.all", "1g.24gb+gfx"}) {
    EXPECT_EQ(measured_slice_memory("NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition", profile),
              Bytes{23680 * kMebibyte});
  }
}

TEST(MeasuredSliceMemory, HasTheRangeOverAllModelsOfOneName) {
  const auto range = measured_slice_memory("1g.10gb");
  ASSERT_TRUE(range);
  EXPECT_EQ(range->least, Bytes{9728 * kMebibyte}) << "A100 80GB";
  EXPECT_EQ(range->most, Bytes{9984 * kMebibyte}) << "H100 80GB";
  const auto one = measured_slice_memory("7g.141gb");
  ASSERT_TRUE(one);
  EXPECT_EQ(one->least, one->most);
  EXPECT_FALSE(measured_slice_memory("1g.34gb"));
  EXPECT_FALSE(measured_slice_memory(""));
}

// The trap this table exists for: no name may be read as GiB.
TEST(MeasuredSliceMemory, IsBelowWhatTheNameWouldSuggest) {
  EXPECT_LT(*measured_slice_memory("NVIDIA-H200", "1g.18gb"), Bytes{18 * kGibibyte});
  EXPECT_LT(*measured_slice_memory("NVIDIA-H200", "1g.18gb"), Bytes{18'000'000'000});
}

}  // namespace
}  // namespace rankward::topology
