#include "rankward/admission/judge.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::StartsWith;

std::map<std::string, std::string> audit(const Judgement& judgement) {
  return {judgement.audit_annotations.begin(), judgement.audit_annotations.end()};
}

kube::Container taking_all(std::string name = "train") {
  return with_env(container(std::move(name)), "NVIDIA_VISIBLE_DEVICES", "all");
}

TEST(Judge, AdmitsACleanPodInSilence) {
  const Judgement judgement = judge_create(TestPod().with(asking(container())));
  EXPECT_TRUE(judgement.allowed);
  EXPECT_EQ(judgement.message, "");
  EXPECT_TRUE(judgement.warnings.empty());
  EXPECT_TRUE(judgement.causes.empty());
  EXPECT_EQ(audit(judgement), (std::map<std::string, std::string>{{"decision", "allow"}}));
}

TEST(Judge, ReportsInTheOrderOfTheCatalogue) {
  TestPod pod = TestPod().with(privileged(taking_all())).with(host_path("/dev/kfd")).on("gpu-a");
  pod.spec.containers[0].env_from.push_back({"", "secretRef"});
  pod.spec.host_pid = true;
  pod.spec.volumes.push_back(host_path("/sys", "w"));
  EXPECT_EQ(verdicts(pod), (Verdicts{"enforce HP-01", "audit HP-03", "enforce ENV-01",
                                     "warn PRIV-01", "warn PRIV-03", "enforce SCH-01"}));
}

TEST(Judge, DeniesWithEveryFindingInOneMessage) {
  TestPod pod = TestPod().with(privileged(taking_all())).with(host_path("/dev/kfd")).on("gpu-a");
  const Judgement judgement = judge_create(pod);
  EXPECT_FALSE(judgement.allowed);
  for (const char* rule : {"[HP-01]", "[ENV-01]", "[SCH-01]", "Warning: [PRIV-01]"})
    EXPECT_THAT(judgement.message, HasSubstr(rule));
  ASSERT_EQ(judgement.causes.size(), 3u);
  EXPECT_EQ(judgement.causes[1].reason, "ENV-01");
  EXPECT_EQ(judgement.causes[1].field, "spec.containers[0].env[0]");
  EXPECT_THAT(judgement.causes[1].message, HasSubstr("Fix: "));
  EXPECT_EQ(
      audit(judgement),
      (std::map<std::string, std::string>{
          {"decision", "deny"}, {"mode", "enforce"}, {"rules", "ENV-01,HP-01,PRIV-01,SCH-01"}}));
}

TEST(Judge, WarnsInLinesThatTheApiServerKeeps) {
  const Judgement judgement = judge_create(TestPod().with(privileged(asking(container()))));
  EXPECT_TRUE(judgement.allowed);
  ASSERT_FALSE(judgement.warnings.empty());
  EXPECT_THAT(judgement.warnings[0], StartsWith("[PRIV-02] containers[0] \"train\": privileged"));
  for (const std::string& warning : judgement.warnings)
    EXPECT_LE(warning.size(), kWarningLength) << warning;
}

TEST(Judge, AuditLeavesNoTraceForTheUser) {
  PolicyOptions options;
  options.modes = {{"ENV-01", "audit", {}}};
  const Judgement judgement = judge_create(TestPod().with(taking_all()), policy_of(options));
  EXPECT_TRUE(judgement.allowed);
  EXPECT_TRUE(judgement.warnings.empty());
  EXPECT_THAT(audit(judgement), Contains(Pair("rules", "ENV-01")));
  EXPECT_THAT(audit(judgement), Contains(Pair("mode", "audit")));
  ASSERT_EQ(judgement.counts.size(), 1u);
  EXPECT_EQ(judgement.counts[0].mode, Mode::kAudit);
}

