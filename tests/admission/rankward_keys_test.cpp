// KEY-01.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"
#include "rankward/kube/rankward_keys.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

TestPod training() {
  return TestPod().with(asking(container()));
}

std::string text_of(const TestPod& pod) {
  return judge_create(pod).message;
}

const Verdicts kDenied{"enforce KEY-01"};

TEST(RankwardKeys, InTheirFormPass) {
  const std::vector<std::pair<std::string, std::string>> honest{
      {"rankward.io/gang", "llama"},
      {"rankward.io/gang-size", "8"},
      {"rankward.io/rank", "0"},
      {"rankward.io/topology-required", "nvidia.com/gpu.clique"},
      {"rankward.io/topology-preferred", "leaf"},
      {"rankward.io/transport", "tcp"},
      {"rankward.io/sharing", "exclusive"},
      {"rankward.io/gpu-memory", "12Gi"},
      {"rankward.io/message-size", "64M"},
      {"rankward.io/with-kueue", "true"},
      {"rankward.io/assigned-gpus", "0,1"},
      {"example.com/gang", "what we never read"},
      {"rankward.io.example.com/gang", "neither this"}};
  for (const auto& [key, value] : honest) {
    EXPECT_THAT(verdicts(training().annotated(key, value)), Not(Contains("enforce KEY-01"))) << key;
  }
}

struct Typo {
  const char* key;
  const char* nearest;
};

TEST(RankwardKeys, ThatAreNotKnownAreDeniedWithTheNearestNamedFirst) {
  for (const Typo& typo :
       {Typo{"rankward.io/gang-sise", "\"rankward.io/gang-size\""},
        Typo{"rankward.io/gangsize", "\"rankward.io/gang-size\""},
        Typo{"rankward.io/Gang", "\"rankward.io/gang\""},
        Typo{"rankward.io/gpu-mem", "\"rankward.io/gpu-memory\""},
        Typo{"rankward.io/topology-require", "\"rankward.io/topology-required\""},
        Typo{"rankward.io/transports", "\"rankward.io/transport\""}}) {
    const TestPod pod = training().annotated(typo.key, "4");
    EXPECT_EQ(verdicts(pod), kDenied) << typo.key;
    EXPECT_THAT(text_of(pod), HasSubstr(std::string("nearest one is ") + typo.nearest));
    for (const kube::RankwardKey& known : kube::rankward_keys()) {
      if (known.accepts == nullptr) continue;
      EXPECT_THAT(text_of(pod), HasSubstr(std::string(known.key.substr(12)))) << known.key;
    }
  }
}

