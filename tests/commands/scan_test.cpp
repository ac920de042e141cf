#include "rankward/commands/scan.hpp"

#include <gmock/gmock.h>

#include <boost/json.hpp>
#include <map>
#include <set>

#include "../cluster/fake_api_server.hpp"
#include "policy_report.hpp"
#include "rankward/formats/documents.hpp"
#include "run_commands.hpp"
#include "scan_owner.hpp"

namespace rankward::commands {
namespace {

namespace json = boost::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct PodText {
  std::string name;
  std::string namespace_ = "team-a";
  std::string phase = "Running";
  std::string owner = "";  // "ReplicaSet web-5d4f"
  std::string hash = "";   // pod-template-hash
  std::string spec = "";   // more of the spec, with a comma in front
  std::string env = "";    // of the one container
  std::string claim = "";
};

std::string in_json(const PodText& pod) {
  std::string owner;
  if (const auto blank = pod.owner.find(' '); blank != std::string::npos) {
    owner = R"(,"ownerReferences":[{"apiVersion":"apps/v1","kind":")" + pod.owner.substr(0, blank) +
            R"(","name":")" + pod.owner.substr(blank + 1) + R"(","uid":"o","controller":true}])";
  }
  std::string volumes;
  if (!pod.claim.empty()) {
    volumes =
        R"(,"volumes":[{"name":"v","persistentVolumeClaim":{"claimName":")" + pod.claim + R"("}}])";
  }
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":")" + pod.name +
         R"(","namespace":")" + pod.namespace_ + R"(","uid":"uid-)" + pod.name + R"(")" + owner +
         R"(,"labels":{"pod-template-hash":")" + pod.hash +
         R"("}},"spec":{"nodeName":"n-1","containers":[{"name":"c","env":[)" + pod.env + "]}]" +
         volumes + pod.spec + R"(},"status":{"phase":")" + pod.phase + R"("}})";
}

const char* const kAllDevices = R"({"name":"NVIDIA_VISIBLE_DEVICES","value":"all"})";
const char* const kDeviceVolume = R"(,"volumes":[{"name":"v","hostPath":{"path":"/dev/nvidia0"}}])";

std::string list_of(const std::vector<std::string>& items) {
  std::string out = "{\n  \"apiVersion\": \"v1\",\n  \"items\": [";
  for (const std::string& item : items)
    out += (out.back() == '[' ? "\n" : ",\n") + item;
  return out + "\n  ],\n  \"kind\": \"List\",\n  \"metadata\": {\"resourceVersion\": \"\"}\n}\n";
}

class ScanTest : public RunCommands {
 protected:
  std::string cluster() {
    return file(
        "pods.json",
        list_of({in_json({.name = "web-5d4f-a",
                          .owner = "ReplicaSet web-5d4f",
                          .hash = "5d4f",
                          .env = kAllDevices}),
                 in_json({.name = "web-5d4f-b",
                          .owner = "ReplicaSet web-5d4f",
                          .hash = "5d4f",
                          .env = kAllDevices}),
                 in_json({.name = "agent-x",
                          .namespace_ = "agents",
                          .owner = "DaemonSet agent",
                          .spec = kDeviceVolume}),
                 in_json({.name = "clean"}),
                 in_json({.name = "done", .phase = "Succeeded", .spec = kDeviceVolume}),
                 in_json({.name = "proxy", .namespace_ = "kube-system", .spec = kDeviceVolume})}));
  }
};

TEST_F(ScanTest, CountsByRuleNamespaceAndOwner) {
  EXPECT_EQ(run_scan(cluster()), 1) << err_.str();
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("HP-01    enforce   1          1         1        a device node"),
                    HasSubstr("ENV-01   enforce   2          2         1        devices chosen"),
                    HasSubstr("team-a      2        0        2"),
                    HasSubstr("team-a      Deployment/web    2         enforce   ENV-01"),
                    HasSubstr("agents      DaemonSet/agent   1         enforce   HP-01"),
                    HasSubstr("5 pods scanned: 3 would be denied, 0 with warnings, 1 clean; 1 pod "
                              "in excluded namespaces; 1 finished pod passed over")));
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ScanTest, ANodeNameIsTheSchedulersWork) {
  // Each pod above has one; SCH-01 would deny the two GPU pods at creation.
  EXPECT_EQ(run_scan_as(ScanForm::kWide, cluster()), 1);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("Pod team-a/web-5d4f-a of Deployment/web: denied: [ENV-01] "),
                    Not(HasSubstr("SCH-01"))));
}

