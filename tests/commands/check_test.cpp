#include "rankward/commands/check.hpp"

#include <gmock/gmock.h>

#include <filesystem>

#include "run_commands.hpp"

namespace rankward::commands {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace fs = std::filesystem;

class CheckTest : public RunCommands {};

TEST_F(CheckTest, ADirectoryStandsForItsManifestsInOrderAndForNothingElse) {
  file("d/b.yml", kDeviceMount);
  file("d/a/deep.yaml", kDeviceMount);
  file("d/c.json",
       R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"j","namespace":"team-a"},)"
       R"("spec":{"containers":[{"name":"c"}],"nodeName":"n","runtimeClassName":"nvidia"}})");
  file("d/README.md", "{{ not a manifest }}");
  file("d/.git/x.yaml", "{{ not a manifest }}");
  const std::string folder = folder_.path("d");
  EXPECT_EQ(run_check({folder}), 1) << err_.str();
  const std::string out = out_.str();
  EXPECT_THAT(out, AllOf(HasSubstr(folder + "/a/deep.yaml:8: denied: Pod team-a/p: [HP-01]"),
                         HasSubstr(folder + "/b.yml:8: denied"),
                         HasSubstr(folder + "/c.json:1: denied: Pod team-a/j: [RT-01]"),
                         HasSubstr("3 objects checked: 3 denied")));
  EXPECT_LT(out.find("deep.yaml"), out.find("b.yml"));
  EXPECT_LT(out.find("b.yml"), out.find("c.json"));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(CheckTest, LinksThatGoRoundDoNotHoldADirectoryUp) {
  file("d/sub/a.yaml", kHonest);
  fs::create_directory_symlink(folder_.path("d"), folder_.path("d/sub/round"));
  fs::create_symlink(folder_.path("d/self.yaml"), folder_.path("d/self.yaml"));
  fs::create_symlink(folder_.path("d/sub/a.yaml"), folder_.path("d/link.yaml"));
  EXPECT_EQ(run_check({folder_.path("d")}), 0) << err_.str();
  // The file itself and the link to it.
  EXPECT_THAT(out_.str(), HasSubstr("2 objects checked: 0 denied, 0 with warnings, 2 clean"));
}

TEST_F(CheckTest, ADirectoryWithoutManifestsOrThatIsNotThereIsUnreadable) {
  fs::create_directory(folder_.path("empty"));
  EXPECT_EQ(run_check({folder_.path("empty")}), 3);
  EXPECT_THAT(err_.str(), HasSubstr(folder_.path("empty") + ": must have a *.yaml"));
  EXPECT_EQ(run_check({folder_.path("absent"), file("a.yaml", kDeviceMount)}), 3);
  EXPECT_THAT(err_.str(), HasSubstr(folder_.path("absent")));
  EXPECT_THAT(out_.str(), HasSubstr("[HP-01]")) << "the rest is judged all the same";
}

TEST_F(CheckTest, DirectoriesThatGoTooDeepAreRefused) {
  std::string path = "deep";
  for (int i = 0; i < 40; ++i)
    path += "/d";
  file(path + "/a.yaml", kHonest);
  EXPECT_EQ(run_check({folder_.path("deep")}), 3);
  EXPECT_THAT(err_.str(), HasSubstr("must not be nested deeper than 32 directories"));
}

TEST_F(CheckTest, ReadsStandardInputAndNamesHelmsTemplates) {
  give_standard_input(R"(---
# Source: web/templates/plain.yaml
apiVersion: v1
kind: Pod
metadata: {name: first, namespace: team-a}
spec: {containers: [{name: c}], volumes: [{name: v, hostPath: {path: /dev/kfd}}]}
---
# Source: web/templates/deep/deployment.yaml
# a comment of the chart
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
spec:
  template:
    spec:
      containers:
        - name: c
          env:
            - name: NVIDIA_VISIBLE_DEVICES
              value: all
---
apiVersion: v1
kind: Pod
metadata: {name: last, namespace: team-a}
spec: {containers: [{name: c}], volumes: [{name: v, hostPath: {path: /dev/kfd}}]}
)");
  EXPECT_EQ(run_check({"-"}), 1);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("-:6: denied: Pod team-a/first (web/templates/plain.yaml): [HP-01]"),
                    HasSubstr("-:20: denied: Deployment default/web "
                              "(web/templates/deep/deployment.yaml): [ENV-01]"),
                    HasSubstr("Pod team-a/last: [HP-01]")));
}

