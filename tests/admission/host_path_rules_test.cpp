// HP-01 to HP-05, HP-07, HP-08.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;
using ::testing::HasSubstr;

struct VolumeCase {
  const char* path;
  Verdicts expected;
};

class HostPathVolume : public ::testing::TestWithParam<VolumeCase> {};

TEST_P(HostPathVolume, IsJudgedWithoutBeingMounted) {
  const TestPod pod = TestPod().with(container()).with(host_path(GetParam().path));
  EXPECT_EQ(verdicts(pod), GetParam().expected) << GetParam().path;
}

TEST_P(HostPathVolume, IsJudgedBesideARequestToo) {
  const TestPod pod = TestPod().with(asking(container())).with(host_path(GetParam().path));
  EXPECT_EQ(verdicts(pod), GetParam().expected) << GetParam().path;
}

const Verdicts kNode{"enforce HP-01"};
const Verdicts kRoot{"enforce HP-02"};
const Verdicts kMildRoot{"warn HP-02"};
const Verdicts kChannel{"enforce HP-04"};
const Verdicts kNothing{};

INSTANTIATE_TEST_SUITE_P(
    DeviceNodes, HostPathVolume,
    ::testing::Values(VolumeCase{"/dev/nvidia0", kNode}, VolumeCase{"/dev/nvidiactl", kNode},
                      VolumeCase{"/dev/nvidia-uvm", kNode}, VolumeCase{"/dev/nvidia-caps", kNode},
                      VolumeCase{"/dev/nvidia-caps-imex-channels/channel0", kNode},
                      VolumeCase{"/dev/nvidia-fs0", kNode}, VolumeCase{"/dev/gdrdrv", kNode},
                      VolumeCase{"/dev/dri", kNode}, VolumeCase{"/dev/dri/by-path/x", kNode},
                      VolumeCase{"/dev/kfd", kNode}, VolumeCase{"/dev/accel/accel0", kNode},
                      VolumeCase{"/dev/accel0", kNode}, VolumeCase{"/dev/neuron3", kNode},
                      VolumeCase{"/dev/habanalabs", kNode},
                      VolumeCase{"/dev/infiniband/uverbs0", kNode},
                      VolumeCase{"/dev/vfio/vfio", kNode}, VolumeCase{"/dev/char", kNode},
                      VolumeCase{"/dev/char/195:0", kNode}, VolumeCase{"/dev/char/195:255", kNode},
                      VolumeCase{"/dev/dxg", kNode}, VolumeCase{"/dev/nvmap", kNode},
                      VolumeCase{"/proc/1/root/dev/nvidia0", kNode}));

INSTANTIATE_TEST_SUITE_P(
    Roots, HostPathVolume,
    ::testing::Values(VolumeCase{"/dev", kRoot}, VolumeCase{"/run/nvidia", kRoot},
                      VolumeCase{"/run/nvidia/driver/dev", kRoot},
                      VolumeCase{"/var/run/nvidia/validations", kRoot},
                      VolumeCase{"/proc/self/root/dev", kRoot}, VolumeCase{"/", kMildRoot},
                      VolumeCase{"/proc", kMildRoot}, VolumeCase{"/proc/1", kMildRoot},
                      VolumeCase{"/proc/1/root", kMildRoot},
                      VolumeCase{"/proc/1/task", kMildRoot}));

