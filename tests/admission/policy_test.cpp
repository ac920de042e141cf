#include "rankward/admission/policy.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"
#include "rankward/admission/rules.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(const PolicyOptions& options) {
  const auto policy = Policy::make(options);
  return policy ? std::string() : policy.error().to_string();
}

TEST(Policy, RefusesUnknownNamesAndSaysWhichAreKnown) {
  PolicyOptions options;
  options.modes = {{"HP-01", "warn", {}}, {"HP-1", "warn", {}}};
  EXPECT_THAT(error_of(options), AllOf(HasSubstr("modes[1].rule"), HasSubstr("\"HP-1\""),
                                       HasSubstr("HP-01, HP-02"), HasSubstr("SCH-01")));
  options = {};
  options.modes = {{"HP-01", "deny", {}}};
  EXPECT_THAT(error_of(options),
              AllOf(HasSubstr("modes[0].mode"), HasSubstr("off, audit, warn, enforce")));
  options = {};
  options.presets = {{"gpu-operater", {}}};
  EXPECT_THAT(error_of(options),
              AllOf(HasSubstr("presets[0].name"), HasSubstr("nvidia-device-plugin, gpu-operator")));
  options = {};
  options.workloads = "enforce";
  EXPECT_THAT(error_of(options), AllOf(HasSubstr("workloads"), HasSubstr("warn, deny")));
}

ExemptionOption agent_exemption() {
  return {{"agents"}, {"agent"}, {}, {"HP-01", "PRIV-01"}, "reads counters", kNow + 10};
}

TEST(Policy, RefusesExemptionsThatSayTooLittle) {
  const auto refused = [](void (*spoil)(ExemptionOption&)) {
    PolicyOptions options;
    options.exemptions = {agent_exemption()};
    spoil(options.exemptions[0]);
    return error_of(options);
  };
  EXPECT_EQ(refused([](ExemptionOption&) {}), "");
  EXPECT_THAT(refused([](ExemptionOption& e) { e.namespaces = {}; }),
              HasSubstr("exemptions[0].namespaces"));
  EXPECT_THAT(refused([](ExemptionOption& e) { e.service_accounts = {}; }),
              HasSubstr("exemptions[0].serviceAccounts"));
  EXPECT_THAT(refused([](ExemptionOption& e) { e.rules = {}; }), HasSubstr("exemptions[0].rules"));
  EXPECT_THAT(refused([](ExemptionOption& e) { e.rules[1] = "PRIV-1"; }),
              HasSubstr("exemptions[0].rules[1]"));
  EXPECT_THAT(refused([](ExemptionOption& e) { e.rules[0] = "HP-05"; }),
              HasSubstr("HP-05 allows no exemption"));
  EXPECT_THAT(refused([](ExemptionOption& e) { e.reason = ""; }),
              HasSubstr("exemptions[0].reason"));
  EXPECT_THAT(refused([](ExemptionOption& e) { e.expires.reset(); }),
              HasSubstr("exemptions[0].expires"));
}

struct RefusedOptions {
  void (*spoil)(PolicyOptions&);
  const char* field;
  const char* form;
};

TEST(Policy, RefusesPathsAndLimitsOutsideTheirForm) {
  for (const RefusedOptions& c : {
           RefusedOptions{[](auto& o) {
                            o.allowed_host_paths = {"/var/log", "var/data"};
                          },
                          "allowedHostPaths[1]", "such as \"/var/data\", not \"var/data\""},
           {[](auto& o) { o.allowed_host_paths = {"/var/run/x"}; }, "allowedHostPaths[0]",
            "\"/run/x\""},
           {[](auto& o) { o.allowed_host_paths = {"/a/../b/"}; }, "allowedHostPaths[0]", "\"/b\""},
           {[](auto& o) { o.allowed_host_paths.emplace(257, "/a"); }, "allowedHostPaths", "256"},
           {[](auto& o) { o.fabric_tests.max_message_size = "8 GB"; }, "fabricTests.maxMessageSize",
            "8Gi"},
           {[](auto& o) { o.fabric_tests.max_message_size = "0"; }, "fabricTests.maxMessageSize",
            "8Gi"},
           {[](auto& o) { o.fabric_tests.max_seconds = -1; }, "fabricTests.maxSeconds", "negative"},
           {[](auto& o) {
              o.fabric_tests.min_nodes = 4;
              o.fabric_tests.max_nodes = 2;
            },
            "fabricTests.maxNodes", "minNodes"},
       }) {
    PolicyOptions options;
    c.spoil(options);
    const auto policy = Policy::make(options);
    ASSERT_FALSE(policy) << c.field;
    EXPECT_EQ(policy.error().field(), c.field);
    EXPECT_THAT(policy.error().message(), HasSubstr(c.form));
  }
  PolicyOptions fine;
  fine.allowed_host_paths = {"/", "/var/log"};
  fine.fabric_tests = {3600, "8Gi", 2, 2, {"tests-*"}, {"prod"}};
  EXPECT_EQ(error_of(fine), "");
}

