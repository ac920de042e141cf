// Which gang a pod is in, by its own metadata and environment.
#include <gtest/gtest.h>

#include "clusters.hpp"
#include "rankward/placement/request.hpp"

namespace rankward::placement {
namespace {

using testing::pod;

kube::Pod labelled(kube::StringMap labels, kube::StringMap annotations = {}) {
  kube::Pod pod = testing::pod("p", {{"nvidia.com/gpu", 1}}, std::move(annotations));
  pod.metadata.labels = std::move(labels);
  return pod;
}

struct Group {
  std::string name;
  kube::StringMap labels;
  kube::StringMap annotations;
  std::string key;
  std::optional<std::int32_t> size;
  std::optional<std::int32_t> rank;
  std::string role;
};

class GangOf : public ::testing::TestWithParam<Group> {};

TEST_P(GangOf, IsReadFromTheFrameworksKeys) {
  const auto gang = gang_of(labelled(GetParam().labels, GetParam().annotations)).value();
  ASSERT_TRUE(gang.has_value());
  EXPECT_EQ(gang->key, GetParam().key);
  EXPECT_EQ(gang->size, GetParam().size);
  EXPECT_EQ(gang->rank, GetParam().rank);
  EXPECT_EQ(gang->role, GetParam().role);
}

// field/topology.md, section 5.
INSTANTIATE_TEST_SUITE_P(
    EachFramework, GangOf,
    ::testing::Values(
        Group{
            "ours",
            {},
            {{"rankward.io/gang", "g"}, {"rankward.io/gang-size", "4"}, {"rankward.io/rank", "3"}},
            "team-a/Gang/g",
            4,
            3,
            ""},
        Group{"ours_with_the_jobs_index",
              {{"batch.kubernetes.io/job-name", "train"},
               {"batch.kubernetes.io/job-completion-index", "2"}},
              {{"rankward.io/gang", "g"}, {"rankward.io/gang-size", "4"}},
              "team-a/Gang/g",
              4,
              2,
              ""},
        Group{"job",
              {{"batch.kubernetes.io/job-name", "train"},
               {"batch.kubernetes.io/controller-uid", "u1"},
               {"batch.kubernetes.io/job-completion-index", "2"}},
              {},
              "team-a/Job/train/u1",
              {},
              2,
              ""},
        Group{"job_index_as_annotation",
              {{"job-name", "train"}},
              {{"batch.kubernetes.io/job-completion-index", "2"}},
              "team-a/Job/train",
              {},
              2,
              ""},
        Group{"job_set_of_several_jobs",
              {{"jobset.sigs.k8s.io/jobset-name", "js"},
               {"jobset.sigs.k8s.io/jobset-uid", "u2"},
               {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
               {"jobset.sigs.k8s.io/global-replicas", "2"},
               {"batch.kubernetes.io/job-name", "js-workers-0"},
               {"batch.kubernetes.io/job-completion-index", "1"}},
              {},
              "team-a/JobSet/js/u2",
              {},
              {},
              "workers"},
        Group{"job_set_of_one_job",
              {{"jobset.sigs.k8s.io/jobset-name", "js"},
               {"jobset.sigs.k8s.io/global-replicas", "1"},
               {"batch.kubernetes.io/job-completion-index", "1"}},
              {},
              "team-a/JobSet/js",
              {},
              1,
              ""},
        Group{"job_of_a_set_in_domains_of_their_own",
              {{"jobset.sigs.k8s.io/jobset-name", "js"},
               {"jobset.sigs.k8s.io/jobset-uid", "u2"},
               {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
               {"batch.kubernetes.io/job-name", "js-workers-1"},
               {"batch.kubernetes.io/controller-uid", "u3"},
               {"batch.kubernetes.io/job-completion-index", "1"}},
              {{"alpha.jobset.sigs.k8s.io/exclusive-topology", "example.com/rack"}},
              "team-a/Job/js-workers-1/u3",
              {},
              1,
              ""},
        Group{"jobs_of_such_a_set_that_are_one_gang",
              {{"jobset.sigs.k8s.io/jobset-name", "js"},
               {"jobset.sigs.k8s.io/replicatedjob-name", "workers"},
               {"jobset.sigs.k8s.io/global-replicas", "2"},
               {"batch.kubernetes.io/job-name", "js-workers-1"},
               {"batch.kubernetes.io/job-completion-index", "1"}},
              {{"alpha.jobset.sigs.k8s.io/exclusive-topology", "example.com/rack"},
               {"rankward.io/gang", "g"}},
              "team-a/Gang/g",
              {},
              {},
              "workers"},
        Group{"koordinator_without_a_total",
              {},
              {{"gang.scheduling.koordinator.sh/name", "g"},
               {"gang.scheduling.koordinator.sh/min-available", "6"}},
              "team-a/Gang/g",
              6,
              {},
              ""},
        Group{"leader_worker_set",
              {{"leaderworkerset.sigs.k8s.io/group-key", "abc"},
               {"leaderworkerset.sigs.k8s.io/worker-index", "0"}},
              {{"leaderworkerset.sigs.k8s.io/size", "8"}},
              "team-a/LeaderWorkerSet/abc",
              8,
              0,
              ""},
        Group{"kubeflow",
              {{"training.kubeflow.org/job-name", "pt"},
               {"training.kubeflow.org/replica-type", "worker"},
               {"training.kubeflow.org/replica-index", "5"}},
              {},
              "team-a/TrainingJob/pt",
              {},
              5,
              "worker"},
        Group{"ray_of_one_host_a_replica",
              {{"ray.io/cluster", "rc"},
               {"ray.io/group", "gpu"},
               {"ray.io/worker-group-replica-index", "3"}},
              {},
              "team-a/RayCluster/rc",
              {},
              3,
              "gpu"},
        // Hosts are numbered within each replica: these pods exist twice.
        Group{"ray_of_several_hosts_a_replica",
              {{"ray.io/cluster", "rc"},
               {"ray.io/group", "gpu"},
               {"ray.io/worker-group-replica-index", "3"},
               {"ray.io/replica-host-index", "1"}},
              {},
              "team-a/RayCluster/rc",
              {},
              {},
              "gpu"},
        Group{"mpi_operator_v2_by_its_job_role",
              {{"training.kubeflow.org/job-name", "mpi"},
               {"training.kubeflow.org/job-role", "worker"},
               {"training.kubeflow.org/replica-index", "1"}},
              {},
              "team-a/TrainingJob/mpi",
              {},
              1,
              "worker"},
        Group{"kubeflow_role_in_lower_case",
              {{"training.kubeflow.org/job-name", "pt"},
               {"training.kubeflow.org/replica-type", "Worker"},
               {"training.kubeflow.org/replica-index", "0"}},
              {},
              "team-a/TrainingJob/pt",
              {},
              0,
              "worker"},
        // As the training operator marks pods where it has scheduler-plugins hold them together.
        Group{"rank_and_role_of_a_group_from_whoever_made_its_pods",
              {{"scheduling.x-k8s.io/pod-group", "pt"},
               {"training.kubeflow.org/job-name", "pt"},
               {"training.kubeflow.org/replica-type", "worker"},
               {"training.kubeflow.org/replica-index", "5"}},
              {},
              "team-a/PodGroup/pt",
              {},
              5,
              "worker"},
        Group{"koordinator",
              {},
              {{"gang.scheduling.koordinator.sh/name", "kg"},
               {"gang.scheduling.koordinator.sh/total-number", "6"},
               {"gang.scheduling.koordinator.sh/network-topology-index", "2"}},
              "team-a/Gang/kg",
              6,
              2,
              ""},
        Group{"kai",
              {{"kai.scheduler/subgroup-name", "decode"}},
              {{"pod-group-name", "pg-1"}},
              "team-a/PodGroup/pg-1",
              {},
              {},
              "decode"},
        Group{"stateful_set_that_says_it_is_a_gang",
              {{"apps.kubernetes.io/pod-index", "4"}},
              {{"rankward.io/gang", "g"}},
              "team-a/Gang/g",
              {},
              4,
              ""},
        Group{"volcano",
              {{"volcano.sh/task-index", "2"}, {"volcano.sh/task-spec", "worker"}},
              {{"scheduling.k8s.io/group-name", "pg"}},
              "team-a/PodGroup/pg",
              {},
              2,
              "worker"},
        Group{"scheduler_plugins",
              {{"scheduling.x-k8s.io/pod-group", "pg"}},
              {},
              "team-a/PodGroup/pg",
              {},
              {},
              ""},
        Group{
            "kueue_pod_group",
            {{"kueue.x-k8s.io/pod-group-name", "pg"}, {"kueue.x-k8s.io/pod-group-pod-index", "3"}},
            {{"kueue.x-k8s.io/pod-group-total-count", "4"}},
            "team-a/KueuePodGroup/pg",
            4,
            3,
            ""},
        Group{"kueue_index_in_a_named_label",
              {{"kueue.x-k8s.io/pod-group-name", "pg"}, {"my/index", "7"}},
              {{"kueue.x-k8s.io/pod-group-pod-index-label", "my/index"}},
              "team-a/KueuePodGroup/pg",
              {},
              7,
              ""},
        Group{"grove",
              {{"grove.io/podgang", "pg"},
               {"grove.io/podclique", "decode"},
               {"grove.io/podclique-pod-index", "1"}},
              {},
              "team-a/PodGang/pg",
              {},
              1,
              "decode"},
        Group{"unreadable_values_of_others_are_absent",
              {{"leaderworkerset.sigs.k8s.io/group-key", "abc"},
               {"leaderworkerset.sigs.k8s.io/worker-index", "one"}},
              {{"leaderworkerset.sigs.k8s.io/size", "0"}},
              "team-a/LeaderWorkerSet/abc",
              {},
              {},
              ""}),
    [](const auto& group) { return group.param.name; });

struct Environment {
  std::string name;
  kube::StringMap labels;
  std::vector<kube::EnvVar> env;
  std::optional<std::int32_t> size;
};

class GangSize : public ::testing::TestWithParam<Environment> {};

TEST_P(GangSize, IsReadFromTheEnvironmentAsPods) {
  kube::Pod asked = labelled(GetParam().labels);
  asked.spec.containers.insert(asked.spec.containers.begin(), kube::Container{.name = "sidecar"});
  asked.spec.containers.back().env = GetParam().env;
  EXPECT_EQ(gang_of(asked).value()->size, GetParam().size);
}

const kube::StringMap kKubeflow{{"training.kubeflow.org/job-name", "pt"}};
const kube::StringMap kTrainer{{"jobset.sigs.k8s.io/jobset-name", "tj"},
                               {"jobset.sigs.k8s.io/replicatedjob-name", "node"},
                               {"trainer.kubeflow.org/trainjob-ancestor-step", "trainer"}};
const kube::StringMap kJobSet{{"jobset.sigs.k8s.io/jobset-name", "js"}};
const kube::StringMap kLeader{{"leaderworkerset.sigs.k8s.io/group-key", "k"}};
const kube::StringMap kJob{{"batch.kubernetes.io/job-name", "train"},
                           {"batch.kubernetes.io/job-completion-index", "0"}};
const kube::StringMap kGrove{{"grove.io/podgang", "pg"}};
const kube::StringMap kGroveScaled{{"grove.io/podgang", "pg-1"}, {"grove.io/base-podgang", "pg"}};

INSTANTIATE_TEST_SUITE_P(
    EachFramework, GangSize,
    ::testing::Values(
        Environment{"torch_nodes", kKubeflow, {{"PET_NNODES", "4", ""}}, 4},
        // 4 pods of 8 processes.
        Environment{"nodes_before_world_size",
                    kKubeflow,
                    {{"WORLD_SIZE", "32", ""}, {"PET_NNODES", "4", ""}},
                    4},
        Environment{"world_size_over_processes",
                    kKubeflow,
                    {{"WORLD_SIZE", "32", ""}, {"PET_NPROC_PER_NODE", "8", ""}},
                    4},
        Environment{"world_size_alone_may_be_processes", kKubeflow, {{"WORLD_SIZE", "32", ""}}, {}},
        Environment{"world_size_over_an_unknown_number",
                    kKubeflow,
                    {{"WORLD_SIZE", "4", ""}, {"PET_NPROC_PER_NODE", "auto", ""}},
                    {}},
        Environment{"world_size_that_does_not_divide",
                    kKubeflow,
                    {{"WORLD_SIZE", "30", ""}, {"PET_NPROC_PER_NODE", "8", ""}},
                    {}},
        Environment{"no_processes",
                    kKubeflow,
                    {{"WORLD_SIZE", "32", ""}, {"PET_NPROC_PER_NODE", "0", ""}},
                    {}},
        Environment{
            "elastic_range",
            kKubeflow,
            {{"PET_NNODES", "1:4", ""}, {"WORLD_SIZE", "32", ""}, {"PET_NPROC_PER_NODE", "8", ""}},
            {}},
        Environment{
            "a_reference_is_no_literal", kKubeflow, {{"PET_NNODES", "4", "configMapKeyRef"}}, {}},
        Environment{"beyond_any_gang", kKubeflow, {{"PET_NNODES", "100001", ""}}, {}},
        Environment{"trainer_torch", kTrainer, {{"PET_NNODES", "16", ""}}, 16},
        Environment{"trainer_jax", kTrainer, {{"JAX_NUM_PROCESSES", "8", ""}}, 8},
        Environment{"a_users_job_set_may_hold_several", kJobSet, {{"PET_NNODES", "16", ""}}, {}},
        Environment{"job", kJob, {{"PET_NNODES", "2", ""}}, 2},
        Environment{"world_size_of_a_job", kJob, {{"WORLD_SIZE", "16", ""}}, {}},
        Environment{"leader_worker_set", kLeader, {{"LWS_GROUP_SIZE", "3", ""}}, 3},
        Environment{
            "grove_scaled_out", kGroveScaled, {{"GROVE_PCSG_TEMPLATE_NUM_PODS", "5", ""}}, 5},
        Environment{"grove_base_has_more_than_one_replica",
                    kGrove,
                    {{"GROVE_PCSG_TEMPLATE_NUM_PODS", "5", ""}},
                    {}}),
    [](const auto& tested) { return tested.param.name; });

TEST(GangOf, PrefersTheAnnotationToTheEnvironment) {
  kube::Pod asked = labelled(kLeader, {{"leaderworkerset.sigs.k8s.io/size", "8"}});
  asked.spec.containers[0].env = {{"LWS_GROUP_SIZE", "3", ""}};
  EXPECT_EQ(gang_of(asked).value()->size, 8);
}

TEST(GangOf, ReadsTheSchedulingGroupOfTheSpec) {
  kube::Pod asked = pod("p", {{"nvidia.com/gpu", 1}});
  asked.spec.pod_group_name = "pg";
  EXPECT_EQ(gang_of(asked).value()->key, "team-a/PodGroup/pg");
}

TEST(GangOf, IsNoneForPodsThatAreIndependentOfEachOther) {
  EXPECT_FALSE(gang_of(labelled({})).value().has_value());
  EXPECT_FALSE(gang_of(labelled({{"batch.kubernetes.io/job-name", "train"}})).value().has_value())
      << "a Job without an index";
  EXPECT_FALSE(gang_of(labelled({}, {{"rankward.io/gang-size", "4"}})).value().has_value());
  EXPECT_FALSE(gang_of(labelled({{"apps.kubernetes.io/pod-index", "0"}})).value().has_value())
      << "a StatefulSet that says nothing";
}

}  // namespace
}  // namespace rankward::placement
