// HP-06: PersistentVolumes, and pods with claims for them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Pair;

kube::PersistentVolume on_host(const char* path) {
  kube::PersistentVolume out;
  out.metadata.name = "pv-a";
  out.host_path = kube::HostPathVolume{path, {}};
  return out;
}

kube::PersistentVolume local(const char* path, bool block = false) {
  kube::PersistentVolume out;
  out.metadata.name = "pv-a";
  out.local_path = path;
  out.block = block;
  return out;
}

Verdicts verdicts_on(const kube::PersistentVolume& volume, const Policy& policy = Policy()) {
  return verdicts(judge_volume(policy, {.volume = volume}));
}

struct PathCase {
  const char* path;
  Verdicts expected;
};

class VolumePath : public ::testing::TestWithParam<PathCase> {};

TEST_P(VolumePath, IsJudgedInAPersistentVolume) {
  EXPECT_EQ(verdicts_on(on_host(GetParam().path)), GetParam().expected);
  EXPECT_EQ(verdicts_on(local(GetParam().path)), GetParam().expected);
  EXPECT_EQ(verdicts_on(local(GetParam().path, true)), GetParam().expected);
}

// A pod is judged as if the path stood in it, under the name of one rule.
TEST_P(VolumePath, IsJudgedThroughAClaim) {
  ClusterFacts cluster;
  cluster.claimed_volumes["team-a/data"] = on_host(GetParam().path);
  TestPod pod = TestPod().with(mounting(container(), "d", "/data"));
  pod.spec.containers[0].volume_mounts[0].read_only = true;
  pod.spec.volumes = {{"d", {}, "data"}};
  Subject subject = pod.subject();
  subject.cluster = &cluster;
  Review review;
  review.subjects.push_back(subject);
  EXPECT_EQ(verdicts(judge(Policy(), review, kNow)), GetParam().expected);
}

const Verdicts kDenied{"enforce HP-06"};
const Verdicts kWarned{"warn HP-06"};
const Verdicts kClean{};

INSTANTIATE_TEST_SUITE_P(
    Paths, VolumePath,
    ::testing::Values(PathCase{"/dev/nvidia0", kDenied}, PathCase{"/dev/dri", kDenied},
                      PathCase{"//dev/./kfd/", kDenied}, PathCase{"/dev/infiniband", kDenied},
                      PathCase{"/dev", kDenied}, PathCase{"/run/nvidia/driver", kDenied},
                      PathCase{"/proc/1/root/dev", kDenied}, PathCase{"/var/run/cdi", kDenied},
                      PathCase{"/var/lib/kubelet/device-plugins", kDenied},
                      PathCase{"/run/containerd/containerd.sock", kDenied}, PathCase{"/", kWarned},
                      PathCase{"/proc", kWarned},
                      PathCase{"/var/lib/kubelet/pod-resources", kWarned},
                      PathCase{"/mnt/disks/ssd1", kClean}, PathCase{"/dev/sdb", kClean},
                      PathCase{"/dev/nvme0n1", kClean}, PathCase{"/var/lib", kClean},
                      PathCase{"/dev/disk/by-id/x", kClean}, PathCase{"/data/nvidia0", kClean}));

TEST(VolumeMessage, SaysWhichVolumeGivesWhat) {
  const Judgement judgement = judge_volume(Policy(), {.volume = local("/dev/nvidia0", true)});
  EXPECT_FALSE(judgement.allowed);
  EXPECT_THAT(judgement.message,
              HasSubstr("[HP-06] PersistentVolume \"pv-a\": local \"/dev/nvidia0\" in volumeMode "
                        "Block gives an NVIDIA GPU to every pod with its claim."));
  ASSERT_EQ(judgement.causes.size(), 1u);
  EXPECT_EQ(judgement.causes[0].field, "spec.local.path");
  EXPECT_THAT(judgement.audit_annotations, Contains(Pair("decision", "deny")));
  EXPECT_EQ(judge_volume(Policy(), {.volume = on_host("/dev/kfd")}).findings.at(0).field,
            "spec.hostPath.path");
}

TEST(Volume, FollowsTheModeThatHoldsEverywhere) {
  PolicyOptions options;
  options.modes = {{"HP-06", "audit", {}}, {"HP-06", "enforce", {"team-a"}}};
  EXPECT_EQ(verdicts_on(on_host("/dev/kfd"), policy_of(options)), (Verdicts{"audit HP-06"}));
  options.modes = {{"HP-06", "off", {}}};
  EXPECT_EQ(verdicts_on(on_host("/dev/kfd"), policy_of(options)), kClean);
}

TEST(VolumeUpdate, CountsOnlyWhatIsNew) {
  const kube::PersistentVolume old = on_host("/dev/nvidia0");
  kube::PersistentVolume now = old;
  now.metadata.labels["x"] = "y";
  const auto update = [&](const kube::PersistentVolume& before,
                          const kube::PersistentVolume& after) {
    return judge_volume(Policy(),
                        {.operation = Operation::kUpdate, .volume = after, .old_volume = &before});
  };
  EXPECT_TRUE(update(old, now).allowed);
  EXPECT_TRUE(update(old, now).findings.empty());
  EXPECT_FALSE(update(on_host("/data"), now).allowed);
  EXPECT_FALSE(update(old, on_host("/dev/nvidia1")).allowed);
}

