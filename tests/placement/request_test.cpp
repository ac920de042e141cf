#include "rankward/placement/request.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "clusters.hpp"

namespace rankward::placement {
namespace {

using ::testing::HasSubstr;
using testing::pod;

Request request_of(const kube::Pod& pod) {
  return make_request(pod, {}).value();
}

kube::Pod labelled(kube::StringMap labels, kube::StringMap annotations = {}) {
  kube::Pod pod = testing::pod("p", {{"nvidia.com/gpu", 1}}, std::move(annotations));
  pod.metadata.labels = std::move(labels);
  return pod;
}

TEST(MakeRequest, SplitsDevicesFromNicsAndCountsTheLargestContainer) {
  kube::Pod asked = pod("p", {{"nvidia.com/gpu", 1}, {"rdma/ib", 1}, {"cpu", 4}});
  asked.spec.containers.push_back(pod("q", {{"nvidia.com/gpu", 3}}).spec.containers[0]);
  const Request request = request_of(asked);
  EXPECT_EQ(request.pod, "team-a/p");
  EXPECT_EQ(request.uid, "uid-p");
  ASSERT_EQ(request.devices.size(), 1U);
  EXPECT_EQ(request.devices[0].resource, "nvidia.com/gpu");
  EXPECT_EQ(request.devices[0].kind, kube::DeviceKind::kWholeGpu);
  EXPECT_EQ(request.devices[0].count, 4);
  EXPECT_EQ(request.devices[0].largest_container, 3);
  ASSERT_EQ(request.nics.size(), 1U);
  EXPECT_EQ(request.nics[0].resource, "rdma/ib");
  EXPECT_EQ(request.gpus(), 4);
  EXPECT_EQ(request.transport, TransportWish::kRdmaPreferred) << "default beside an RDMA resource";
  EXPECT_EQ(request.message_size.count, std::int64_t{1} << 30);
}

// Case 20.
TEST(MakeRequest, TakesTheGreaterOfInitAndMainContainers) {
  kube::Pod larger_init = pod("p", {{"nvidia.com/gpu", 1}});
  larger_init.spec.init_containers = pod("i", {{"nvidia.com/gpu", 2}}).spec.containers;
  EXPECT_EQ(request_of(larger_init).gpus(), 2);
  kube::Pod two_main = pod("p", {{"nvidia.com/gpu", 1}});
  two_main.spec.containers.push_back(two_main.spec.containers[0]);
  two_main.spec.init_containers = pod("i", {{"nvidia.com/gpu", 1}}).spec.containers;
  EXPECT_EQ(request_of(two_main).gpus(), 2);
}

TEST(MakeRequest, TakesClaimsAndDeviceClassesAsDevicesThatNoNodeCounts) {
  kube::Pod claims = pod("p", {});
  claims.spec.containers[0].resources.claims = {"gpus"};
  EXPECT_TRUE(request_of(claims).has_device_claim);
  EXPECT_TRUE(request_of(claims).asks_for_devices());
  const Request by_class =
      request_of(pod("p", {{"deviceclass.resource.kubernetes.io/gpu.nvidia.com", 2}}));
  EXPECT_TRUE(by_class.has_device_claim);
  EXPECT_TRUE(by_class.devices.empty());
}

TEST(MakeRequest, ReadsItsAnnotations) {
  const Request request =
      request_of(pod("p", {{"nvidia.com/gpu", 1}},
                     {{"rankward.io/transport", "rdma-required"},
                      {"rankward.io/sharing", "exclusive"},
                      {"rankward.io/gpu-memory", "12Gi"},
                      {"rankward.io/message-size", "64M"},
                      {"rankward.io/topology-required", "nvidia.com/gpu.clique"},
                      {"rankward.io/topology-preferred", "rack"}}));
  EXPECT_EQ(request.transport, TransportWish::kRdmaRequired);
  EXPECT_EQ(request.sharing, SharingWish::kExclusive);
  EXPECT_EQ(request.gpu_memory->count, std::int64_t{12} << 30);
  EXPECT_EQ(request.message_size.count, 64'000'000);
  EXPECT_EQ(request.topology_required, "nvidia.com/gpu.clique");
  EXPECT_EQ(request.topology_preferred, "rack");
}

TEST(MakeRequest, ReadsKueuesTopologyKeysBehindItsOwn) {
  const kube::StringMap kueue{{"kueue.x-k8s.io/podset-required-topology", "cloud.com/block"},
                              {"kueue.x-k8s.io/podset-preferred-topology", "cloud.com/rack"}};
  const Request theirs = request_of(labelled({}, kueue));
  EXPECT_EQ(theirs.topology_required, "cloud.com/block");
  EXPECT_EQ(theirs.topology_preferred, "cloud.com/rack");
  kube::StringMap both = kueue;
  both["rankward.io/topology-required"] = "leaf";
  EXPECT_EQ(request_of(labelled({}, both)).topology_required, "leaf");
}

struct Malformed {
  std::string key;
  std::string value;
  std::string accepted;  // part of the message
};

class MalformedAnnotation : public ::testing::TestWithParam<Malformed> {};

TEST_P(MalformedAnnotation, IsRefusedWithKeyAndAcceptedForm) {
  const auto request =
      make_request(pod("p", {{"nvidia.com/gpu", 1}}, {{GetParam().key, GetParam().value}}), {});
  ASSERT_FALSE(request.has_value());
  EXPECT_EQ(request.error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(request.error().field(), "metadata.annotations[\"" + GetParam().key + "\"]");
  EXPECT_THAT(request.error().message(), HasSubstr(GetParam().accepted));
}

INSTANTIATE_TEST_SUITE_P(
    EachKey, MalformedAnnotation,
    ::testing::Values(Malformed{"rankward.io/gang", "", "1 to 253 letters"},
                      Malformed{"rankward.io/gang", "a b", "1 to 253 letters"},
                      Malformed{"rankward.io/gang", std::string(254, 'a'), "1 to 253 letters"},
                      Malformed{"rankward.io/gang-size", "0", "whole number from 1 to 100000"},
                      Malformed{"rankward.io/gang-size", "", "whole number"},
                      Malformed{"rankward.io/gang-size", "4.0", "whole number"},
                      Malformed{"rankward.io/gang-size", "+4", "whole number"},
                      Malformed{"rankward.io/gang-size", "99999999999999999999", "whole number"},
                      Malformed{"rankward.io/rank", "-1", "whole number from 0 to 99999"},
                      Malformed{"rankward.io/rank", "-0", "whole number"},
                      Malformed{"rankward.io/transport", "RDMA",
                                "rdma-required, rdma-preferred, tcp, any"},
                      Malformed{"rankward.io/sharing", "none", "exclusive, mig, shared"},
                      Malformed{"rankward.io/gpu-memory", "12GB", "such as 12Gi"},
                      Malformed{"rankward.io/gpu-memory", "0", "positive"},
                      Malformed{"rankward.io/gpu-memory", "-1Gi", "positive"},
                      Malformed{"rankward.io/gpu-memory", "2Pi", "at most 1Pi"},
                      Malformed{"rankward.io/message-size", "1e30", "at most 1Pi"},
                      Malformed{"rankward.io/topology-required", "a/b/c", "node label's key"},
                      Malformed{"rankward.io/topology-preferred", "", "node label's key"}));

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
        Group{
            "ray",
            {{"ray.io/cluster", "rc"}, {"ray.io/group", "gpu"}, {"ray.io/replica-host-index", "1"}},
            {},
            "team-a/RayCluster/rc",
            {},
            1,
            "gpu"},
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
}

TEST(IsManaged, AsksAsTheSchedulerDoesForItsManagedResources) {
  const std::vector<std::string> gpus{"nvidia.com/gpu", "nvidia.com/mig-1g.10gb"};
  EXPECT_TRUE(is_managed(pod("p", {{"nvidia.com/gpu", 1}}), gpus));
  EXPECT_TRUE(is_managed(pod("p", {{"nvidia.com/gpu", 0}}), gpus)) << "the name alone counts";
  EXPECT_FALSE(is_managed(pod("p", {{"cpu", 1}}), gpus));
  EXPECT_FALSE(is_managed(pod("p", {{"amd.com/gpu", 1}}), gpus));
  EXPECT_TRUE(is_managed(pod("p", {{"cpu", 1}}), {})) << "an empty list is every pod";
  kube::Pod init = pod("p", {{"cpu", 1}});
  init.spec.init_containers = pod("i", {{"nvidia.com/mig-1g.10gb", 1}}).spec.containers;
  EXPECT_TRUE(is_managed(init, gpus));
  kube::Pod claim = pod("p", {{"cpu", 1}});
  claim.spec.resource_claims.push_back({"gpu", "", "one-gpu"});
  EXPECT_TRUE(is_managed(claim, gpus));
  EXPECT_TRUE(is_managed(pod("p", {{"cpu", 1}}, {{"rankward.io/gang", "g"}}), gpus));
  EXPECT_TRUE(is_managed(pod("p", {{"cpu", 1}}, {{"rankward.io/gang", "a b"}}), gpus))
      << "so that somebody says what is wrong with it";
}

}  // namespace
}  // namespace rankward::placement