TEST(Judge, ThousandsOfFindingsStayShort) {
  TestPod pod;
  for (int i = 0; i < 20000; ++i)
    pod.spec.containers.push_back(privileged(taking_all("c" + std::to_string(i))));
  const Judgement judgement = judge_create(pod);
  EXPECT_FALSE(judgement.allowed);
  EXPECT_LE(judgement.message.size(), kMessageLength);
  EXPECT_THAT(judgement.message, EndsWith("more findings"));
  EXPECT_EQ(judgement.causes.size(), kMaxCauses);
  std::size_t length = 0;
  for (const std::string& warning : judgement.warnings)
    length += warning.size();
  EXPECT_LE(length, kWarningsLength);
  EXPECT_THAT(judgement.warnings.back(), EndsWith("more findings"));
  EXPECT_EQ(judgement.findings.size(), 40000u);
}

TEST(Judge, TellsReasonAndRemedyOnceForAll) {
  const Judgement judgement =
      judge_create(TestPod().with(taking_all("a")).with(taking_all("b")).with(taking_all("c")));
  const std::size_t first = judgement.message.find("Fix: ");
  EXPECT_NE(first, std::string::npos);
  EXPECT_EQ(judgement.message.find("Fix: ", first + 1), std::string::npos);
  EXPECT_THAT(judgement.causes[2].message, HasSubstr("Fix: "));
}

TEST(Judge, MessagesHaveNoControlCharacters) {
  TestPod pod = TestPod()
                    .with(with_env(container("a\nb\x1b[31m"), "NVIDIA_VISIBLE_DEVICES",
                                   "\x07"
                                   "0\r\n"))
                    .with(host_path("/dev/\x01/../nvidia0\n", "v\x7f"))
                    .of_class("nvidia");
  pod.metadata.annotations["cdi.k8s.io/\n"] = "x";
  pod.spec.node_name = "n\n";
  const Judgement judgement = judge_create(pod);
  std::string all = judgement.message;
  for (const Cause& cause : judgement.causes)
    all += cause.message + cause.field;
  for (const std::string& warning : judgement.warnings)
    all += warning;
  for (const char c : all)
    EXPECT_TRUE(c == '\n' || (c >= 0x20 && c < 0x7f)) << static_cast<int>(c);
  EXPECT_EQ(std::count(judgement.message.begin(), judgement.message.end(), '\n') + 1,
            static_cast<std::ptrdiff_t>(judgement.findings.size()));
}

TEST(JudgeWorkload, WarnsWithTheTextThatThePodWouldGet) {
  const TestPod pod = TestPod().with(taking_all());
  Review review;
  review.subjects.push_back(pod.template_of("Deployment"));
  const Judgement judgement = judge(Policy(), review, kNow);
  EXPECT_TRUE(judgement.allowed);
  ASSERT_GE(judgement.warnings.size(), 2u);
  EXPECT_EQ(judgement.warnings[0], "The pods of this Deployment will be denied:");
  std::string joined;
  for (std::size_t i = 1; i < judgement.warnings.size(); ++i)
    joined += (i == 1 ? "" : " ") + judgement.warnings[i].substr(i == 1 ? 0 : 2);
  EXPECT_EQ(joined, judge_create(pod).message);
  ASSERT_EQ(judgement.counts.size(), 1u);
  EXPECT_EQ(judgement.counts[0].mode, Mode::kWarn);
  EXPECT_EQ(judgement.findings[0].mode, Mode::kEnforce);
  EXPECT_EQ(judgement.findings[0].field, "spec.template.spec.containers[0].env[0]");
}

TEST(JudgeWorkload, DeniesWhereConfigured) {
  PolicyOptions options;
  options.workloads = "deny";
  const TestPod pod = TestPod().with(taking_all());
  Review review;
  review.subjects.push_back(pod.template_of("Deployment"));
  EXPECT_FALSE(judge(policy_of(options), review, kNow).allowed);
}