TEST_F(CheckTest, ListsGiveTheirItemsWithTheirOwnLines) {
  EXPECT_EQ(run_check({file("list.yaml", R"(apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: Pod
  metadata: {name: one, namespace: team-a}
  spec:
    containers: [{name: c}]
- apiVersion: batch/v1
  kind: CronJob
  metadata: {name: nightly, namespace: team-a}
  spec:
    jobTemplate:
      spec:
        template:
          spec:
            containers: [{name: c}]
            volumes:
            - {name: d, hostPath: {path: /dev/infiniband}}
)")}),
            1);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("list.yaml:19: denied: CronJob team-a/nightly: [HP-01]"),
                    HasSubstr("2 objects checked: 1 denied, 0 with warnings, 1 clean")));
}

TEST_F(CheckTest, AnchorsAreFollowedAndTheLineIsThatOfTheValue) {
  EXPECT_EQ(run_check({file("anchors.yaml", R"(# kept apart
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: team-a}
spec:
  containers:
  - name: first
    env: &env
    # every device
    - {name: NVIDIA_VISIBLE_DEVICES, value: all}
  - name: second
    env: *env
)")}),
            1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("anchors.yaml:10: denied: Pod team-a/p: [ENV-01] "
                                          "containers[0] \"first\""),
                                HasSubstr("containers[1] \"second\"")));
}

TEST_F(CheckTest, AChartThatWasNotRenderedIsUnreadableWithItsLine) {
  const std::string path = file("chart/templates/web.yaml", R"(apiVersion: v1
kind: Pod
metadata:
  name: {{ include "web.name" . }}
)");
  EXPECT_EQ(run_check({folder_.path("chart")}), 3);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("unreadable: " + path + ":4: "),
                                HasSubstr("a template must be rendered first")));
}

TEST_F(CheckTest, WhatMakesNoPodsIsNotCountedAsClean) {
  EXPECT_EQ(run_check({file("a.yaml", R"(apiVersion: v1
kind: ConfigMap
metadata: {name: c}
---
apiVersion: example.com/v1
kind: Dream
metadata: {name: d}
spec: {speed: 9}
)"),
                       file("b.yaml", kHonest)}),
            0);
  EXPECT_EQ(out_.str(),
            "1 object checked: 0 denied, 0 with warnings, 1 clean; 2 objects not judged: no pods "
            "are made of them\n");
}

TEST_F(CheckTest, CustomResourcesAreJudgedAtTheirPath) {
  EXPECT_EQ(run_check({file("jobset.yaml", R"(apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js, namespace: team-a}
spec:
  replicatedJobs:
  - name: workers
    replicas: 1
    template:
      spec:
        template:
          spec:
            containers: [{name: c}]
            volumes:
            - name: dev
              hostPath: {path: /dev/nvidia1}
)")}),
            1);
  EXPECT_THAT(out_.str(), HasSubstr("jobset.yaml:15: denied: JobSet team-a/js: [HP-01]"));
}

TEST_F(CheckTest, VolumesAreJudgedAndSoIsWhoClaimsThem) {
  const std::string volume = R"(apiVersion: v1
kind: PersistentVolume
metadata: {name: gpu-0}
spec:
  claimRef: {namespace: team-a, name: data}
  hostPath:
    path: /dev/nvidia0
)";
  const std::string claim = R"(apiVersion: v1
kind: Pod
metadata: {name: p, namespace: NAMESPACE}
spec:
  containers: [{name: c}]
  volumes:
  - name: v
    persistentVolumeClaim: {claimName: data}
)";
  const auto claimed_in = [&](const char* name_space) {
    std::string out = claim;
    return out.replace(out.find("NAMESPACE"), 9, name_space);
  };
  EXPECT_EQ(run_check({file("pv.yaml", volume)}), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("pv.yaml:7: denied: PersistentVolume gpu-0: [HP-06]"),
                                HasSubstr("1 object checked: 1 denied")));
  // The pod stands before what it claims; a claim of another namespace is another claim.
  EXPECT_EQ(run_check({file("pod.yaml", claimed_in("team-a")), file("pv.yaml", volume)}), 1);
  EXPECT_THAT(out_.str(), HasSubstr("denied: Pod team-a/p: [HP-06]"));
  EXPECT_EQ(run_check({file("pod.yaml", claimed_in("team-b")), file("pv.yaml", volume)}), 1);
  EXPECT_THAT(out_.str(), Not(HasSubstr("Pod team-b/p")));
}

