#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "rankward/commands/check.hpp"
#include "rankward/commands/console.hpp"
#include "rankward/commands/demo.hpp"
#include "rankward/commands/plan.hpp"
#include "rankward/commands/serve.hpp"

namespace rankward::commands {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kBypass = R"(apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team-a}
spec:
  containers:
  - name: c
    image: i
  volumes:
  - name: v
    hostPath: {path: /dev/nvidia0}
)";
constexpr std::string_view kPlain = R"(apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team-a}
spec: {containers: [{name: c, image: i}]}
)";
// Asks for one GPU and would see all of them.
constexpr std::string_view kWarned = R"(apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team-a}
spec:
  containers:
  - name: c
    image: i
    env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]
    resources: {limits: {nvidia.com/gpu: 1}}
)";

class CommandsTest : public ::testing::Test {
 protected:
  CommandsTest()
      : folder_(std::filesystem::temp_directory_path() /
                ("rankward-commands-test-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(folder_);
  }
  ~CommandsTest() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, std::string_view content) {
    const std::string path = (folder_ / name).string();
    std::ofstream(path) << content;
    return path;
  }
  static std::string source(const std::string& path) {
    return std::string(RANKWARD_SOURCE_DIR) + "/" + path;
  }
  int run_check(std::vector<std::string> files, bool strict = false, bool json = false) {
    CheckOptions options;
    options.files = std::move(files);
    options.strict = strict;
    options.output = json ? CheckForm::kJson : CheckForm::kText;
    return check(options, console_);
  }

  std::filesystem::path folder_;
  std::ostringstream out_;
  std::ostringstream err_;
  Console console_{out_, err_, false};
};

TEST_F(CommandsTest, CheckTellsCleanDeniedAndWarnedByItsExitCode) {
  EXPECT_EQ(run_check({file("plain.yaml", kPlain)}), 0);
  EXPECT_EQ(run_check({file("bypass.yaml", kBypass)}), 1);
  EXPECT_EQ(run_check({file("warned.yaml", kWarned)}), 0);
  EXPECT_EQ(run_check({file("warned.yaml", kWarned)}, true), 2);
  EXPECT_EQ(run_check({file("warned.yaml", kWarned), file("bypass.yaml", kBypass)}, true), 1);
}

TEST_F(CommandsTest, CheckNamesFileLineObjectAndFix) {
  const std::string path = file("bypass.yaml", kBypass);
  EXPECT_EQ(run_check({path}), 1);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr(path + ":10: denied: Pod team-a/p: [HP-01]"), HasSubstr("Fix:"),
                    HasSubstr("1 object checked: 1 denied, 0 with warnings, 0 clean")));
}

TEST_F(CommandsTest, CheckJudgesAWorkloadAsItsPods) {
  EXPECT_EQ(run_check({file("deployment.yaml", R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: team-a}
spec:
  template:
    spec:
      containers: [{name: c, image: i}]
      volumes: [{name: v, hostPath: {path: /dev/nvidia0}}]
)")}),
            1);
  EXPECT_THAT(out_.str(), HasSubstr("Deployment team-a/d"));
}

TEST_F(CommandsTest, CheckReportsWhatItCannotReadAndStillJudgesTheRest) {
  const std::string helm = file("helm.yaml", "{{- if .Values.x }}\na: b\n");
  EXPECT_EQ(run_check({helm, file("bypass.yaml", kBypass)}), 3);
  EXPECT_THAT(err_.str(), HasSubstr(helm + ":1"));
  EXPECT_THAT(out_.str(), HasSubstr("[HP-01]"));
  EXPECT_EQ(run_check({(folder_ / "absent.yaml").string()}), 3);
}

TEST_F(CommandsTest, CheckPrintsJson) {
  EXPECT_EQ(run_check({file("bypass.yaml", kBypass)}, false, true), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(R"("rule":"HP-01")"), HasSubstr(R"("line":10)"),
                                HasSubstr(R"("denied":1)")));
}

TEST_F(CommandsTest, PlanShowsEveryNodeWithVerdictReasonAndNextStep) {
  PlanOptions options;
  options.pods_file = source("tests/cases/05-mig-12gib-vs-1g10gb/pod.yaml");
  options.nodes_file = source("tests/cases/05-mig-12gib-vs-1g10gb/nodes.yaml");
  EXPECT_EQ(plan(options, console_), 1) << err_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("fits nowhere"), HasSubstr("MemoryTooSmall"),
                                HasSubstr("9.75 GiB"), HasSubstr("nvidia.com/mig-2g.20gb")));
}

TEST_F(CommandsTest, PlanHoldsDevicesOfEarlierPodsOfTheFile) {
  PlanOptions options;
  options.pods_file = file("pods.yaml", R"(apiVersion: v1
kind: Pod
metadata: {name: first, namespace: team-a}
spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: second, namespace: team-a}
spec: {containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 2}}}]}
)");
  options.nodes_file = file("nodes.yaml", R"(apiVersion: v1
kind: Node
metadata: {name: n-0}
status:
  capacity: {nvidia.com/gpu: 2, cpu: 8, memory: 8Gi, pods: 10}
  allocatable: {nvidia.com/gpu: 2, cpu: 8, memory: 8Gi, pods: 10}
  conditions: [{type: Ready, status: "True"}]
)");
  options.output = OutputForm::kJson;
  EXPECT_EQ(plan(options, console_), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr(R"("pod":"team-a/first","schedulable":true)"),
                                HasSubstr(R"("pod":"team-a/second","schedulable":false)"),
                                HasSubstr("InsufficientGpu"), HasSubstr(R"("free":0)")));
}