TEST_F(ScanTest, ExitCodesAndFilters) {
  ScanOptions options;
  options.name_space = "agents";
  EXPECT_EQ(run_scan(cluster(), options), 1);
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("1 pod scanned"), Not(HasSubstr("team-a"))));
  options = {};
  options.rules = {"RT-01"};
  EXPECT_EQ(run_scan(cluster(), options), 0);
  EXPECT_THAT(out_.str(), HasSubstr("0 would be denied"));
  options.rules = {"HP-01", "RT-99"};
  EXPECT_EQ(run_scan(cluster(), options), 3);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("--rule: \"RT-99\" is no rule"), HasSubstr("HP-01")));
  options = {};
  options.name_space = "../nodes";
  EXPECT_EQ(run_scan(cluster(), options), 3);
  options = {};
  options.fail_on = FailOn::kNever;
  EXPECT_EQ(run_scan(cluster(), options), 0);
  EXPECT_EQ(run_scan(folder_.path("absent.json")), 3);

  options = {};
  const std::string warned =
      file("warned.json", list_of({in_json({.name = "p", .env = kAllDevices})}));
  options.config = file("config.yaml",
                        "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n"
                        "admission: {modes: {ENV-01: warn}}\n");
  EXPECT_EQ(run_scan(warned, options), 0);
  options.fail_on = FailOn::kWarn;
  EXPECT_EQ(run_scan(warned, options), 1);
}

TEST_F(ScanTest, AnUnreadablePodIsNamedAndTheRestIsScanned) {
  const std::string bad = R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"odd",)"
                          R"("namespace":"team-a"},"spec":{"containers":[{"name":7}]}})";
  EXPECT_EQ(run_scan(file("pods.json", list_of({bad, in_json({.name = "p", .env = kAllDevices})}))),
            3);
  EXPECT_THAT(err_.str(), HasSubstr("unreadable: team-a/odd: spec.containers[0].name"));
  EXPECT_THAT(out_.str(), HasSubstr("1 would be denied"));
}

TEST_F(ScanTest, ReadsYamlStandardInputAndASinglePod) {
  give_standard_input(std::string(kDeviceMount) + "---\n" + std::string(kHonest));
  EXPECT_EQ(run_scan("-"), 1) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("2 pods scanned: 1 would be denied"));
  EXPECT_EQ(run_scan(file("one.json", in_json({.name = "p", .env = kAllDevices}))), 1);
  EXPECT_THAT(out_.str(), HasSubstr("1 pod scanned: 1 would be denied"));
  EXPECT_EQ(run_scan(file("cut.json", R"({"apiVersion":"v1","items":[{"metadata":{)")), 3);
}

TEST_F(ScanTest, AnEmptyClusterIsClean) {
  EXPECT_EQ(run_scan(file("none.json", list_of({}))), 0) << err_.str();
  EXPECT_EQ(out_.str(), "0 pods scanned: 0 would be denied, 0 with warnings, 0 clean\n");
}

TEST_F(ScanTest, FiveThousandPodsShowProgressOnTheErrorStreamAlone) {
  std::vector<std::string> items;
  for (int i = 0; i < 5000; ++i) {
    const std::string number = std::to_string(i);
    items.push_back(in_json({.name = "web-5d4f-" + number,
                             .namespace_ = "team-" + std::to_string(i % 5),
                             .owner = "ReplicaSet web-5d4f",
                             .hash = "5d4f",
                             .env = i % 10 == 0 ? kAllDevices : ""}));
  }
  ScanOptions options;
  options.show_progress = true;
  EXPECT_EQ(run_scan(file("many.json", list_of(items)), options), 1);
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("\r\x1b[K1000 pods read"), HasSubstr("5000 pods read")));
  EXPECT_THAT(out_.str(), AllOf(HasSubstr("5000 pods scanned: 500 would be denied"),
                                Not(HasSubstr("pods read"))));
  EXPECT_EQ(run_scan(folder_.path("many.json")), 1);
  EXPECT_EQ(err_.str(), "");
}