INSTANTIATE_TEST_SUITE_P(
    ControlChannels, HostPathVolume,
    ::testing::Values(
        VolumeCase{"/run/containerd/containerd.sock", kChannel},
        VolumeCase{"/run/containerd", kChannel},
        VolumeCase{"/run/k3s/containerd/containerd.sock", kChannel},
        VolumeCase{"/run/crio/crio.sock", kChannel}, VolumeCase{"/var/run/docker.sock", kChannel},
        VolumeCase{"/var/run/nri/nri.sock", kChannel}, VolumeCase{"/var/lib/kubelet", kChannel},
        VolumeCase{"/var/lib/kubelet/device-plugins", kChannel},
        VolumeCase{"/var/lib/kubelet/device-plugins/kubelet.sock", kChannel},
        VolumeCase{"/var/lib/kubelet/plugins_registry", kChannel},
        VolumeCase{"/var/run/cdi", kChannel}, VolumeCase{"/etc/cdi/nvidia.yaml", kChannel},
        VolumeCase{"/etc/kubernetes/manifests", kChannel},
        VolumeCase{"/etc/nvidia-container-runtime", kChannel},
        VolumeCase{"/etc/containerd/config.toml", kChannel},
        VolumeCase{"/usr/local/nvidia/toolkit", kChannel}, VolumeCase{"/tmp/nvidia-mps", kChannel},
        VolumeCase{"/run/nvidia/mps", kChannel},
        VolumeCase{"/var/lib/kubelet/pod-resources", {"warn HP-04"}}));

INSTANTIATE_TEST_SUITE_P(
    HonestPaths, HostPathVolume,
    ::testing::Values(VolumeCase{"/dev/shm", kNothing}, VolumeCase{"/dev/null", kNothing},
                      VolumeCase{"/dev/log", kNothing}, VolumeCase{"/dev/hugepages", kNothing},
                      VolumeCase{"/dev/char/1:3", kNothing}, VolumeCase{"/dev/fuse", kNothing},
                      VolumeCase{"/dev/net/tun", kNothing},
                      VolumeCase{"/devices-data/nvidia0", kNothing},
                      VolumeCase{"/home/kubernetes/bin/nvidia", kNothing},
                      VolumeCase{"/usr/local/nvidia", kNothing},
                      VolumeCase{"/usr/lib/wsl", kNothing}, VolumeCase{"/data//models/", kNothing},
                      VolumeCase{"/run/nvidia-fabricmanager", kNothing},
                      VolumeCase{"/var/lib/kubelet/pods", kNothing},
                      VolumeCase{"/var/log", kNothing}, VolumeCase{"/proc/sys", kNothing},
                      VolumeCase{"/sys/class/net", kNothing}, VolumeCase{"/var/lib/app", kNothing},
                      VolumeCase{"/etc/kubernetes/node-feature-discovery/features.d", kNothing},
                      VolumeCase{"/mnt/k8s-disks/0", kNothing}));

INSTANTIATE_TEST_SUITE_P(BroadDirectories, HostPathVolume,
                         ::testing::Values(VolumeCase{"/sys", {"audit HP-03"}},
                                           VolumeCase{"/run", {"audit HP-03"}},
                                           VolumeCase{"/var", {"audit HP-03"}},
                                           VolumeCase{"/var/lib", {"audit HP-03"}},
                                           VolumeCase{"/var/run/", {"audit HP-03"}},
                                           VolumeCase{"/sys/", {"audit HP-03"}}));

INSTANTIATE_TEST_SUITE_P(
    UncleanForms, HostPathVolume,
    ::testing::Values(VolumeCase{"/dev/nvidia0/", {"enforce HP-01", "warn HP-07"}},
                      VolumeCase{"dev/nvidia0", {"enforce HP-01", "warn HP-07"}},
                      VolumeCase{"//dev", {"enforce HP-02", "warn HP-07"}},
                      VolumeCase{"/dev/shm/../nvidia1", {"enforce HP-01", "warn HP-07"}},
                      VolumeCase{"/var/run/./cdi", {"enforce HP-04", "warn HP-07"}},
                      VolumeCase{"/.", {"warn HP-02", "warn HP-07"}}));

struct MountCase {
  const char* volume;
  const char* sub_path;
  const char* sub_path_expr;
  Verdicts expected;
};

class HostPathMount : public ::testing::TestWithParam<MountCase> {};

TEST_P(HostPathMount, IsJudgedAsTheJoinedPath) {
  const MountCase& c = GetParam();
  const TestPod pod = TestPod()
                          .with(mounting(container(), "v", "/x", c.sub_path, c.sub_path_expr))
                          .with(host_path(c.volume));
  EXPECT_EQ(verdicts(pod), c.expected) << c.volume << " + " << c.sub_path << c.sub_path_expr;
}

