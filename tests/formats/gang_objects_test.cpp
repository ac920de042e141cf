// When an object says nothing of a gang, what it may not say, and how it is found.
#include "rankward/formats/gang_objects.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "gang_yaml.hpp"

namespace rankward::formats {
namespace {

using placement::RoleSize;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(GangObjects, SayNothingWhereThereIsNoGangOrAnotherSpeaks) {
  for (const std::string_view object : {// Pods independent of each other.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: work, namespace: ml, uid: "1"}
spec: {parallelism: 8, template: {spec: {containers: []}}}
)",
                                        R"(
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: db, namespace: ml, uid: "1"}
spec: {replicas: 3, template: {spec: {containers: []}}}
)",
                                        // One of several Jobs of a set.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: pt-workers-0
  namespace: ml
  uid: "2"
  ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: pt, uid: 5a2e, controller: true}]
spec:
  completionMode: Indexed
  parallelism: 4
  completions: 4
  template: {metadata: {labels: {jobset.sigs.k8s.io/jobset-name: pt}}, spec: {containers: []}}
)",
                                        // One group's workers of a LeaderWorkerSet.
                                        R"(
apiVersion: apps/v1
kind: StatefulSet
metadata:
  name: vllm-0
  namespace: ml
  uid: "3"
  ownerReferences: [{apiVersion: v1, kind: Pod, name: vllm-0, uid: "9", controller: true}]
spec:
  replicas: 3
  template: {metadata: {labels: {leaderworkerset.sigs.k8s.io/group-key: k}}, spec: {containers: []}}
)",
                                        // Ended.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: done, namespace: ml, uid: "4"}
spec: {completionMode: Indexed, parallelism: 2, completions: 2, template: {spec: {containers: []}}}
status: {conditions: [{type: Complete, status: "True"}], succeeded: 2}
)",
                                        R"(
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: done, namespace: ml, uid: "5"}
spec: {tasks: [{name: w, replicas: 2, template: {}}]}
status: {state: {phase: Completed}}
)",
                                        // Nobody runs, or more than any cluster holds.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: none, namespace: ml, uid: "6"}
spec: {completionMode: Indexed, parallelism: 0, completions: 0, template: {spec: {containers: []}}}
)",
                                        R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: huge, namespace: ml, uid: "7"}
spec:
  replicatedJobs:
  - name: w
    replicas: 2147483647
    template: {spec: {parallelism: 2147483647, completions: 2147483647, template: {}}}
)",
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: negative, namespace: ml, uid: "8"}
spec: {completionMode: Indexed, parallelism: -3, completions: 4, template: {spec: {containers: []}}}
)",
                                        // A template that says what cannot be read.
                                        R"(
apiVersion: batch/v1
kind: Job
metadata: {name: odd, namespace: ml, uid: "9"}
spec:
  completionMode: Indexed
  parallelism: 2
  completions: 2
  template: {metadata: {annotations: {rankward.io/gang: "a b"}}, spec: {containers: []}}
)"}) {
    const GangOwner owner = owner_of(object);
    // What is left for the job with a negative number is that it cannot run all at once.
    for (const placement::GangFacts& facts : owner.facts) {
      EXPECT_THAT(facts.sizes, IsEmpty()) << object;
      EXPECT_TRUE(facts.elastic) << object;
    }
  }
}

// A CronJob's Jobs and those of workflows are gangs like any other.
TEST(GangObjects, TakeAJobsOwnWordWhoeverMadeIt) {
  const GangOwner owner = owner_of(R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: nightly-28
  namespace: ml
  uid: "1"
  ownerReferences: [{apiVersion: batch/v1, kind: CronJob, name: nightly, uid: "0", controller: true}]
spec: {completionMode: Indexed, parallelism: 2, completions: 2, template: {spec: {containers: []}}}
)");
  EXPECT_EQ(owner.key, "jobs.batch/ml/nightly-28");
  ASSERT_EQ(owner.facts.size(), 1U);
  EXPECT_EQ(owner.facts[0].gang_key, "ml/Job/nightly-28/1");
}

// Each Job of such a set has a domain of its own, and its pods are in its own gang.
TEST(GangObjects, OfASetWithExclusiveTopologyAreTheJobs) {
  const GangOwner owner = owner_of(R"(
apiVersion: batch/v1
kind: Job
metadata:
  name: pt-workers-0
  namespace: ml
  uid: "2"
  annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}
  ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: pt, uid: 5a2e, controller: true}]
