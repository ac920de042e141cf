#include "rankward/formats/configuration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rankward::formats {
namespace {

using std::chrono::milliseconds;
using testing::HasSubstr;

Result<Configuration> read(const std::string& keys) {
  return read_configuration(
      "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n" + keys, "file");
}

TEST(Configuration, GangsAreNominatedAndHeldForAMinuteUnlessItSaysOtherwise) {
  const auto configuration = read("").value();
  EXPECT_TRUE(configuration.nominate);
  EXPECT_EQ(configuration.gate_max_hold, milliseconds(60'000));
  EXPECT_FALSE(read("nominate: false").value().nominate);
}

TEST(Configuration, DurationsAreReadAsKubernetesWritesThem) {
  for (const auto& [text, want] : {std::pair{"60s", 60'000},
                                   {"1m30s", 90'000},
                                   {"500ms", 500},
                                   {"0s", 0},
                                   {"1h", 3'600'000},
                                   {"59m59s999ms", 3'599'999}}) {
    const auto configuration = read("gateMaxHold: " + std::string(text));
    ASSERT_TRUE(configuration) << configuration.error().to_string();
    EXPECT_EQ(configuration->gate_max_hold, milliseconds(want)) << text;
  }
}

TEST(Configuration, WhatIsNoDurationIsRefusedWithTheAcceptedForm) {
  for (const char* text : {"60", "s", "-1s", "1.5s", "60 s", "1h1ms", "60sec", "9999999999s", "1d",
                           "\"\"", "[60s]", "18446744073709551617s"}) {
    const auto configuration = read("gateMaxHold: " + std::string(text));
    ASSERT_FALSE(configuration) << text;
    EXPECT_EQ(configuration.error().field(), "gateMaxHold") << text;
  }
  EXPECT_THAT(read("gateMaxHold: 60").error().message(), HasSubstr("60s or 1m30s"));
}

TEST(Configuration, TheWebhookWatchesWhatItMayAndMutatesNothingUnlessItSaysOtherwise) {
  using Names = std::vector<std::string>;
  const auto defaults = read("").value();
  EXPECT_EQ(defaults.admission_watch, (Names{"persistentvolumes", "namespaces", "nodes"}));
  EXPECT_FALSE(defaults.mutate);
  const auto set = read("admission: {watch: [nodes], mutate: true}").value();
  EXPECT_EQ(set.admission_watch, Names{"nodes"});
  EXPECT_TRUE(set.mutate);
  EXPECT_EQ(read("admission: {watch: []}").value().admission_watch, Names{});
  const auto unknown = read("admission: {watch: [secrets]}");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().field(), "admission.watch");
  EXPECT_THAT(unknown.error().message(), HasSubstr("persistentvolumes, namespaces, nodes"));
}

constexpr const char* kEveryAdmissionKey = R"(schedulerNames: [default-scheduler, gpu]
admission:
  modes: {HP-03: warn, EPH-01: audit}
  namespaceModes: [{rule: ENV-03, mode: enforce, namespaces: [team-a]}]
  exemptions:
    - {namespaces: [a], serviceAccounts: [b], ownerKinds: [DaemonSet], rules: [HP-01], reason: why,
       expires: 2027-01-31T12:00:00Z}
  presets: [gpu-operator, {name: dcgm-exporter, namespaces: [metrics]}]
  excludedNamespaces: [kube-system]
  runtimeClasses: [gpu]
  envNames: [NVIDIA_VISIBLE_DEVICES]
  gpuNodeLabels: ["nvidia.com/gpu*"]
  gpuTolerationKeys: [nvidia.com/gpu]
  workloads: deny
  vendors:
    - {name: Example NPU, resources: [example.com/npu], devicePaths: ["/dev/examplenpu*"],
       envNames: [EXAMPLE_VISIBLE_DEVICES], annotations: [npu.example.com]}
    - {name: Other}
  allowedHostPaths: [/var/log]
  isolatedNamespaces: ["bank-*"]
  fabricTests: {maxSeconds: 1800, maxMessageSize: 8Gi, minNodes: 2, maxNodes: 16,
                queues: [tests], productionQueues: ["prod-*"]}
  administrators: ["system:serviceaccount:argocd:controller"]
  administratorGroups: [platform]
)";

TEST(Configuration, EveryOptionOfAdmissionHasAKey) {
  const admission::PolicyOptions options = read(kEveryAdmissionKey).value().admission;
  using Names = std::vector<std::string>;
  ASSERT_EQ(options.vendors.size(), 2U);
  EXPECT_EQ(options.vendors[0].name, "Example NPU");
  EXPECT_EQ(options.vendors[0].resources, Names{"example.com/npu"});
  EXPECT_EQ(options.vendors[0].device_paths, Names{"/dev/examplenpu*"});
  EXPECT_EQ(options.vendors[0].env_names, Names{"EXAMPLE_VISIBLE_DEVICES"});
  EXPECT_EQ(options.vendors[0].annotations, Names{"npu.example.com"});
  EXPECT_EQ(options.vendors[1].name, "Other");
  EXPECT_EQ(options.allowed_host_paths, Names{"/var/log"});
  EXPECT_EQ(options.served_schedulers, (Names{"default-scheduler", "gpu"}));
  EXPECT_EQ(options.isolated_namespaces, Names{"bank-*"});
  EXPECT_EQ(options.fabric_tests.max_seconds, 1800);
  EXPECT_EQ(options.fabric_tests.max_message_size, "8Gi");
  EXPECT_EQ(options.fabric_tests.min_nodes, 2);
  EXPECT_EQ(options.fabric_tests.max_nodes, 16);
  EXPECT_EQ(options.fabric_tests.queues, Names{"tests"});
  EXPECT_EQ(options.fabric_tests.production_queues, Names{"prod-*"});
  EXPECT_EQ(options.administrators, Names{"system:serviceaccount:argocd:controller"});
  EXPECT_EQ(options.administrator_groups, Names{"platform"});
  EXPECT_EQ(options.exemptions.at(0).expires, 1801396800);
  EXPECT_TRUE(admission::Policy::make(options)) << "every name in it is known";
}

TEST(Configuration, AdmissionChecksNothingStrictUnlessItSaysSo) {
  const admission::PolicyOptions options = read("").value().admission;
  EXPECT_FALSE(options.allowed_host_paths);
  EXPECT_TRUE(options.served_schedulers.empty());
  EXPECT_TRUE(options.vendors.empty());
  EXPECT_EQ(options.administrator_groups,
            (std::vector<std::string>{"system:masters", "kubeadm:cluster-admins"}));
  const auto none = read("admission: {allowedHostPaths: []}").value().admission;
  ASSERT_TRUE(none.allowed_host_paths);
  EXPECT_TRUE(none.allowed_host_paths->empty());
}

struct RefusedAdmission {
  const char* keys;
  const char* field;
  const char* form;
};

TEST(Configuration, WhatAdmissionDoesNotKnowIsRefusedWithWhatItDoes) {
  for (const RefusedAdmission& c :
       {RefusedAdmission{"{vendor: []}", "admission.vendor", "allowedHostPaths"},
        {"{vendors: [{name: a, paths: []}]}", "admission.vendors[0].paths", "devicePaths"},
        {"{vendors: {name: a}}", "admission.vendors", "list"},
        {"{allowedHostPaths: /var/log}", "admission.allowedHostPaths", "list of strings"},
        {"{fabricTests: {maxNodes: many}}", "admission.fabricTests.maxNodes", "integer from 0"},
        {"{fabricTests: {maxSeconds: -1}}", "admission.fabricTests.maxSeconds", "integer from 0"},
        {"{fabricTests: {queue: a}}", "admission.fabricTests.queue", "productionQueues"},
        {"{administrators: root}", "admission.administrators", "list of strings"}}) {
    const auto configuration = read("admission: " + std::string(c.keys));
    ASSERT_FALSE(configuration) << c.keys;
    EXPECT_EQ(configuration.error().field(), c.field);
    EXPECT_THAT(configuration.error().message(), HasSubstr(c.form));
  }
}

TEST(Configuration, WhatIsPrintedIsReadBack) {
  for (const char* keys : {"nominate: false\ngateMaxHold: 2m", "gateMaxHold: 1500ms",
                           "admission: {watch: [], mutate: true}", kEveryAdmissionKey,
                           "admission: {allowedHostPaths: []}", ""}) {
    const auto configuration = read(keys).value();
    const auto again = read_configuration(print_configuration(configuration), "printed");
    ASSERT_TRUE(again) << again.error().to_string();
    EXPECT_EQ(again->nominate, configuration.nominate);
    EXPECT_EQ(again->gate_max_hold, configuration.gate_max_hold);
    EXPECT_EQ(again->admission_watch, configuration.admission_watch);
    EXPECT_EQ(again->mutate, configuration.mutate);
    EXPECT_EQ(print_configuration(*again), print_configuration(configuration));
  }
}

}  // namespace
}  // namespace rankward::formats