TEST(JudgeWorkload, JudgesEveryTemplate) {
  const TestPod head = TestPod().with(asking(container()));
  const TestPod worker = TestPod().with(taking_all());
  Review review;
  review.subjects.push_back(
      {head.metadata, head.spec, "team-a", "spec.headGroupSpec.template", "RayCluster"});
  review.subjects.push_back(
      {worker.metadata, worker.spec, "team-a", "spec.workerGroupSpecs[0].template", "RayCluster"});
  const Judgement judgement = judge(Policy(), review, kNow);
  ASSERT_EQ(judgement.findings.size(), 1u);
  EXPECT_THAT(judgement.findings[0].field, StartsWith("spec.workerGroupSpecs[0].template.spec."));
}

TEST(JudgeUpdate, CountsOnlyWhatIsNew) {
  const TestPod old = TestPod().with(taking_all()).with(host_path("/dev/nvidia0"));
  TestPod now = old;
  now.spec.containers[0].image = "other";
  now.metadata.annotations["note"] = "x";
  EXPECT_TRUE(judge_update(old, now).allowed);
  EXPECT_TRUE(judge_update(old, now).findings.empty());
  now.metadata.annotations["cdi.k8s.io/gpu"] = "nvidia.com/gpu=all";
  const Judgement judgement = judge_update(old, now);
  EXPECT_EQ(verdicts(judgement), (Verdicts{"enforce ANN-01"}));
  EXPECT_FALSE(judgement.allowed);
}

TEST(JudgeUpdate, AnotherValueIsNew) {
  const TestPod old = TestPod().with(taking_all());
  TestPod now = old;
  now.spec.containers[0].env[0].value = "0";
  EXPECT_FALSE(judge_update(old, now).allowed);
}

TEST(JudgeUpdate, MovingAContainerIsNotNew) {
  const TestPod old = TestPod().with(taking_all());
  TestPod now = old;
  now.spec.containers.insert(now.spec.containers.begin(), container("first"));
  EXPECT_TRUE(judge_update(old, now).allowed);
}

TEST(JudgeUpdate, NeverStopsWhatIsBeingDeleted) {
  const TestPod old = TestPod().with(container());
  TestPod now = old;
  now.metadata.annotations["cdi.k8s.io/gpu"] = "x";
  now.metadata.deleting = true;
  const Judgement judgement = judge_update(old, now);
  EXPECT_TRUE(judgement.allowed);
  EXPECT_THAT(audit(judgement), Contains(Pair("skipped", "being deleted")));

  Review review;
  review.operation = Operation::kUpdate;
  review.deleting = true;
  const TestPod bad = TestPod().with(taking_all());
  review.subjects.push_back(bad.template_of("Job"));
  EXPECT_TRUE(judge(Policy(), review, kNow).findings.empty());
}

TEST(JudgeEphemeral, OnlyNewContainersAreJudged) {
  const TestPod old = TestPod().with(privileged(container())).with_ephemeral(taking_all("d1"));
  TestPod now = old;
  now.spec.ephemeral_containers.push_back(container("d2"));
  EXPECT_TRUE(judge_update(old, now, "ephemeralcontainers").findings.empty());
  now.spec.ephemeral_containers.push_back(taking_all("d3"));
  const Judgement judgement = judge_update(old, now, "ephemeralcontainers");
  ASSERT_EQ(verdicts(judgement), (Verdicts{"enforce ENV-01"}));
  EXPECT_EQ(judgement.findings[0].container, "d3");
  EXPECT_EQ(judgement.findings[0].field, "spec.ephemeralContainers[2].env[0]");
}

TEST(JudgeEphemeral, DoNotInheritTheRequestOfOthers) {
  const TestPod old = TestPod().with(asking(container()));
  TestPod now = old;
  now.spec.ephemeral_containers.push_back(taking_all("debug"));
  EXPECT_FALSE(judge_update(old, now, "ephemeralcontainers").allowed);
}

struct CapCase {
  const char* cap;
  Verdicts expected;
};