INSTANTIATE_TEST_SUITE_P(
    SubPaths, HostPathMount,
    ::testing::Values(
        MountCase{"/", "dev/nvidia0", "", {"enforce HP-01", "warn HP-02"}},
        MountCase{"/var", "run/nvidia", "", {"enforce HP-02", "audit HP-03"}},
        MountCase{"/var", "lib/kubelet/device-plugins", "", {"audit HP-03", "enforce HP-04"}},
        MountCase{"/run", "containerd/containerd.sock", "", {"audit HP-03", "enforce HP-04"}},
        MountCase{"/run", "cdi//", "", {"audit HP-03", "enforce HP-04", "warn HP-07"}},
        MountCase{"/data", "set-1", "", {}}, MountCase{"/var/log", "", "$(POD_NAME)", {}},
        MountCase{"/var/lib", "", "$(X)", {"audit HP-03", "enforce HP-04"}},
        MountCase{
            "/", "", "$(X)", {"enforce HP-01", "enforce HP-02", "warn HP-02", "enforce HP-04"}}));

TEST(HostRoot, IsDeniedWhereAContainerCanOpenDevices) {
  const TestPod whole = TestPod().with(privileged(container())).with(host_path("/"));
  EXPECT_EQ(verdicts(whole), (Verdicts{"enforce HP-02", "warn PRIV-01"}));

  kube::Container admin = container();
  admin.capabilities_added = {"SYS_ADMIN"};
  const TestPod capable = TestPod().with(container("first")).with(admin).with(host_path("/proc"));
  EXPECT_EQ(verdicts(capable), (Verdicts{"enforce HP-02", "warn PRIV-01"}));

  const TestPod in_init =
      TestPod().with(container()).with_init(privileged(container("setup"))).with(host_path("/"));
  EXPECT_EQ(verdicts(in_init), (Verdicts{"enforce HP-02", "warn PRIV-01"}));
}

TEST(HostRoot, CountsAgainstAPrivilegedDebugContainerAlone) {
  const TestPod old = TestPod().with(container()).with(host_path("/"));
  TestPod now = old;
  now.spec.ephemeral_containers.push_back(privileged(container("debug")));
  const Judgement judgement = judge_update(old, now, "ephemeralcontainers");
  EXPECT_FALSE(judgement.allowed);
  EXPECT_EQ(verdicts(judgement), (Verdicts{"enforce HP-02", "warn PRIV-01"}));
}

TEST(PodResources, MayBeReadButNotWritten) {
  kube::Container reader = mounting(container(), "v", "/pr");
  reader.volume_mounts[0].read_only = true;
  const auto volume = host_path("/var/lib/kubelet/pod-resources");
  EXPECT_EQ(verdicts(TestPod().with(reader).with(volume)), (Verdicts{"warn HP-04"}));
  const auto writer = mounting(container("w"), "v", "/pr");
  EXPECT_EQ(verdicts(TestPod().with(reader).with(writer).with(volume)),
            (Verdicts{"enforce HP-04"}));
}

TEST(BroadDirectories, MakeNoGpuPod) {
  const TestPod agent = TestPod().with(privileged(container())).with(host_path("/sys"));
  EXPECT_EQ(verdicts(agent), (Verdicts{"audit HP-03"}));
}

struct AllowedCase {
  const char* path;
  const char* sub_path;
  bool allowed;
};

