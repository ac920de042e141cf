// What must hold for every pod, tried on random ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <set>
#include <string>
#include <tuple>

#include "pods.hpp"
#include "rankward/admission/rules.hpp"

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
    if (chance(4)) pod.spec.scheduler_name = pick({"default-scheduler", "volcano"});
    pod.spec.host_pid = chance(6);
    pod.spec.host_ipc = chance(6);
    if (chance(6))
      pod.metadata.owner_references = {{"apps/v1", pick({"DaemonSet", "Job"}), "o", "1", true}};
    if (chance(3)) pod.spec.service_account_name = pick({"nvidia-driver", "agent"});
    if (chance(4)) pod.spec.tolerations.push_back({pick({"nvidia.com/gpu", ""}), "Exists", {}, {}});
    if (chance(4)) pod.spec.node_selector[pick({"nvidia.com/gpu.present", "zone"})] = "true";
    for (std::size_t i = random_() % 4; i > 0; --i)
      pod.spec.volumes.push_back(
          host_path(pick({"/dev/nvidia0", "/dev", "/", "/proc", "/data", "/dev/null", "/run//cdi",
                          "/var/lib/kubelet/pod-resources", "", "\xff\n", "/sys/", "/var/lib",
                          "/dev/examplenpu0", "/var/log/x", "proc/1/root/dev/kfd"}),
                    pick({"v", "w", ""})));
    if (chance(3)) pod.spec.volumes.push_back({pick({"v", "w"}), {}, pick({"disk", "gpu", "x"})});
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
    if (chance(3))
      out = asking(out, pick({"nvidia.com/gpu", "cpu", "example.com/npu"}),
                   static_cast<std::int64_t>(random_() % 2));
    if (chance(4)) out.privileged = chance(2);
    if (chance(5)) out.capabilities_added.emplace_back(pick({"SYS_ADMIN", "IPC_LOCK", "ALL", ""}));
    for (std::size_t i = random_() % 3; i > 0; --i)
      out = with_env(out,
                     pick({"NVIDIA_VISIBLE_DEVICES", "AMD_VISIBLE_DEVICES", "X", "CUDA_VERSION",
                           "NVIDIA_MIG_CONFIG_DEVICES", "NVIDIA_GDS", "EXAMPLE_VISIBLE_DEVICES"}),
                     pick({"all", "", "void", "$(X)", "0,1", "\x01", "none", "enabled"}));
    if (chance(5)) out.env_from.push_back({pick({"", "NVIDIA_", "APP_"}), "configMapRef"});
    if (chance(5)) out = with_env_from(out, "NVIDIA_VISIBLE_DEVICES", "secretKeyRef");
    for (std::size_t i = random_() % 3; i > 0; --i)
      out =
          mounting(out, pick({"v", "w", "x"}), pick({"/x", "/run/nvidia-container-devices/0", ""}),
                   pick({"", "dev/nvidia0", "..", "null"}), pick({"", "", "$(X)"}));
    return out;
  }

  std::mt19937 random_;
};

constexpr int kRounds = 2000;

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

// What a cluster with everything configured judges by, and what it knows.
Policy strict_policy() {
  PolicyOptions options;
  options.modes = {{"EPH-01", "warn", {"team-b"}},
                   {"HP-03", "warn", {}},
                   {"RT-02", "enforce", {}},
                   {"ENV-04", "enforce", {"team-a"}},
                   {"PRIV-01", "off", {"team-b"}}};
  options.vendors = {{.name = "Example NPU",
                      .resources = {"example.com/npu"},
                      .device_paths = {"/dev/examplenpu*"},
                      .env_names = {"EXAMPLE_VISIBLE_DEVICES"}}};
  options.allowed_host_paths = {"/var/log"};
  options.served_schedulers = {"default-scheduler"};
  options.exemptions = {{{"team-b"}, {"agent"}, {}, {"HP-01", "HP-08"}, "a test", kNow + 1}};
  return policy_of(options);
}

