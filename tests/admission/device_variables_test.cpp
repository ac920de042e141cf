// ENV-01, ENV-02, ENV-03.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

struct ValueCase {
  const char* value;
  const char* without_request;  // the rule, or "" for none
};

class DeviceVariable : public ::testing::TestWithParam<ValueCase> {};

Verdicts enforced(const char* rule) {
  return *rule == '\0' ? Verdicts{} : Verdicts{std::string("enforce ") + rule};
}

TEST_P(DeviceVariable, IsReadAsTheRuntimeReadsIt) {
  const auto train = with_env(container(), "NVIDIA_VISIBLE_DEVICES", GetParam().value);
  EXPECT_EQ(verdicts(TestPod().with(train)), enforced(GetParam().without_request))
      << GetParam().value;
}

TEST_P(DeviceVariable, IsOnlyWarnedOfBesideARequest) {
  const auto train = with_env(asking(container()), "NVIDIA_VISIBLE_DEVICES", GetParam().value);
  const Verdicts expected =
      *GetParam().without_request == '\0' ? Verdicts{} : Verdicts{"warn ENV-03"};
  EXPECT_EQ(verdicts(TestPod().with(train)), expected) << GetParam().value;
}

INSTANTIATE_TEST_SUITE_P(
    Values, DeviceVariable,
    ::testing::Values(ValueCase{"all", "ENV-01"}, ValueCase{"0", "ENV-01"},
                      ValueCase{"0,1", "ENV-01"}, ValueCase{"GPU-8a5e", "ENV-01"},
                      ValueCase{"nvidia.com/gpu=all", "ENV-01"}, ValueCase{"ALL", "ENV-01"},
                      ValueCase{"NONE", "ENV-01"}, ValueCase{"none,0", "ENV-01"},
                      ValueCase{"voids", "ENV-01"}, ValueCase{"\xc2\xa0", "ENV-01"},
                      ValueCase{"", ""}, ValueCase{"  ", ""}, ValueCase{" , ,", ""},
                      ValueCase{"void", ""}, ValueCase{" void ", ""}, ValueCase{"0,void", ""},
                      ValueCase{"none", ""}, ValueCase{" none", ""}, ValueCase{"$(GPUS)", "ENV-02"},
                      ValueCase{"0,$(GPUS)", "ENV-02"}, ValueCase{"none,$(GPUS)", "ENV-02"},
                      ValueCase{"void,$(GPUS)", ""}, ValueCase{"void$(X)", "ENV-02"},
                      ValueCase{"$$(GPUS)", "ENV-01"}, ValueCase{"$$$(GPUS)", "ENV-02"},
                      ValueCase{"$(GPUS", "ENV-01"}));

TEST(DeviceVariables, OfEveryVendorAreJudged) {
  for (const char* name :
       {"NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES", "HABANA_VISIBLE_DEVICES",
        "AWS_NEURON_VISIBLE_DEVICES", "ASCEND_VISIBLE_DEVICES"})
    EXPECT_EQ(verdicts(TestPod().with(with_env(container(), name, "0"))),
              (Verdicts{"enforce ENV-01"}))
        << name;
}

TEST(DeviceVariables, ThatOnlyFilterAreLeftAlone) {
  for (const char* name : {"CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES",
                           "ZE_AFFINITY_MASK", "NVIDIA_DRIVER_CAPABILITIES"})
    EXPECT_EQ(verdicts(TestPod().with(with_env(container(), name, "all"))), Verdicts{}) << name;
}

TEST(DeviceVariables, FromElsewhereAreNotKnown) {
  for (const char* source :
       {"configMapKeyRef", "secretKeyRef", "fieldRef", "resourceFieldRef", "fileKeyRef"}) {
    const auto train = with_env_from(container(), "NVIDIA_VISIBLE_DEVICES", source);
    EXPECT_EQ(verdicts(TestPod().with(train)), (Verdicts{"enforce ENV-02"})) << source;
  }
}

TEST(DeviceVariables, CountAsTheLastOfTheirNameSays) {
  const std::string name = "NVIDIA_VISIBLE_DEVICES";
  const auto last_void = with_env(with_env(container(), name, "all"), name, "void");
  EXPECT_EQ(verdicts(TestPod().with(last_void)), Verdicts{});
  const auto last_all = with_env(with_env(container(), name, "void"), name, "all");
  const Judgement judgement = judge_create(TestPod().with(last_all));
  ASSERT_EQ(verdicts(judgement), (Verdicts{"enforce ENV-01"}));
  EXPECT_EQ(judgement.findings[0].field, "spec.containers[0].env[1]");
}