TEST_F(CheckTest, ExcludedNamespacesAndPresetsHoldAsInTheWebhook) {
  // The same pod in kube-system, and as the device plugin that a preset knows.
  std::string excluded(kDeviceMount);
  excluded.replace(excluded.find("team-a"), 6, "kube-system");
  const std::string preset = R"(apiVersion: apps/v1
kind: DaemonSet
metadata: {name: nvidia-device-plugin-daemonset, namespace: gpu-operator}
spec:
  template:
    spec:
      serviceAccountName: nvidia-device-plugin
      containers: [{name: c}]
      volumes: [{name: d, hostPath: {path: /var/lib/kubelet/device-plugins}}]
)";
  EXPECT_EQ(run_check({file("a.yaml", excluded)}), 0);
  EXPECT_THAT(out_.str(), HasSubstr("0 objects checked: 0 denied, 0 with warnings, 0 clean; 1 "
                                    "object in excluded namespaces"));
  EXPECT_EQ(run_check({file("b.yaml", preset)}), 0) << out_.str();
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("1 clean; 1 exempt finding"), Not(HasSubstr("[HP-04]"))));
}

TEST_F(CheckTest, TheConfigurationsModesAndExemptionsHold) {
  CheckOptions options;
  options.config = file("config.yaml",
                        "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n"
                        "admission: {modes: {HP-01: warn}}\n");
  options.strict = true;
  EXPECT_EQ(run_check({file("a.yaml", kDeviceMount)}, options), 2);
  EXPECT_THAT(out_.str(), HasSubstr("a.yaml:8: warning: Pod team-a/p: [HP-01]"));
  options.config = file("bad.yaml",
                        "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n"
                        "admission: {modes: {HP-99: warn}}\n");
  EXPECT_EQ(run_check({file("a.yaml", kDeviceMount)}, options), 3);
  EXPECT_THAT(err_.str(), HasSubstr("bad.yaml"));
}

TEST_F(CheckTest, TheTableHasThePlaceFirstSoThatEditorsFollowIt) {
  const std::string path = file("a.yaml", kDeviceMount);
  EXPECT_EQ(run_check_as(CheckForm::kTable, {path}), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("PLACE"), HasSubstr("\n" + path + ":8   Pod team-a/p"),
                                HasSubstr("HP-01   denied")));
}

TEST_F(CheckTest, ReadsFiveThousandPodsOfOneFile) {
  std::string text;
  for (int i = 0; i < 5000; ++i) {
    text += "---\napiVersion: v1\nkind: Pod\nmetadata: {name: p" + std::to_string(i) +
            ", namespace: team-a}\nspec:\n  containers: [{name: c}]\n";
    if (i % 10 == 0) text += "  volumes: [{name: v, hostPath: {path: /dev/nvidia0}}]\n";
  }
  EXPECT_EQ(run_check({file("many.yaml", text)}), 1);
  EXPECT_THAT(out_.str(),
              HasSubstr("5000 objects checked: 500 denied, 0 with warnings, 4500 clean"));
}

}  // namespace
}  // namespace rankward::commands