spec:
  completionMode: Indexed
  parallelism: 4
  completions: 4
  template:
    metadata:
      labels: {jobset.sigs.k8s.io/jobset-name: pt}
      annotations: {alpha.jobset.sigs.k8s.io/exclusive-topology: example.com/rack}
    spec: {containers: []}
)");
  ASSERT_EQ(owner.facts.size(), 1U);
  EXPECT_EQ(owner.facts[0].gang_key, "ml/Job/pt-workers-0/2");
  ASSERT_EQ(owner.facts[0].sizes.size(), 1U);
  EXPECT_EQ(owner.facts[0].sizes[0].pods, 4);
}

std::string training_job(const std::string& master, const std::string& worker) {
  return R"(
apiVersion: kubeflow.org/v1
kind: PyTorchJob
metadata: {name: pt, namespace: ml, uid: "1"}
spec:
  pytorchReplicaSpecs:
    Master: {replicas: 1, template: {spec: {containers: [)" +
         master + R"(]}}}
    Worker: {replicas: 3, template: {spec: {containers: [)" +
         worker + "]}}}\n";
}
constexpr const char* kEightGpus = R"({name: c, resources: {limits: {nvidia.com/gpu: 8}}})";

TEST(GangObjects, SayWhatTheRolesOfTheirTemplatesAskFor) {
  const auto sizes = owner_of(training_job("{name: c}", kEightGpus)).facts.at(0).sizes;
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[0].pod, nullptr) << "no rank";
  ASSERT_NE(sizes[1].pod, nullptr);
  EXPECT_EQ(sizes[1].pod->request.gpus(), 8);
  EXPECT_EQ(sizes[1].pod->request.gang->role, "worker");
  const auto again = owner_of(training_job("{name: c}", kEightGpus)).facts.at(0).sizes;
  EXPECT_EQ(sizes[1], again[1]) << "owners come with every change of their status";
  const auto other =
      owner_of(training_job("{name: c}", R"({name: c, resources: {limits: {nvidia.com/gpu: 4}}})"));
  EXPECT_NE(sizes[1], other.facts.at(0).sizes[1]);
}

TEST(GangObjects, CountTheirPodsThoughATemplateCannotBeRead) {
  const auto sizes =
      owner_of(
          training_job("{name: c}", R"({name: c, resources: {limits: {nvidia.com/gpu: "1x"}}})"))
          .facts.at(0)
          .sizes;
  ASSERT_EQ(sizes.size(), 2U);
  EXPECT_EQ(sizes[1].pods, 3);
  EXPECT_EQ(sizes[1].pod, nullptr);
}

// What comes after another has ended needs no place beside it.
TEST(GangObjects, DoNotCountRolesAheadThatWaitForOthers) {
  const auto sizes = owner_of(std::string(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js, namespace: ml, uid: "1"}
spec:
  replicatedJobs:
  - {name: first, template: {spec: {template: {spec: {containers: [)") +
                              kEightGpus + R"(]}}}}}
  - name: second
    dependsOn: [{name: first, status: Complete}]
    template: {spec: {template: {spec: {containers: [)" +
                              kEightGpus + "]}}}}\n")
                         .facts.at(0)
                         .sizes;
  ASSERT_EQ(sizes.size(), 2U);
  for (const auto& size : sizes)
    EXPECT_EQ(size.pod, nullptr);
}

// One gang of ours over two tasks: their numbers add up where they have one role.
TEST(GangObjects, AddUpPartsOfOneRole) {
  const GangOwner owner = owner_of(R"(
apiVersion: scheduling.run.ai/v2alpha2
kind: PodGroup
metadata: {name: pg, namespace: ml}
spec: {subGroups: [{name: a, minMember: 2}, {name: a, minMember: 3}]}
)");
  ASSERT_EQ(owner.facts.size(), 1U);
  EXPECT_THAT(owner.facts[0].sizes, ElementsAre(RoleSize{"a", 5, 0}));
}

TEST(GangObjects, BoundTheirParts) {
  const GangResource& group = *find_gang_resource("scheduling.run.ai/v2alpha2", "PodGroup");
  const auto with_sub_groups = [&](int count, const std::string& least) {
    std::string groups;
    for (int i = 0; i < count; ++i) {
      groups += (i == 0 ? "" : ",") + std::string(R"({"name":"a","minMember":)") + least + "}";
    }
    return read_gang_owner(group,
                           R"({"metadata":{"name":"pg"},"spec":{"subGroups":[)" + groups + "]}}");
  };
  EXPECT_EQ(with_sub_groups(1000, "2").value().facts.at(0).sizes.at(0).pods, 2000);
  EXPECT_FALSE(with_sub_groups(1001, "2"));
  EXPECT_THAT(with_sub_groups(1000, "100000").value().facts, IsEmpty()) << "no gang has so many";
}

TEST(GangObjects, AreReadWhateverTheOrderOfTheirFields) {
  const GangOwner owner =
      read_gang_owner(*find_gang_resource("batch/v1", "Job"),
                      R"({"spec":{"template":{},"completions":2,"completionMode":"Indexed",)"
                      R"("parallelism":2},"metadata":{"uid":"u","namespace":"n","name":"j"}})")
          .value();
  ASSERT_EQ(owner.facts.size(), 1U);
  EXPECT_EQ(owner.facts[0].gang_key, "n/Job/j/u");
}

TEST(GangObjects, NameTheFieldThatCannotBeRead) {
  const GangResource& job = *find_gang_resource("batch/v1", "Job");
  const auto text = read_gang_owner(job, R"({"spec":{"parallelism":"two"}})");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().field(), "spec.parallelism");
  const auto twice = read_gang_owner(
      *find_gang_resource("kubeflow.org/v1", "PyTorchJob"),
      R"({"spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":1},"Worker":{"replicas":2}}}})");
  EXPECT_FALSE(twice);
}

TEST(GangObjects, AreFoundByGroupVersionAndKind) {
  EXPECT_EQ(find_gang_resource("batch/v1", "Job")->name(), "jobs.batch");
  EXPECT_EQ(find_gang_resource("batch.volcano.sh/v1alpha1", "Job")->name(),
            "jobs.batch.volcano.sh");
  EXPECT_EQ(find_gang_resource("kubeflow.org/v1", "MPIJob"),
            find_gang_resource("kubeflow.org/v2beta1", "MPIJob"));
  EXPECT_EQ(find_gang_resource("batch/v1beta1", "Job"), nullptr);
  EXPECT_EQ(find_gang_resource("v1", "Pod"), nullptr);
  // PriorityClasses were all that this version had until 1.22.
  EXPECT_EQ(find_gang_resource("scheduling.k8s.io/v1beta1", "PriorityClass"), nullptr);
}

// What a pod of theirs is looked up by: the same kind as gang_of() gives it.
TEST(GangObjects, SpeakOfTheGangsThatTheirPodsAreIn) {
  const auto kinds = [](std::string_view api_version, std::string_view kind) {
    return gang_kinds(*find_gang_resource(api_version, kind));
  };
  EXPECT_THAT(kinds("batch/v1", "Job"), ElementsAre("Gang", "Job"));
  EXPECT_THAT(kinds("jobset.x-k8s.io/v1alpha2", "JobSet"), ElementsAre("Gang", "JobSet"));
  EXPECT_THAT(kinds("kubeflow.org/v1", "PyTorchJob"), ElementsAre("Gang", "TrainingJob"));
  EXPECT_THAT(kinds("ray.io/v1", "RayCluster"), ElementsAre("Gang", "RayCluster"));
  EXPECT_THAT(kinds("batch.volcano.sh/v1alpha1", "Job"), ElementsAre("Gang", "PodGroup"));
  EXPECT_THAT(kinds("scheduling.k8s.io/v1beta1", "PodGroup"), ElementsAre("Gang", "PodGroup"));
  EXPECT_THAT(kinds("scheduler.grove.io/v1alpha1", "PodGang"), ElementsAre("Gang", "PodGang"));
  // Its pods are independent of each other, unless they say that they are a gang.
  EXPECT_THAT(kinds("apps/v1", "StatefulSet"), ElementsAre("Gang"));
}

TEST(GangObjects, AreWatchedWhereTheApiServerListsThem) {
  constexpr std::string_view kList =
      R"({"kind":"APIResourceList","apiVersion":"v1","groupVersion":"batch/v1","resources":[)"
      R"({"name":"cronjobs","kind":"CronJob","verbs":["get","list","watch"]},)"
      R"({"name":"jobs","singularName":"job","namespaced":true,"kind":"Job",)"
      R"("verbs":["create","get","list","watch"],"categories":["all"]},)"
      R"({"name":"jobs/status","kind":"Job","verbs":["get","patch","update"]},)"
      R"({"name":"listed","kind":"Listed","verbs":["get","list"]}]})";
  EXPECT_EQ(lists_resource(kList, "jobs").value(), true);
  EXPECT_EQ(lists_resource(kList, "jobsets").value(), false);
  EXPECT_EQ(lists_resource(kList, "listed").value(), false);
  EXPECT_FALSE(lists_resource("not found", "jobs"));
}

}  // namespace
}  // namespace rankward::formats