TEST(JudgeEphemeral, AModeOfTheirOwnIsTheStrictestForThem) {
  const TestPod old = TestPod().with(asking(container()));
  TestPod now = old;
  now.spec.ephemeral_containers.push_back(privileged(taking_all("debug")));
  for (const CapCase& c :
       {CapCase{"enforce", {"enforce ENV-01", "warn PRIV-01"}},
        CapCase{"warn", {"warn ENV-01", "warn PRIV-01"}},
        CapCase{"audit", {"audit ENV-01", "audit PRIV-01"}}, CapCase{"off", {}}}) {
    PolicyOptions options;
    options.modes = {{"EPH-01", c.cap, {"team-a"}}};
    const Policy policy = policy_of(options);
    EXPECT_EQ(verdicts(judge_update(old, now, "ephemeralcontainers", policy)), c.expected) << c.cap;
    TestPod elsewhere = now;
    elsewhere.metadata.namespace_ = "team-b";
    EXPECT_EQ(verdicts(judge_update(old, elsewhere, "ephemeralcontainers", policy)),
              (Verdicts{"enforce ENV-01", "warn PRIV-01"}));
  }
}

TEST(JudgeEphemeral, TheirModeSparesNoOtherContainer) {
  PolicyOptions options;
  options.modes = {{"EPH-01", "off", {}}};
  const Policy policy = policy_of(options);
  TestPod pod = TestPod().with(taking_all("a"));
  EXPECT_FALSE(judge_create(pod, policy).allowed);
  // A custom resource's template may use one name twice.
  pod.spec.ephemeral_containers.push_back(container("a"));
  EXPECT_FALSE(judge_create(pod, policy).allowed);
}

TEST(JudgeResize, IsAnUpdateLikeOthers) {
  const TestPod old = TestPod().with(taking_all()).on("gpu-a");
  TestPod now = old;
  now.spec.containers[0].resources.limits["cpu"] = kube::Quantity(2);
  EXPECT_TRUE(judge_update(old, now, "resize").allowed);
}

TEST(JudgeMirror, PassesWithAnAuditAnnotation) {
  const TestPod pod =
      TestPod().with(taking_all()).on("gpu-a").annotated("kubernetes.io/config.mirror", "3f2c");
  const Judgement judgement = judge_create(pod);
  EXPECT_TRUE(judgement.allowed);
  EXPECT_THAT(audit(judgement), Contains(Pair("skipped", "mirror pod")));
}

TEST(JudgeMirror, IsNoExcuseForATemplate) {
  const TestPod pod = TestPod().with(taking_all()).annotated("kubernetes.io/config.mirror", "3f2c");
  Review review;
  review.subjects.push_back(pod.template_of("Deployment"));
  EXPECT_EQ(judge(Policy(), review, kNow).findings.size(), 1u);
}

TEST(Judge, LeavesDeletionAndConnectionAlone) {
  const TestPod pod = TestPod().with(taking_all());
  for (const Operation operation : {Operation::kDelete, Operation::kConnect}) {
    Review review;
    review.operation = operation;
    review.subjects.push_back(pod.subject());
    EXPECT_TRUE(judge(Policy(), review, kNow).allowed);
  }
}

TEST(JudgeExempt, SaysByWhatAndForWhich) {
  const TestPod pod = TestPod()
                          .in("gpu-operator")
                          .as("nvidia-operator-validator")
                          .with(privileged(taking_all()))
                          .with(host_path("/dev/char"));
  const Judgement judgement = judge_create(pod);
  EXPECT_TRUE(judgement.allowed);
  EXPECT_TRUE(judgement.warnings.empty());
  EXPECT_EQ(judgement.exempt.size(), 3u);
  EXPECT_THAT(
      audit(judgement),
      Contains(Pair("exempted-by", "gpu-operator:HP-01,gpu-operator:ENV-01,gpu-operator:PRIV-01")));
}

TEST(JudgeAudit, KeysAreNamesThatTheApiServerTakes) {
  const Judgement judgement = judge_create(TestPod().with(taking_all()));
  for (const auto& [key, value] : judgement.audit_annotations) {
    EXPECT_LE(key.size(), 63u);
    EXPECT_EQ(key.find('/'), std::string::npos);
    EXPECT_FALSE(value.empty());
  }
}

}  // namespace
}  // namespace rankward::admission