TEST(Policy, ModesMayDifferByNamespace) {
  PolicyOptions options;
  options.modes = {{"ENV-03", "enforce", {}},
                   {"ENV-03", "audit", {"team-a", "team-b"}},
                   {"HP-01", "off", {"lab"}}};
  const Policy policy = policy_of(options);
  EXPECT_EQ(policy.mode("ENV-03", "team-a"), Mode::kAudit);
  EXPECT_EQ(policy.mode("ENV-03", "team-c"), Mode::kEnforce);
  EXPECT_EQ(policy.mode("HP-01", "lab"), Mode::kOff);
  EXPECT_EQ(policy.mode("HP-01", "team-a"), std::nullopt);

  const auto env = with_env(asking(container()), "NVIDIA_VISIBLE_DEVICES", "all");
  EXPECT_TRUE(judge_create(TestPod().with(env), policy).allowed);
  EXPECT_FALSE(judge_create(TestPod().in("team-c").with(env), policy).allowed);
}

TEST(Policy, AModeHoldsForBothGradesOfARule) {
  PolicyOptions options;
  options.modes = {{"HP-02", "enforce", {}}};
  const TestPod pod = TestPod().with(container()).with(host_path("/"));
  EXPECT_TRUE(judge_create(pod).allowed);
  EXPECT_FALSE(judge_create(pod, policy_of(options)).allowed);
}

TEST(Policy, ARuleThatIsOffMakesNoGpuPod) {
  PolicyOptions options;
  options.modes = {{"HP-01", "off", {}}};
  const TestPod pod = TestPod().with(privileged(container())).with(host_path("/dev/nvidia0"));
  EXPECT_EQ(verdicts(pod), (Verdicts{"enforce HP-01", "warn PRIV-01"}));
  EXPECT_EQ(verdicts(pod, policy_of(options)), Verdicts{});
}

TEST(Exemption, HoldsForTheNamespaceTheAccountAndTheRulesNamed) {
  PolicyOptions options;
  options.exemptions = {agent_exemption()};
  const Policy policy = policy_of(options);
  const auto pod = [](const char* in, const char* as) {
    return TestPod().in(in).as(as).with(privileged(container())).with(host_path("/dev/nvidia0"));
  };
  EXPECT_EQ(verdicts(pod("agents", "agent"), policy), Verdicts{});
  EXPECT_EQ(verdicts(pod("agents", ""), policy), (Verdicts{"enforce HP-01", "warn PRIV-01"}));
  EXPECT_EQ(verdicts(pod("team-a", "agent"), policy), (Verdicts{"enforce HP-01", "warn PRIV-01"}));
  EXPECT_EQ(verdicts(pod("agents", "agent").on("gpu-a"), policy), (Verdicts{"enforce SCH-01"}));
}

TEST(Exemption, EndsWhenItExpires) {
  PolicyOptions options;
  options.exemptions = {agent_exemption()};
  const Policy policy = policy_of(options);
  const TestPod pod =
      TestPod().in("agents").as("agent").with(container()).with(host_path("/dev/nvidia0"));
  Review review;
  review.subjects.push_back(pod.subject());
  EXPECT_TRUE(judge(policy, review, kNow + 9).allowed);
  EXPECT_FALSE(judge(policy, review, kNow + 10).allowed);
}

TEST(Exemption, IsNamedBeforeItExpiresAndAfter) {
  PolicyOptions options;
  options.exemptions = {agent_exemption(), agent_exemption(), agent_exemption()};
  options.exemptions[0].expires = kNow + 1000;
  options.exemptions[1].expires = kNow;
  options.exemptions[2].expires = kNow + 100;
  const Policy policy = policy_of(options);
  const auto names = [&](UnixSeconds now, UnixSeconds within) {
    std::vector<std::string> out;
    for (const ExpiringExemption& found : expiring_exemptions(policy, now, within))
      out.push_back(found.name + (found.expired ? " expired" : " soon"));
    return out;
  };
  EXPECT_EQ(names(kNow - 1, 0), (std::vector<std::string>{}));
  EXPECT_EQ(names(kNow, 0), (std::vector<std::string>{"exemptions[1] expired"}));
  EXPECT_EQ(names(kNow, 99), (std::vector<std::string>{"exemptions[1] expired"}));
  EXPECT_EQ(names(kNow, 100),
            (std::vector<std::string>{"exemptions[1] expired", "exemptions[2] soon"}));
  EXPECT_EQ(names(kNow + 100, 900),
            (std::vector<std::string>{"exemptions[1] expired", "exemptions[2] expired",
                                      "exemptions[0] soon"}));
  const ExpiringExemption found = expiring_exemptions(policy, kNow, 0).at(0);
  EXPECT_EQ(found.reason, "reads counters");
  EXPECT_EQ(found.expires, kNow);
}