TEST(RankwardKeys, OfAnyLengthAreCompared) {
  const std::string key = "rankward.io/" + std::string(5'000, 'g');
  const Judgement judgement = judge_create(training().annotated(key, "x"));
  ASSERT_EQ(verdicts(judgement), kDenied);
  EXPECT_EQ(judgement.findings[0].field, "metadata.annotations[\"" + key + "\"]");
  EXPECT_LT(judgement.message.size(), 1'024U);
}

TEST(RankwardKeys, WithValuesOutsideTheirFormAreDeniedWithTheFormNamed) {
  const std::vector<std::array<std::string, 3>> cases{
      {"rankward.io/gang-size", "four", "must be a whole number from 1 to 100000"},
      {"rankward.io/rank", "-1", "must be a whole number from 0 to 99999"},
      {"rankward.io/transport", "RDMA", "must be one of rdma-required, rdma-preferred, tcp, any"},
      {"rankward.io/sharing", "slice", "must be one of exclusive, mig, shared"},
      {"rankward.io/gpu-memory", "12GB", "such as 12Gi"},
      {"rankward.io/message-size", "-1", "positive quantity of bytes"},
      {"rankward.io/gang", "a/b", "letters, digits"},
      {"rankward.io/topology-required", "a/b/c", "node label's key"},
      {"rankward.io/with-kueue", "yes", "must be \"true\""},
      {"rankward.io/assigned-gpus", "GPU-0", "such as 0,1"}};
  for (const auto& [key, value, form] : cases) {
    const TestPod pod = training().annotated(key, value);
    EXPECT_EQ(verdicts(pod), kDenied) << key;
    EXPECT_THAT(text_of(pod), HasSubstr("\"" + key + "\"=\"" + value + "\" must be "));
    EXPECT_THAT(text_of(pod), HasSubstr(form));
  }
}

TEST(RankwardKeys, InTheWrongPlaceAreDeniedWithTheRightOneNamed) {
  const auto labelled = [](const char* key, const char* value) {
    TestPod pod = training();
    pod.metadata.labels[key] = value;
    return pod;
  };
  EXPECT_EQ(verdicts(labelled("rankward.io/gang", "g")), kDenied);
  EXPECT_THAT(text_of(labelled("rankward.io/gang", "g")),
              HasSubstr("label \"rankward.io/gang\" is an annotation, not a label"));
  EXPECT_THAT(text_of(training().annotated("rankward.io/fabric-test", "true")),
              HasSubstr("is a label, not an annotation"));
  EXPECT_THAT(text_of(training().annotated("rankward.io/topology", "{}")),
              HasSubstr("belongs on Nodes"));
  EXPECT_THAT(text_of(labelled("rankward.io/isolation", "required")),
              HasSubstr("belongs on Namespaces"));
  EXPECT_EQ(verdicts(labelled("rankward.io/slo", "gold")), kDenied);
  EXPECT_EQ(verdicts(labelled("rankward.io/fabric-test", "true")), Verdicts{});
  EXPECT_EQ(verdicts(labelled("rankward.io/fabric-test", "yes")), kDenied);
}

TEST(RankwardKeys, OfTemplatesAreNamedByTheirPath) {
  const TestPod pod = training().annotated("rankward.io/gnag", "g");
  Review review;
  review.subjects.push_back(pod.template_of("Job"));
  const Judgement judgement = judge(Policy(), review, kNow);
  ASSERT_EQ(verdicts(judgement), kDenied);
  EXPECT_EQ(judgement.findings[0].field,
            "spec.template.metadata.annotations[\"rankward.io/gnag\"]");
  EXPECT_TRUE(judgement.allowed) << "a workload object is warned of";
}

TEST(RankwardKeys, OfGatesThatNobodyLiftsAreDenied) {
  TestPod pod = training();
  pod.spec.scheduling_gates = {"kueue.x-k8s.io/admission", "rankward.io/gnag"};
  const Judgement judgement = judge_create(pod);
  ASSERT_EQ(verdicts(judgement), kDenied);
  EXPECT_EQ(judgement.findings[0].field, "spec.schedulingGates[1]");
  pod.spec.scheduling_gates = {"rankward.io/gang"};
  EXPECT_EQ(verdicts(pod), Verdicts{});
}

TEST(RankwardKeys, ThatStoodBeforeAreNotDeniedOnUpdate) {
  const TestPod old = training().annotated("rankward.io/gnag", "g");
  TestPod now = old;
  now.metadata.labels["x"] = "y";
  EXPECT_EQ(verdicts(judge_update(old, now)), Verdicts{});
  now.metadata.annotations["rankward.io/gnag"] = "h";
  EXPECT_EQ(verdicts(judge_update(old, now)), kDenied);
}

TEST(GangBesideKueue, NeedsTheOptIn) {
  const auto queued = [](TestPod pod) {
    pod.metadata.labels["kueue.x-k8s.io/queue-name"] = "team-a";
    return pod;
  };
  TestPod gang = queued(training().annotated("rankward.io/gang", "g"));
  gang.metadata.annotations["rankward.io/gang-size"] = "1";
  EXPECT_EQ(verdicts(gang), kDenied);
  EXPECT_THAT(text_of(gang), HasSubstr("rankward.io/with-kueue: \"true\""));
  TestPod gated = queued(training());
  gated.spec.scheduling_gates = {"rankward.io/gang"};
  EXPECT_EQ(verdicts(gated), kDenied);
  EXPECT_EQ(verdicts(queued(training())), Verdicts{});
  gang.metadata.annotations["rankward.io/with-kueue"] = "true";
  EXPECT_EQ(verdicts(gang), Verdicts{});
  gated.metadata.annotations["rankward.io/with-kueue"] = "true";
  EXPECT_EQ(verdicts(gated), Verdicts{});
}

TEST(GangBesideKueue, IsSeenByTheQueueOfTheWorkloadObject) {
  TestPod pod = training().annotated("rankward.io/gang", "g");
  pod.metadata.annotations["rankward.io/gang-size"] = "1";
  kube::ObjectMeta job;
  job.labels["kueue.x-k8s.io/queue-name"] = "team-a";
  Review review;
  review.subjects.push_back(pod.template_of("Job"));
  review.subjects[0].object_metadata = &job;
  EXPECT_EQ(verdicts(judge(Policy(), review, kNow)), kDenied);
  job.annotations["rankward.io/with-kueue"] = "true";
  EXPECT_EQ(verdicts(judge(Policy(), review, kNow)), Verdicts{});
}

}  // namespace
}  // namespace rankward::admission