TEST_F(ScanTest, JsonHasTheSummariesToo) {
  EXPECT_EQ(run_scan_as(ScanForm::kJson, cluster()), 1);
  const json::value all = json::parse(out_.str());
  EXPECT_EQ(all.at("findings").as_array().size(), 3U);
  EXPECT_EQ(all.at("pods").to_number<int>(), 5);
  EXPECT_EQ(all.at("finished").to_number<int>(), 1);
  const json::value& owner = all.at("byOwner").as_array().front();
  EXPECT_EQ(owner.at("owner").as_string(), "Deployment/web");
  EXPECT_EQ(owner.at("objects").to_number<int>(), 2);
  EXPECT_EQ(all.at("byNamespace").as_array().front().at("denied").to_number<int>(), 2);
}

TEST_F(ScanTest, SarifOfAClusterHasLogicalPlacesAlone) {
  EXPECT_EQ(run_scan_as(ScanForm::kSarif, cluster()), 1);
  const json::value log = json::parse(out_.str());
  for (const json::value& result : log.at("runs").as_array().front().at("results").as_array()) {
    const json::object& place = result.at("locations").as_array().front().as_object();
    EXPECT_FALSE(place.contains("physicalLocation"));
    EXPECT_TRUE(place.contains("logicalLocations"));
  }
}

// wgpolicyk8s.io/v1alpha2 of kubernetes-sigs/wg-policy-prototypes: the CRD's enums and required
// fields.
TEST_F(ScanTest, PolicyReportsAreWhatTheSchemaTakes) {
  ScanOptions options;
  options.output = ScanForm::kPolicyReport;
  options.now = 1'700'000'000;
  EXPECT_EQ(run_scan(cluster(), options), 1);
  const auto documents = formats::read_documents(out_.str(), "reports");
  ASSERT_TRUE(documents) << documents.error().to_string();
  const std::set<std::string> kResults{"pass", "fail", "warn", "error", "skip"};
  const std::set<std::string> kSeverities{"high", "medium", "low"};
  std::set<std::string> namespaces;
  for (const formats::Document& document : *documents) {
    EXPECT_EQ(document.api_version, "wgpolicyk8s.io/v1alpha2");
    EXPECT_EQ(document.kind, "PolicyReport");
    EXPECT_EQ(document.name, "rankward");
    namespaces.insert(document.namespace_);
    const json::value report = json::parse(document.json);
    std::map<std::string, int> counts;
    for (const json::value& result : report.at("results").as_array()) {
      EXPECT_EQ(result.at("policy").as_string(), "rankward");
      EXPECT_EQ(kResults.count(result.at("result").as_string().c_str()), 1U);
      EXPECT_EQ(kSeverities.count(result.at("severity").as_string().c_str()), 1U);
      EXPECT_EQ(result.at("timestamp").at("seconds").to_number<std::int64_t>(), 1'700'000'000);
      EXPECT_EQ(result.at("timestamp").at("nanos").to_number<int>(), 0);
      for (const json::value& resource : result.at("resources").as_array()) {
        EXPECT_EQ(resource.at("apiVersion").as_string(), "v1");
        EXPECT_EQ(resource.at("namespace").as_string(), document.namespace_);
        EXPECT_EQ("uid-" + std::string(resource.at("name").as_string()),
                  resource.at("uid").as_string());
      }
      for (const auto& property : result.at("properties").as_object())
        EXPECT_TRUE(property.value().is_string());
      ++counts[result.at("result").as_string().c_str()];
    }
    for (const std::string& result : kResults)
      EXPECT_EQ(report.at("summary").at(result).to_number<int>(), counts[result]) << result;
  }
  EXPECT_EQ(namespaces, (std::set<std::string>{"agents", "team-a"}));
}

TEST_F(ScanTest, ClaimsLeadToVolumesWhereverTheyStandInTheList) {
  const std::string volume =
      R"({"apiVersion":"v1","kind":"PersistentVolume","metadata":{"name":"gpu-0","uid":"u"},)"
      R"("spec":{"claimRef":{"namespace":"team-a","name":"data"},"local":{"path":"/dev/nvidia0"}}})";
  const std::string pods =
      file("all.json",
           list_of({in_json({.name = "claims", .claim = "data"}),
                    in_json({.name = "other", .namespace_ = "team-b", .claim = "data"}), volume}));
  EXPECT_EQ(run_scan_as(ScanForm::kWide, pods), 1);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("Pod team-a/claims of Pod/claims: denied: [HP-06]"),
                    HasSubstr("PersistentVolume gpu-0 of PersistentVolume/gpu-0: denied: [HP-06]"),
                    Not(HasSubstr("team-b/other")),
                    HasSubstr("2 pods, 1 volume scanned: 2 would be denied")));
  EXPECT_EQ(run_scan_as(ScanForm::kPolicyReport, pods), 1);
  EXPECT_THAT(out_.str(),
              AllOf(HasSubstr("kind: ClusterPolicyReport\nmetadata:\n  name: rankward\n"),
                    HasSubstr("  - apiVersion: v1\n    kind: PersistentVolume\n    name: "
                              "gpu-0\n    uid: u\n")));
}

