// The vendors of accelerators and RDMA cards: what leads to their devices, and what to ask for
// instead. One entry a vendor; everything else that knows vendors is made from this table.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "host_path_table.hpp"

namespace rankward::admission {

struct Vendor {
  std::string_view name;
  // Resource to name in a fix: `set resources.limits "amd.com/gpu" ...`. Which resources count as a
  // request is kube's to know (device_kind).
  std::string_view resource;
  // What is said of a path that has no `instead` of its own.
  std::string_view instead{};
  // Special before general, since the first match counts.
  std::span<const HostPathEntry> host_paths{};
  std::span<const std::string_view> env_names{};        // by which its runtime picks devices
  std::span<const std::string_view> annotations{};      // domains by which a plugin adds devices
  std::span<const std::string_view> runtime_classes{};  // whose runtime obeys the variables
  std::span<const std::string_view> node_labels{};      // that only its nodes carry
  std::span<const std::string_view> toleration_keys{};  // of the taints that keep others off
};

namespace vendor_data {

using enum HostPathKind;
using Paths = HostPathEntry;
using Name = std::string_view;

inline constexpr Name kDropMps =
    "drop the volume; where the device plugin shares GPUs by MPS it mounts the pipe itself.";
inline constexpr Name kDropOrExempt =
    "drop the volume; a node agent that needs it is exempted by namespace and service account.";

// Device nodes: kernel Documentation/admin-guide/devices.txt (majors 195 NVIDIA, 226 DRM, 231
// InfiniBand, 261 accel), nvidia-container-toolkit's discovery. Labels: GPU Feature Discovery, NFD
// (PCI vendor 10de), GKE, EKS, Karpenter, AKS.
inline constexpr std::array kNvidiaPaths{
    Paths{"/dev/nvidia-fs*", true, kDeviceNode, "GPUDirect Storage",
          "request the GPU, set NVIDIA_GDS to \"enabled\" and drop the volume."},
    Paths{"/dev/nvidia-caps*",
          true,
          kDeviceNode,
          "control of MIG devices or of other nodes' GPU memory",
          {}},
    Paths{"/dev/nvidia-nvswitch*", true, kDeviceNode, "the NVLink switches", {}},
    Paths{"/dev/nvidia*", true, kDeviceNode, "an NVIDIA GPU", {}},
    Paths{"/dev/gdrdrv", true, kDeviceNode, "GPU memory through GDRCopy",
          "request the GPU, set NVIDIA_GDRCOPY to \"enabled\" and drop the volume."},
    Paths{"/dev/dxg", true, kDeviceNode, "the GPU of a WSL host", {}},
    Paths{"/dev/nvmap", true, kDeviceNode, "the GPU of a Jetson", {}},
    Paths{"/dev/nvhost*", true, kDeviceNode, "the GPU of a Jetson", {}},
    Paths{"/dev/char/195:*", true, kDeviceNode, "an NVIDIA GPU by its number", {}},
    Paths{"/run/nvidia/mps", true, kControlChannel, "another pod's MPS server", kDropMps},
    Paths{"/run/nvidia",
          true,
          kDeviceRoot,
          "the driver's own files with every NVIDIA device in them",
          {}},
    Paths{"/tmp/nvidia-mps", true, kControlChannel, "another pod's MPS server", kDropMps},
    Paths{"/etc/nvidia-container-runtime", true, kControlChannel,
          "the NVIDIA runtime's configuration", kDropOrExempt},
    Paths{"/usr/local/nvidia/toolkit", true, kControlChannel, "the NVIDIA runtime's configuration",
          kDropOrExempt},
};
inline constexpr std::array<Name, 1> kNvidiaVariables{"NVIDIA_VISIBLE_DEVICES"};
inline constexpr std::array<Name, 1> kNvidiaAnnotations{"nvidia.cdi.k8s.io"};
inline constexpr std::array<Name, 4> kNvidiaClasses{"nvidia", "nvidia-cdi", "nvidia-legacy",
                                                    "kata-*-gpu*"};
inline constexpr std::array<Name, 11> kNvidiaLabels{"nvidia.com/gpu*",
                                                    "nvidia.com/mig*",
                                                    "nvidia.com/cuda*",
                                                    "gpu.nvidia.com/*",
                                                    "feature.node.kubernetes.io/pci-*10de.present",
                                                    "cloud.google.com/gke-accelerator*",
                                                    "cloud.google.com/gke-gpu*",
                                                    "k8s.amazonaws.com/accelerator",
                                                    "karpenter.k8s.aws/instance-gpu-*",
                                                    "karpenter.k8s.aws/instance-accelerator-*",
                                                    "kubernetes.azure.com/accelerator"};
inline constexpr std::array<Name, 1> kNvidiaTolerations{"nvidia.com/gpu*"};

// ROCm/k8s-device-plugin and its labeller, ROCm/gpu-operator, amd-container-toolkit.
inline constexpr std::array kAmdPaths{
    Paths{"/dev/kfd", true, kDeviceNode, "all AMD GPUs of the node", {}},
};
inline constexpr std::array<Name, 1> kAmdVariables{"AMD_VISIBLE_DEVICES"};
inline constexpr std::array<Name, 1> kAmdClasses{"amd"};
inline constexpr std::array<Name, 4> kAmdLabels{"amd.com/gpu*", "beta.amd.com/gpu*",
                                                "feature.node.kubernetes.io/pci-*1002.present",
                                                "feature.node.kubernetes.io/amd-gpu"};
inline constexpr std::array<Name, 1> kAmdTolerations{"amd.com/gpu*"};

// intel-device-plugins-for-kubernetes. /dev/dri belongs to AMD and NVIDIA too, hence its own text.
inline constexpr Name kAskDrm =
    "set resources.limits to your GPU vendor's resource (\"nvidia.com/gpu\", \"amd.com/gpu\", "
    "\"gpu.intel.com/i915\") and drop the volume.";
inline constexpr Name kAskAccel =
    "set resources.limits to the accelerator's resource (\"habana.ai/gaudi\", \"google.com/tpu\", "
    "\"npu.intel.com/accel\") and drop the volume.";
inline constexpr std::array kIntelPaths{
    Paths{"/dev/dri", true, kDeviceNode, "the GPUs' render nodes", kAskDrm},
    Paths{"/dev/char/226:*", true, kDeviceNode, "a GPU's render node by its number", kAskDrm},
    Paths{"/dev/accel*", true, kDeviceNode, "an accelerator", kAskAccel},
    Paths{"/dev/char/261:*", true, kDeviceNode, "an accelerator by its number", kAskAccel},
};
inline constexpr std::array<Name, 3> kIntelLabels{"gpu.intel.com/*",
                                                  "intel.feature.node.kubernetes.io/gpu",
                                                  "intel.feature.node.kubernetes.io/npu"};
inline constexpr std::array<Name, 1> kIntelTolerations{"gpu.intel.com/*"};

// habanalabs driver: /dev/hlN and /dev/hl_controlDN before Linux 6.2, /dev/accel since. PCI vendor
// 1da3.
inline constexpr std::array kGaudiPaths{
    Paths{"/dev/habanalabs*", true, kDeviceNode, "a Gaudi accelerator", {}},
    Paths{"/dev/hl*", true, kDeviceNode, "a Gaudi accelerator", {}},
};
inline constexpr std::array<Name, 1> kGaudiVariables{"HABANA_VISIBLE_DEVICES"};
inline constexpr std::array<Name, 1> kGaudiClasses{"habana"};
inline constexpr std::array<Name, 2> kGaudiLabels{"habana.ai/*",
                                                  "feature.node.kubernetes.io/pci-*1da3.present"};
inline constexpr std::array<Name, 1> kGaudiTolerations{"habana.ai/*"};

inline constexpr std::array kNeuronPaths{
    Paths{"/dev/neuron*", true, kDeviceNode, "an AWS Neuron device", {}},
};
inline constexpr std::array<Name, 1> kNeuronVariables{"AWS_NEURON_VISIBLE_DEVICES"};
inline constexpr std::array<Name, 1> kNeuronTolerations{"aws.amazon.com/neuron*"};

// A TPU's nodes are /dev/accel (above) or, from v5e on, /dev/vfio (below).
inline constexpr std::array<Name, 1> kGoogleAnnotations{"devices.gke.io"};
inline constexpr std::array<Name, 1> kTpuLabels{"cloud.google.com/gke-tpu*"};
inline constexpr std::array<Name, 1> kTpuTolerations{"google.com/tpu"};

// Ascend/ascend-device-plugin and ascend-docker-runtime: the NPUs and the managers that every
// process needs beside them. HAMi and MindCluster label nodes accelerator=huawei-Ascend910; the key
// is also the one of Kubernetes' own page on GPUs.
inline constexpr std::array kAscendPaths{
    Paths{"/dev/davinci*", true, kDeviceNode, "an Ascend NPU", {}},
    Paths{"/dev/devmm_svm", true, kDeviceNode, "the memory of Ascend NPUs", {}},
    Paths{"/dev/hisi_hdc", true, kDeviceNode, "the control of Ascend NPUs", {}},
};
inline constexpr std::array<Name, 1> kAscendVariables{"ASCEND_VISIBLE_DEVICES"};
inline constexpr std::array<Name, 1> kAscendClasses{"ascend"};
inline constexpr std::array<Name, 1> kAscendLabels{"accelerator"};
inline constexpr std::array<Name, 2> kAscendTolerations{"huawei.com/Ascend*", "npu.huawei.com/NPU"};

inline constexpr std::array kRdmaPaths{
    Paths{"/dev/infiniband", true, kDeviceNode, "the RDMA network cards", {}},
    Paths{"/dev/char/231:*", true, kDeviceNode, "an RDMA card by its number", {}},
};

inline constexpr std::array kPassthroughPaths{
    Paths{"/dev/vfio", true, kDeviceNode, "whole PCI devices", {}},
};

// Injectors that serve any vendor. Sources: containerd and CRI-O (CDI), containerd/nri
// plugins/device-injector.
inline constexpr std::array<Name, 4> kAnyAnnotations{"cdi.k8s.io", "*.noderesource.dev",
                                                     "devices.nri.io", "cdi-devices.nri.io"};

}  // namespace vendor_data

inline constexpr std::array kVendors{
    Vendor{.name = "NVIDIA",
           .resource = "nvidia.com/gpu",
           .instead = "set resources.limits \"nvidia.com/gpu\" and drop the volume.",
           .host_paths = vendor_data::kNvidiaPaths,
           .env_names = vendor_data::kNvidiaVariables,
           .annotations = vendor_data::kNvidiaAnnotations,
           .runtime_classes = vendor_data::kNvidiaClasses,
           .node_labels = vendor_data::kNvidiaLabels,
           .toleration_keys = vendor_data::kNvidiaTolerations},
    Vendor{.name = "AMD",
           .resource = "amd.com/gpu",
           .instead = "set resources.limits \"amd.com/gpu\" and drop the volume.",
           .host_paths = vendor_data::kAmdPaths,
           .env_names = vendor_data::kAmdVariables,
           .runtime_classes = vendor_data::kAmdClasses,
           .node_labels = vendor_data::kAmdLabels,
           .toleration_keys = vendor_data::kAmdTolerations},
    Vendor{.name = "Intel",
           .resource = "gpu.intel.com/i915",
           .instead = "set resources.limits \"gpu.intel.com/i915\" and drop the volume.",
           .host_paths = vendor_data::kIntelPaths,
           .node_labels = vendor_data::kIntelLabels,
           .toleration_keys = vendor_data::kIntelTolerations},
    Vendor{.name = "Gaudi",
           .resource = "habana.ai/gaudi",
           .instead = "set resources.limits \"habana.ai/gaudi\" and drop the volume.",
           .host_paths = vendor_data::kGaudiPaths,
           .env_names = vendor_data::kGaudiVariables,
           .runtime_classes = vendor_data::kGaudiClasses,
           .node_labels = vendor_data::kGaudiLabels,
           .toleration_keys = vendor_data::kGaudiTolerations},
    Vendor{.name = "AWS Neuron",
           .resource = "aws.amazon.com/neuron",
           .instead = "set resources.limits \"aws.amazon.com/neuron\" and drop the volume.",
           .host_paths = vendor_data::kNeuronPaths,
           .env_names = vendor_data::kNeuronVariables,
           .toleration_keys = vendor_data::kNeuronTolerations},
    Vendor{.name = "Google TPU",
           .resource = "google.com/tpu",
           .instead = "set resources.limits \"google.com/tpu\" and drop the volume.",
           .annotations = vendor_data::kGoogleAnnotations,
           .node_labels = vendor_data::kTpuLabels,
           .toleration_keys = vendor_data::kTpuTolerations},
    Vendor{.name = "Huawei Ascend",
           .resource = "huawei.com/Ascend910",
           .instead = "set resources.limits to your Ascend device plugin's resource "
                      "(\"huawei.com/Ascend910\") and drop the volume.",
           .host_paths = vendor_data::kAscendPaths,
           .env_names = vendor_data::kAscendVariables,
           .runtime_classes = vendor_data::kAscendClasses,
           .node_labels = vendor_data::kAscendLabels,
           .toleration_keys = vendor_data::kAscendTolerations},
    Vendor{.name = "RDMA and SR-IOV",
           .resource = {},
           .instead = "set resources.limits to the RDMA resource that your nodes offer "
                      "(\"rdma/...\", or the SR-IOV one) and drop the volume.",
           .host_paths = vendor_data::kRdmaPaths},
    Vendor{.name = "PCI passthrough",
           .resource = {},
           .instead = "set resources.limits to the passthrough resource of your device plugin and "
                      "drop the volume.",
           .host_paths = vendor_data::kPassthroughPaths},
    Vendor{.name = "any", .resource = {}, .annotations = vendor_data::kAnyAnnotations},
};

// One list of all vendors, in the order of the table.
template <auto kList>
[[nodiscard]] constexpr auto of_all_vendors() {
  constexpr std::size_t kSize = [] {
    std::size_t size = 0;
    for (const Vendor& vendor : kVendors)
      size += (vendor.*kList).size();
    return size;
  }();
  using Item = typename std::remove_cvref_t<decltype(kVendors[0].*kList)>::value_type;
  std::array<Item, kSize> out{};
  std::size_t next = 0;
  for (const Vendor& vendor : kVendors)
    for (const Item& item : vendor.*kList)
      out[next++] = item;
  return out;
}

// The vendor whose runtime obeys the variable, or nullptr.
[[nodiscard]] constexpr const Vendor* vendor_of_variable(std::string_view name) {
  for (const Vendor& vendor : kVendors)
    for (const std::string_view known : vendor.env_names)
      if (known == name) return &vendor;
  return nullptr;
}

}  // namespace rankward::admission
