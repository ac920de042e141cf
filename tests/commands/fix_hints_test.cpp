// A hint is right if the manifest with it has the finding no more.
#include <gmock/gmock.h>

#include <boost/json.hpp>

#include "findings_fix.hpp"
#include "rankward/formats/documents.hpp"
#include "run_commands.hpp"

namespace rankward::commands {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class FixHints : public RunCommands {
 protected:
  // The hint of the one finding of that rule.
  std::string hint_of(std::string_view manifest, std::string_view rule) {
    CheckOptions options;
    options.output = CheckForm::kJson;
    options.fix_hints = true;
    run_check({file("a.yaml", manifest)}, options);
    const json::value all = json::parse(out_.str());
    std::string hint;
    for (const json::value& finding : all.at("findings").as_array()) {
      if (finding.at("rule").as_string() == rule) hint = finding.at("fixHint").as_string().c_str();
    }
    return hint;
  }
};

std::string pod(std::string_view spec, std::string_view metadata = "") {
  return "apiVersion: v1\nkind: Pod\nmetadata: {name: p, namespace: team-a" +
         std::string(metadata) + "}\nspec:\n  " + std::string(spec) + "\n";
}

TEST_F(FixHints, SayTheLinesAtThePathOfTheFinding) {
  const struct {
    std::string manifest;
    const char* rule;
    std::vector<const char*> lines;
  } kTable[] = {
      {pod("containers: [{name: c}]\n  volumes: [{name: v, hostPath: {path: /dev/kfd}}]"),
       "HP-01",
       {"spec:\n  containers:\n    - # the container that uses it\n      resources:\n        "
        "limits:\n          amd.com/gpu: 1",
        "  volumes:\n    - name: v  # take this entry out"}},
      {pod("containers: [{name: c}]\n  volumes: [{name: v, hostPath: {path: /dev}}]"),
       "HP-02",
       {"spec:\n  volumes:\n    - name: v  # take this entry out"}},
      {pod("containers: [{name: c}]\n  volumes: [{name: v, hostPath: {path: //dev/kfd}}]"),
       "HP-07",
       {"spec:\n  volumes:\n    - name: v\n      hostPath:\n        path: /dev/kfd\n"}},
      {pod("containers: [{name: other}, {name: train, env: [{name: NVIDIA_VISIBLE_DEVICES, value: "
           "all}]}]"),
       "ENV-01",
       {"where the container needs a GPU:\n  spec:\n    containers:\n      - name: train\n        "
        "resources:\n          limits:\n            nvidia.com/gpu: 1",
        "where it needs none:\n  spec:\n    containers:\n      - name: train\n        env:\n       "
        "   - name: NVIDIA_VISIBLE_DEVICES\n            value: void\n"}},
      {pod("containers: [{name: c, env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}], resources: "
           "{limits: {nvidia.com/gpu: 1}}}]"),
       "ENV-03",
       {"      env:\n        - name: NVIDIA_VISIBLE_DEVICES  # take this entry out\n"}},
      {pod("runtimeClassName: nvidia\n  containers: [{name: c}]"),
       "RT-01",
       {"where none does:\n  spec:\n    runtimeClassName:  # take this line out"}},
      {pod("containers: [{name: c}]", ", annotations: {cdi.k8s.io/gpu: x}"),
       "ANN-01",
       {"  metadata:\n    annotations:\n      cdi.k8s.io/gpu:  # take this line out",
        "  spec:\n    containers:"}},
      {pod("hostPID: true\n  containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]"),
       "PRIV-03",
       {"spec:\n  hostPID:  # take this line out\n"}},
      {pod("tolerations: [{key: nvidia.com/gpu, operator: Exists}]\n  containers: [{name: c}]"),
       "SCH-03",
       {"where a container needs a GPU:\n",
        "  spec:\n    tolerations:\n      - # entry 0: take it out"}},
      {pod("containers: [{name: c, env: [{name: CUDA_VERSION, value: \"12\"}]}]"),
       "ENV-05",
       {"- name: CUDA_VERSION  # take this entry out"}},
      {pod("nodeName: n-1\n  containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]"),
       "SCH-01",
       {"spec:\n  nodeName:  # take", "  nodeSelector:\n    kubernetes.io/hostname: NODE"}},
      {pod("containers: [{name: c, securityContext: {privileged: true}, resources: {limits: "
           "{nvidia.com/gpu: 1}}}]"),
       "PRIV-02",
       {"    - name: c\n      securityContext:\n        privileged: false\n"}},
  };
  for (const auto& row : kTable) {
    const std::string hint = hint_of(row.manifest, row.rule);
    for (const char* lines : row.lines)
      EXPECT_THAT(hint, HasSubstr(lines)) << row.rule;
  }
}

TEST_F(FixHints, OfAnEphemeralContainerAskForNoRequestWhichItCannotHave) {
  const std::string hint =
      hint_of(pod("containers: [{name: c}]\n  ephemeralContainers: [{name: debug, env: [{name: "
                  "NVIDIA_VISIBLE_DEVICES, value: all}]}]"),
              "ENV-01");
  EXPECT_THAT(hint, AllOf(HasSubstr("ephemeralContainers:"), HasSubstr("- name: debug"),
                          HasSubstr("value: void"), Not(HasSubstr("limits"))));
}

TEST_F(FixHints, StandAtTheTemplateOfAWorkload) {
  const std::string hint = hint_of(R"(apiVersion: batch/v1
kind: CronJob
metadata: {name: c, namespace: team-a}
spec:
  jobTemplate:
    spec:
      template:
        metadata: {annotations: {cdi.k8s.io/gpu: x}}
        spec: {containers: [{name: c}]}
)",
                                   "ANN-01");
  EXPECT_THAT(
      hint, AllOf(HasSubstr("  spec:\n    jobTemplate:\n      spec:\n        template:\n    "
                            "      spec:\n            containers:"),
                  HasSubstr("        template:\n          metadata:\n            "
                            "annotations:\n              cdi.k8s.io/gpu:  # take this line out")));
}

// Each choice is a YAML document by itself, whatever the names in it.
TEST_F(FixHints, AreYaml) {
  const std::string hint = hint_of(
      pod("containers: [{name: \"a: [\", env: [{name: NVIDIA_VISIBLE_DEVICES, value: all}]}]"),
      "ENV-01");
  const std::string_view marker = "where it needs none:\n";
  const std::size_t second = hint.find(marker);
  ASSERT_NE(second, std::string::npos);
  const std::string text = "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\n" + [&] {
    std::string unindented;
    std::istringstream lines(hint.substr(second + marker.size()));
    for (std::string line; std::getline(lines, line);)
      unindented += line.substr(2) + "\n";
    return unindented;
  }();
  const auto documents = formats::read_documents(text, "hint");
  ASSERT_TRUE(documents) << documents.error().to_string() << "\n" << text;
  // And what it says is judged clean.
  EXPECT_EQ(run_check({file("fixed.yaml", text)}), 0) << out_.str();
}

TEST(FixHint, IsHonestWhereNoChangeIsRightByRote) {
  admission::Finding finding;
  finding.rule = "KEY-01";
  finding.field = "metadata.annotations[\"rankward.io/gan\"]";
  EXPECT_THAT(fix_hint(admission::Policy(), finding),
              HasSubstr("no change is right by rote here; see https://"));
}

}  // namespace
}  // namespace rankward::commands
