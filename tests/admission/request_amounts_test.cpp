// REQ-01.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const Verdicts kWarned{"warn REQ-01"};

kube::Quantity quantity(const char* text) {
  return kube::Quantity::parse(text).value();
}

// "" stands for no entry.
kube::Container with_amounts(const char* limit, const char* request,
                             const std::string& resource = "nvidia.com/gpu") {
  kube::Container out = container();
  if (*limit != '\0') out.resources.limits[resource] = quantity(limit);
  if (*request != '\0') out.resources.requests[resource] = quantity(request);
  return out;
}

Finding only_finding(const TestPod& pod) {
  const Judgement judgement = judge_create(pod);
  EXPECT_EQ(verdicts(judgement), kWarned);
  return judgement.findings.empty() ? Finding() : judgement.findings[0];
}

struct Amounts {
  const char* limit;
  const char* request;
  const char* says;   // "" for an honest one
  const char* field;  // below the container's resources
};

// field/admission.md section 5: what the API server makes of each literal.
TEST(RequestAmounts, AreReadAsTheApiServerReadsThem) {
  const std::vector<Amounts> cases{
      {"1", "", "", ""},
      {"8", "8", "", ""},
      {"1000m", "1", "", ""},
      {"1e0", "1", "", ""},
      {"1k", "1000", "", ""},
      {"2Ki", "2048", "", ""},
      {"0.9999", "", "", ""},
      {"999999999n", "", "", ""},
      {"0.5", "", "no whole number", "limits"},
      {"500m", "500m", "no whole number", "limits"},
      {"1500m", "", "no whole number", "limits"},
      {"1u", "", "no whole number", "limits"},
      {"-1", "", "negative", "limits"},
      {"-1", "-1", "negative", "limits"},
      {"4", "2", "requests 2 but limits 4", "requests"},
      {"2", "4", "requests 4 but limits 2", "requests"},
      {"", "1", "requested without a limit", "requests"},
      {"1", "0.5", "no whole number", "requests"},
      {"0", "", "0 is no request", "limits"},
      {"0", "0", "0 is no request", "limits"},
      {"-0", "", "0 is no request", "limits"},
  };
  for (const Amounts& c : cases) {
    SCOPED_TRACE(std::string(c.limit) + "/" + c.request);
    const TestPod pod = TestPod().with(with_amounts(c.limit, c.request));
    if (*c.says == '\0') {
      EXPECT_EQ(verdicts(pod), Verdicts{});
      continue;
    }
    const Finding found = only_finding(pod);
    EXPECT_THAT(found.what, HasSubstr(c.says));
    EXPECT_EQ(found.field,
              "spec.containers[0].resources." + std::string(c.field) + "[\"nvidia.com/gpu\"]");
    EXPECT_EQ(found.container, "train");
  }
}

TEST(RequestAmounts, OfEveryAcceleratorAreJudgedAndOfNothingElse) {
  for (const char* name : {"nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared", "amd.com/gpu",
                           "gpu.intel.com/i915", "habana.ai/gaudi", "google.com/tpu"})
    EXPECT_EQ(verdicts(TestPod().with(with_amounts("4", "2", name))), kWarned) << name;
  for (const char* name : {"cpu", "memory", "example.com/licence"})
    EXPECT_EQ(verdicts(TestPod().with(with_amounts("4", "2", name))), Verdicts{}) << name;
}

TEST(RequestAmounts, OfEachContainerAreJudgedByThemselves) {
  const TestPod pod = TestPod()
                          .with(asking(container()))
                          .with(with_amounts("2", "1"))
                          .with_init(with_amounts("0.5", ""));
  EXPECT_EQ(verdicts(pod), (Verdicts{"warn REQ-01", "warn REQ-01"}));
}

TEST(RequestAmounts, OfZeroBesideAnotherAcceleratorAreMeant) {
  kube::Container train = asking(container());
  train.resources.limits["amd.com/gpu"] = kube::Quantity(0);
  EXPECT_EQ(verdicts(TestPod().with(train)), Verdicts{});
}

TEST(RequestAmounts, ThatNobodyCanReadAreNamedAsWritten) {
  kube::Container train = container();
  train.resources.unreadable = {{"limits[\"nvidia.com/gpu\"]", "two"}, {"limits[\"cpu\"]", "many"}};
  const Finding found = only_finding(TestPod().with(train));
  EXPECT_THAT(found.what, HasSubstr("nvidia.com/gpu: \"two\" is no amount"));
  EXPECT_EQ(found.field, "spec.containers[0].resources.limits[\"nvidia.com/gpu\"]");
}