const ClusterFacts& facts() {
  static const ClusterFacts facts = [] {
    ClusterFacts out;
    for (const char* namespace_ : {"team-a", "team-b", "gpu-operator"}) {
      kube::PersistentVolume disk;
      disk.local_path = "/mnt/disk";
      kube::PersistentVolume gpu;
      gpu.host_path = kube::HostPathVolume{"/dev", {}};
      out.claimed_volumes[std::string(namespace_) + "/disk"] = disk;
      out.claimed_volumes[std::string(namespace_) + "/gpu"] = gpu;
    }
    return out;
  }();
  return facts;
}

Subject known(const TestPod& pod) {
  Subject out = pod.subject();
  out.cluster = &facts();
  return out;
}

Judgement judge_known(const TestPod& pod, const Policy& policy) {
  Review review;
  review.subjects.push_back(known(pod));
  return judge(policy, review, kNow);
}

class RandomPod : public ::testing::TestWithParam<const char*> {
 protected:
  const Policy policy_ = std::string_view(GetParam()) == "strict" ? strict_policy() : Policy();
};

INSTANTIATE_TEST_SUITE_P(Policies, RandomPod, ::testing::Values("defaults", "strict"),
                         [](const auto& tested) { return std::string(tested.param); });

TEST_P(RandomPod, IsDeniedExactlyWhereAFindingEnforces) {
  RandomPods pods(1);
  int denied = 0;
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    const Judgement judgement = judge_known(pod, policy_);
    bool enforced = false;
    for (const Finding& finding : find(policy_, known(pod), kNow).standing)
      enforced = enforced || finding.mode == Mode::kEnforce;
    ASSERT_EQ(judgement.allowed, !enforced || policy_.excludes(pod.metadata.namespace_));
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

TEST_P(RandomPod, KeepsItsFindingsBesideAnUnrelatedContainer) {
  RandomPods pods(2);
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    TestPod larger = pod;
    larger.spec.containers.push_back(with_env(container("unrelated"), "X", "y"));
    larger.spec.init_containers.push_back(container("unrelated-init"));
    const std::set<Key> before = keys(find(policy_, known(pod), kNow));
    const std::set<Key> after = keys(find(policy_, known(larger), kNow));
    for (const Key& key : before)
      ASSERT_EQ(after.count(key), 1u) << std::get<0>(key) << " " << std::get<2>(key);
  }
}

TEST_P(RandomPod, UnchangedIsNeverDeniedOnUpdate) {
  RandomPods pods(3);
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    for (const char* sub_resource : {"", "ephemeralcontainers", "resize"})
      ASSERT_TRUE(judge_update(pod, pod, sub_resource, policy_).findings.empty());
  }
}

TEST_P(RandomPod, HasEachFindingOnceInTheOrderOfTheCatalogue) {
  RandomPods pods(4);
  const auto rank = [](const Finding& finding) { return find_rule(finding.rule); };
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    const Findings findings = find(policy_, known(pod), kNow);
    ASSERT_EQ(keys(findings).size(), findings.standing.size() + findings.exempt.size());
    ASSERT_TRUE(
        std::is_sorted(findings.standing.begin(), findings.standing.end(),
                       [&](const Finding& a, const Finding& b) { return rank(a) < rank(b); }));
  }
}

TEST_P(RandomPod, IsJudgedAsItsTemplateIs) {
  RandomPods pods(5);
  PolicyOptions options = policy_.options();
  options.workloads = "deny";
  const Policy policy = policy_of(options);
  for (int i = 0; i < kRounds; ++i) {
    TestPod pod = pods.next();
    // The owner of a pod says what a template's kind says.
    pod.metadata.owner_references = {{"batch/v1", "Job", "o", "1", true}};
    Review review;
    review.subjects.push_back(pod.template_of("Job"));
    review.subjects[0].cluster = &facts();
    const Judgement judgement = judge(policy, review, kNow);
    const Judgement of_pod = judge_known(pod, policy);
    ASSERT_EQ(judgement.allowed, of_pod.allowed);
    ASSERT_EQ(judgement.message, of_pod.message);
  }
}

