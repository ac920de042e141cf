// SELF-01: what counts as a grant, and who may make one.
#include "rankward/admission/self_guard.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

namespace rankward::admission {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;
using ::testing::SizeIs;

constexpr UnixSeconds kEnd = 1'900'000'000;

Policy policy_of(PolicyOptions options) {
  auto made = Policy::make(std::move(options));
  EXPECT_TRUE(made) << made.error().to_string();
  return std::move(*made);
}

// A configuration with something of everything that can be loosened.
PolicyOptions strict() {
  PolicyOptions options;
  options.modes = {{"ENV-03", "enforce", {}}, {"HP-01", "warn", {"lab"}}};
  options.exemptions = {{{"monitoring", "metrics"},
                         {"dcgm", "exporter"},
                         {"DaemonSet"},
                         {"HP-01", "HP-04"},
                         "why",
                         kEnd}};
  options.presets = {{"gpu-operator", {"gpu-operator", "nvidia"}}};
  options.workloads = "deny";
  options.vendors = {
      {"Example", {"example.com/npu"}, {"/dev/npu*"}, {"NPU_VISIBLE"}, {"npu.example"}}};
  options.allowed_host_paths = {{"/data"}};
  options.served_schedulers = {"default-scheduler"};
  options.isolated_namespaces = {"bank"};
  options.fabric_tests = {600, "1Gi", 2, 16, {"tests"}, {"production"}};
  options.administrators = {"root"};
  return options;
}

using Change = std::function<void(PolicyOptions&)>;

std::vector<std::string> fields_granted(const Change& change) {
  PolicyOptions options = strict();
  change(options);
  std::vector<std::string> out;
  for (const Grant& grant : grants(policy_of(strict()), policy_of(std::move(options))))
    out.push_back(grant.field);
  return out;
}

TEST(Grants, AreWhatLetsMoreThrough) {
  struct Case {
    const char* field;
    Change change;
  };
  const Case cases[] = {
      {"exemptions[1]",
       [](auto& o) {
         o.exemptions.push_back({{"a"}, {"b"}, {}, {"HP-01"}, "why", kEnd});
       }},
      {"exemptions[0]", [](auto& o) { o.exemptions[0].namespaces.push_back("team-a"); }},
      {"exemptions[0]", [](auto& o) { o.exemptions[0].service_accounts.push_back("default"); }},
      {"exemptions[0]", [](auto& o) { o.exemptions[0].owner_kinds.clear(); }},
      {"exemptions[0]", [](auto& o) { o.exemptions[0].owner_kinds.push_back("Job"); }},
      {"exemptions[0]", [](auto& o) { o.exemptions[0].rules.push_back("ENV-01"); }},
      {"exemptions[0]", [](auto& o) { o.exemptions[0].expires = kEnd + 1; }},
      {"presets[1]",
       [](auto& o) {
         o.presets.push_back({"node-exporter", {}});
       }},
      {"presets[0]", [](auto& o) { o.presets[0].namespaces.push_back("team-a"); }},
      {"excludedNamespaces", [](auto& o) { o.excluded_namespaces.push_back("team-a"); }},
      {"modes.ENV-03", [](auto& o) { o.modes[0].mode = "audit"; }},
      {"modes.ENV-03", [](auto& o) { o.modes.erase(o.modes.begin()); }},
      {"modes.HP-02",
       [](auto& o) {
         o.modes.push_back({"HP-02", "warn", {}});
       }},
      {"namespaceModes", [](auto& o) { o.modes[1].namespaces.push_back("team-a"); }},
      {"namespaceModes", [](auto& o) { o.modes[1].mode = "off"; }},
      {"workloads", [](auto& o) { o.workloads = "warn"; }},
      {"runtimeClasses", [](auto& o) { o.runtime_classes.pop_back(); }},
      {"envNames", [](auto& o) { o.env_names = {"OTHER"}; }},
      {"gpuNodeLabels", [](auto& o) { o.gpu_node_labels.clear(); }},
      {"gpuTolerationKeys", [](auto& o) { o.gpu_toleration_keys.pop_back(); }},
      {"isolatedNamespaces", [](auto& o) { o.isolated_namespaces.clear(); }},
      {"schedulerNames", [](auto& o) { o.served_schedulers.push_back("other"); }},
      {"schedulerNames", [](auto& o) { o.served_schedulers.clear(); }},
      {"allowedHostPaths", [](auto& o) { o.allowed_host_paths->push_back("/"); }},
      {"allowedHostPaths", [](auto& o) { o.allowed_host_paths.reset(); }},
      {"vendors", [](auto& o) { o.vendors[0].resources.push_back("example.com/memory"); }},
      {"vendors", [](auto& o) { o.vendors[0].device_paths.clear(); }},
      {"fabricTests.maxSeconds", [](auto& o) { o.fabric_tests.max_seconds = 0; }},
      {"fabricTests.maxSeconds", [](auto& o) { o.fabric_tests.max_seconds = 601; }},
      {"fabricTests.maxMessageSize", [](auto& o) { o.fabric_tests.max_message_size = "1025Mi"; }},
      {"fabricTests.minNodes", [](auto& o) { o.fabric_tests.min_nodes = 1; }},
      {"fabricTests.maxNodes", [](auto& o) { o.fabric_tests.max_nodes = 17; }},
      {"fabricTests.queues", [](auto& o) { o.fabric_tests.queues = {"*"}; }},
      {"fabricTests.productionQueues", [](auto& o) { o.fabric_tests.production_queues.clear(); }},
      {"administrators", [](auto& o) { o.administrators.push_back("mallory"); }},
      {"administratorGroups",
       [](auto& o) { o.administrator_groups.push_back("system:authenticated"); }},
  };
  for (const Case& each : cases) {
    const std::string field(each.field);
    EXPECT_THAT(fields_granted(each.change),
                ElementsAre(field == "schedulerNames" ? field : "admission." + field))
        << field;
  }
}

TEST(Grants, AreNotWhatNarrowsOrSaysTheSameOtherwise) {
  const Change cases[] = {
      [](auto&) {},
      [](auto& o) { o.exemptions.clear(); },
      [](auto& o) { o.exemptions[0].namespaces = {"metrics"}; },
      [](auto& o) { o.exemptions[0].expires = kEnd - 1; },
      [](auto& o) { o.exemptions[0].rules = {"HP-04"}; },
      [](auto& o) { o.exemptions[0].reason = "better told"; },
      [](auto& o) {  // one made two
        o.exemptions.push_back(o.exemptions[0]);
        o.exemptions[0].rules = {"HP-01"};
        o.exemptions[1].namespaces = {"monitoring"};
      },
      [](auto& o) { o.presets.clear(); },
      [](auto& o) { o.presets[0].namespaces = {"nvidia"}; },
      [](auto& o) { o.excluded_namespaces = {"kube-system"}; },
      [](auto& o) { o.modes[1].namespaces.clear(), o.modes[1].mode = "enforce"; },
      [](auto& o) {
        o.modes.push_back({"PRIV-01", "enforce", {"team-a"}});
      },
      [](auto& o) { o.env_names.push_back("OTHER_VISIBLE_DEVICES"); },
      [](auto& o) { o.vendors[0].resources.clear(); },
      [](auto& o) {
        o.fabric_tests = {60, "1Mi", 3, 8, {"tests"}, {"production", "prod"}};
      },
      [](auto& o) { o.fabric_tests.max_message_size = "1024Mi"; },
      [](auto& o) { o.administrators.clear(), o.administrator_groups.clear(); },
  };
  for (std::size_t i = 0; i < std::size(cases); ++i)
    EXPECT_THAT(fields_granted(cases[i]), IsEmpty()) << i;
}

TEST(Grants, AreCountedNoFurtherThanTheyAreTold) {
  PolicyOptions options = strict();
  for (int i = 0; i < 100; ++i)
    options.exemptions.push_back({{"n" + std::to_string(i)}, {"s"}, {}, {"HP-01"}, "why", kEnd});
  EXPECT_THAT(grants(policy_of(strict()), policy_of(options)), SizeIs(kMaxGrants));
}

TEST(SelfGuard, KnowsAdministratorsByNameAndByGroup) {
  PolicyOptions options;
  options.administrators = {"ops@example.com"};
  options.administrator_groups = {"system:masters"};
  EXPECT_TRUE(is_administrator(options, {"ops@example.com", {}}));
  EXPECT_TRUE(is_administrator(options, {"kubernetes-admin", {"a", "system:masters"}}));
  EXPECT_FALSE(is_administrator(options, {"OPS@example.com", {"system:master"}}));
  EXPECT_FALSE(is_administrator(options, {"system:masters", {"ops@example.com"}}));
  EXPECT_FALSE(is_administrator(options, {"", {}}));
}

Judgement change(const Requester& who, const Policy& after) {
  const Policy in_force = policy_of(strict());
  const ConfigurationChange changes[] = {
      {.field = "data[\"rankward.yaml\"]", .before = &in_force, .after = &after, .unreadable = {}}};
  return judge_configuration(in_force, who, "rankward-system", changes);
}

TEST(SelfGuard, DeniesAGrantToWhoIsNoAdministrator) {
  PolicyOptions options = strict();
  options.exemptions.push_back({{"team-a"}, {"builder"}, {}, {"HP-01", "ENV-01"}, "why", kEnd});
  const Judgement denied = change({"alice", {"developers"}}, policy_of(options));
  EXPECT_FALSE(denied.allowed);
  EXPECT_THAT(denied.message,
              HasSubstr("[SELF-01] data[\"rankward.yaml\"]: admission.exemptions[1] exempts "
                        "\"builder\" in \"team-a\" from \"ENV-01\", \"HP-01\"."));
  ASSERT_THAT(denied.causes, SizeIs(1));
  EXPECT_EQ(denied.causes[0].reason, "SELF-01");
  EXPECT_THAT(
      denied.audit_annotations,
      ElementsAre(Pair("decision", "deny"), Pair("mode", "enforce"), Pair("rules", "SELF-01")));
  EXPECT_TRUE(change({"root", {}}, policy_of(options)).allowed);
  EXPECT_TRUE(change({"alice", {"system:masters"}}, policy_of(options)).allowed);
}

TEST(SelfGuard, LetsAnyoneNarrow) {
  PolicyOptions options = strict();
  options.exemptions.clear();
  EXPECT_TRUE(change({"alice", {}}, policy_of(options)).allowed);
}

TEST(SelfGuard, DeniesWhatCannotBeReadWithTheReadersWords) {
  const Policy in_force;
  const ConfigurationChange changes[] = {{.field = "data[\"r\"]",
                                          .before = &in_force,
                                          .after = nullptr,
                                          .unreadable = "admission.modes: unknown key \"x\""}};
  const Judgement denied = judge_configuration(in_force, {"alice", {}}, "n", changes);
  EXPECT_FALSE(denied.allowed);
  EXPECT_THAT(denied.message, HasSubstr("admission.modes: unknown key"));
  EXPECT_TRUE(judge_configuration(in_force, {"a", {"system:masters"}}, "n", changes).allowed);
}

TEST(SelfGuard, CanBeAWarningOrOff) {
  const PolicyOptions none;
  PolicyOptions granted;
  granted.excluded_namespaces.push_back("team-a");
  const Policy before = policy_of(none);
  const Policy after = policy_of(granted);
  const ConfigurationChange changes[] = {
      {.field = "data[\"r\"]", .before = &before, .after = &after, .unreadable = {}}};
  PolicyOptions options;
  options.modes = {{"SELF-01", "warn", {}}};
  const Judgement warned = judge_configuration(policy_of(options), {"alice", {}}, "n", changes);
  EXPECT_TRUE(warned.allowed);
  EXPECT_THAT(warned.warnings, testing::Contains(HasSubstr("[SELF-01]")));
  options.modes = {{"SELF-01", "off", {}}};
  const Judgement off = judge_configuration(policy_of(options), {"alice", {}}, "n", changes);
  EXPECT_TRUE(off.allowed);
  EXPECT_THAT(off.findings, IsEmpty());
}

Judgement create(const std::string& name, const Requester& who) {
  kube::ObjectMeta metadata;
  metadata.name = name;
  return judge_namespace(policy_of(strict()), who,
                         {.operation = Operation::kCreate, .metadata = metadata});
}

TEST(SelfGuard, DeniesNamespacesThatAnExemptionWaitsFor) {
  const std::pair<const char*, const char*> named[] = {
      {"kube-system", "nothing in it would be judged"},
      {"metrics", "admission.exemptions[0] would hold"},
      {"nvidia", "the preset \"gpu-operator\" would hold"}};
  for (const auto& [name, why] : named) {
    EXPECT_THAT(create(name, {"alice", {}}).message, HasSubstr(why)) << name;
    EXPECT_TRUE(create(name, {"root", {}}).allowed) << name;
  }
  EXPECT_TRUE(create("team-a", {"alice", {}}).allowed);
}

TEST(SelfGuard, KnowsTheUsualNamespacesOfPresets) {
  kube::ObjectMeta metadata;
  metadata.name = "gpu-operator";
  const NamespaceChange made{.operation = Operation::kCreate, .metadata = metadata};
  EXPECT_FALSE(judge_namespace(Policy(), {"alice", {}}, made).allowed);
}

TEST(SelfGuard, KeepsTheLabelsThatAskForIsolation) {
  using Labels = kube::StringMap;
  struct Case {
    Labels old;
    Labels now;
    bool allowed;
  };
  const std::string isolation = "rankward.io/isolation";
  const std::string slo = "rankward.io/slo";
  const Case cases[] = {
      {{{isolation, "required"}}, {}, false},
      {{{isolation, "required"}}, {{isolation, "none"}}, false},
      {{{isolation, "required"}}, {{isolation, "required"}, {"a", "b"}}, true},
      {{{isolation, "preferred"}}, {}, true},
      {{}, {{isolation, "required"}}, true},
      {{{slo, "latency"}}, {}, false},
      {{{slo, "latency"}}, {{slo, "throughput"}}, true},
  };
  for (const Case& each : cases) {
    kube::ObjectMeta old;
    kube::ObjectMeta now;
    old.name = now.name = "team-a";
    old.labels = each.old;
    now.labels = each.now;
    const NamespaceChange change{Operation::kUpdate, now, &old};
    EXPECT_EQ(judge_namespace(Policy(), {"alice", {}}, change).allowed, each.allowed)
        << testing::PrintToString(each.old) << " to " << testing::PrintToString(each.now);
    EXPECT_TRUE(judge_namespace(Policy(), {"a", {"system:masters"}}, change).allowed);
    now.deleting = true;
    EXPECT_TRUE(judge_namespace(Policy(), {"alice", {}}, change).allowed);
  }
}

}  // namespace
}  // namespace rankward::admission