TEST(RequestAmounts, OfSeveralKindsInOneContainerAreNoRequestThatAProgramCanUse) {
  const auto both = [](const char* a, const char* b) {
    return TestPod().with(asking(asking(container(), a), b));
  };
  EXPECT_EQ(verdicts(both("nvidia.com/gpu", "nvidia.com/mig-1g.10gb")), kWarned);
  EXPECT_EQ(verdicts(both("nvidia.com/gpu", "nvidia.com/gpu.shared")), kWarned);
  EXPECT_EQ(verdicts(both("nvidia.com/mig-1g.10gb.shared", "nvidia.com/mig-1g.10gb")), kWarned);
  EXPECT_EQ(verdicts(both("nvidia.com/gpu", "nvidia.com/gpumem")), Verdicts{}) << "HAMi";
  EXPECT_EQ(verdicts(both("nvidia.com/gpu", "rdma/ib")), Verdicts{});
  EXPECT_EQ(verdicts(both("nvidia.com/mig-1g.10gb", "nvidia.com/mig-2g.20gb")), Verdicts{});
  const TestPod apart =
      TestPod().with(asking(container("a"))).with(asking(container("b"), "nvidia.com/mig-1g.10gb"));
  EXPECT_EQ(verdicts(apart), Verdicts{});
}

// Case 43.
TEST(RequestAmounts, ByClaimNeedTheClaimInThePod) {
  kube::Container train = container();
  train.resources.claims = {"gpuz"};
  TestPod pod = TestPod().with(train);
  pod.spec.resource_claims = {{"gpus", "", "4-gpus"}};
  EXPECT_THAT(only_finding(pod).what, HasSubstr("claim \"gpuz\" is not in spec.resourceClaims"));
  pod.spec.containers[0].resources.claims = {"gpus"};
  EXPECT_EQ(verdicts(pod), Verdicts{});
}

Verdicts on_cluster(const TestPod& pod, const ClusterFacts& facts, std::string* what = nullptr) {
  Review review;
  review.subjects.push_back(pod.subject());
  review.subjects[0].cluster = &facts;
  const Judgement judgement = judge(Policy(), review, kNow);
  if (what != nullptr && !judgement.findings.empty()) *what = judgement.findings[0].what;
  return verdicts(judgement);
}

TEST(RequestAmounts, GreaterThanTheLargestNodeAreWarnedOf) {
  ClusterFacts facts;
  facts.largest_node = {{"nvidia.com/gpu", 8}, {"nvidia.com/mig-1g.10gb", 0}};
  const auto gpus = [](std::int64_t count) {
    return TestPod().with(asking(container(), "nvidia.com/gpu", count));
  };
  EXPECT_EQ(on_cluster(gpus(8), facts), Verdicts{});
  std::string what;
  EXPECT_EQ(on_cluster(gpus(9), facts, &what), kWarned);
  EXPECT_THAT(what, HasSubstr("asks for nvidia.com/gpu: 9, and the largest node has 8"));
  EXPECT_EQ(on_cluster(TestPod()
                           .with(asking(container("a"), "nvidia.com/gpu", 6))
                           .with(asking(container("b"), "nvidia.com/gpu", 4)),
                       facts),
            kWarned)
      << "together";
  EXPECT_EQ(on_cluster(TestPod()
                           .with(asking(container("a"), "nvidia.com/gpu", 8))
                           .with_init(asking(container("b"), "nvidia.com/gpu", 8)),
                       facts),
            Verdicts{})
      << "one after the other";
  EXPECT_EQ(on_cluster(TestPod().with(asking(container(), "amd.com/gpu", 64)), facts), Verdicts{})
      << "a resource that no node has yet";
  EXPECT_EQ(on_cluster(TestPod().with(asking(container(), "nvidia.com/mig-1g.10gb", 7)), facts),
            Verdicts{})
      << "slices that no node has now";
  EXPECT_EQ(verdicts(gpus(9)), Verdicts{}) << "nothing known of the cluster";
  EXPECT_EQ(on_cluster(TestPod().with(with_amounts("1Ei", "")), facts), kWarned);
}

}  // namespace
}  // namespace rankward::admission
