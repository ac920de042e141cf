// RT-01, ANN-01, PRIV-01, PRIV-02, SCH-01.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(GpuRuntimeClass, NeedsARequestInSomeContainer) {
  for (const char* name :
       {"nvidia", "nvidia-cdi", "nvidia-legacy", "kata-qemu-nvidia-gpu", "amd", "habana"}) {
    EXPECT_EQ(verdicts(TestPod().with(container()).of_class(name)), (Verdicts{"enforce RT-01"}))
        << name;
    EXPECT_EQ(verdicts(TestPod().with(container("side")).with(asking(container())).of_class(name)),
              Verdicts{})
        << name;
  }
  EXPECT_EQ(
      verdicts(TestPod().with(container()).with_init(asking(container("i"))).of_class("nvidia")),
      Verdicts{});
  EXPECT_EQ(verdicts(TestPod().with(asking(container(), "nvidia.com/gpu", 0)).of_class("nvidia")),
            (Verdicts{"enforce RT-01", "warn REQ-01"}));
}

TEST(DeviceAnnotation, FieldHasTheWholeKey) {
  const std::string key = "cdi.k8s.io/" + std::string(200, 'x');
  const Judgement judgement = judge_create(TestPod().with(container()).annotated(key, "x"));
  EXPECT_EQ(judgement.findings.at(0).field, "metadata.annotations[\"" + key + "\"]");
  EXPECT_THAT(judgement.message, Not(HasSubstr(key)));
}

TEST(GpuRuntimeClass, LeavesOtherClassesAlone) {
  for (const char* name : {"gvisor", "kata-qemu", "runc", "nvidia2", ""})
    EXPECT_EQ(verdicts(TestPod().with(container()).of_class(name)), Verdicts{}) << name;
}

TEST(GpuRuntimeClass, ListIsConfigurable) {
  PolicyOptions options;
  options.runtime_classes = {"gpu-*"};
  const Policy policy = policy_of(options);
  EXPECT_EQ(verdicts(TestPod().with(container()).of_class("gpu-fast"), policy),
            (Verdicts{"enforce RT-01"}));
  EXPECT_EQ(verdicts(TestPod().with(container()).of_class("nvidia"), policy), Verdicts{});
}

TEST(DeviceAnnotation, IsDeniedWithoutAndWarnedOfBesideARequest) {
  for (const char* key :
       {"cdi.k8s.io/gpu", "nvidia.cdi.k8s.io", "nvidia.cdi.k8s.io/pod",
        "nvidia.cdi.k8s.io/container.train", "devices.noderesource.dev/container.train",
        "cdi-devices.noderesource.dev/pod", "mounts.noderesource.dev", "devices.nri.io/pod",
        "cdi-devices.nri.io/container.train", "devices.gke.io/container.tcpxo-daemon"}) {
    EXPECT_EQ(verdicts(TestPod().with(container()).annotated(key, "x")),
              (Verdicts{"enforce ANN-01"}))
        << key;
    EXPECT_EQ(verdicts(TestPod()
                           .with(asking(container()))
                           .with_init(container("tcpxo-daemon"))
                           .annotated(key, "x")),
              (Verdicts{"warn ANN-01"}))
        << key;
  }
}

TEST(DeviceAnnotation, IsToldByItsDomain) {
  for (const char* key :
       {"cdi.k8s.io.example.com/x", "example.com/cdi.k8s.io", "noderesource.dev/x",
        "networking.gke.io/interfaces", "my-devices.nri.io"})
    EXPECT_EQ(verdicts(TestPod().with(container()).annotated(key, "x")), Verdicts{}) << key;
}

TEST(DeviceAnnotation, ValueIsNeverPrinted) {
  const Judgement judgement =
      judge_create(TestPod().with(container()).annotated("cdi.k8s.io/x", "a-private-word"));
  EXPECT_THAT(judgement.message, Not(HasSubstr("a-private-word")));
  EXPECT_EQ(judgement.findings.at(0).field, "metadata.annotations[\"cdi.k8s.io/x\"]");
}

kube::Container adding(const char* capability) {
  kube::Container out = container();
  out.capabilities_added = {"NET_ADMIN", capability};
  return out;
}

kube::Toleration tolerating(const char* key) {
  return {key, "Exists", {}, {}};
}

TEST(Privileges, MatterWhereThePodCanLandOnGpuNodes) {
  EXPECT_EQ(verdicts(TestPod().with(privileged(container()))), Verdicts{});
  EXPECT_EQ(verdicts(TestPod().with(privileged(container())).on("cpu-1")),
            (Verdicts{"warn PRIV-01"}));

  TestPod tolerant = TestPod().with(privileged(container()));
  tolerant.spec.tolerations = {tolerating("nvidia.com/gpu")};
  EXPECT_EQ(verdicts(tolerant), (Verdicts{"warn PRIV-01", "warn SCH-03"}));
  tolerant.spec.tolerations = {tolerating("")};
  EXPECT_EQ(verdicts(tolerant), Verdicts{}) << "a toleration of everything is no aim";

  TestPod selecting = TestPod().with(privileged(container()));
  selecting.spec.node_selector = {{"nvidia.com/gpu.present", "true"}};
  EXPECT_EQ(verdicts(selecting), (Verdicts{"warn PRIV-01", "warn SCH-03"}));
  selecting.spec.node_selector = {{"nvidia.com/gpu.present", "false"}};
  EXPECT_EQ(verdicts(selecting), Verdicts{});
  selecting.spec.node_selector = {{"kubernetes.io/arch", "amd64"}};
  EXPECT_EQ(verdicts(selecting), Verdicts{});
}