TEST(DeviceVariables, AreJudgedInEachContainerByItself) {
  const auto bad = with_env(container("side"), "NVIDIA_VISIBLE_DEVICES", "all");
  const auto good = asking(container("main"));
  EXPECT_EQ(verdicts(TestPod().with(good).with(bad)), (Verdicts{"enforce ENV-01"}));
  EXPECT_EQ(verdicts(TestPod().with(good).with_init(bad)), (Verdicts{"enforce ENV-01"}));
  EXPECT_EQ(verdicts(TestPod().with(good).with_ephemeral(bad)), (Verdicts{"enforce ENV-01"}));
}

struct RequestCase {
  const char* resource;
  std::int64_t amount;
  bool is_request;
};

class GpuRequest : public ::testing::TestWithParam<RequestCase> {};

TEST_P(GpuRequest, MakesTheDifferenceBetweenDenialAndWarning) {
  const RequestCase& c = GetParam();
  const auto train =
      with_env(asking(container(), c.resource, c.amount), "NVIDIA_VISIBLE_DEVICES", "all");
  // A 0 is REQ-01's too.
  EXPECT_EQ(verdicts(TestPod().with(train)).front(),
            c.is_request ? "warn ENV-03" : "enforce ENV-01")
      << c.resource;
}

INSTANTIATE_TEST_SUITE_P(
    Resources, GpuRequest,
    ::testing::Values(
        RequestCase{"nvidia.com/gpu", 1, true}, RequestCase{"nvidia.com/gpu", 0, false},
        RequestCase{"nvidia.com/mig-1g.10gb", 1, true},
        RequestCase{"nvidia.com/gpu.shared", 2, true}, RequestCase{"amd.com/gpu", 1, true},
        RequestCase{"gpu.intel.com/i915", 1, true}, RequestCase{"habana.ai/gaudi", 8, true},
        RequestCase{"aws.amazon.com/neuroncore", 2, true}, RequestCase{"google.com/tpu", 4, true},
        RequestCase{"nvidia.com/gpumem", 3000, true}, RequestCase{"aliyun.com/gpu-mem", 2, true},
        RequestCase{"deviceclass.resource.kubernetes.io/gpu", 1, true},
        RequestCase{"cpu", 4, false}, RequestCase{"rdma/ib", 1, false},
        RequestCase{"vpc.amazonaws.com/efa", 4, false}));

TEST(GpuRequest, MayBeAKaiFractionOfOneContainer) {
  const auto main = with_env(container("main"), "NVIDIA_VISIBLE_DEVICES", "all");
  const auto side = with_env(container("side"), "NVIDIA_VISIBLE_DEVICES", "all");
  EXPECT_EQ(verdicts(TestPod().with(main).with(side).annotated("gpu-fraction", "0.5")),
            (Verdicts{"enforce ENV-01", "warn ENV-03"}));
  const Judgement named = judge_create(TestPod()
                                           .with(main)
                                           .with(side)
                                           .annotated("gpu-memory", "2000")
                                           .annotated("gpu-fraction-container-name", "side"));
  ASSERT_EQ(verdicts(named), (Verdicts{"enforce ENV-01", "warn ENV-03"}));
  EXPECT_EQ(named.findings[0].container, "main");
  EXPECT_EQ(verdicts(TestPod().with(main).annotated("gpu-fraction", "0")),
            (Verdicts{"enforce ENV-01"}));
}

TEST(DeviceVariables, HaveConfigurableNames) {
  PolicyOptions options;
  options.env_names = {"DOCKER_RESOURCE_GPU"};
  const Policy policy = policy_of(options);
  EXPECT_EQ(verdicts(TestPod().with(with_env(container(), "DOCKER_RESOURCE_GPU", "0")), policy),
            (Verdicts{"enforce ENV-01"}));
  EXPECT_EQ(verdicts(TestPod().with(with_env(container(), "NVIDIA_VISIBLE_DEVICES", "0")), policy),
            Verdicts{});
}

TEST(DeviceVariableMessage, IsTheOneOfTheCatalogue) {
  const Judgement judgement =
      judge_create(TestPod().with(with_env(container(), "NVIDIA_VISIBLE_DEVICES", "all")));
  EXPECT_EQ(judgement.message,
            "[ENV-01] containers[0] \"train\": NVIDIA_VISIBLE_DEVICES=\"all\" without a GPU "
            "request. A pod that happens to reach a GPU has no scheduling guarantee. Fix: set "
            "resources.limits \"nvidia.com/gpu\" and drop the variable, or set it to \"void\".");
}

TEST(DeviceVariableMessage, PrintsNoOtherValue) {
  auto train = with_env(container(), "API_TOKEN", "hunter2");
  train = with_env(train, "NVIDIA_VISIBLE_DEVICES", "$(API_TOKEN)");
  const Judgement judgement = judge_create(TestPod().with(train));
  EXPECT_THAT(judgement.message, HasSubstr("\"$(API_TOKEN)\""));
  EXPECT_THAT(judgement.message, Not(HasSubstr("hunter2")));
}

}  // namespace
}  // namespace rankward::admission
