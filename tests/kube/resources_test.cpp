#include "rankward/kube/resources.hpp"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

namespace rankward::kube {
namespace {

TEST(DeviceKind, KnowsTheNamesThatDevicePluginsRegister) {
  using enum DeviceKind;
  const std::vector<std::pair<const char*, DeviceKind>> names = {
      {"nvidia.com/gpu", kWholeGpu},
      {"amd.com/gpu", kWholeGpu},
      {"amd.com/cpx_nps4", kWholeGpu},
      {"gpu.intel.com/i915", kWholeGpu},
      {"gpu.intel.com/xe", kWholeGpu},
      {"habana.ai/gaudi", kWholeGpu},
      {"aws.amazon.com/neuron", kWholeGpu},
      {"aws.amazon.com/neuroncore", kWholeGpu},
      {"aws.amazon.com/neurondevice", kWholeGpu},
      {"google.com/tpu", kWholeGpu},
      {"huawei.com/Ascend910", kWholeGpu},
      {"huawei.com/Ascend310P", kWholeGpu},
      {"nvidia.com/mig-1g.5gb", kMigSlice},
      {"nvidia.com/mig-1g.10gb.me", kMigSlice},
      {"nvidia.com/mig-1g.24gb.me.all", kMigSlice},
      {"nvidia.com/mig-1g.24gb-me", kMigSlice},
      {"nvidia.com/mig-1g.24gb.gfx", kMigSlice},
      {"nvidia.com/mig-1c.3g.20gb", kMigSlice},
      {"nvidia.com/mig-7g.141gb", kMigSlice},
      {"nvidia.com/gpu.shared", kSharedSlice},
      {"nvidia.com/mig-1g.10gb.shared", kSharedSlice},
      {"nvidia.com/gpumem", kFraction},
      {"nvidia.com/gpumem-percentage", kFraction},
      {"nvidia.com/gpucores", kFraction},
      {"aliyun.com/gpu-mem", kFraction},
      {"volcano.sh/vgpu-memory", kFraction},
      {"huawei.com/Ascend910B-memory", kFraction},
      {"deviceclass.resource.kubernetes.io/gpu.nvidia.com", kDraClass},
      {"", kNone},
      {"cpu", kNone},
      {"gpu", kNone},
      {"memory", kNone},
      {"nvidia.com/", kNone},
      {"nvidia.com/gpus", kNone},
      {"nvidia.com/gpu.sharedx", kNone},
      {"nvidia.com/gpumem.shared", kNone},
      {"NVIDIA.com/gpu", kNone},
      {"xnvidia.com/gpu", kNone},
      {"nvidia.com/hostdev", kNone},
      {"nvidia.com/mig-", kNone},
      {"nvidia.com/mig-.shared", kNone},
      {"nvidia.com/mig-small", kNone},
      {"nvidia.com/mig-0g.5gb", kNone},
      {"nvidia.com/mig-1g.5GB", kNone},
      {"nvidia.com/mig-1g.5gbx", kNone},
      {"nvidia.com/mig-1g.gb", kNone},
      {"nvidia.com/mig-1g.5gb.", kNone},
      {"nvidia.com/mig-1g.5gb.shared.shared", kNone},
      {"nvidia.com/mig-x1g.5gb", kNone},
      {"amd.com/cpx_nps", kNone},
      {"amd.com/gpu_memory", kNone},
      {"gpu.intel.com/", kNone},
      {"gpu.intel.com/i915_monitoring", kNone},
      {"gpu.intel.com/xe_monitoring", kNone},
      {"huawei.com/Ascend", kNone},
      {"deviceclass.resource.kubernetes.io/", kNone},
      {"rankward.io/placement", kNone},
  };
  for (const auto& [name, kind] : names) {
    EXPECT_EQ(device_kind(name), kind) << name;
    EXPECT_EQ(is_accelerator(name), kind != kNone) << name;
  }
}

TEST(MigProfile, IsThePartBetweenPrefixAndSharing) {
  EXPECT_EQ(mig_profile("nvidia.com/mig-1g.10gb"), "1g.10gb");
  EXPECT_EQ(mig_profile("nvidia.com/mig-1g.10gb.shared"), "1g.10gb");
  EXPECT_EQ(mig_profile("nvidia.com/mig-1g.10gb.me.shared"), "1g.10gb.me");
  EXPECT_EQ(mig_profile("nvidia.com/mig-1g.24gb-me"), "1g.24gb-me");
  for (const char* name : {"nvidia.com/gpu", "nvidia.com/mig-", "nvidia.com/mig-.shared",
                           "nvidia.com/mig-x", "nvidia.com/mig-1g.10gb.count ", "1g.10gb"}) {
    EXPECT_EQ(mig_profile(name), std::nullopt) << name;
  }
}

TEST(IsRdma, KnowsPluginsAndReadsHintsOfSriovNames) {
  for (const char* name :
       {"rdma/hca_shared_devices_a", "rdma/ib", "rdma/hca", "nvidia.com/hostdev",
        "vpc.amazonaws.com/efa", "koordinator.sh/rdma", "nvidia.com/mlnxnics",
        "nvidia.com/sriov-rdma-vf", "openshift.io/mlnx_sriov_rdma", "mellanox.com/sriov_ib0",
        "intel.com/sriov_RDMA", "openshift.io/roce-vf", "mellanox.com/connectx7"}) {
    EXPECT_TRUE(is_rdma(name)) << name;
  }
  for (const char* name : {"rdma/", "rdma", "nvidia.com/gpu", "nvidia.com/mig-1g.10gb",
                           "intel.com/sriov_dpdk", "intel.com/library", "openshift.io/public_net",
                           "example.com/rdma", "gpu.intel.com/i915", "cpu", ""}) {
    EXPECT_FALSE(is_rdma(name)) << name;
  }
}

// Golden: IsExtendedResourceName of k8s.io/kubernetes v1.37.2.
TEST(IsExtended, WantsAQualifiedNameOutsideKubernetes) {
  for (const char* name : {"nvidia.com/gpu", "rdma/ib", "gpu.intel.com/i915", "a/b",
                           "huawei.com/Ascend910", "amd.com/cpx_nps4"}) {
    EXPECT_TRUE(is_extended(name)) << name;
  }
  const std::string long_name = "a/" + std::string(64, 'b');
  const std::string long_domain = std::string(245, 'a') + "/b";
  for (const std::string& name :
       {std::string("cpu"), std::string("memory"), std::string("hugepages-2Mi"), std::string(""),
        std::string("kubernetes.io/batch"), std::string("x.kubernetes.io/batch"),
        std::string("deviceclass.resource.kubernetes.io/gpu"),
        std::string("requests.nvidia.com/gpu"), std::string("/gpu"), std::string("nvidia.com/"),
        std::string("a/b/c"), std::string("A.com/b"), std::string("a..b/c"), std::string("-a/b"),
        std::string("a/-b"), std::string("a/b c"), long_name, long_domain}) {
    EXPECT_FALSE(is_extended(name)) << name;
  }
  EXPECT_TRUE(is_extended("a/" + std::string(63, 'b')));
  EXPECT_TRUE(is_extended(std::string(244, 'a') + "/b"));
}

}  // namespace
}  // namespace rankward::kube
