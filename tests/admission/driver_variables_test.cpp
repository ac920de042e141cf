// ENV-04, ENV-05, ENV-06.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::HasSubstr;

kube::Container taking_from(const char* source, const char* prefix = "",
                            kube::Container out = container()) {
  out.env_from.push_back({prefix, source});
  return out;
}

TestPod tolerant(kube::Container only) {
  TestPod pod = TestPod().with(asking(container("compute"))).with(std::move(only));
  return pod;
}

TEST(VariablesFromElsewhere, AreNotedWhereThePodCanLandOnGpuNodes) {
  const Verdicts noted{"audit ENV-04"};
  EXPECT_EQ(verdicts(tolerant(taking_from("configMapRef"))), noted);
  EXPECT_EQ(verdicts(tolerant(taking_from("secretRef"))), noted);
  EXPECT_EQ(verdicts(TestPod().with(taking_from("configMapRef"))), Verdicts{});
  EXPECT_EQ(verdicts(TestPod().with(taking_from("configMapRef")).on("some-node")), noted);
  EXPECT_EQ(verdicts(TestPod().with(asking(taking_from("configMapRef")))), Verdicts{});
}

TEST(VariablesFromElsewhere, AreHarmlessBesideAnExplicitVariable) {
  for (const char* name : {"NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES"})
    EXPECT_EQ(verdicts(tolerant(with_env(taking_from("configMapRef"), name, "void"))), Verdicts{})
        << name;
  EXPECT_EQ(verdicts(tolerant(with_env(taking_from("configMapRef"), "OTHER", "void"))),
            (Verdicts{"audit ENV-04"}));
}

struct PrefixCase {
  const char* prefix;
  bool noted;
};

TEST(VariablesFromElsewhere, AreToldApartByTheirPrefix) {
  for (const PrefixCase& c :
       {PrefixCase{"", true}, PrefixCase{"NVIDIA_", true}, PrefixCase{"N", true},
        PrefixCase{"ASCEND_VISIBLE_", true}, PrefixCase{"APP_", false},
        PrefixCase{"NVIDIA_VISIBLE_DEVICES_", false}, PrefixCase{"nvidia_", false}})
    EXPECT_EQ(verdicts(tolerant(taking_from("secretRef", c.prefix))),
              c.noted ? Verdicts{"audit ENV-04"} : Verdicts{})
        << c.prefix;
}

struct VariableCase {
  std::vector<std::pair<const char*, const char*>> env;
  bool found;
};

TEST(LegacyCudaVersion, MeansEveryGpuWhereNothingElseIsSaid) {
  for (const VariableCase& c : {
           VariableCase{{{"CUDA_VERSION", "12.4"}}, true},
           VariableCase{{{"CUDA_VERSION", ""}}, false},
           VariableCase{{{"CUDA_VERSION", "12.4"}, {"CUDA_VERSION", ""}}, false},
           VariableCase{{{"CUDA_VERSION", "9.0"}, {"NVIDIA_REQUIRE_CUDA", "cuda>=9.0"}}, false},
           VariableCase{{{"CUDA_VERSION", "9.0"}, {"NVIDIA_REQUIRE_CUDA", ""}}, true},
           VariableCase{{{"CUDA_VERSION", "9.0"}, {"NVIDIA_VISIBLE_DEVICES", "void"}}, false},
           VariableCase{{{"CUDA_VERSION", "9.0"}, {"NVIDIA_VISIBLE_DEVICES", ""}}, false},
           VariableCase{{{"cuda_version", "9.0"}}, false},
       }) {
    kube::Container train = container();
    for (const auto& [name, value] : c.env)
      train = with_env(train, name, value);
    EXPECT_EQ(verdicts(TestPod().with(train)), c.found ? Verdicts{"warn ENV-05"} : Verdicts{})
        << c.env.size() << c.env[0].second;
    EXPECT_EQ(verdicts(TestPod().with(asking(train))), Verdicts{});
  }
  const auto hidden = with_env_from(container(), "CUDA_VERSION", "configMapKeyRef");
  EXPECT_EQ(verdicts(TestPod().with(hidden)), (Verdicts{"warn ENV-05"}));
}

