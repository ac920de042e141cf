// Vendors: those of the shipped table, and those of the configuration.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

struct VendorCase {
  const char* name;
  const char* resource;
  const char* device;         // of HP-01
  const char* variable;       // of ENV-01; "" where its runtime has none
  const char* runtime_class;  // of RT-01
  const char* label;          // of SCH-03
  const char* toleration;     // of SCH-03
};

class KnownVendor : public ::testing::TestWithParam<VendorCase> {};

INSTANTIATE_TEST_SUITE_P(
    Table, KnownVendor,
    ::testing::Values(
        VendorCase{"nvidia", "nvidia.com/gpu", "/dev/nvidia0", "NVIDIA_VISIBLE_DEVICES", "nvidia",
                   "nvidia.com/gpu.present", "nvidia.com/gpu"},
        VendorCase{"amd", "amd.com/gpu", "/dev/kfd", "AMD_VISIBLE_DEVICES", "amd",
                   "amd.com/gpu.family", "amd.com/gpu"},
        VendorCase{"intel", "gpu.intel.com/i915", "/dev/dri/card0", "", "",
                   "intel.feature.node.kubernetes.io/gpu", "gpu.intel.com/i915"},
        VendorCase{"intel_npu", "npu.intel.com/accel", "/dev/accel/accel0", "", "",
                   "intel.feature.node.kubernetes.io/npu", ""},
        VendorCase{"gaudi", "habana.ai/gaudi", "/dev/hl0", "HABANA_VISIBLE_DEVICES", "habana",
                   "habana.ai/family", "habana.ai/gaudi"},
        VendorCase{"neuron", "aws.amazon.com/neuron", "/dev/neuron0", "AWS_NEURON_VISIBLE_DEVICES",
                   "", "karpenter.k8s.aws/instance-accelerator-name", "aws.amazon.com/neuron"},
        VendorCase{"tpu", "google.com/tpu", "/dev/vfio/0", "", "",
                   "cloud.google.com/gke-tpu-topology", "google.com/tpu"},
        VendorCase{"ascend", "huawei.com/Ascend910", "/dev/davinci0", "ASCEND_VISIBLE_DEVICES",
                   "ascend", "accelerator", "huawei.com/Ascend910"},
        VendorCase{"ascend_manager", "huawei.com/Ascend310P", "/dev/devmm_svm", "", "", "", ""},
        VendorCase{"rdma", "", "/dev/infiniband/uverbs0", "", "", "", ""},
        VendorCase{"rdma_by_number", "", "/dev/char/231:192", "", "", "", ""}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(KnownVendor, OffersItsDevicesByItsPluginAlone) {
  const VendorCase& c = GetParam();
  EXPECT_EQ(verdicts(TestPod().with(container()).with(host_path(c.device))),
            (Verdicts{"enforce HP-01"}));
}

TEST_P(KnownVendor, HasAResourceThatIsARequest) {
  const VendorCase& c = GetParam();
  const std::string resource = c.resource;
  if (resource.empty()) return;  // an RDMA card is no accelerator
  const auto env = with_env(asking(container(), resource), "NVIDIA_VISIBLE_DEVICES", "all");
  EXPECT_EQ(verdicts(TestPod().with(env)), (Verdicts{"warn ENV-03"}));
}

TEST_P(KnownVendor, HasVariablesThatNeedARequest) {
  const VendorCase& c = GetParam();
  const std::string variable = c.variable;
  if (variable.empty()) return;
  const Judgement judgement = judge_create(TestPod().with(with_env(container(), variable, "all")));
  EXPECT_EQ(verdicts(judgement), (Verdicts{"enforce ENV-01"}));
  EXPECT_THAT(judgement.message, HasSubstr("Fix: set resources.limits \"" +
                                           std::string(c.resource) + "\" and drop the variable"));
}

TEST_P(KnownVendor, HasRuntimeClassesThatNeedARequest) {
  const std::string name = GetParam().runtime_class;
  if (name.empty()) return;
  EXPECT_EQ(verdicts(TestPod().with(container()).of_class(name)), (Verdicts{"enforce RT-01"}));
}

TEST_P(KnownVendor, HasNodesThatPodsWithoutARequestLeaveFree) {
  const VendorCase& c = GetParam();
  TestPod pod = TestPod().with(container());
  if (*c.label != '\0') {
    pod.spec.node_selector = {{c.label, "true"}};
    EXPECT_EQ(verdicts(pod), (Verdicts{"warn SCH-03"}));
  }
  if (*c.toleration != '\0') {
    pod.spec.node_selector = {};
    pod.spec.tolerations = {{c.toleration, "Exists", {}, {}}};
    EXPECT_EQ(verdicts(pod), (Verdicts{"warn SCH-03"}));
  }
}

TEST(VendorDefaults, AreTheListsOfTheOptions) {
  const PolicyOptions options;
  EXPECT_THAT(options.env_names,
              ::testing::ElementsAre("NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES",
                                     "HABANA_VISIBLE_DEVICES", "AWS_NEURON_VISIBLE_DEVICES",
                                     "ASCEND_VISIBLE_DEVICES"));
  EXPECT_THAT(options.runtime_classes,
              ::testing::ElementsAre("nvidia", "nvidia-cdi", "nvidia-legacy", "kata-*-gpu*", "amd",
                                     "habana", "ascend"));
  EXPECT_THAT(options.gpu_toleration_keys,
              IsSupersetOf({"nvidia.com/gpu*", "amd.com/gpu*", "gpu.intel.com/*", "habana.ai/*",
                            "aws.amazon.com/neuron*", "google.com/tpu"}));
  EXPECT_THAT(options.gpu_node_labels,
              IsSupersetOf({"nvidia.com/gpu*", "amd.com/gpu*", "gpu.intel.com/*", "habana.ai/*",
                            "cloud.google.com/gke-accelerator*", "cloud.google.com/gke-tpu*",
                            "feature.node.kubernetes.io/pci-*10de.present"}));
}

VendorOption example() {
  return {.name = "Example NPU",
          .resources = {"example.com/npu", "example.com/npu-*"},
          .device_paths = {"/dev/examplenpu*", "/dev/char/511:*"},
          .env_names = {"EXAMPLE_VISIBLE_DEVICES"},
          .annotations = {"npu.example.com", "*.npu.example.org"}};
}

Policy with_example() {
  PolicyOptions options;
  options.vendors = {example()};
  return policy_of(options);
}

TEST(VendorOption, AddsDevicePaths) {
  const Policy policy = with_example();
  for (const auto& [path, found] : {std::pair{"/dev/examplenpu0", true},
                                    {"/dev/examplenpu/0", true},
                                    {"/dev//examplenpu7/", true},
                                    {"/proc/1/root/dev/examplenpu0", true},
                                    {"/dev/char/511:3", true},
                                    {"/dev/example", false},
                                    {"/dev/char/510:3", false},
                                    {"/data/examplenpu0", false}}) {
    const Judgement judgement =
        judge_create(TestPod().with(container()).with(host_path(path)), policy);
    EXPECT_EQ(!judgement.allowed, found) << path;
    if (found) {
      EXPECT_EQ(judgement.findings[0].rule, "HP-01");
      EXPECT_THAT(judgement.message,
                  AllOf(HasSubstr("gives a device of \"Example NPU\"."),
                        HasSubstr("Fix: set resources.limits \"example.com/npu\" and drop the "
                                  "volume.")));
    }
  }
  EXPECT_TRUE(judge_create(TestPod().with(container()).with(host_path("/dev/examplenpu0"))).allowed)
      << "not known without the option";
  const TestPod unknown_sub_path = TestPod()
                                       .with(mounting(container(), "v", "/x", "", "$(X)"))
                                       .with(host_path("/proc/self/root/dev/char"));
  EXPECT_FALSE(judge_create(unknown_sub_path, policy).allowed);
}

TEST(VendorOption, LeavesTheShippedTableAsItIs) {
  PolicyOptions options;
  options.vendors = {example()};
  options.vendors[0].device_paths = {"/dev/nvidia*"};
  const Judgement judgement =
      judge_create(TestPod().with(container()).with(host_path("/dev/nvidia0")), policy_of(options));
  EXPECT_THAT(judgement.message, HasSubstr("gives an NVIDIA GPU."));
}

TEST(VendorOption, IsLookedForBehindClaimsToo) {
  kube::PersistentVolume volume;
  volume.metadata.name = "pv";
  volume.local_path = "/dev/examplenpu0";
  EXPECT_TRUE(judge_volume(Policy(), {.volume = volume}).allowed);
  EXPECT_FALSE(judge_volume(with_example(), {.volume = volume}).allowed);
}

TEST(VendorOption, AddsResourcesThatAreRequests) {
  const Policy policy = with_example();
  const auto judged = [&](const char* resource, std::int64_t amount = 1) {
    return verdicts(TestPod().with(with_env(asking(container(), resource, amount),
                                            "NVIDIA_VISIBLE_DEVICES", "all")),
                    policy);
  };
  EXPECT_EQ(judged("example.com/npu"), (Verdicts{"warn ENV-03"}));
  EXPECT_EQ(judged("example.com/npu-half"), (Verdicts{"warn ENV-03"}));
  EXPECT_EQ(judged("example.com/npu", 0), (Verdicts{"enforce ENV-01"}));
  EXPECT_EQ(judged("example.com/cpu"), (Verdicts{"enforce ENV-01"}));
  kube::Container by_request = with_env(container(), "NVIDIA_VISIBLE_DEVICES", "all");
  by_request.resources.requests["example.com/npu"] = kube::Quantity(1);
  EXPECT_EQ(verdicts(TestPod().with(by_request), policy), (Verdicts{"warn ENV-03"}));
}

TEST(VendorOption, AddsVariablesAndAnnotations) {
  const Policy policy = with_example();
  const Judgement judgement =
      judge_create(TestPod().with(with_env(container(), "EXAMPLE_VISIBLE_DEVICES", "0")), policy);
  ASSERT_EQ(verdicts(judgement), (Verdicts{"enforce ENV-01"}));
  EXPECT_THAT(judgement.message, HasSubstr("set resources.limits \"example.com/npu\""));
  for (const auto& [key, found] : {std::pair{"npu.example.com/devices", true},
                                   {"npu.example.com", true},
                                   {"a.npu.example.org/x", true},
                                   {"npu.example.org/x", false},
                                   {"example.com/x", false}})
    EXPECT_EQ(verdicts(TestPod().with(container()).annotated(key, "1"), policy),
              found ? Verdicts{"enforce ANN-01"} : Verdicts{})
        << key;
}

TEST(VendorOption, ReplacesNothingWhereOtherListsAreSet) {
  PolicyOptions options;
  options.env_names = {"DOCKER_RESOURCE_GPU"};
  options.vendors = {example()};
  const Policy policy = policy_of(options);
  EXPECT_TRUE(policy.is_device_variable("DOCKER_RESOURCE_GPU"));
  EXPECT_TRUE(policy.is_device_variable("EXAMPLE_VISIBLE_DEVICES"));
  EXPECT_FALSE(policy.is_device_variable("NVIDIA_VISIBLE_DEVICES"));
}

TEST(VendorOption, OutlivesTheOptionsAndTheFirstCopyOfThePolicy) {
  auto first = std::make_unique<Policy>(with_example());
  const Policy copy = *first;
  first.reset();
  EXPECT_FALSE(
      judge_create(TestPod().with(container()).with(host_path("/dev/examplenpu0")), copy).allowed);
}

struct RefusedVendor {
  const char* why;
  void (*spoil)(VendorOption&);
  const char* field;
  const char* form;
};

TEST(VendorOption, IsRefusedOutsideItsFormWithFieldAndForm) {
  for (const RefusedVendor& c : {
           RefusedVendor{"no name", [](auto& v) { v.name = ""; }, "vendors[0].name", "Example NPU"},
           {"a name with a line break", [](auto& v) { v.name = "a\nb"; }, "vendors[0].name",
            "printable"},
           {"a long name", [](auto& v) { v.name = std::string(65, 'a'); }, "vendors[0].name", "64"},
           {"no domain", [](auto& v) { v.resources = {"npu"}; }, "vendors[0].resources[0]",
            "example.com/npu"},
           {"everybody's domain",
            [](auto& v) {
              v.resources = {"a.com/b", "*/npu"};
            },
            "vendors[0].resources[1]", "example.com/npu"},
           {"Kubernetes' own", [](auto& v) { v.resources = {"kubernetes.io/npu"}; },
            "vendors[0].resources[0]", "example.com/npu"},
           {"relative", [](auto& v) { v.device_paths = {"dev/npu"}; }, "vendors[0].devicePaths[0]",
            "/dev/examplenpu*"},
           {"not plain", [](auto& v) { v.device_paths = {"/dev//npu"}; },
            "vendors[0].devicePaths[0]", "plain form"},
           {"all of /dev", [](auto& v) { v.device_paths = {"/dev"}; }, "vendors[0].devicePaths[0]",
            "below /dev"},
           {"anything in /dev", [](auto& v) { v.device_paths = {"/dev/*"}; },
            "vendors[0].devicePaths[0]", "letter or digit in every segment"},
           {"anything in a directory", [](auto& v) { v.device_paths = {"/dev/a/*/b"}; },
            "vendors[0].devicePaths[0]", "letter or digit in every segment"},
           {"elsewhere", [](auto& v) { v.device_paths = {"/sys/npu"}; },
            "vendors[0].devicePaths[0]", "below /dev"},
           {"no variable", [](auto& v) { v.env_names = {"A-B"}; }, "vendors[0].envNames[0]",
            "EXAMPLE_VISIBLE_DEVICES"},
           {"a pattern", [](auto& v) { v.env_names = {"A_*"}; }, "vendors[0].envNames[0]",
            "EXAMPLE_VISIBLE_DEVICES"},
           {"a digit first", [](auto& v) { v.env_names = {"1A"}; }, "vendors[0].envNames[0]",
            "EXAMPLE_VISIBLE_DEVICES"},
           {"a whole key", [](auto& v) { v.annotations = {"a.com/b"}; },
            "vendors[0].annotations[0]", "npu.example.com"},
           {"every key", [](auto& v) { v.annotations = {"*"}; }, "vendors[0].annotations[0]",
            "npu.example.com"},
           {"every domain", [](auto& v) { v.annotations = {"*.*"}; }, "vendors[0].annotations[0]",
            "npu.example.com"},
           {"too many", [](auto& v) { v.env_names.assign(33, "A"); }, "vendors[0].envNames", "32"},
       }) {
    PolicyOptions options;
    options.vendors = {example()};
    c.spoil(options.vendors[0]);
    const auto policy = Policy::make(options);
    ASSERT_FALSE(policy) << c.why;
    EXPECT_EQ(policy.error().field(), c.field) << c.why;
    EXPECT_THAT(policy.error().message(), HasSubstr(c.form)) << c.why;
  }
  PolicyOptions options;
  options.vendors.assign(33, example());
  EXPECT_EQ(Policy::make(options).error().field(), "vendors");
}

}  // namespace
}  // namespace rankward::admission