TEST(Exemption, MayAskForAKindOfOwner) {
  PolicyOptions options;
  options.exemptions = {agent_exemption()};
  options.exemptions[0].owner_kinds = {"Deployment"};
  const Policy policy = policy_of(options);
  TestPod pod =
      TestPod().in("agents").as("agent").with(container()).with(host_path("/dev/nvidia0"));
  EXPECT_FALSE(judge_create(pod, policy).allowed);
  pod.metadata.owner_references = {{"apps/v1", "DaemonSet", "a", "1", true}};
  EXPECT_FALSE(judge_create(pod, policy).allowed);
  pod.metadata.owner_references = {{"apps/v1", "ReplicaSet", "a", "1", true}};
  EXPECT_TRUE(judge_create(pod, policy).allowed);
  Review review;
  pod.metadata.owner_references.clear();
  review.subjects.push_back(pod.template_of("Deployment"));
  EXPECT_EQ(judge(policy, review, kNow).findings.size(), 0u);
}

// Who owns the pods is what their controllers write, not the kind that people apply.
TEST(Exemption, TakesAWorkloadForWhatOwnsItsPods) {
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"Deployment", "ReplicaSet"},
      {"Rollout", "ReplicaSet"},
      {"CronJob", "Job"},
      {"JobSet", "Job"},
      {"TrainJob", "Job"},
      {"RayJob", "RayCluster"},
      {"LeaderWorkerSet", "StatefulSet"},
      {"RayService", "RayCluster"},
      {"Notebook", "StatefulSet"},
      {"CronWorkflow", "Workflow"},
      {"DaemonSet", "DaemonSet"},
      {"PyTorchJob", "PyTorchJob"}};
  for (const auto& [kind, owner] : kinds) {
    PolicyOptions options;
    options.exemptions = {agent_exemption()};
    options.exemptions[0].owner_kinds = {kind};
    const Policy policy = policy_of(options);
    TestPod pod =
        TestPod().in("agents").as("agent").with(container()).with(host_path("/dev/nvidia0"));
    Review review;
    review.subjects.push_back(pod.template_of(kind));
    EXPECT_EQ(judge(policy, review, kNow).findings.size(), 0u) << kind;
    pod.metadata.owner_references = {{"example.com/v1", owner, "a", "1", true}};
    EXPECT_TRUE(judge_create(pod, policy).allowed) << kind;
    pod.metadata.owner_references = {{"example.com/v1", "Other", "a", "1", true}};
    EXPECT_FALSE(judge_create(pod, policy).allowed) << kind;
  }
}

TEST(Exemption, NeverCoversTheNullDevice) {
  const TestPod pod = TestPod()
                          .in("gpu-operator")
                          .as("nvidia-driver")
                          .with(mounting(container(), "v", "/run/nvidia-container-devices/all"))
                          .with(host_path("/dev/null"));
  EXPECT_EQ(verdicts(pod), (Verdicts{"enforce HP-05"}));
}

TEST(Presets, NameRulesThatExist) {
  for (const Preset& preset : presets()) {
    for (const std::string_view rule : preset.rules) {
      ASSERT_NE(find_rule(rule), nullptr) << preset.name << " " << rule;
      EXPECT_TRUE(find_rule(rule)->exemptible) << preset.name << " " << rule;
    }
    PolicyOptions options;
    options.presets = {{std::string(preset.name), {}}};
    EXPECT_EQ(error_of(options), "");
  }
}

TEST(Presets, HoldInOtherNamespacesWhereAsked) {
  const TestPod pod =
      TestPod().in("gpus").as("nvidia-driver").with(container()).with(host_path("/run/nvidia"));
  EXPECT_FALSE(judge_create(pod).allowed);
  PolicyOptions options;
  options.presets = {{"gpu-operator", {"gpus"}}};
  EXPECT_TRUE(judge_create(pod, policy_of(options)).allowed);
}

TEST(Presets, MayBeLeftOut) {
  const TestPod pod = TestPod()
                          .in("gpu-operator")
                          .as("nvidia-driver")
                          .with(container())
                          .with(host_path("/run/nvidia"));
  EXPECT_TRUE(judge_create(pod).allowed);
  PolicyOptions options;
  options.presets = {};
  EXPECT_FALSE(judge_create(pod, policy_of(options)).allowed);
}

TEST(ExcludedNamespaces, AreConfigurable) {
  const TestPod pod = TestPod().in("kube-system").with(container()).with(host_path("/dev"));
  const Judgement judgement = judge_create(pod);
  EXPECT_TRUE(judgement.allowed);
  EXPECT_TRUE(judgement.findings.empty());
  PolicyOptions options;
  options.excluded_namespaces = {};
  options.presets = {};
  EXPECT_FALSE(judge_create(pod, policy_of(options)).allowed);
}

TEST(Modes, HaveOneNameEach) {
  for (const std::string_view name : mode_names()) {
    ASSERT_TRUE(mode_from_string(name));
    EXPECT_EQ(to_string(*mode_from_string(name)), name);
  }
  EXPECT_FALSE(mode_from_string("Enforce"));
}

}  // namespace
}  // namespace rankward::admission
