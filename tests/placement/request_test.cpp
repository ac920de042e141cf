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

// Where the group that it is about is the gang.
TEST(MakeRequest, ReadsExclusiveTopologyAsRequired) {
  const kube::StringMap of_job{{"batch.kubernetes.io/job-name", "js-w-0"},
                               {"batch.kubernetes.io/job-completion-index", "1"}};
  const kube::StringMap of_group{{"leaderworkerset.sigs.k8s.io/group-key", "k"}};
  const std::string set = "alpha.jobset.sigs.k8s.io/exclusive-topology";
  const std::string group = "leaderworkerset.sigs.k8s.io/exclusive-topology";
  for (const auto& [labels, key] : {std::pair(of_job, set), std::pair(of_group, group)}) {
    const Request request = request_of(labelled(labels, {{key, "example.com/rack"}}));
    EXPECT_EQ(request.topology_required, "example.com/rack");
    EXPECT_TRUE(request.follows_first_rank);
  }
  const Request over_jobs =
      request_of(labelled(of_job, {{set, "example.com/rack"}, {"rankward.io/gang", "both"}}));
  EXPECT_EQ(over_jobs.topology_required, "");
  EXPECT_FALSE(over_jobs.follows_first_rank);
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