TEST_F(CommandsTest, PlanShowsAGangWholeOrWhyNoRankIsStarted) {
  PlanOptions options;
  options.pods_file = source("tests/cases/32-clique-mismatch-4-nodes-2-racks/pod.yaml");
  options.nodes_file = source("tests/cases/32-clique-mismatch-4-nodes-2-racks/nodes.yaml");
  EXPECT_EQ(plan(options, console_), 1) << err_.str();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("gang team-a/Gang/nvl4: no rank is started"),
                    HasSubstr("CliqueMismatch"), HasSubstr("pod team-a/nvl4-0: by itself"),
                    HasSubstr("gang team-a/Gang/nvl2: 2 ranks on 2 nodes, one NVLink clique"),
                    Not(HasSubstr("pod team-a/nvl2-0")), Not(HasSubstr("pod team-a/nvl4-1"))));
  out_.str("");
  options.output = OutputForm::kJson;
  EXPECT_EQ(plan(options, console_), 1);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr(R"("gang":"team-a/Gang/nvl4","schedulable":false)"),
                    HasSubstr(R"("room":2)"), HasSubstr(R"("slots":["gb200-0","gb200-2"])")));
}

TEST_F(CommandsTest, PlanRefusesInputThatHoldsNoPodOrCannotBeRead) {
  PlanOptions options;
  options.pods_file = file("nothing.yaml", "a: b\n");
  options.nodes_file = options.pods_file;
  EXPECT_EQ(plan(options, console_), 3);
  EXPECT_THAT(err_.str(), HasSubstr("nothing.yaml"));
}

TEST_F(CommandsTest, ServePrintsTheConfigurationInUseAndReadsItAgain) {
  ServeOptions options;
  options.config = file("config.yaml",
                        "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n"
                        "maxCandidates: 7\nadmission: {modes: {ENV-03: enforce}}\n");
  options.print_config = true;
  ASSERT_EQ(serve(options, console_), 0) << err_.str();
  const std::string first = out_.str();
  EXPECT_THAT(first, AllOf(HasSubstr("maxCandidates: 7"), HasSubstr("ENV-03: enforce")));
  options.config = file("again.yaml", first);
  out_.str("");
  ASSERT_EQ(serve(options, console_), 0) << err_.str();
  EXPECT_EQ(out_.str(), first);
}

TEST_F(CommandsTest, ServeRefusesAConfigurationWithWhatIsKnownInstead) {
  const struct {
    const char* text;
    const char* complaint;
  } kTable[] = {
      {"maxCandidate: 7\n", "maxCandidate: is not a known key; known here: apiVersion, kind"},
      {"maxCandidates: 0\n", "maxCandidates: must be an integer from 1 to 100000"},
      {"doors: [front]\n", "\"front\" is no door"},
      {"unknownTopology: guess\n", "must be one of allow, penalise, reject"},
      {"messageSize: 1GB\n", "must be a positive amount of bytes"},
      {"tls: {webhook: {certfile: x}}\n", "tls.webhook.certfile: is not a known key"},
      {"phi: [1.5]\n", "phi: must be factors above 0"},
      {"log: {format: xml}\n", "must be one of auto, json, text"},
      {"ports: {extender: 70000}\n", "ports.extender: must be an integer from 0 to 65535"},
      {"kubeconfig: a\nkubeconfig: b\n", "kubeconfig: stands twice"},
  };
  for (const auto& row : kTable) {
    err_.str("");
    ServeOptions options;
    options.config = file("bad.yaml", std::string("apiVersion: config.rankward.io/v1alpha1\nkind: "
                                                  "RankwardConfiguration\n") +
                                          row.text);
    EXPECT_EQ(serve(options, console_), 3) << row.text;
    EXPECT_THAT(err_.str(), AllOf(HasSubstr("bad.yaml:"), HasSubstr(row.complaint))) << row.text;
  }
}

TEST_F(CommandsTest, ServeSaysWhichCertificateIsMissing) {
  EXPECT_EQ(serve({}, console_), 3);
  EXPECT_THAT(err_.str(), HasSubstr("tls.extender.certFile: is needed"));
}

TEST_F(CommandsTest, TheDemoPlacesTheJobAsExpectedAndDeniesThePod) {
  EXPECT_EQ(demo({}, console_), 0) << out_.str() << err_.str();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("leaf-b"), HasSubstr("rank 3"), HasSubstr("RdmaMissing"),
                    HasSubstr("NotAdvertised"), HasSubstr("[HP-01]"), HasSubstr("As expected")));
  EXPECT_THAT(out_.str(), Not(HasSubstr("\x1b["))) << "colours only on a terminal";
}

TEST(Console, FormatsForPeople) {
  EXPECT_EQ(format_seconds(0), "0");
  EXPECT_EQ(format_seconds(0.0396), "39.6 ms");
  EXPECT_EQ(format_seconds(2.5e-5), "25 us");
  EXPECT_EQ(format_seconds(12.34), "12.3 s");
  EXPECT_EQ(format_bandwidth(400), "400 GB/s");
}

TEST(Table, AlignsColumnsByCharactersNotBytes) {
  std::ostringstream out;
  const Console console{out, out, false};
  Table table({"A", "B"});
  table.add({{"é"}, {"x"}});
  table.add({{"long"}, {"y"}});
  table.print(console);
  EXPECT_EQ(out.str(), "A      B\né      x\nlong   y\n");
}

}  // namespace
}  // namespace rankward::commands
