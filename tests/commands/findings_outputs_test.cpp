// The forms that other programs read, held to what those programs' documents ask for.
#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "findings_github.hpp"
#include "findings_sarif.hpp"
#include "helm_templates.hpp"
#include "rankward/admission/rules.hpp"
#include "run_commands.hpp"
#include "yaml_path.hpp"

namespace rankward::commands {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// Two denials and a warning, and names that need escapes in every form.
constexpr std::string_view kMixed = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: team-a}
spec:
  template:
    spec:
      containers:
      - name: train
        env:
        - name: NVIDIA_VISIBLE_DEVICES
          value: "100%, all:\n\x07\""
      - name: asks
        env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
        resources: {limits: {nvidia.com/gpu: 1}}
      volumes:
      - {name: v, hostPath: {path: /dev/nvidia0}}
)";

class FindingsOutputs : public RunCommands {};

// https://docs.oasis-open.org/sarif/sarif/v2.1.0: 3.13 sarifLog, 3.14 run, 3.19 toolComponent,
// 3.49 reportingDescriptor, 3.27 result, 3.29 physicalLocation, 3.30 region.
TEST_F(FindingsOutputs, SarifHasWhatTheStandardRequires) {
  const std::string path = file("a b.yaml", kMixed);
  EXPECT_EQ(run_check_as(CheckForm::kSarif, {path, file("helm.yaml", "a: {{ .b }}\n")}), 3);
  const json::value log = json::parse(out_.str());
  EXPECT_EQ(log.at("version").as_string(), "2.1.0");
  EXPECT_THAT(std::string(log.at("$schema").as_string()), HasSubstr("sarif-schema-2.1.0.json"));
  ASSERT_EQ(log.at("runs").as_array().size(), 1U);
  const json::value& run = log.at("runs").as_array().front();
  const json::value& driver = run.at("tool").at("driver");
  EXPECT_EQ(driver.at("name").as_string(), "rankward");
  const json::array& rules = driver.at("rules").as_array();
  ASSERT_EQ(rules.size(), admission::catalogue().size());
  for (const json::value& rule : rules) {
    const std::string id(rule.at("id").as_string());
    EXPECT_FALSE(rule.at("shortDescription").at("text").as_string().empty());
    EXPECT_FALSE(rule.at("help").at("text").as_string().empty());
    const std::string uri(rule.at("helpUri").as_string());
    EXPECT_THAT(uri, StartsWith("https://"));
    EXPECT_THAT(uri, HasSubstr("rules.md#" + admission::find_rule(id)->anchor()));
    const std::string level(rule.at("defaultConfiguration").at("level").as_string());
    EXPECT_TRUE(level == "error" || level == "warning" || level == "note") << level;
  }
  const json::array& results = run.at("results").as_array();
  ASSERT_EQ(results.size(), 3U);
  std::size_t errors = 0;
  for (const json::value& result : results) {
    const auto index = static_cast<std::size_t>(result.at("ruleIndex").to_number<int>());
    EXPECT_EQ(rules.at(index).at("id"), result.at("ruleId"));
    errors += result.at("level").as_string() == "error" ? 1 : 0;
    EXPECT_FALSE(result.at("message").at("text").as_string().empty());
    const json::value& place = result.at("locations").as_array().front();
    const json::value& physical = place.at("physicalLocation");
    EXPECT_EQ(physical.at("artifactLocation").at("uri").as_string(),
              "file://" + folder_.path("a%20b.yaml"));
    EXPECT_GT(physical.at("region").at("startLine").to_number<int>(), 9);
    EXPECT_EQ(result.at("partialFingerprints").at("rankward/v1").as_string().size(), 16U);
  }
  EXPECT_EQ(errors, 2U);
  const json::value& invocation = run.at("invocations").as_array().front();
  EXPECT_FALSE(invocation.at("executionSuccessful").as_bool());
  EXPECT_THAT(std::string(invocation.at("toolExecutionNotifications")
                              .as_array()
                              .front()
                              .at("message")
                              .at("text")
                              .as_string()),
              HasSubstr("helm.yaml:1"));
}

TEST_F(FindingsOutputs, AFingerprintStaysWhereLinesMove) {
  const auto fingerprint = [&](const std::string& path) {
    run_check_as(CheckForm::kSarif, {path});
    const json::value log = json::parse(out_.str());
    return std::string(log.at("runs")
                           .as_array()
                           .front()
                           .at("results")
                           .as_array()
                           .front()
                           .at("partialFingerprints")
                           .at("rankward/v1")
                           .as_string());
  };
  const std::string first = fingerprint(file("a.yaml", kDeviceMount));
  EXPECT_EQ(fingerprint(file("b.yaml", "# moved down\n\n" + std::string(kDeviceMount))), first);
  std::string other(kDeviceMount);
  other.replace(other.find("name: v"), 7, "name: w");
  EXPECT_NE(fingerprint(file("c.yaml", other)), first);
}