TEST(AllowedHostPaths, AreTheOnlyOnesOnGpuNodes) {
  PolicyOptions options;
  options.allowed_host_paths = {"/var/log", "/mnt/data"};
  const Policy policy = policy_of(options);
  for (const AllowedCase& c :
       {AllowedCase{"/var/log", "", true}, AllowedCase{"/var/log/pods", "", true},
        AllowedCase{"/var/log/", "", true}, AllowedCase{"/mnt/data", "set-1", true},
        AllowedCase{"/var/logs", "", false}, AllowedCase{"/mnt", "", false},
        AllowedCase{"/srv", "", false}, AllowedCase{"/mnt/data/../other", "", false},
        AllowedCase{"/mnt/data", "../../srv", false}, AllowedCase{"/proc/1/root/srv", "", false},
        AllowedCase{"/proc/1/root/var/log", "", true}, AllowedCase{"", "", false}}) {
    const TestPod pod = TestPod()
                            .with(mounting(asking(container()), "v", "/x", c.sub_path))
                            .with(host_path(c.path));
    const Judgement judgement = judge_create(pod, policy);
    const bool found = std::any_of(judgement.findings.begin(), judgement.findings.end(),
                                   [](const Finding& f) { return f.rule == "HP-08"; });
    EXPECT_EQ(!found, c.allowed) << c.path << " + " << c.sub_path;
  }
  EXPECT_EQ(verdicts(TestPod().with(container()).with(host_path("/srv")), policy), Verdicts{})
      << "not aimed at GPU nodes";
  EXPECT_EQ(verdicts(TestPod().with(container()).with(host_path("/srv")).on("gpu-a"), policy),
            (Verdicts{"enforce HP-08"}));
}

TEST(AllowedHostPaths, MayBeNoneOrNotChecked) {
  const TestPod pod = TestPod().with(asking(container())).with(host_path("/srv"));
  EXPECT_EQ(verdicts(pod), Verdicts{});
  PolicyOptions options;
  options.allowed_host_paths.emplace();
  EXPECT_EQ(verdicts(pod, policy_of(options)), (Verdicts{"enforce HP-08"}));
}

TEST(NullDevice, SelectsDevicesByItsMountPath) {
  const auto mounted_at = [](const char* path, const char* volume = "/dev/null") {
    return verdicts(TestPod().with(mounting(container(), "v", path)).with(host_path(volume)));
  };
  const Verdicts denied{"enforce HP-05"};
  EXPECT_EQ(mounted_at("/var/run/nvidia-container-devices/all"), denied);
  EXPECT_EQ(mounted_at("/run/nvidia-container-devices/0"), denied);
  EXPECT_EQ(mounted_at("/var/run//nvidia-container-devices/cdi/nvidia.com/gpu/all"), denied);
  EXPECT_EQ(mounted_at("/var/run/nvidia-container-devices"), denied);
  EXPECT_EQ(mounted_at("/etc/some-config"), Verdicts{});
  EXPECT_EQ(mounted_at("/var/run/nvidia-container-devices/all", "/data"), Verdicts{});
  EXPECT_EQ(mounted_at("/run/nvidia-container-devices/0", "/dev//null"),
            (Verdicts{"enforce HP-05", "warn HP-07"}));
}

TEST(HostPathMessage, SaysWhatIsWrongAndWhatToWrite) {
  const Judgement judgement =
      judge_create(TestPod().with(container()).with(host_path("/dev/kfd", "gpu")));
  ASSERT_EQ(judgement.findings.size(), 1u);
  EXPECT_EQ(judgement.findings[0].field, "spec.volumes[0].hostPath.path");
  EXPECT_THAT(judgement.message,
              HasSubstr("[HP-01] volumes[0] \"gpu\": hostPath \"/dev/kfd\" gives all AMD GPUs"));
  EXPECT_THAT(judgement.message, HasSubstr("Fix: set resources.limits \"amd.com/gpu\""));
}

TEST(HostPathMessage, NamesTheMountOfASubPath) {
  const TestPod pod = TestPod()
                          .with(asking(container("a")))
                          .with(mounting(container("b"), "v", "/x", "dri/card0"))
                          .with(host_path("/proc/1/root/dev/"));
  const Judgement judgement = judge_create(pod);
  ASSERT_FALSE(judgement.findings.empty());
  EXPECT_EQ(judgement.findings[0].field, "spec.containers[1].volumeMounts[0].subPath");
  EXPECT_EQ(judgement.findings[0].container, "b");
  EXPECT_EQ(judgement.findings[0].value, "/dev/dri/card0");
}

}  // namespace
}  // namespace rankward::admission
