// What must hold for every pod, tried on random ones.
#include <gtest/gtest.h>

#include <random>
#include <set>
#include <string>
#include <tuple>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;

class RandomPods {
 public:
  explicit RandomPods(unsigned seed) : random_(seed) {}

  TestPod next() {
    TestPod pod;
    pod.metadata.namespace_ = pick({"team-a", "team-b", "gpu-operator", "kube-system", ""});
    if (chance(4)) pod.metadata.annotations[pick({"cdi.k8s.io/x", "gpu-fraction", "note"})] = "1";
    if (chance(5)) pod.spec.node_name = "gpu-a";
    if (chance(4)) pod.spec.runtime_class_name = pick({"nvidia", "gvisor"});
    if (chance(3)) pod.spec.service_account_name = pick({"nvidia-driver", "agent"});
    if (chance(4)) pod.spec.tolerations.push_back({pick({"nvidia.com/gpu", ""}), "Exists", {}, {}});
    if (chance(4)) pod.spec.node_selector[pick({"nvidia.com/gpu.present", "zone"})] = "true";
    for (std::size_t i = random_() % 4; i > 0; --i)
      pod.spec.volumes.push_back(
          host_path(pick({"/dev/nvidia0", "/dev", "/", "/proc", "/data", "/dev/null", "/run//cdi",
                          "/var/lib/kubelet/pod-resources", "", "\xff\n"}),
                    pick({"v", "w", ""})));
    for (std::size_t i = 1 + random_() % 3; i > 0; --i)
      pod.spec.containers.push_back(any_container());
    if (chance(3)) pod.spec.init_containers.push_back(any_container());
    if (chance(3)) pod.spec.ephemeral_containers.push_back(any_container());
    return pod;
  }

 private:
  bool chance(unsigned one_in) { return random_() % one_in == 0; }
  const char* pick(std::initializer_list<const char*> choices) {
    return choices.begin()[random_() % choices.size()];
  }

  kube::Container any_container() {
    kube::Container out = container(pick({"a", "b", "c", ""}));
    if (chance(3)) out = asking(out, pick({"nvidia.com/gpu", "cpu"}), random_() % 2);
    if (chance(4)) out.privileged = chance(2);
    if (chance(5)) out.capabilities_added.emplace_back(pick({"SYS_ADMIN", "IPC_LOCK", "ALL", ""}));
    for (std::size_t i = random_() % 3; i > 0; --i)
      out = with_env(out, pick({"NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES", "X"}),
                     pick({"all", "", "void", "$(X)", "0,1", "\x01", "none"}));
    if (chance(5)) out = with_env_from(out, "NVIDIA_VISIBLE_DEVICES", "secretKeyRef");
    for (std::size_t i = random_() % 3; i > 0; --i)
      out =
          mounting(out, pick({"v", "w", "x"}), pick({"/x", "/run/nvidia-container-devices/0", ""}),
                   pick({"", "dev/nvidia0", "..", "null"}), pick({"", "", "$(X)"}));
    return out;
  }

  std::mt19937 random_;
};

constexpr int kRounds = 5000;

using Key = std::tuple<std::string, std::string, std::string, std::string>;

std::set<Key> keys(const Findings& findings) {
  std::set<Key> out;
  for (const Finding& finding : findings.standing)
    out.emplace(finding.rule, finding.container, finding.subject, finding.value);
  for (const ExemptFinding& exempt : findings.exempt)
    out.emplace(exempt.finding.rule, exempt.finding.container, exempt.finding.subject,
                exempt.finding.value);
  return out;
}

TEST(RandomPod, IsDeniedExactlyWhereAFindingEnforces) {
  RandomPods pods(1);
  const Policy policy;
  int denied = 0;
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    const Judgement judgement = judge_create(pod, policy);
    bool enforced = false;
    for (const Finding& finding : find(policy, pod.subject(), kNow).standing)
      enforced = enforced || finding.mode == Mode::kEnforce;
    ASSERT_EQ(judgement.allowed, !enforced || policy.excludes(pod.metadata.namespace_));
    ASSERT_EQ(judgement.message.empty(), judgement.allowed);
    ASSERT_EQ(judgement.causes.empty(), judgement.allowed);
    ASSERT_LE(judgement.message.size(), kMessageLength);
    for (const std::string& warning : judgement.warnings)
      ASSERT_LE(warning.size(), kWarningLength);
    denied += judgement.allowed ? 0 : 1;
  }
  EXPECT_GT(denied, kRounds / 10);
  EXPECT_LT(denied, kRounds * 9 / 10);
}

TEST(RandomPod, KeepsItsFindingsBesideAnUnrelatedContainer) {
  RandomPods pods(2);
  const Policy policy;
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    TestPod larger = pod;
    larger.spec.containers.push_back(container("unrelated"));
    larger.spec.init_containers.push_back(container("unrelated-init"));
    const std::set<Key> before = keys(find(policy, pod.subject(), kNow));
    const std::set<Key> after = keys(find(policy, larger.subject(), kNow));
    for (const Key& key : before)
      ASSERT_EQ(after.count(key), 1u) << std::get<0>(key) << " " << std::get<2>(key);
  }
}

TEST(RandomPod, UnchangedIsNeverDeniedOnUpdate) {
  RandomPods pods(3);
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    for (const char* sub_resource : {"", "ephemeralcontainers", "resize"})
      ASSERT_TRUE(judge_update(pod, pod, sub_resource).findings.empty());
  }
}

TEST(RandomPod, HasEachFindingOnce) {
  RandomPods pods(4);
  const Policy policy;
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    const Findings findings = find(policy, pod.subject(), kNow);
    ASSERT_EQ(keys(findings).size(), findings.standing.size() + findings.exempt.size());
  }
}

TEST(RandomPod, IsJudgedAsItsTemplateIs) {
  RandomPods pods(5);
  PolicyOptions options;
  options.workloads = "deny";
  const Policy policy = policy_of(options);
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    Review review;
    review.subjects.push_back(pod.template_of("Job"));
    const Judgement judgement = judge(policy, review, kNow);
    const Judgement of_pod = judge_create(pod, policy);
    ASSERT_EQ(judgement.allowed, of_pod.allowed);
    ASSERT_EQ(judgement.message, of_pod.message);
  }
}

}  // namespace
}  // namespace rankward::admission
