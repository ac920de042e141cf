// SELF-01 on the wire: who changes our configuration and the namespaces that it names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankward/formats/base64.hpp"
#include "reviews.hpp"

namespace rankward::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

namespace json = boost::json;

const std::string kHead =
    "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\ndoors: [webhook]\n";
const std::string kPlain = kHead + "log: {verbosity: 0}\n";
const std::string kExempting = kHead +
                               "admission:\n  exemptions:\n"
                               "  - {namespaces: [team-a], serviceAccounts: [builder],"
                               " rules: [HP-01], reason: why, expires: 2030-01-01}\n";
const std::string kStrict = kHead + "admission: {modes: {PRIV-01: enforce}}\n";

std::string config_map(const std::string& text, const char* map = "data",
                       const std::string& metadata = "") {
  json::object object{{"metadata", json::object{{"name", "c"}}},
                      {map, json::object{{"rankward.yaml", text}}}};
  if (!metadata.empty()) object["metadata"] = json::parse(metadata);
  return json::serialize(object);
}

Told ask(const std::string& operation, const std::string& object, const std::string& old_object,
         std::vector<std::string> groups = {"developers"}) {
  return validate(Webhook({}), {.kind = "ConfigMap",
                                .operation = operation,
                                .object = object,
                                .old_object = old_object,
                                .namespace_ = "rankward-system",
                                .groups = std::move(groups)});
}

TEST(WebhookGuard, DeniesAConfigurationThatExempts) {
  const Told denied = ask("CREATE", config_map(kExempting), "");
  EXPECT_FALSE(denied.allowed) << "though rankward-system is an excluded namespace";
  EXPECT_THAT(denied.message,
              AllOf(StartsWith("[SELF-01] data[\"rankward.yaml\"]: admission.exemptions[0]"),
                    HasSubstr("\"builder\" in \"team-a\"")));
  EXPECT_THAT(denied.causes, testing::ElementsAre("data[\"rankward.yaml\"]: SELF-01"));
  EXPECT_EQ(denied.audit.at("rules"), "SELF-01");
  EXPECT_FALSE(ask("UPDATE", config_map(kExempting), config_map(kPlain)).allowed);
  EXPECT_FALSE(
      ask("CREATE", config_map(formats::base64_encode(kExempting), "binaryData"), "").allowed);
  EXPECT_TRUE(ask("CREATE", config_map(kExempting), "", {"system:masters"}).allowed);
}

TEST(WebhookGuard, LetsPassWhatNarrowsOrDoesNotTouchAdmission) {
  EXPECT_TRUE(ask("CREATE", config_map(kPlain), "").allowed);
  EXPECT_TRUE(ask("CREATE", config_map(kStrict), "").allowed);
  EXPECT_TRUE(ask("UPDATE", config_map(kPlain), config_map(kExempting)).allowed);
  EXPECT_TRUE(ask("UPDATE", config_map(kExempting, "data", R"({"labels":{"a":"b"}})"),
                  config_map(kExempting))
                  .allowed);
  EXPECT_TRUE(ask("CREATE", config_map("kind: KubeSchedulerConfiguration\n"), "").allowed);
}

TEST(WebhookGuard, LooksAtNoConfigurationOfAnExtender) {
  std::string extender = kExempting;
  extender.replace(extender.find("webhook"), 7, "extender");
  EXPECT_TRUE(ask("CREATE", config_map(extender), "").allowed);
  EXPECT_FALSE(ask("UPDATE", config_map(kExempting), config_map(extender)).allowed)
      << "which becomes one of the webhook";
}

TEST(WebhookGuard, DeniesADeletionThatLeavesLooserDefaults) {
  EXPECT_FALSE(ask("DELETE", "", config_map(kStrict)).allowed);
  EXPECT_FALSE(ask("UPDATE", config_map("gone"), config_map(kStrict)).allowed);
  EXPECT_TRUE(ask("DELETE", "", config_map(kExempting)).allowed);
  EXPECT_TRUE(ask("DELETE", "", config_map(kStrict), {"kubeadm:cluster-admins"}).allowed);
  EXPECT_TRUE(ask("UPDATE",
                  config_map("gone", "data", R"({"deletionTimestamp":"2026-01-01T00:00:00Z"})"),
                  config_map(kStrict))
                  .allowed)
      << "on its way out";
}

TEST(WebhookGuard, DeniesWhatCannotBeReadWithTheReadersWords) {
  const std::string wrong = config_map(kHead + "admission: {exemption: []}\n");
  const Told denied = ask("CREATE", wrong, "");
  EXPECT_FALSE(denied.allowed);
  EXPECT_THAT(denied.message, HasSubstr("exemption"));
  EXPECT_FALSE(ask("UPDATE", wrong, config_map(kPlain)).allowed);
  const std::string unknown_rule = config_map(kHead + "admission: {modes: {HP-99: off}}\n");
  EXPECT_THAT(ask("CREATE", unknown_rule, "").message, HasSubstr("HP-99"));
  EXPECT_TRUE(ask("UPDATE", wrong, wrong).allowed) << "was so before";
  EXPECT_TRUE(ask("CREATE", wrong, "", {"system:masters"}).allowed);
}

TEST(WebhookGuard, IsNotBlindedByAnEarlierFileThatCannotBeRead) {
  EXPECT_FALSE(ask("UPDATE", config_map(kExempting), config_map(kHead + "admission: [\n")).allowed);
}

Told ask_namespace(const std::string& operation, const std::string& name, const std::string& labels,
                   const std::string& old_labels, std::vector<std::string> groups = {}) {
  const auto object = [&](const std::string& with) {
    return R"({"metadata":{"name":")" + name + R"(","labels":)" + with + "}}";
  };
  return validate(Webhook({}), {.kind = "Namespace",
                                .operation = operation,
                                .object = operation == "DELETE" ? "" : object(labels),
                                .old_object = operation == "CREATE" ? "" : object(old_labels),
                                .namespace_ = name,
                                .groups = std::move(groups)});
}

TEST(WebhookGuard, GuardsNamespacesThatTheConfigurationNames) {
  EXPECT_THAT(ask_namespace("CREATE", "gpu-operator", "{}", "").message,
              HasSubstr("the preset \"gpu-operator\" would hold in it"));
  EXPECT_FALSE(ask_namespace("CREATE", "kube-system", "{}", "").allowed);
  EXPECT_TRUE(ask_namespace("CREATE", "gpu-operator", "{}", "", {"system:masters"}).allowed);
  EXPECT_TRUE(ask_namespace("CREATE", "team-a", "{}", "").allowed);
  EXPECT_TRUE(ask_namespace("DELETE", "gpu-operator", "", "{}").allowed);
}

TEST(WebhookGuard, GuardsTheLabelsThatAskForIsolation) {
  const std::string required = R"({"rankward.io/isolation":"required"})";
  EXPECT_FALSE(ask_namespace("UPDATE", "team-a", "{}", required).allowed);
  EXPECT_TRUE(ask_namespace("UPDATE", "team-a", required, "{}").allowed);
  EXPECT_TRUE(ask_namespace("UPDATE", "team-a", "{}", required, {"system:masters"}).allowed);
}

TEST(WebhookGuard, LeavesAnObjectThatItCannotReadToTheFailurePolicy) {
  EXPECT_EQ(ask("CREATE", R"({"data":[]})", "").status, 500);
}

}  // namespace
}  // namespace rankward::server
