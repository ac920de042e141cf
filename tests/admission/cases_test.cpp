// The admission cases of tests/cases as literals: what their expected.md says of the webhook.
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;

TEST(Case38HostpathDevNvidia, IsDeniedWithAllFindings) {
  const TestPod pod = TestPod()
                          .with(host_path("/dev/nvidia0", "d0"))
                          .with(host_path("/dev/nvidiactl", "ctl"))
                          .with(host_path("/dev/nvidia-uvm", "uvm"))
                          .with(privileged(mounting(container("engine"), "d0", "/dev/nvidia0")))
                          .on("gpu-a");
  const Judgement judgement = judge_create(pod);
  EXPECT_FALSE(judgement.allowed);
  EXPECT_EQ(verdicts(judgement), (Verdicts{"enforce HP-01", "enforce HP-01", "enforce HP-01",
                                           "warn PRIV-01", "enforce SCH-01"}));
  for (const char* text : {"/dev/nvidia0", "/dev/nvidiactl", "/dev/nvidia-uvm", "[SCH-01]"})
    EXPECT_NE(judgement.message.find(text), std::string::npos) << text << judgement.message;
}

struct TrickCase {
  const char* path;
  const char* name;
  Verdicts expected;
};

TEST(Case39HostpathTricks, AreSeenThroughAndHonestPathsPass) {
  for (const TrickCase& c :
       {TrickCase{"/dev/nvidia0/", "dev-slash", {"enforce HP-01", "warn HP-07"}},
        {"/dev/shm/../nvidia1", "dev-dotdot", {"enforce HP-01", "warn HP-07"}},
        {"/dev", "dev-all", {"enforce HP-02"}},
        {"/", "root", {"warn HP-02"}},
        {"/dev/nvidia-caps", "caps", {"enforce HP-01"}},
        {"/dev/dri/renderD128", "dri", {"enforce HP-01"}},
        {"/dev/kfd", "kfd", {"enforce HP-01"}},
        {"/dev/nvidia0", "unmounted", {"enforce HP-01"}},
        {"/home/kubernetes/bin/nvidia", "ok-gke-libs", {}},
        {"/devices-data/nvidia0", "ok-devsnap", {}}})
    EXPECT_EQ(verdicts(TestPod().with(asking(container())).with(host_path(c.path))), c.expected)
        << c.name;

  EXPECT_EQ(verdicts(TestPod()
                         .with(container())
                         .with_init(mounting(container("peek"), "v", "/dev/nvidia0"))
                         .with(host_path("/dev/nvidia0"))),
            (Verdicts{"enforce HP-01"}))
      << "init-only";

  kube::Volume memory;
  memory.name = "shm";
  EXPECT_EQ(verdicts(TestPod().with(mounting(asking(container()), "shm", "/dev/shm")).with(memory)),
            Verdicts{})
      << "ok-shm";

  EXPECT_EQ(verdicts(TestPod().with(privileged(container())).with(host_path("/")))[0],
            "enforce HP-02")
      << "root in a privileged container";
}

TEST(Case40VisibleDevicesEnv, IsJudgedByValueAndRequest) {
  const std::string name = "NVIDIA_VISIBLE_DEVICES";
  const auto judged = [&](const kube::Container& train) { return verdicts(TestPod().with(train)); };
  EXPECT_EQ(judged(with_env(container(), name, "all")), (Verdicts{"enforce ENV-01"}));
  EXPECT_EQ(judged(with_env(container(), name, "0")), (Verdicts{"enforce ENV-01"}));
  EXPECT_EQ(judged(with_env(container(), name, "void")), Verdicts{});
  EXPECT_EQ(judged(with_env(container(), name, "none")), Verdicts{});
  EXPECT_EQ(judged(with_env(container(), name, "")), Verdicts{});
  EXPECT_EQ(judged(with_env_from(container(), name, "configMapKeyRef")),
            (Verdicts{"enforce ENV-02"}));
  const auto both = with_env(asking(container()), name, "all");
  EXPECT_EQ(judged(both), (Verdicts{"warn ENV-03"}));
  PolicyOptions strict;
  strict.modes = {{"ENV-03", "enforce", {}}};
  EXPECT_FALSE(judge_create(TestPod().with(both), policy_of(strict)).allowed);
  kube::Container image_only = container();
  image_only.image = "nvcr.io/nvidia/pytorch:24.01-py3";
  EXPECT_EQ(judged(image_only), Verdicts{});
}

TEST(Case41SystemDaemonsetsExempt, ByNamespaceAndServiceAccount) {
  EXPECT_TRUE(judge_create(TestPod()
                               .in("kube-system")
                               .with(privileged(container("ctr")))
                               .with(host_path("/var/lib/kubelet/device-plugins")))
                  .allowed);
  EXPECT_TRUE(
      judge_create(
          TestPod().in("kube-system").with(privileged(container("p"))).with(host_path("/dev")))
          .allowed);
  EXPECT_TRUE(
      judge_create(TestPod()
                       .in("gpu-operator")
                       .as("nvidia-operator-validator")
                       .with(privileged(with_env(container("v"), "NVIDIA_VISIBLE_DEVICES", "all"))))
          .allowed);
  EXPECT_EQ(verdicts(TestPod().with(privileged(container("e"))).with(host_path("/dev"))),
            (Verdicts{"enforce HP-02", "warn PRIV-01"}));
}

TEST(Case43DraClaim, IsAGpuRequest) {
  kube::Container train = with_env(container(), "NVIDIA_VISIBLE_DEVICES", "all");
  train.resources.claims = {"gpus"};
  TestPod pod = TestPod().with(train).of_class("nvidia");
  pod.spec.resource_claims = {{"gpus", "", "4-gpus"}};
  EXPECT_EQ(verdicts(pod), (Verdicts{"warn ENV-03"}));
  pod.spec.containers[0].env.clear();
  pod.spec.runtime_class_name.clear();
  EXPECT_EQ(verdicts(pod), Verdicts{});
}

}  // namespace
}  // namespace rankward::admission
