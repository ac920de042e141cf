// REQ-02. Sizes: MIG user guide and the outputs that tests/topology/mig_sizes_test.cpp names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const Verdicts kWarned{"warn REQ-02"};

TestPod needing(const char* need, const char* resource, const char* product = nullptr) {
  TestPod pod =
      TestPod().with(asking(container(), resource)).annotated("rankward.io/gpu-memory", need);
  if (product != nullptr) pod.spec.node_selector["nvidia.com/gpu.product"] = product;
  return pod;
}

struct Need {
  const char* need;
  const char* resource;
  const char* product;  // by node selector; nullptr: any
  const char* says;     // "" where it fits
};

TEST(RequestMemory, IsComparedWithWhatTheSliceReallyHas) {
  const std::vector<Need> cases{
      // Case 05: 12 GiB; the slice has 9984 MiB on an H100, less on an A100.
      {"12Gi", "nvidia.com/mig-1g.10gb", nullptr,
       "needs \"12Gi\" a GPU, 12.00 GiB (12.88 GB), but nvidia.com/mig-1g.10gb has at most 9.75 "
       "GiB "
       "(10.47 GB)."},
      {"12Gi", "nvidia.com/mig-2g.20gb", nullptr, ""},
      {"9500Mi", "nvidia.com/mig-1g.10gb", nullptr, ""},
      // The name says 10, which is neither 10 GiB nor what an A100 has.
      {"10Gi", "nvidia.com/mig-1g.10gb", nullptr, "at most 9.75 GiB"},
      {"9900Mi", "nvidia.com/mig-1g.10gb", nullptr,
       "from 9.50 GiB (10.20 GB) to 9.75 GiB (10.47 GB)."},
      {"9900Mi", "nvidia.com/mig-1g.10gb", "NVIDIA-H100-80GB-HBM3", ""},
      {"9900Mi", "nvidia.com/mig-1g.10gb", "NVIDIA-A100-SXM4-80GB", "has 9.50 GiB (10.20 GB)."},
      {"17Gi", "nvidia.com/mig-1g.18gb", "NVIDIA-H200", "has 16.00 GiB (17.18 GB)."},
      {"17Gi", "nvidia.com/mig-1g.18gb", "NVIDIA-GH200-144G-HBM3e", ""},
      {"16Gi", "nvidia.com/mig-1g.18gb", "NVIDIA-H200", ""},
      {"18G", "nvidia.com/mig-1g.18gb", "NVIDIA-H200", "needs \"18G\" a GPU, 16.76 GiB (18.00 GB)"},
      // A replica of a slice has no more than the slice.
      {"12Gi", "nvidia.com/mig-1g.10gb.shared", nullptr, "at most 9.75 GiB"},
      // Names of models and profiles that nobody has published say nothing.
      {"100Gi", "nvidia.com/mig-1g.34gb", nullptr, ""},
      {"100Gi", "nvidia.com/mig-1g.10gb", "NVIDIA-B300", ""},
      {"100Gi", "nvidia.com/gpu", nullptr, ""},
      {"100Gi", "nvidia.com/gpu.shared", nullptr, ""},
  };
  for (const Need& c : cases) {
    SCOPED_TRACE(std::string(c.need) + " of " + c.resource);
    const Judgement judgement = judge_create(needing(c.need, c.resource, c.product));
    EXPECT_EQ(verdicts(judgement), *c.says == '\0' ? Verdicts{} : kWarned);
    for (const Finding& finding : judgement.findings) {
      EXPECT_THAT(finding.what, HasSubstr(c.says));
      EXPECT_EQ(finding.field, "metadata.annotations[\"rankward.io/gpu-memory\"]");
    }
  }
}

TEST(RequestMemory, GoesByTheModelsOfTheRequiredAffinity) {
  TestPod pod = needing("9900Mi", "nvidia.com/mig-1g.10gb");
  const auto on = [](std::vector<std::string> models) {
    return kube::NodeSelectorTerm{{{"nvidia.com/gpu.product", "In", std::move(models)}}, {}};
  };
  pod.spec.required_node_affinity = {on({"NVIDIA-H100-80GB-HBM3"})};
  EXPECT_EQ(verdicts(pod), Verdicts{});
  pod.spec.required_node_affinity = {on({"NVIDIA-H100-80GB-HBM3", "NVIDIA-A100-SXM4-80GB"})};
  EXPECT_EQ(verdicts(pod), kWarned);
  pod.spec.required_node_affinity = {on({"NVIDIA-H100-80GB-HBM3"}), on({"NVIDIA-A100-SXM4-80GB"})};
  EXPECT_EQ(verdicts(pod), kWarned);
  pod.spec.required_node_affinity = {on({"NVIDIA-H100-80GB-HBM3"}),
                                     kube::NodeSelectorTerm{{{"pool", "Exists", {}}}, {}}};
  EXPECT_EQ(verdicts(pod), kWarned) << "the other term leads anywhere";
}

TEST(RequestMemory, IsComparedWithHamisPartOfAGpu) {
  const auto part = [](const char* need, std::int64_t mebibytes) {
    return TestPod()
        .with(asking(asking(container()), "nvidia.com/gpumem", mebibytes))
        .annotated("rankward.io/gpu-memory", need);
  };
  EXPECT_EQ(verdicts(part("4Gi", 4096)), Verdicts{});
  EXPECT_EQ(verdicts(part("4Gi", 4000)), kWarned);
  EXPECT_EQ(verdicts(part("4Gi", INT64_MAX)), Verdicts{});
}

TEST(RequestMemory, IsJudgedInEachContainerAndOnlyWhereItIsStated) {
  const TestPod pod = TestPod()
                          .with(asking(container("a"), "nvidia.com/mig-1g.10gb"))
                          .with(asking(container("b"), "nvidia.com/mig-3g.40gb"))
                          .with_init(asking(container("c"), "nvidia.com/mig-1g.5gb"))
                          .annotated("rankward.io/gpu-memory", "12Gi");
  const Judgement judgement = judge_create(pod);
  ASSERT_EQ(verdicts(judgement), (Verdicts{"warn REQ-02", "warn REQ-02"}));
  EXPECT_EQ(judgement.findings[0].container, "a");
  EXPECT_EQ(judgement.findings[1].container, "c");
  EXPECT_EQ(verdicts(TestPod().with(asking(container(), "nvidia.com/mig-1g.10gb"))), Verdicts{});
  EXPECT_EQ(verdicts(needing("12GB", "nvidia.com/mig-1g.10gb")), (Verdicts{"enforce KEY-01"}));
}

}  // namespace
}  // namespace rankward::admission