TEST(PolicyReports, AreSplitBeforeKubectlsAnnotationIsTooLargeAndCountEveryObject) {
  FindingsReport report;
  for (int i = 0; i < 3000; ++i) {
    LocatedFinding found;
    found.api_version = "v1";
    found.kind = "Pod";
    found.namespace_ = "team-a";
    found.name = "pod-with-a-rather-long-name-" + std::to_string(i);
    found.uid = "00000000-0000-0000-0000-" + std::to_string(100000000000 + i);
    found.owner = "DaemonSet/agent";
    found.finding.rule = "HP-01";
    found.finding.what = "volumes[0]: hostPath.";
    report.standing.push_back(found);
    if (i % 3 == 0) {
      found.exempted_by = "gpu-operator";
      report.exempt.push_back(found);
    }
  }
  const std::string text = policy_reports(report, {"team-a"}, 7);
  const auto documents = formats::read_documents(text, "reports");
  ASSERT_TRUE(documents) << documents.error().to_string();
  EXPECT_GT(documents->size(), 1U);
  std::size_t failed = 0;
  std::size_t skipped = 0;
  std::set<std::string> names;
  for (const formats::Document& document : *documents) {
    EXPECT_LT(document.json.size(), 262144U);
    names.insert(document.name);
    const json::value parsed = json::parse(document.json);
    for (const json::value& result : parsed.at("results").as_array()) {
      (result.at("result").as_string() == "fail" ? failed : skipped) +=
          result.at("resources").as_array().size();
    }
  }
  EXPECT_EQ(names.size(), documents->size());
  EXPECT_EQ(names.count("rankward"), 1U);
  EXPECT_EQ(names.count("rankward-2"), 1U);
  EXPECT_EQ(failed, 3000U);
  EXPECT_EQ(skipped, 1000U);
}

TEST(OwnerOf, FollowsAReplicaSetOnlyWhereTheHashSaysSo) {
  const struct {
    const char* kind;
    const char* name;
    const char* hash;
    const char* expected;
  } kTable[] = {
      {"ReplicaSet", "web-5d4f", "5d4f", "Deployment/web"},
      {"ReplicaSet", "web-5d4f", "", "ReplicaSet/web-5d4f"},
      {"ReplicaSet", "web-5d4f", "5d4g", "ReplicaSet/web-5d4f"},
      {"ReplicaSet", "-5d4f", "5d4f", "ReplicaSet/-5d4f"},
      {"StatefulSet", "db-5d4f", "5d4f", "StatefulSet/db-5d4f"},
      {"Node", "n-1", "", "Node/n-1"},
  };
  for (const auto& row : kTable) {
    kube::ObjectMeta pod;
    pod.name = "p";
    pod.owner_references.push_back({"v1", row.kind, row.name, "u", true});
    if (*row.hash != '\0') pod.labels["pod-template-hash"] = row.hash;
    EXPECT_EQ(owner_of(pod), row.expected);
    pod.owner_references.front().controller = false;
    EXPECT_EQ(owner_of(pod), "Pod/p");
  }
}

