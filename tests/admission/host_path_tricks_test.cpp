// Ways to write a device's path that a comparison of text misses, for devices of every vendor.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "pods.hpp"

namespace rankward::admission {
namespace {

using namespace testing;

const std::vector<std::string>& devices() {
  static const std::vector<std::string> kDevices{"/dev/nvidia0",
                                                 "/dev/nvidiactl",
                                                 "/dev/nvidia-uvm-tools",
                                                 "/dev/nvidia-modeset",
                                                 "/dev/nvidia-caps",
                                                 "/dev/nvidia-caps-imex-channels/channel0",
                                                 "/dev/nvidia-nvswitchctl",
                                                 "/dev/nvidia-nvlink",
                                                 "/dev/nvidia-fs0",
                                                 "/dev/gdrdrv",
                                                 "/dev/dri",
                                                 "/dev/dri/renderD128",
                                                 "/dev/dri/by-path/pci-0000:03:00.0-card",
                                                 "/dev/kfd",
                                                 "/dev/accel/accel0",
                                                 "/dev/habanalabs0",
                                                 "/dev/hl_controlD0",
                                                 "/dev/neuron15",
                                                 "/dev/davinci_manager",
                                                 "/dev/hisi_hdc",
                                                 "/dev/infiniband/rdma_cm",
                                                 "/dev/infiniband/issm0",
                                                 "/dev/vfio/vfio",
                                                 "/dev/char/195:255",
                                                 "/dev/char/226:128",
                                                 "/dev/char/231:192",
                                                 "/dev/char/261:0",
                                                 "/dev/dxg",
                                                 "/dev/nvmap",
                                                 "/dev/nvhost-gpu"};
  return kDevices;
}

Verdicts of_rule_one(const TestPod& pod) {
  Verdicts out;
  for (const std::string& verdict : verdicts(pod))
    if (verdict == "enforce HP-01") out.push_back(verdict);
  return out;
}

struct Trick {
  const char* before;
  const char* after;
};

TEST(HostPathTricks, AreSeenThroughForEveryDevice) {
  for (const std::string& device : devices()) {
    for (const Trick& trick : {Trick{"", ""},
                               {"/", ""},
                               {"//", "//"},
                               {"/.", ""},
                               {"/./.", "/."},
                               {"", "/"},
                               {"/..", ""},
                               {"/tmp/..", ""},
                               {"/tmp/a/../..", ""},
                               {"", "/../" /* the parent and back again */},
                               {"/proc/1/root", ""},
                               {"/proc/self/root", ""},
                               {"/proc/thread-self/root", ""},
                               {"/proc/4194304/root", ""},
                               {"/proc/1/task/1/root", ""},
                               {"/proc/1/cwd", ""},
                               {"/proc/1/root/proc/self/root", ""},
                               {"//proc//1//root/", ""}}) {
      std::string path = trick.before + device + trick.after;
      if (std::string_view(trick.after) == "/../") path += device.substr(device.rfind('/') + 1);
      EXPECT_EQ(of_rule_one(TestPod().with(asking(container())).with(host_path(path))).size(), 1U)
          << path;
    }
  }
}

TEST(HostPathTricks, ByASubPathAreSeenThroughForEveryDevice) {
  for (const std::string& device : devices()) {
    const std::string below_root = device.substr(1);
    const std::string below_dev = device.substr(5);
    for (const auto& [volume, sub_path] :
         std::vector<std::pair<std::string, std::string>>{{"/", below_root},
                                                          {"/dev", below_dev},
                                                          {"/dev/", "./" + below_dev},
                                                          {"/dev/shm", "../" + below_dev},
                                                          {"/proc/1", "root/" + below_root},
                                                          {"/proc", "self/root/" + below_root},
                                                          {"/var/run", "../dev/" + below_dev}}) {
      const TestPod pod = TestPod()
                              .with(asking(container("a")))
                              .with_init(mounting(container("b"), "v", "/x", sub_path))
                              .with(host_path(volume));
      EXPECT_EQ(of_rule_one(pod).size(), 1U) << volume << " + " << sub_path;
    }
  }
}

TEST(HostPathTricks, AreFearedWhereTheSubPathIsNotKnown) {
  for (const char* volume : {"/", "/dev", "/dev/dri", "/dev/char", "/dev/infiniband", "/proc",
                             "/proc/1", "/proc/1/root/dev"})
    EXPECT_FALSE(of_rule_one(TestPod()
                                 .with(mounting(asking(container()), "v", "/x", "", "$(WHERE)"))
                                 .with(host_path(volume)))
                     .empty())
        << volume;
}

// Linux compares names byte for byte: these are other files, and none of a device.
TEST(HostPathTricks, AreNoneThatTheKernelWouldNotFollow) {
  for (const std::string& path :
       {std::string("/DEV/nvidia0"), std::string("/dev/NVIDIA0"), std::string("/dev /nvidia0"),
        std::string("/dev\\nvidia0"), std::string("/dev%2fnvidia0"),
        std::string("/d\xc4\x97v/nvidia0"), std::string("/device/nvidia0"),
        std::string("/mnt/dev/nvidia0"), std::string("/proc/1/rootdev/nvidia0"),
        std::string("/proc/one/root/dev/nvidia0"), std::string("/dev.bak/kfd"),
        std::string("/dev\0/nvidia0", 13)})
    EXPECT_EQ(verdicts(TestPod().with(container()).with(host_path(path))), Verdicts{}) << path;
}

TEST(HostPathTricks, OfThePlacesThatLeadToDevicesAreSeenThrough) {
  for (const auto& [path, rule] : {std::pair{"/var/run/../run/nvidia/driver/dev", "HP-02"},
                                   {"/run//nvidia", "HP-02"},
                                   {"/var/./run/nvidia", "HP-02"},
                                   {"dev", "HP-02"},
                                   {"/proc/1/root/dev/", "HP-02"},
                                   {"/var/run/containerd/containerd.sock.ttrpc", "HP-04"},
                                   {"//var/run/docker.sock", "HP-04"},
                                   {"/var/lib/kubelet//device-plugins/", "HP-04"},
                                   {"/var/lib/../lib/kubelet/plugins_registry", "HP-04"},
                                   {"/proc/self/root/var/run/cdi", "HP-04"},
                                   {"/etc/./kubernetes/manifests", "HP-04"},
                                   {"/tmp/../tmp/nvidia-mps", "HP-04"}}) {
    const Judgement judgement = judge_create(TestPod().with(container()).with(host_path(path)));
    ASSERT_FALSE(judgement.allowed) << path;
    EXPECT_EQ(judgement.findings[0].rule, rule) << path;
  }
}

}  // namespace
}  // namespace rankward::admission