TEST(Uri, IsAReferenceWhateverThePathHas) {
  EXPECT_EQ(uri_of("./manifests/web.yaml"), "manifests/web.yaml");
  EXPECT_EQ(uri_of("/tmp/a b%.yaml"), "file:///tmp/a%20b%25.yaml");
  EXPECT_EQ(uri_of("a:b?#.yaml"), "a%3Ab%3F%23.yaml");
  EXPECT_EQ(uri_of("\xc3\xa9.yaml"), "%C3%A9.yaml");
  EXPECT_EQ(uri_of("-"), "standard%20input");
}

// docs.github.com, "Workflow commands": ::error file={name},line={line},title={title}::{message}
TEST_F(FindingsOutputs, GithubCommandsAreOneLineEachAndEscaped) {
  const std::string path = file("a,b:c.yaml", kMixed);
  EXPECT_EQ(run_check_as(CheckForm::kGithub, {path, file("helm.yaml", "a: {{ .b }}\n")}), 3);
  const std::string name = folder_.path("a%2Cb%3Ac.yaml");
  EXPECT_THAT(
      out_.str(),
      AllOf(HasSubstr("::error file=" + name +
                      ",line=16,title=HP-01 Deployment team-a/web::[HP-01] volumes[0]"),
            HasSubstr("::error file=" + name +
                      ",line=10,title=ENV-01 Deployment team-a/web::[ENV-01]"),
            HasSubstr("NVIDIA_VISIBLE_DEVICES=\"100%25, all:\\x0a\\x07\\\"\""),
            HasSubstr("::warning file=" + name + ",line=13,title=ENV-03 "),
            HasSubstr("::error file=" + folder_.path("helm.yaml") + ",line=1,title=unreadable::")));
  std::istringstream lines(out_.str());
  std::string line;
  std::size_t commands = 0;
  while (std::getline(lines, line)) {
    if (line.rfind("::", 0) == 0) ++commands;
  }
  EXPECT_EQ(commands, 4U);
}

TEST(GithubEscapes, AreThoseOfTheToolkit) {
  EXPECT_EQ(escaped_data("50%\r\n::error::x"), "50%25%0D%0A::error::x");
  EXPECT_EQ(escaped_property("a:b,c%\n"), "a%3Ab%2Cc%25%0A");
}

TEST_F(FindingsOutputs, JsonTellsPlaceObjectRuleAndCounts) {
  const std::string path = file("a.yaml", kMixed);
  EXPECT_EQ(run_check_as(CheckForm::kJson, {path, file("b.yaml", "kind: ConfigMap\n")}), 1);
  const json::value all = json::parse(out_.str());
  ASSERT_EQ(all.at("findings").as_array().size(), 3U);
  const json::value& first = all.at("findings").as_array().front();
  EXPECT_EQ(first.at("file").as_string(), path);
  EXPECT_EQ(first.at("line").to_number<int>(), 16);
  EXPECT_EQ(first.at("object").as_string(), "Deployment team-a/web");
  EXPECT_EQ(first.at("rule").as_string(), "HP-01");
  EXPECT_EQ(first.at("mode").as_string(), "enforce");
  EXPECT_EQ(first.at("field").as_string(), "spec.template.spec.volumes[0].hostPath.path");
  EXPECT_EQ(all.at("denied").to_number<int>(), 1);
  EXPECT_EQ(all.at("notJudged").to_number<int>(), 1);
  EXPECT_TRUE(all.at("unreadable").as_array().empty());
}

TEST(HelmTemplates, BelongToTheObjectBelowThem) {
  const HelmTemplates found(
      "---\n"
      "# Source: a/templates/x.yaml\r\n"
      "kind: A\n"
      "---\n"
      "kind: B\n"
      "# Source: not a path, but a sentence\n"
      "---\n"
      "# Source: a/templates/y.yaml\n"
      "# more\n"
      "kind: C\n");
  EXPECT_EQ(found.at(1), "");
  EXPECT_EQ(found.at(3), "a/templates/x.yaml");
  EXPECT_EQ(found.at(5), "");
  EXPECT_EQ(found.at(7), "");
  EXPECT_EQ(found.at(10), "a/templates/y.yaml");
}

TEST(YamlString, IsReadBackAsTheSameString) {
  EXPECT_EQ(yaml_string("nvidia.com/gpu"), "nvidia.com/gpu");
  EXPECT_EQ(yaml_string("/dev/nvidia0"), "/dev/nvidia0");
  EXPECT_EQ(yaml_string("1"), "\"1\"");
  EXPECT_EQ(yaml_string("Yes"), "\"Yes\"");
  EXPECT_EQ(yaml_string(""), "\"\"");
  EXPECT_EQ(yaml_string("a: b # c"), "\"a: b # c\"");
  EXPECT_EQ(yaml_string("- x\n"), "\"- x\\n\"");
}

}  // namespace
}  // namespace rankward::commands