struct FeatureCase {
  const char* name;
  const char* value;
  Verdicts alone;
  Verdicts beside_request;
};

class DriverFeature : public ::testing::TestWithParam<FeatureCase> {};

TEST_P(DriverFeature, IsJudgedByWhatItAdds) {
  const FeatureCase& c = GetParam();
  EXPECT_EQ(verdicts(TestPod().with(with_env(container(), c.name, c.value))), c.alone);
  EXPECT_EQ(verdicts(TestPod().with(with_env(asking(container()), c.name, c.value))),
            c.beside_request);
}

const Verdicts kDenied{"enforce ENV-06"};
const Verdicts kWarned{"warn ENV-06"};
const Verdicts kClean{};

INSTANTIATE_TEST_SUITE_P(
    Variables, DriverFeature,
    ::testing::Values(FeatureCase{"NVIDIA_MIG_CONFIG_DEVICES", "all", kDenied, kDenied},
                      FeatureCase{"NVIDIA_MIG_CONFIG_DEVICES", "0,1", kDenied, kDenied},
                      FeatureCase{"NVIDIA_MIG_CONFIG_DEVICES", "", kClean, kClean},
                      FeatureCase{"NVIDIA_MIG_CONFIG_DEVICES", "$(WHICH)", kDenied, kDenied},
                      FeatureCase{"NVIDIA_MIG_MONITOR_DEVICES", "all", kWarned, kWarned},
                      FeatureCase{"NVIDIA_MIG_MONITOR_DEVICES", "void", kClean, kClean},
                      FeatureCase{"NVIDIA_IMEX_CHANNELS", "0", kWarned, kWarned},
                      FeatureCase{"NVIDIA_MOFED", "enabled", kWarned, kWarned},
                      FeatureCase{"NVIDIA_MOFED", "disabled", kClean, kClean},
                      FeatureCase{"NVIDIA_MOFED", "$(X)", kWarned, kWarned},
                      FeatureCase{"NVIDIA_NVSWITCH", "enabled", kWarned, kWarned},
                      FeatureCase{"NVIDIA_GDS", "enabled", kWarned, kClean},
                      FeatureCase{"NVIDIA_GDS", "Enabled", kClean, kClean},
                      FeatureCase{"NVIDIA_GDRCOPY", "enabled", kWarned, kClean},
                      FeatureCase{"NVIDIA_GDRCOPY", "", kClean, kClean},
                      FeatureCase{"NVIDIA_DRIVER_CAPABILITIES", "all", kClean, kClean},
                      FeatureCase{"CUDA_VISIBLE_DEVICES", "0", kClean, kClean},
                      FeatureCase{"ROCR_VISIBLE_DEVICES", "0", kClean, kClean}));

TEST(DriverFeature, FromElsewhereCountsAsChosen) {
  EXPECT_EQ(verdicts(TestPod().with(with_env_from(container(), "NVIDIA_MOFED", "secretKeyRef"))),
            kWarned);
  EXPECT_EQ(
      verdicts(TestPod().with(with_env_from(container(), "NVIDIA_MIG_CONFIG_DEVICES", "fieldRef"))),
      kDenied);
}

// What HP-01 tells people to write for GDRCopy must not be found fault with.
TEST(DriverFeature, IsNotWarnedOfWhereHostDeviceNodesSendPeopleToIt) {
  const TestPod wrong = TestPod().with(container()).with(host_path("/dev/gdrdrv"));
  EXPECT_THAT(judge_create(wrong).message,
              HasSubstr("request the GPU, set NVIDIA_GDRCOPY to \"enabled\""));
  const TestPod right = TestPod().with(with_env(asking(container()), "NVIDIA_GDRCOPY", "enabled"));
  EXPECT_TRUE(judge_create(right).findings.empty());
}

TEST(DriverFeature, SaysWhatItGives) {
  const Judgement judgement =
      judge_create(TestPod().with(with_env(container(), "NVIDIA_MIG_CONFIG_DEVICES", "all")));
  EXPECT_THAT(judgement.message,
              HasSubstr("[ENV-06] containers[0] \"train\": NVIDIA_MIG_CONFIG_DEVICES=\"all\" gives "
                        "the right to change how the node's GPUs are partitioned."));
}

}  // namespace
}  // namespace rankward::admission