TEST(VolumeDeletion, IsNeverBlocked) {
  const kube::PersistentVolume volume = on_host("/dev");
  EXPECT_TRUE(judge_volume(Policy(), {.operation = Operation::kDelete, .volume = volume}).allowed);
  const Judgement judgement =
      judge_volume(Policy(), {.operation = Operation::kUpdate, .deleting = true, .volume = volume});
  EXPECT_TRUE(judgement.allowed);
  EXPECT_THAT(judgement.audit_annotations, Contains(Pair("skipped", "being deleted")));
  kube::PersistentVolume going = volume;
  going.metadata.deleting = true;
  EXPECT_TRUE(judge_volume(Policy(), {.operation = Operation::kUpdate, .volume = going}).allowed);
}

class Claim : public ::testing::Test {
 protected:
  Judgement judged(const TestPod& pod, const Policy& policy = Policy()) {
    Subject subject = pod.subject();
    subject.cluster = &cluster_;
    Review review;
    review.subjects.push_back(subject);
    return judge(policy, review, kNow);
  }

  static TestPod with_claim(kube::Container train, const char* claim = "data") {
    TestPod pod = TestPod().with(std::move(train));
    pod.spec.volumes = {{"d", {}, claim}};
    return pod;
  }

  ClusterFacts cluster_;
};

TEST_F(Claim, IsNamedWithItsVolumeAndPath) {
  cluster_.claimed_volumes["team-a/data"] = on_host("/dev");
  const Judgement judgement = judged(with_claim(mounting(container(), "d", "/x", "nvidia0")));
  ASSERT_EQ(verdicts(judgement), (Verdicts{"enforce HP-06", "enforce HP-06"}));
  EXPECT_EQ(judgement.findings[0].field, "spec.volumes[0].persistentVolumeClaim.claimName");
  EXPECT_EQ(judgement.findings[0].what,
            "volumes[0] \"d\": claim \"data\" is bound to PersistentVolume \"pv-a\", whose "
            "hostPath \"/dev\" gives every device of the node.");
  EXPECT_EQ(judgement.findings[1].field, "spec.containers[0].volumeMounts[0].subPath");
  EXPECT_EQ(judgement.findings[1].what,
            "containers[0] \"train\": claim \"data\" is bound to PersistentVolume \"pv-a\", whose "
            "hostPath \"/dev/nvidia0\" gives an NVIDIA GPU.");
  EXPECT_EQ(judgement.findings[1].container, "train");
}

TEST_F(Claim, OfAnotherNamespaceOrWithoutFactsIsNotKnown) {
  cluster_.claimed_volumes["team-b/data"] = on_host("/dev");
  const TestPod pod = with_claim(container());
  EXPECT_EQ(verdicts(judged(pod)), kClean);
  EXPECT_EQ(verdicts(pod), kClean);
  EXPECT_EQ(verdicts(judged(TestPod(pod).in("team-b"))), kDenied);
}

TEST_F(Claim, JoinsSubPathsAndFearsUnknownOnes) {
  cluster_.claimed_volumes["team-a/data"] = on_host("/var");
  EXPECT_EQ(verdicts(judged(with_claim(mounting(container(), "d", "/x", "log")))), kClean);
  EXPECT_EQ(verdicts(judged(with_claim(mounting(container(), "d", "/x", "run/cdi")))), kDenied);
  const Judgement unknown = judged(with_claim(mounting(container(), "d", "/x", "", "$(X)")));
  ASSERT_EQ(verdicts(unknown), kDenied);
  EXPECT_THAT(unknown.findings[0].what, HasSubstr("\"/var\" with a subPathExpr can reach "));
}

TEST_F(Claim, OfTheHostRootIsGraveForPrivilegedContainers) {
  cluster_.claimed_volumes["team-a/data"] = on_host("/");
  EXPECT_EQ(verdicts(judged(with_claim(container()))), kWarned);
  EXPECT_EQ(verdicts(judged(with_claim(privileged(container())))),
            (Verdicts{"enforce HP-06", "warn PRIV-01"}));
}

TEST_F(Claim, OfPodResourcesIsGraveWhereItIsWritable) {
  cluster_.claimed_volumes["team-a/data"] = on_host("/var/lib/kubelet/pod-resources");
  kube::Container reader = mounting(container(), "d", "/x");
  EXPECT_EQ(verdicts(judged(with_claim(reader))), kDenied);
  reader.volume_mounts[0].read_only = true;
  EXPECT_EQ(verdicts(judged(with_claim(reader))), kWarned);
}

TEST_F(Claim, MakesAGpuPodAndMayBeExempt) {
  cluster_.claimed_volumes["team-a/data"] = local("/dev/nvidia0", true);
  const TestPod pod = with_claim(container()).on("gpu-a");
  EXPECT_EQ(verdicts(judged(pod)), (Verdicts{"enforce HP-06", "enforce SCH-01"}));
  PolicyOptions options;
  options.exemptions = {
      {{"team-a"}, {"default"}, {}, {"HP-06", "SCH-01"}, "a test bench", kNow + 1}};
  const Judgement judgement = judged(pod, policy_of(options));
  EXPECT_TRUE(judgement.allowed);
  EXPECT_EQ(judgement.exempt.size(), 2u);
}

TEST_F(Claim, ThatGetsItsVolumeLaterBlocksNoUpdate) {
  cluster_.claimed_volumes["team-a/data"] = on_host("/dev");
  const TestPod pod = with_claim(container());
  TestPod now = pod;
  now.metadata.labels["x"] = "y";
  Review review;
  review.operation = Operation::kUpdate;
  review.subjects.push_back(now.subject());
  review.subjects[0].cluster = &cluster_;
  review.old_subjects.push_back(pod.subject());  // judged when nothing was known
  EXPECT_TRUE(judge(Policy(), review, kNow).findings.empty());
}

}  // namespace
}  // namespace rankward::admission
