// Shipped exemptions: namespaces and service accounts as the publishers' own manifests have them.
#include <array>

#include "rankward/admission/policy.hpp"

namespace rankward::admission {
namespace {

using Names = std::string_view;

// NVIDIA/k8s-device-plugin: the static DaemonSets run as `default` in kube-system; the Helm chart
// makes an account only where it has a ConfigMap or feature discovery.
constexpr std::array<Names, 2> kNvidiaPluginNamespaces{"kube-system", "nvidia-device-plugin"};
constexpr std::array<Names, 3> kNvidiaPluginAccounts{
    "default", "nvidia-device-plugin-service-account", "nvdp-nvidia-device-plugin-service-account"};

// NVIDIA/gpu-operator assets/*/0100_service_account.yaml; nvidia-gpu-operator is OpenShift's.
constexpr std::array<Names, 3> kGpuOperatorNamespaces{"gpu-operator", "nvidia-gpu-operator",
                                                      "gpu-operator-resources"};
constexpr std::array<Names, 20> kGpuOperatorAccounts{"gpu-operator",
                                                     "nvidia-cc-manager",
                                                     "nvidia-container-toolkit",
                                                     "nvidia-dcgm",
                                                     "nvidia-dcgm-exporter",
                                                     "nvidia-device-plugin",
                                                     "nvidia-device-plugin-mps-control-daemon",
                                                     "nvidia-dra-driver-kubeletplugin",
                                                     "nvidia-driver",
                                                     "nvidia-gpu-feature-discovery",
                                                     "nvidia-kata-manager",
                                                     "nvidia-mig-manager",
                                                     "nvidia-node-status-exporter",
                                                     "nvidia-operator-validator",
                                                     "nvidia-sandbox-device-plugin",
                                                     "nvidia-sandbox-validator",
                                                     "nvidia-vfio-manager",
                                                     "nvidia-vgpu-device-manager",
                                                     "nvidia-vgpu-manager",
                                                     "node-feature-discovery"};

// ROCm/k8s-device-plugin: static DaemonSets in kube-system; ROCm/gpu-operator
// helm-charts-k8s/templates/serviceaccount.yaml.
constexpr std::array<Names, 2> kAmdNamespaces{"kube-system", "kube-amd-gpu"};
constexpr std::array<Names, 5> kAmdAccounts{
    "default", "amd-gpu-operator-kmm-device-plugin", "amd-gpu-operator-kmm-module-loader",
    "amd-gpu-operator-node-labeller", "amd-gpu-operator-metrics-exporter"};

// NVIDIA/dcgm-exporter's Helm chart in the namespaces where monitoring usually lives.
constexpr std::array<Names, 2> kDcgmNamespaces{"monitoring", "dcgm-exporter"};
constexpr std::array<Names, 1> kDcgmAccounts{"dcgm-exporter"};
constexpr std::array<Names, 3> kDcgmRules{"HP-04", "PRIV-01", "PRIV-02"};

// prometheus-community/helm-charts: reads /, /proc and /sys.
constexpr std::array<Names, 1> kNodeExporterNamespaces{"monitoring"};
constexpr std::array<Names, 3> kNodeExporterAccounts{
    "node-exporter", "prometheus-node-exporter", "kube-prometheus-stack-prometheus-node-exporter"};
constexpr std::array<Names, 3> kNodeExporterRules{"HP-02", "HP-07", "PRIV-01"};

// GKE's device plugin, driver installer and agents run in kube-system.
constexpr std::array<Names, 1> kGkeNamespaces{"kube-system"};
constexpr std::array<Names, 1> kGkeAccounts{"default"};

constexpr std::array kPresets{
    Preset{"nvidia-device-plugin",
           "The NVIDIA device plugin registers GPUs with the kubelet.",
           kNvidiaPluginNamespaces,
           kNvidiaPluginAccounts,
           {}},
    Preset{"gpu-operator",
           "The GPU Operator's operands install and run the node's GPU stack.",
           kGpuOperatorNamespaces,
           kGpuOperatorAccounts,
           {}},
    Preset{"amd-device-plugin",
           "The AMD device plugin registers GPUs with the kubelet.",
           kAmdNamespaces,
           kAmdAccounts,
           {}},
    Preset{"dcgm-exporter", "dcgm-exporter reads GPU counters and who holds which GPU.",
           kDcgmNamespaces, kDcgmAccounts, kDcgmRules},
    Preset{"node-exporter", "node-exporter reads the node's files.", kNodeExporterNamespaces,
           kNodeExporterAccounts, kNodeExporterRules},
    Preset{"gke", "GKE's own GPU stack runs in kube-system.", kGkeNamespaces, kGkeAccounts, {}},
};

}  // namespace

std::span<const Preset> presets() {
  return kPresets;
}

}  // namespace rankward::admission