struct AffinityCase {
  const char* key;
  const char* op;
  std::vector<std::string> values;
  bool aims;
};

TEST(Privileges, MatterWhereAffinityLeadsToGpuNodes) {
  for (const AffinityCase& c :
       {AffinityCase{"nvidia.com/gpu.present", "Exists", {}, true},
        AffinityCase{"nvidia.com/gpu.product", "In", {"NVIDIA-H100"}, true},
        AffinityCase{"nvidia.com/gpu.memory", "Gt", {"80000"}, true},
        AffinityCase{"feature.node.kubernetes.io/pci-0302_10de.present", "In", {"true"}, true},
        AffinityCase{"feature.node.kubernetes.io/pci-10de.present", "In", {"true"}, true},
        AffinityCase{"cloud.google.com/gke-accelerator", "Exists", {}, true},
        AffinityCase{"nvidia.com/gpu.present", "DoesNotExist", {}, false},
        AffinityCase{"nvidia.com/gpu.present", "NotIn", {"true"}, false},
        AffinityCase{"nvidia.com/gpu.present", "In", {"false"}, false},
        AffinityCase{"topology.kubernetes.io/zone", "In", {"a"}, false}}) {
    TestPod pod = TestPod().with(privileged(container()));
    pod.spec.required_node_affinity = std::vector<kube::NodeSelectorTerm>{
        {{{"kubernetes.io/os", "In", {"linux"}}}, {}}, {{{c.key, c.op, c.values}}, {}}};
    const Verdicts expected = c.aims ? Verdicts{"warn PRIV-01", "warn SCH-03"} : Verdicts{};
    EXPECT_EQ(verdicts(pod), expected) << c.key << c.op;
  }
}

TEST(Privileges, AreJudgedBesideTheContainersOwnRequest) {
  EXPECT_EQ(verdicts(TestPod().with(privileged(asking(container())))), (Verdicts{"warn PRIV-02"}));
  EXPECT_EQ(verdicts(TestPod().with(asking(container())).with(privileged(container("side")))),
            (Verdicts{"warn PRIV-01"}));
  EXPECT_EQ(verdicts(TestPod().with(asking(adding("IPC_LOCK")))), Verdicts{});
  for (const char* capability : {"SYS_ADMIN", "CAP_SYS_ADMIN", "ALL", "sys_admin", "all"})
    EXPECT_EQ(verdicts(TestPod().with(asking(adding(capability)))), (Verdicts{"warn PRIV-02"}))
        << capability;
  kube::Container denied = asking(container());
  denied.privileged = false;
  EXPECT_EQ(verdicts(TestPod().with(denied)), Verdicts{});
}

TEST(NodeName, OnAGpuPodSkipsTheScheduler) {
  EXPECT_EQ(verdicts(TestPod().with(asking(container())).on("gpu-a")),
            (Verdicts{"enforce SCH-01"}));
  EXPECT_EQ(verdicts(TestPod().with(container()).on("gpu-a")), Verdicts{});
  const auto env = with_env(asking(container()), "NVIDIA_VISIBLE_DEVICES", "all");
  EXPECT_EQ(verdicts(TestPod().with(env).on("gpu-a")), (Verdicts{"warn ENV-03", "enforce SCH-01"}));
}

TEST(NodeName, IsTheSchedulersOnAPodThatStands) {
  const TestPod old = TestPod().with(asking(container())).on("gpu-a");
  TestPod now = old;
  now.metadata.labels["x"] = "y";
  EXPECT_EQ(verdicts(judge_update(old, now)), Verdicts{});
  TestPod unbound = TestPod().with(asking(container()));
  EXPECT_EQ(verdicts(judge_update(unbound, now)), Verdicts{});
}

TEST(NodeName, ThatATemplateHadBeforeIsNotNew) {
  const TestPod pod = TestPod().with(asking(container())).on("gpu-a");
  for (const bool stands : {false, true}) {
    Review review;
    review.operation = Operation::kUpdate;
    review.subjects.push_back(pod.template_of("Deployment"));
    review.old_subjects.push_back(pod.template_of("Deployment"));
    review.old_subjects[0].stands = stands;
    EXPECT_EQ(verdicts(judge(Policy(), review, kNow)), Verdicts{});
  }
  Review review;
  review.operation = Operation::kUpdate;
  const TestPod before = TestPod().with(asking(container()));
  review.subjects.push_back(pod.template_of("Deployment"));
  review.old_subjects.push_back(before.template_of("Deployment"));
  EXPECT_EQ(verdicts(judge(Policy(), review, kNow)), (Verdicts{"enforce SCH-01"}));
}

TEST(NodeName, InATemplateIsAFinding) {
  const TestPod pod = TestPod().with(asking(container())).on("gpu-a");
  Review review;
  review.subjects.push_back(pod.template_of("Deployment"));
  const Judgement judgement = judge(Policy(), review, kNow);
  ASSERT_EQ(verdicts(judgement), (Verdicts{"enforce SCH-01"}));
  EXPECT_EQ(judgement.findings[0].field, "spec.template.spec.nodeName");
}

}  // namespace
}  // namespace rankward::admission
