// The shipped exemptions, each against what its publisher's manifest asks of a node. The facts are
// those of the manifests that presets.cpp names.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pods.hpp"
#include "rankward/admission/rules.hpp"

namespace rankward::admission {
namespace {

using namespace testing;

struct Component {
  const char* name;
  const char* preset;
  const char* namespace_;
  const char* service_account;
  std::vector<const char*> host_paths;
  bool privileged = false;
  bool host_pid = false;
  bool host_ipc = false;
  std::vector<std::pair<const char*, const char*>> env{};
  const char* node_label = "nvidia.com/gpu.present";
};

TestPod pod_of(const Component& component) {
  kube::Container only = container("agent");
  only.privileged = component.privileged;
  for (const auto& [name, value] : component.env)
    only = with_env(only, name, value);
  TestPod pod = TestPod().in(component.namespace_).with(only).as(component.service_account);
  for (std::size_t i = 0; i < component.host_paths.size(); ++i)
    pod.spec.volumes.push_back(host_path(component.host_paths[i], "v" + std::to_string(i)));
  pod.spec.host_pid = component.host_pid;
  pod.spec.host_ipc = component.host_ipc;
  pod.spec.node_selector = {{component.node_label, "true"}};
  pod.metadata.owner_references = {{"apps/v1", "DaemonSet", "agent", "1", true}};
  return pod;
}

constexpr const char* kPlugins = "/var/lib/kubelet/device-plugins";

class PresetOf : public ::testing::TestWithParam<Component> {
 protected:
  static Policy with_preset(const char* preset) {
    PolicyOptions options;
    options.excluded_namespaces = {};
    options.presets = {};
    if (preset != nullptr) options.presets.push_back({preset, {}});
    return policy_of(options);
  }
};

INSTANTIATE_TEST_SUITE_P(
    Components, PresetOf,
    ::testing::Values(
        Component{"nvidia_static", "nvidia-device-plugin", "kube-system", "", {kPlugins}},
        Component{"nvidia_helm",
                  "nvidia-device-plugin",
                  "nvidia-device-plugin",
                  "nvdp-nvidia-device-plugin-service-account",
                  {kPlugins, "/var/run/cdi", "/run/nvidia/mps", "/run/nvidia/mps/shm", "/"},
                  true,
                  false,
                  false,
                  {{"NVIDIA_VISIBLE_DEVICES", "all"}, {"NVIDIA_MIG_MONITOR_DEVICES", "all"}}},
        Component{"nvidia_mps_daemon",
                  "nvidia-device-plugin",
                  "nvidia-device-plugin",
                  "nvdp-nvidia-device-plugin-service-account",
                  {"/run/nvidia/mps", "/run/nvidia/mps/shm"},
                  true,
                  true,
                  false,
                  {{"NVIDIA_VISIBLE_DEVICES", "all"}},
                  "nvidia.com/mps.capable"},
        Component{"operator_driver",
                  "gpu-operator",
                  "gpu-operator",
                  "nvidia-driver",
                  {"/run/nvidia", "/", "/sys", "/var/log"},
                  true,
                  true,
                  false,
                  {{"NVIDIA_VISIBLE_DEVICES", "void"}}},
        Component{"operator_vgpu_manager",
                  "gpu-operator",
                  "gpu-operator",
                  "nvidia-vgpu-manager",
                  {"/run/nvidia", "/sys"},
                  true,
                  true,
                  true},
        Component{"operator_toolkit",
                  "gpu-operator",
                  "gpu-operator",
                  "nvidia-container-toolkit",
                  {"/run/nvidia", "/", "/usr/local/nvidia", "/usr/share/containers/oci/hooks.d",
                   "/dev/char", "/var/run/cdi"},
                  true,
                  true},
        Component{"operator_mig_manager",
                  "gpu-operator",
                  "gpu-operator",
                  "nvidia-mig-manager",
                  {"/sys", "/", "/run/nvidia/driver", "/var/run/cdi"},
                  true,
                  true,
                  true,
                  {{"NVIDIA_MIG_CONFIG_DEVICES", "all"}}},
        Component{"operator_validator",
                  "gpu-operator",
                  "gpu-operator",
                  "nvidia-operator-validator",
                  {"/run/nvidia/driver", "/run/nvidia/validations", "/sys", "/dev/char", "/"},
                  true,
                  false,
                  false,
                  {{"NVIDIA_VISIBLE_DEVICES", "all"}}},
        Component{"operator_vfio_manager",
                  "gpu-operator",
                  "gpu-operator",
                  "nvidia-vfio-manager",
                  {"/run/nvidia", "/sys", "/dev/vfio", "/"},
                  true},
        Component{"dcgm_exporter",
                  "dcgm-exporter",
                  "monitoring",
                  "dcgm-exporter",
                  {"/var/lib/kubelet/pod-resources"},
                  true},
        Component{"feature_discovery",
                  "gpu-feature-discovery",
                  "node-feature-discovery",
                  "",
                  {"/sys", "/etc/kubernetes/node-feature-discovery/features.d"},
                  true,
                  false,
                  false,
                  {{"NVIDIA_MIG_MONITOR_DEVICES", "all"}}},
        Component{"dra_driver",
                  "nvidia-dra-driver",
                  "nvidia-dra-driver-gpu",
                  "nvidia-dra-driver-gpu-service-account-kubeletplugin",
                  {"/var/lib/kubelet/plugins_registry", "/var/lib/kubelet/plugins", "/var/run/cdi",
                   "/", "/run/nvidia/driver"},
                  true,
                  false,
                  false,
                  {{"NVIDIA_VISIBLE_DEVICES", "void"}, {"NVIDIA_MIG_CONFIG_DEVICES", "all"}}},
        Component{"amd_static", "amd-device-plugin", "kube-system", "", {kPlugins, "/sys"}},
        Component{"amd_health",
                  "amd-device-plugin",
                  "kube-system",
                  "",
                  {kPlugins, "/sys", "/dev/kfd", "/dev/dri"},
                  true},
        Component{
            "amd_labeller", "amd-device-plugin", "kube-system", "amd-gpu", {"/sys", "/dev"}, true},
        Component{"amd_labeller_helm",
                  "amd-device-plugin",
                  "kube-amd-gpu",
                  "amd-gpu-node-labeller-sa",
                  {"/sys", "/dev"},
                  true},
        Component{"intel_gpu",
                  "intel-device-plugins",
                  "inteldeviceplugins-system",
                  "",
                  {"/dev/dri", "/sys/class/drm", kPlugins, "/var/run/cdi", "/tmp"}},
        Component{"intel_npu",
                  "intel-device-plugins",
                  "inteldeviceplugins-system",
                  "",
                  {"/dev/accel", "/sys/class/accel", kPlugins}},
        Component{"gke_device_plugin",
                  "gke",
                  "kube-system",
                  "",
                  {kPlugins, "/dev", "/home/kubernetes/bin/nvidia",
                   "/var/lib/kubelet/pod-resources", "/proc", "/etc/nvidia"},
                  true},
        Component{"gke_driver_installer",
                  "gke",
                  "kube-system",
                  "",
                  {"/dev", "/home/kubernetes/bin/nvidia", "/"},
                  true,
                  true},
        Component{"rdma_shared",
                  "rdma-shared-device-plugin",
                  "kube-system",
                  "",
                  {kPlugins, "/var/lib/kubelet/plugins_registry", "/dev/"},
                  true},
        Component{"rdma_shared_openshift",
                  "rdma-shared-device-plugin",
                  "nvidia-network-operator",
                  "rdma-shared",
                  {kPlugins, "/var/lib/kubelet/plugins_registry", "/dev/", "/var/run/cdi"},
                  true},
        Component{"sriov",
                  "sriov-device-plugin",
                  "kube-system",
                  "sriov-device-plugin",
                  {"/var/lib/kubelet/", "/var/log", "/var/run/k8s.cni.cncf.io/devinfo/dp"},
                  true},
        Component{"node_exporter",
                  "node-exporter",
                  "monitoring",
                  "prometheus-node-exporter",
                  {"/proc", "/sys", "/"},
                  false,
                  true},
        Component{"hami",
                  "hami",
                  "kube-system",
                  "hami-device-plugin",
                  {kPlugins, "/run/docker", "/run/containerd", "/sys", "/var", "/tmp",
                   "/var/run/cdi", "/usr/local/vgpu"},
                  true,
                  true,
                  false,
                  {{"NVIDIA_VISIBLE_DEVICES", "all"}, {"NVIDIA_MIG_MONITOR_DEVICES", "all"}}}),
    [](const auto& tested) { return std::string(tested.param.name); });

bool has_visible_finding(const Findings& findings) {
  return std::any_of(findings.standing.begin(), findings.standing.end(),
                     [](const Finding& finding) { return finding.mode >= Mode::kWarn; });
}

TEST_P(PresetOf, CoversTheComponent) {
  const Component& component = GetParam();
  const TestPod pod = pod_of(component);
  EXPECT_TRUE(has_visible_finding(find(with_preset(nullptr), pod.subject(), kNow)))
      << "nothing to exempt from";
  const Findings findings = find(with_preset(component.preset), pod.subject(), kNow);
  for (const Finding& finding : findings.standing)
    EXPECT_LT(finding.mode, Mode::kWarn) << finding.message();
  for (const ExemptFinding& exempt : findings.exempt)
    EXPECT_EQ(exempt.exempted_by, component.preset);
}

TEST_P(PresetOf, CoversNobodyElse) {
  const Component& component = GetParam();
  const Policy policy = with_preset(component.preset);
  const TestPod pod = pod_of(component);
  EXPECT_TRUE(find(policy, TestPod(pod).in("team-a").subject(), kNow).exempt.empty());
  EXPECT_TRUE(find(policy, TestPod(pod).as("somebody").subject(), kNow).exempt.empty());
}

TEST_P(PresetOf, CoversNoPodOfOnesOwnWhereAnybodyMayRunAsTheAccount) {
  const Component& component = GetParam();
  TestPod pod = pod_of(component);
  if (!pod.spec.service_account_name.empty()) return;
  pod.metadata.owner_references.clear();
  EXPECT_TRUE(find(with_preset(component.preset), pod.subject(), kNow).exempt.empty());
}

TEST(Presets, CoverTheGpusThatKaiHolds) {
  PolicyOptions options;
  options.presets = {{"kai-scheduler", {}}};
  options.served_schedulers = {"default-scheduler"};
  TestPod pod = TestPod()
                    .in("kai-resource-reservation")
                    .as("kai-resource-reservation")
                    .with(asking(container("resource-reservation")))
                    .on("gpu-a");
  EXPECT_TRUE(judge_create(pod, policy_of(options)).allowed);
  options.presets = {};
  EXPECT_FALSE(judge_create(pod, policy_of(options)).allowed);
}

TEST(Presets, WithAnAccountThatAnybodyMayUseAskForTheOwner) {
  for (const Preset& preset : presets()) {
    const bool anybody = std::find(preset.service_accounts.begin(), preset.service_accounts.end(),
                                   "default") != preset.service_accounts.end();
    EXPECT_TRUE(!anybody || !preset.owner_kinds.empty()) << preset.name;
    EXPECT_FALSE(preset.namespaces.empty()) << preset.name;
    EXPECT_FALSE(preset.service_accounts.empty()) << preset.name;
    EXPECT_EQ(preset.reason.back(), '.') << preset.name;
  }
}

}  // namespace
}  // namespace rankward::admission
