// Shipped exemptions: namespaces and service accounts as the publishers' own manifests have them.
#include <array>

#include "rankward/admission/policy.hpp"

namespace rankward::admission {
namespace {

using Names = std::string_view;

constexpr std::array<Names, 1> kDaemonSet{"DaemonSet"};

// NVIDIA/k8s-device-plugin: the static DaemonSets run as `default` in kube-system. The Helm chart
// makes an account, which plugin, feature discovery and MPS control daemon share, only where it has
// a ConfigMap or feature discovery.
constexpr std::array<Names, 2> kNvidiaPluginNamespaces{"kube-system", "nvidia-device-plugin"};
constexpr std::array<Names, 3> kNvidiaPluginAccounts{
    "default", "nvidia-device-plugin-service-account", "nvdp-nvidia-device-plugin-service-account"};

// NVIDIA/gpu-feature-discovery's static DaemonSets, whose own text puts them into the namespace of
// node feature discovery, and its Helm chart.
constexpr std::array<Names, 2> kDiscoveryNamespaces{"node-feature-discovery",
                                                    "gpu-feature-discovery"};
constexpr std::array<Names, 2> kDiscoveryAccounts{"default", "gpu-feature-discovery"};
constexpr std::array<Names, 4> kDiscoveryRules{"HP-03", "ENV-01", "ENV-06", "PRIV-01"};

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

// NVIDIA/k8s-dra-driver-gpu: kubelet plugin, and the daemons that it makes for compute domains.
constexpr std::array<Names, 2> kDraNamespaces{"nvidia-dra-driver-gpu", "dra-driver-nvidia-gpu"};
constexpr std::array<Names, 4> kDraAccounts{
    "nvidia-dra-driver-gpu-service-account-kubeletplugin", "nvidia-dra-driver-gpu-service-account",
    "dra-driver-nvidia-gpu-service-account-kubeletplugin", "compute-domain-daemon-service-account"};

// ROCm/k8s-device-plugin: static DaemonSets and labeller in kube-system, Helm chart amd-gpu;
// ROCm/gpu-operator helm-charts-k8s/templates/serviceaccount.yaml.
constexpr std::array<Names, 2> kAmdNamespaces{"kube-system", "kube-amd-gpu"};
constexpr std::array<Names, 8> kAmdAccounts{"default",
                                            "amd-gpu",
                                            "amd-gpu-labeller",
                                            "amd-gpu-node-labeller-sa",
                                            "amd-gpu-operator-kmm-device-plugin",
                                            "amd-gpu-operator-kmm-module-loader",
                                            "amd-gpu-operator-node-labeller",
                                            "amd-gpu-operator-metrics-exporter"};

// intel/intel-device-plugins-for-kubernetes deployments/{gpu,npu}_plugin; the operator's namespace.
constexpr std::array<Names, 2> kIntelNamespaces{"kube-system", "inteldeviceplugins-system"};
constexpr std::array<Names, 2> kIntelAccounts{"default", "gpu-manager-sa"};
constexpr std::array<Names, 5> kIntelRules{"HP-01", "HP-03", "HP-04", "HP-08", "PRIV-01"};

// Mellanox/k8s-rdma-shared-dev-plugin, static and as the network operator rolls it out.
constexpr std::array<Names, 3> kRdmaNamespaces{"kube-system", "nvidia-network-operator",
                                               "network-operator"};
constexpr std::array<Names, 2> kRdmaAccounts{"default", "rdma-shared"};
constexpr std::array<Names, 7> kRdmaRules{"HP-01", "HP-02", "HP-03",  "HP-04",
                                          "HP-07", "HP-08", "PRIV-01"};

// k8snetworkplumbingwg/sriov-network-device-plugin, static and by the SR-IOV and network operators.
constexpr std::array<Names, 5> kSriovNamespaces{"kube-system", "sriov-network-operator",
                                                "openshift-sriov-network-operator",
                                                "nvidia-network-operator", "network-operator"};
constexpr std::array<Names, 1> kSriovAccounts{"sriov-device-plugin"};
constexpr std::array<Names, 6> kSriovRules{"HP-01", "HP-03", "HP-04", "HP-07", "HP-08", "PRIV-01"};

// Project-HAMi/HAMi charts/hami, released as `hami`: the device plugin and its monitor.
constexpr std::array<Names, 2> kHamiNamespaces{"kube-system", "hami-system"};
constexpr std::array<Names, 1> kHamiAccounts{"hami-device-plugin"};

// KAI-Scheduler pkg/binder/binding/resourcereservation: a pod that asks for the GPU which fractions
// share, put on its node by name.
constexpr std::array<Names, 1> kKaiNamespaces{"kai-resource-reservation"};
constexpr std::array<Names, 1> kKaiAccounts{"kai-resource-reservation"};
constexpr std::array<Names, 3> kKaiRules{"RT-02", "SCH-01", "SCH-02"};

// NVIDIA/dcgm-exporter's Helm chart in the namespaces where monitoring usually lives.
constexpr std::array<Names, 2> kDcgmNamespaces{"monitoring", "dcgm-exporter"};
constexpr std::array<Names, 1> kDcgmAccounts{"dcgm-exporter"};
constexpr std::array<Names, 4> kDcgmRules{"HP-04", "HP-08", "PRIV-01", "PRIV-02"};

// prometheus-community/helm-charts: reads /, /proc and /sys.
constexpr std::array<Names, 1> kNodeExporterNamespaces{"monitoring"};
constexpr std::array<Names, 3> kNodeExporterAccounts{
    "node-exporter", "prometheus-node-exporter", "kube-prometheus-stack-prometheus-node-exporter"};
constexpr std::array<Names, 6> kNodeExporterRules{"HP-02", "HP-03",   "HP-07",
                                                  "HP-08", "PRIV-01", "PRIV-03"};

// GKE's device plugin, driver installer and agents run in kube-system.
constexpr std::array<Names, 1> kGkeNamespaces{"kube-system"};
constexpr std::array<Names, 1> kGkeAccounts{"default"};

constexpr std::array kPresets{
    Preset{.name = "nvidia-device-plugin",
           .reason = "The NVIDIA device plugin registers GPUs with the kubelet.",
           .namespaces = kNvidiaPluginNamespaces,
           .service_accounts = kNvidiaPluginAccounts,
           .owner_kinds = kDaemonSet},
    Preset{.name = "gpu-operator",
           .reason = "The GPU Operator's operands install and run the node's GPU stack.",
           .namespaces = kGpuOperatorNamespaces,
           .service_accounts = kGpuOperatorAccounts},
    Preset{.name = "amd-device-plugin",
           .reason = "The AMD device plugin registers GPUs with the kubelet.",
           .namespaces = kAmdNamespaces,
           .service_accounts = kAmdAccounts,
           .owner_kinds = kDaemonSet},
    Preset{.name = "dcgm-exporter",
           .reason = "dcgm-exporter reads GPU counters and who holds which GPU.",
           .namespaces = kDcgmNamespaces,
           .service_accounts = kDcgmAccounts,
           .rules = kDcgmRules},
    Preset{.name = "node-exporter",
           .reason = "node-exporter reads the node's files.",
           .namespaces = kNodeExporterNamespaces,
           .service_accounts = kNodeExporterAccounts,
           .rules = kNodeExporterRules},
    Preset{.name = "gke",
           .reason = "GKE's own GPU stack runs in kube-system.",
           .namespaces = kGkeNamespaces,
           .service_accounts = kGkeAccounts,
           .owner_kinds = kDaemonSet},
    Preset{.name = "gpu-feature-discovery",
           .reason = "GPU feature discovery reads what GPUs a node has and labels it.",
           .namespaces = kDiscoveryNamespaces,
           .service_accounts = kDiscoveryAccounts,
           .rules = kDiscoveryRules,
           .owner_kinds = kDaemonSet},
    Preset{.name = "nvidia-dra-driver",
           .reason = "The NVIDIA DRA driver prepares the devices of resource claims.",
           .namespaces = kDraNamespaces,
           .service_accounts = kDraAccounts,
           .owner_kinds = kDaemonSet},
    Preset{.name = "intel-device-plugins",
           .reason = "The Intel device plugins register GPUs and NPUs with the kubelet.",
           .namespaces = kIntelNamespaces,
           .service_accounts = kIntelAccounts,
           .rules = kIntelRules,
           .owner_kinds = kDaemonSet},
    Preset{.name = "rdma-shared-device-plugin",
           .reason = "The RDMA shared device plugin registers RDMA cards with the kubelet.",
           .namespaces = kRdmaNamespaces,
           .service_accounts = kRdmaAccounts,
           .rules = kRdmaRules,
           .owner_kinds = kDaemonSet},
    Preset{.name = "sriov-device-plugin",
           .reason = "The SR-IOV device plugin registers network functions with the kubelet.",
           .namespaces = kSriovNamespaces,
           .service_accounts = kSriovAccounts,
           .rules = kSriovRules},
    Preset{.name = "hami",
           .reason = "HAMi's device plugin shares GPUs out and watches what containers use.",
           .namespaces = kHamiNamespaces,
           .service_accounts = kHamiAccounts,
           .owner_kinds = kDaemonSet},
    Preset{.name = "kai-scheduler",
           .reason = "KAI-Scheduler holds the GPUs that its fractions share with pods of its own.",
           .namespaces = kKaiNamespaces,
           .service_accounts = kKaiAccounts,
           .rules = kKaiRules},
};

}  // namespace

std::span<const Preset> presets() {
  return kPresets;
}

}  // namespace rankward::admission