class ScanClusterTest : public RunCommands {
 protected:
  int run(ScanOptions options = {}) {
    clear();
    const auto address = api_.address();
    options.kubeconfig =
        file("kubeconfig",
             "current-context: x\ncontexts: [{name: x, context: {cluster: c, user: u}}]\n"
             "clusters: [{name: c, cluster: {server: 'http://127.0.0.1:" +
                 std::to_string(address.port) + "'}}]\nusers: [{name: u, user: {token: t}}]\n");
    return scan(options, console_);
  }

  cluster::FakeApiServer api_;
};

TEST_F(ScanClusterTest, ListsTheClusterPageByPage) {
  for (int i = 0; i < 1200; ++i) {
    const std::string name = "p-" + std::to_string(i);
    api_.put("pods", name, in_json({.name = name, .env = i % 3 == 0 ? kAllDevices : ""}));
  }
  api_.answer_next("list namespaces", {403, "", R"({"kind":"Status","message":"forbidden"})"});
  api_.answer_next("list persistentvolumes", {403, "", R"({"kind":"Status"})"});
  EXPECT_EQ(run(), 1) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("1200 pods scanned: 400 would be denied"));
  const auto targets = api_.targets("pods");
  ASSERT_EQ(targets.size(), 3U);
  EXPECT_THAT(targets[0], AllOf(HasSubstr("limit=500"),
                                HasSubstr("fieldSelector=status.phase%21%3DSucceeded")));
  EXPECT_THAT(targets[1], HasSubstr("continue="));
  // Neither namespaces nor volumes may be listed, and it says what it does without.
  EXPECT_THAT(err_.str(), AllOf(HasSubstr("goes on without namespaces"),
                                HasSubstr("goes on without persistentvolumes")));
}

TEST_F(ScanClusterTest, AClusterThatRefusesOrIsNotThereIsExitCodeThree) {
  api_.answer_next("list pods", {403, "", R"({"kind":"Status","message":"pods is forbidden"})"});
  EXPECT_EQ(run(), 3);
  EXPECT_THAT(err_.str(), HasSubstr("pods is forbidden"));
  ScanOptions options;
  options.kubeconfig = folder_.path("absent");
  EXPECT_EQ(scan(options, console_), 3);
}

TEST_F(ScanClusterTest, GoesOnWithTheServersTokenWhereAPageComesTooLate) {
  for (int i = 0; i < 600; ++i) {
    const std::string name = "p-" + std::to_string(i);
    api_.put("pods", name, in_json({.name = name}));
  }
  api_.answer_next("list pods", {200, "",
                                 R"({"metadata":{"continue":"old"},"items":[)" +
                                     in_json({.name = "seen", .env = kAllDevices}) + "]}"});
  api_.answer_next("list pods",
                   {410, "", R"({"kind":"Status","code":410,"metadata":{"continue":"new"}})"});
  api_.answer_next("list pods", {200, "",
                                 R"({"metadata":{},"items":[)" +
                                     in_json({.name = "later", .env = kAllDevices}) + "]}"});
  EXPECT_EQ(run(), 1) << err_.str();
  EXPECT_THAT(out_.str(), HasSubstr("2 pods scanned: 2 would be denied"));
  const auto targets = api_.targets("pods");
  ASSERT_EQ(targets.size(), 3U);
  EXPECT_THAT(targets[2], HasSubstr("continue=new"));
}

}  // namespace
}  // namespace rankward::commands
