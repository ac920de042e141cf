// `rankward generate`: what it prints, read back; the API server's word on it is in
// tests/controlplane.
#include "rankward/commands/generate.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <set>

#include "../temporary_folder.hpp"
#include "rankward/admission/rules.hpp"
#include "rankward/formats/documents.hpp"

namespace rankward::commands {
namespace {

class Generate : public testing::Test {
 protected:
  int vap(GenerateVapOptions options = {}) {
    clear();
    return generate_vap(options, console_);
  }
  int manifests(GenerateManifestsOptions options = {}) {
    clear();
    return generate_manifests(options, console_);
  }
  std::string config(const std::string& admission) {
    return folder_.write(
        "rankward.yaml",
        "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n" + admission);
  }
  std::string out() const { return out_.str(); }
  std::string err() const { return err_.str(); }
  bool prints(std::string_view text) const { return out().find(text) != std::string::npos; }

  TemporaryFolder folder_;

 private:
  void clear() {
    out_.str("");
    err_.str("");
  }

  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, false};
};

std::string shipped_registration() {
  std::ifstream file(std::string(RANKWARD_SOURCE_DIR) +
                     "/manifests/base/validating-webhook-configuration.yaml");
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_F(Generate, ShipsTheRegistrationOfTheDefaults) {
  ASSERT_EQ(manifests(), 0);
  EXPECT_EQ(out(), shipped_registration())
      << "run: rankward generate manifests > manifests/base/validating-webhook-configuration.yaml";
}

TEST_F(Generate, NamesTheServiceOrTheUrl) {
  ASSERT_EQ(manifests({.service = "gpu-system/guard"}), 0);
  EXPECT_TRUE(prints("namespace: gpu-system\n      name: guard\n"));
  EXPECT_TRUE(prints("operator: In\n      values: [gpu-system]")) << "our own ConfigMaps";
  ASSERT_EQ(manifests({.url = "https://127.0.0.1:9443/validate"}), 0);
  EXPECT_TRUE(prints("url: \"https://127.0.0.1:9443/validate\""));
  EXPECT_FALSE(prints("service:"));
}

TEST_F(Generate, RefusesTargetsThatTheApiServerWouldRefuse) {
  const GenerateManifestsOptions refused[] = {
      {.service = "rankward"},       {.service = "/rankward"},
      {.service = "a/b/c"},          {.service = "a/"},
      {.url = "http://127.0.0.1:1"}, {.url = "https://127.0.0.1:1/validate?x=y"}};
  for (const GenerateManifestsOptions& options : refused) {
    EXPECT_EQ(manifests(options), 3);
    EXPECT_EQ(out(), "");
    EXPECT_NE(err().find("must be"), std::string::npos) << err();
  }
}

TEST_F(Generate, PutsTheCertificatesIn) {
  const std::string pem = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n";
  ASSERT_EQ(manifests({.ca_bundle = folder_.write("ca.crt", pem)}), 0);
  EXPECT_TRUE(
      prints("caBundle: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCkFBQUEKLS0tLS1FTkQgQ0VSVElGSU"
             "NBVEUtLS0tLQo="));
  EXPECT_FALSE(prints("Q0FfQlVORExF"));
  EXPECT_EQ(manifests({.ca_bundle = folder_.write("key.pem", "no certificate")}), 3);
  EXPECT_NE(err().find("PEM"), std::string::npos) << err();
}

TEST_F(Generate, FollowsTheConfiguration) {
  const std::string file = config(
      "admission:\n"
      "  excludedNamespaces: [kube-system, rankward-system, legacy]\n"
      "  envNames: [DOCKER_RESOURCE_GPU]\n"
      "  modes: {HP-01: warn, ENV-01: 'off'}\n");
  ASSERT_EQ(manifests({.config = file}), 0);
  EXPECT_TRUE(prints("values: [kube-system, rankward-system, legacy]"));
  EXPECT_TRUE(prints("\"DOCKER_RESOURCE_GPU\""));
  ASSERT_EQ(vap({.config = file}), 0);
  EXPECT_TRUE(prints("values: [kube-system, rankward-system, legacy]"));
  EXPECT_FALSE(prints("message: \"[ENV-01]"));
  const std::size_t warn = out().find("name: rankward-warn");
  ASSERT_NE(warn, std::string::npos);
  EXPECT_GT(out().find("[HP-01] a device node"), warn) << "warned of, not denied";
}

TEST_F(Generate, RefusesAnUnreadableConfiguration) {
  const std::string file = config("admission: {modes: {HP-99: warn}}\n");
  EXPECT_EQ(vap({.config = file}), 3);
  EXPECT_NE(err().find("HP-99"), std::string::npos);
  EXPECT_EQ(manifests({.config = file}), 3);
}

TEST_F(Generate, PrintsAPolicyAndABindingForEachMode) {
  ASSERT_EQ(vap(), 0);
  const auto documents = formats::read_documents(out(), "vap.yaml");
  ASSERT_TRUE(documents) << documents.error().to_string();
  std::multiset<std::string> found;
  for (const formats::Document& document : *documents)
    found.insert(document.kind + " " + document.name);
  const std::multiset<std::string> wanted = {
      "ValidatingAdmissionPolicy rankward-audit",
      "ValidatingAdmissionPolicy rankward-enforce",
      "ValidatingAdmissionPolicy rankward-warn",
      "ValidatingAdmissionPolicyBinding rankward-audit",
      "ValidatingAdmissionPolicyBinding rankward-enforce",
      "ValidatingAdmissionPolicyBinding rankward-warn",
  };
  EXPECT_EQ(found, wanted);
}

// A rule that is new has its expression, or says why it has none.
TEST_F(Generate, SaysOfEveryRuleWhetherItIsExpressed) {
  ASSERT_EQ(vap(), 0);
  EXPECT_FALSE(prints("nobody has put it into CEL")) << out().substr(0, 2000);
  for (const admission::RuleInfo& info : admission::catalogue()) {
    const std::string id(info.id);
    const bool left_out = prints("#   " + id + ": ");
    const bool judged = prints("[" + id + "] ");
    const bool off = info.default_mode == admission::Mode::kOff;
    EXPECT_TRUE(left_out != judged || off) << id;
  }
}

}  // namespace
}  // namespace rankward::commands
