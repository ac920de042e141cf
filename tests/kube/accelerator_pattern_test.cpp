// The pattern against the function that it stands for.
#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>
#include <vector>

#include "rankward/kube/resources.hpp"

namespace rankward::kube {
namespace {

class AcceleratorPattern : public testing::Test {
 protected:
  bool matches(const std::string& name) const {
    return std::regex_match(name, accepts_) && !std::regex_match(name, excepts_);
  }

 private:
  NamePattern pattern_ = accelerator_pattern();
  std::regex accepts_{pattern_.accepts};
  std::regex excepts_{pattern_.excepts};
};

TEST_F(AcceleratorPattern, AgreesOnTheNamesThatPluginsUse) {
  for (const char* name :
       {"nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.10gb",
        "nvidia.com/mig-1g.10gb.shared", "nvidia.com/mig-1g.10gb.me", "nvidia.com/mig-1c.3g.20gb",
        "amd.com/gpu", "amd.com/cpx_nps4", "gpu.intel.com/i915", "gpu.intel.com/xe",
        "habana.ai/gaudi2", "aws.amazon.com/neuroncore", "google.com/tpu", "huawei.com/Ascend910",
        "huawei.com/Ascend910-2c", "aliyun.com/gpu-mem", "nvidia.com/gpumem",
        "deviceclass.resource.kubernetes.io/gpu.nvidia.com"}) {
    EXPECT_TRUE(is_accelerator(name)) << name;
    EXPECT_TRUE(matches(name)) << name;
  }
}

TEST_F(AcceleratorPattern, AgreesOnNamesThatOnlyLookLikeThem) {
  for (const char* name :
       {"cpu", "nvidia.com/gpus", "nvidiaXcom/gpu", "nvidia.com/gpu.shared.shared",
        "nvidia.com/mig-1g.10gb-shared", "nvidia.com/mig-1g.10gb.shared.shared",
        "nvidia.com/mig-01g.10gb", "nvidia.com/mig-1g.10GB", "gpu.intel.com/i915_monitoring",
        "gpu.intel.com/i915_monitoring.shared", "gpu.intel.com/", "amd.com/cpx_nps", "amd.com/cpx",
        "aliyun.com/gpu-mem.shared", "huawei.com/Ascend910-2c.shared", "huawei.com/Ascend",
        "xnvidia.com/gpu", "rdma/hca", "deviceclass.resource.kubernetes.io/"}) {
    EXPECT_FALSE(is_accelerator(name)) << name;
    EXPECT_FALSE(matches(name)) << name;
  }
}

TEST_F(AcceleratorPattern, AgreesOnNamesMadeOfTheirParts) {
  const std::vector<std::string> parts = {"nvidia.com/",
                                          "amd.com/",
                                          "gpu.intel.com/",
                                          "huawei.com/Ascend",
                                          "aliyun.com/gpu",
                                          "mig-",
                                          "gpu",
                                          "1g.10gb",
                                          "1c.",
                                          ".shared",
                                          "-shared",
                                          ".me",
                                          "monitoring",
                                          "cpx_nps",
                                          "4",
                                          "910",
                                          "-2c",
                                          "mem",
                                          "habana.ai/gaudi",
                                          "i915"};
  std::mt19937 random(20260801);
  std::uniform_int_distribution<std::size_t> pick(0, parts.size() - 1);
  std::uniform_int_distribution<int> length(1, 4);
  int accelerators = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string name;
    for (int left = length(random); left > 0; --left)
      name += parts[pick(random)];
    ASSERT_EQ(matches(name), is_accelerator(name)) << name;
    if (is_accelerator(name)) ++accelerators;
  }
  EXPECT_GT(accelerators, 500);
}

}  // namespace
}  // namespace rankward::kube
