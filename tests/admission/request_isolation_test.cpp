// REQ-03.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::HasSubstr;

const Verdicts kWarned{"warn REQ-03"};

Policy isolating(std::vector<std::string> namespaces) {
  PolicyOptions options;
  options.isolated_namespaces = std::move(namespaces);
  return policy_of(options);
}

Judgement judge_in(const TestPod& pod, kube::StringMap labels) {
  ClusterFacts facts;
  facts.namespace_labels["team-a"] = std::move(labels);
  Review review;
  review.subjects.push_back(pod.subject());
  review.subjects[0].cluster = &facts;
  return judge(Policy(), review, kNow);
}

TestPod shared() {
  return TestPod().with(asking(container(), "nvidia.com/gpu.shared"));
}

TEST(RequestIsolation, IsAskedForByTheConfigurationsNamespaces) {
  EXPECT_EQ(verdicts(shared(), isolating({"team-*"})), kWarned);
  EXPECT_EQ(verdicts(shared(), isolating({"team-b", "prod-*"})), Verdicts{});
  EXPECT_EQ(verdicts(shared()), Verdicts{});
}

struct Labelled {
  kube::StringMap labels;
  bool asks;
};

TEST(RequestIsolation, IsAskedForByTheNamespacesLabels) {
  for (const Labelled& c : {Labelled{{{"rankward.io/isolation", "required"}}, true},
                            Labelled{{{"rankward.io/slo", "p99-20ms"}}, true},
                            Labelled{{{"rankward.io/isolation", "none"}}, false},
                            Labelled{{{"slo", "gold"}}, false}, Labelled{{}, false}})
    EXPECT_EQ(verdicts(judge_in(shared(), c.labels)), c.asks ? kWarned : Verdicts{});
  const Judgement judgement = judge_in(shared(), {{"rankward.io/slo", "gold"}});
  EXPECT_THAT(judgement.findings.at(0).what,
              HasSubstr("nvidia.com/gpu.shared shares its GPU with other pods, and namespace "
                        "\"team-a\" is labelled rankward.io/slo=\"gold\"."));
}

struct Part {
  const char* resource;
  std::int64_t amount;
  bool is_shared;
};

TEST(RequestIsolation, IsBrokenByPartsOfGpusAlone) {
  const Policy policy = isolating({"*"});
  for (const Part& c :
       {Part{"nvidia.com/gpu.shared", 1, true}, Part{"nvidia.com/mig-1g.10gb.shared", 1, true},
        Part{"nvidia.com/gpumem", 4000, true}, Part{"nvidia.com/gpumem-percentage", 50, true},
        Part{"nvidia.com/gpumem-percentage", 100, false},
        Part{"koordinator.sh/gpu-core", 200, false}, Part{"koordinator.sh/gpu-core", 50, true},
        Part{"aliyun.com/gpu-mem", 4, true}, Part{"nvidia.com/gpu", 1, false},
        Part{"nvidia.com/mig-1g.10gb", 1, false}, Part{"amd.com/gpu", 1, false}})
    EXPECT_EQ(verdicts(TestPod().with(asking(container(), c.resource, c.amount)), policy),
              c.is_shared ? kWarned : Verdicts{})
        << c.resource << ": " << c.amount;
  EXPECT_EQ(verdicts(TestPod().with(container()).annotated("gpu-fraction", "0.5"), policy),
            kWarned);
  EXPECT_EQ(verdicts(TestPod().with(container()), policy), Verdicts{});
}

}  // namespace
}  // namespace rankward::admission