TEST_P(RandomPod, IsSparedByAnExemptionAndNeverWorseOff) {
  RandomPods pods(6);
  PolicyOptions options = policy_.options();
  ExemptionOption everything{{"team-a"}, {"default", "agent"}, {}, {}, "a test", kNow + 1};
  for (const RuleInfo& info : catalogue())
    if (info.exemptible) everything.rules.emplace_back(info.id);
  options.exemptions.push_back(everything);
  const Policy lenient = policy_of(options);
  for (int i = 0; i < kRounds; ++i) {
    const TestPod pod = pods.next();
    const Findings before = find(policy_, known(pod), kNow);
    const Findings after = find(lenient, known(pod), kNow);
    ASSERT_EQ(keys(before), keys(after));
    ASSERT_LE(after.standing.size(), before.standing.size());
    if (!judge_known(pod, lenient).allowed) {
      ASSERT_FALSE(judge_known(pod, policy_).allowed);
    }
  }
}

// The same place by another name is the same finding.
std::string disguised(std::string path, std::mt19937& random) {
  for (std::size_t layers = random() % 4; layers > 0; --layers) {
    switch (random() % 7) {
      case 0:
        path = "/proc/1/root" + path;
        break;
      case 1:
        path = "/proc/thread-self/root/" + path;
        break;
      case 2:
        path = "/." + path;
        break;
      case 3:
        path += "/";
        break;
      case 4:
        path = "/x/.." + path;
        break;
      case 5:
        path = path.substr(0, 1) + path;
        break;
      default:
        path += "/y/..";
        break;
    }
  }
  return path;
}

TEST_P(RandomPod, IsJudgedByWhereItsPathsLead) {
  RandomPods pods(7);
  std::mt19937 random(7);
  for (int i = 0; i < kRounds; ++i) {
    TestPod pod = pods.next();
    TestPod other = pod;
    for (kube::Volume& volume : other.spec.volumes) {
      if (!volume.host_path) continue;
      const std::string& path = volume.host_path->path;
      // A disguised /dev/null is suspect by its form alone (HP-07), which makes a GPU pod.
      if (path.empty() || path[0] != '/' || path == "/dev/null") continue;
      volume.host_path->path = disguised(volume.host_path->path, random);
    }
    const auto without_form = [](const Findings& findings) {
      std::set<Key> out = keys(findings);
      std::erase_if(out, [](const Key& key) { return std::get<0>(key) == "HP-07"; });
      return out;
    };
    ASSERT_EQ(without_form(find(policy_, known(pod), kNow)),
              without_form(find(policy_, known(other), kNow)));
  }
}

TEST(RandomBytes, NeverCrashAJudge) {
  std::mt19937 random(8);
  const auto bytes = [&] {
    std::string out;
    for (std::size_t length = random() % 24; length > 0; --length)
      out += random() % 3 == 0 ? "/.$()*,:\0"[random() % 10] : static_cast<char>(random());
    return out;
  };
  const Policy policy = strict_policy();
  for (int i = 0; i < kRounds; ++i) {
    kube::Container only = with_env(container(bytes()), bytes(), bytes());
    only = mounting(with_env(only, "NVIDIA_VISIBLE_DEVICES", bytes()), "v", bytes(), bytes());
    only.capabilities_added.push_back(bytes());
    only.resources.limits[bytes()] = kube::Quantity(1);
    TestPod pod = TestPod()
                      .in(bytes())
                      .as(bytes())
                      .with(only)
                      .with(host_path(bytes()))
                      .annotated(bytes(), bytes())
                      .of_class(bytes())
                      .on(bytes());
    pod.spec.tolerations = {{bytes(), bytes(), bytes(), bytes()}};
    pod.spec.node_selector = {{bytes(), bytes()}};
    const Judgement judgement = judge_create(pod, policy);
    for (const char c : judgement.message)
      ASSERT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f));
    kube::PersistentVolume volume;
    volume.metadata.name = bytes();
    volume.local_path = bytes();
    const Judgement of_volume = judge_volume(policy, {.volume = volume});
    ASSERT_EQ(of_volume.allowed, of_volume.causes.empty());
  }
}

}  // namespace
}  // namespace rankward::admission
