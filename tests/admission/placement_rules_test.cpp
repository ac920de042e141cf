// RT-02, PRIV-03, SCH-02, SCH-03.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(RuntimeClassBesideRequest, IsJudgedOnlyWhereConfigured) {
  const TestPod pod = TestPod().with(asking(container())).of_class("nvidia");
  EXPECT_EQ(verdicts(pod), Verdicts{});
  PolicyOptions options;
  options.modes = {{"RT-02", "enforce", {}}};
  const Policy policy = policy_of(options);
  EXPECT_EQ(verdicts(pod, policy), (Verdicts{"enforce RT-02"}));
  EXPECT_EQ(verdicts(TestPod().with(container()).of_class("nvidia"), policy),
            (Verdicts{"enforce RT-01"}));
  EXPECT_EQ(verdicts(TestPod().with(asking(container())).of_class("gvisor"), policy), Verdicts{});
}

TEST(HostNamespaces, MatterOnGpuPods) {
  TestPod pod = TestPod().with(asking(container()));
  pod.spec.host_pid = true;
  EXPECT_EQ(verdicts(pod), (Verdicts{"warn PRIV-03"}));
  pod.spec.host_ipc = true;
  EXPECT_EQ(verdicts(pod), (Verdicts{"warn PRIV-03", "warn PRIV-03"}));
  EXPECT_EQ(judge_create(pod).findings[1].field, "spec.hostIPC");
  TestPod agent = TestPod().with(container()).on("some-node");
  agent.spec.host_pid = true;
  EXPECT_EQ(verdicts(agent), Verdicts{}) << "no GPU pod";
}

TestPod for_scheduler(const char* name, kube::Container only = asking(container())) {
  TestPod pod = TestPod().with(std::move(only));
  pod.spec.scheduler_name = name;
  return pod;
}

TEST(Scheduler, IsCheckedOnceTheServedOnesAreKnown) {
  EXPECT_EQ(verdicts(for_scheduler("volcano")), Verdicts{});
  PolicyOptions options;
  options.served_schedulers = {"default-scheduler", "gpu-scheduler"};
  const Policy policy = policy_of(options);
  const Verdicts warned{"warn SCH-02"};
  EXPECT_EQ(verdicts(for_scheduler("volcano"), policy), warned);
  EXPECT_EQ(verdicts(for_scheduler("gpu-scheduler"), policy), Verdicts{});
  EXPECT_EQ(verdicts(for_scheduler("default-scheduler"), policy), Verdicts{});
  EXPECT_EQ(verdicts(for_scheduler(""), policy), Verdicts{});
  EXPECT_EQ(verdicts(for_scheduler("volcano", container()), policy), Verdicts{}) << "no GPU pod";
}

TEST(Scheduler, ThatNobodyNamedIsTheDefaultOne) {
  PolicyOptions options;
  options.served_schedulers = {"gpu-scheduler"};
  const Judgement judgement = judge_create(for_scheduler(""), policy_of(options));
  ASSERT_EQ(verdicts(judgement), (Verdicts{"warn SCH-02"}));
  EXPECT_THAT(judgement.findings[0].what,
              HasSubstr("schedulerName \"default-scheduler\" on a GPU pod; placement is known to "
                        "\"gpu-scheduler\"."));
}

kube::Toleration tolerating(const char* key, const char* op = "Exists") {
  return {key, op, {}, {}};
}

TEST(IdleOnGpuNode, IsSeenByTolerationsThatNameTheKey) {
  TestPod pod = TestPod().with(container());
  for (const auto& [key, found] : {std::pair{"nvidia.com/gpu", true},
                                   {"amd.com/gpu", true},
                                   {"habana.ai/gaudi", true},
                                   {"google.com/tpu", true},
                                   {"aws.amazon.com/neuron", true},
                                   {"", false},
                                   {"node.kubernetes.io/not-ready", false},
                                   {"nvidia", false}}) {
    pod.spec.tolerations = {tolerating("dedicated"), tolerating(key)};
    EXPECT_EQ(verdicts(pod), found ? Verdicts{"warn SCH-03"} : Verdicts{}) << key;
  }
  pod.spec.tolerations = {tolerating("dedicated"), tolerating("nvidia.com/gpu")};
  EXPECT_EQ(judge_create(pod).findings.at(0).field, "spec.tolerations[1]");
}

TEST(IdleOnGpuNode, IsSeenByLabels) {
  TestPod pod = TestPod().with(container());
  pod.spec.node_selector = {{"nvidia.com/gpu.product", "NVIDIA-H100-80GB-HBM3"}};
  EXPECT_EQ(verdicts(pod), (Verdicts{"warn SCH-03"}));
  EXPECT_EQ(judge_create(pod).findings[0].field, "spec.nodeSelector[\"nvidia.com/gpu.product\"]");
  pod.spec.node_selector = {};
  pod.spec.required_node_affinity = std::vector<kube::NodeSelectorTerm>{
      {{{"zone", "In", {"a"}}, {"nvidia.com/gpu.present", "Exists", {}}}, {}}};
  EXPECT_EQ(verdicts(pod), (Verdicts{"warn SCH-03"}));
  EXPECT_EQ(judge_create(pod).findings[0].field,
            "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
            "nodeSelectorTerms[0].matchExpressions[1]");
}

TEST(IdleOnGpuNode, IsNoneThatAsksInSomeContainer) {
  TestPod pod = TestPod().with(container("side")).with_init(asking(container("check")));
  pod.spec.tolerations = {tolerating("nvidia.com/gpu")};
  EXPECT_EQ(verdicts(pod), Verdicts{});
}

TEST(IdleOnGpuNode, IsHonestForDaemons) {
  TestPod pod = TestPod().with(container());
  pod.spec.tolerations = {tolerating("nvidia.com/gpu")};
  pod.metadata.owner_references = {{"apps/v1", "DaemonSet", "agent", "1", true}};
  EXPECT_EQ(verdicts(pod), Verdicts{});
  pod.metadata.owner_references = {{"apps/v1", "ReplicaSet", "web", "1", true}};
  EXPECT_EQ(verdicts(pod), (Verdicts{"warn SCH-03"}));

  pod.metadata.owner_references.clear();
  for (const auto& [kind, found] :
       {std::pair{"DaemonSet", false}, {"Deployment", true}, {"Job", true}}) {
    Review review;
    review.subjects.push_back(pod.template_of(kind));
    EXPECT_EQ(judge(Policy(), review, kNow).findings.size(), found ? 1U : 0U) << kind;
  }
}

}  // namespace
}  // namespace rankward::admission
