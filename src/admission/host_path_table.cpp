#include "host_path_table.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "rankward/admission/host_path.hpp"
#include "text.hpp"

namespace rankward::admission {
namespace {

using enum HostPathKind;

constexpr std::string_view kAskNvidia =
    "set resources.limits \"nvidia.com/gpu\" and drop the volume.";
constexpr std::string_view kAskVendor =
    "set resources.limits to your GPU vendor's resource (\"nvidia.com/gpu\", \"amd.com/gpu\", "
    "\"gpu.intel.com/i915\") and drop the volume.";
constexpr std::string_view kAskAmd = "set resources.limits \"amd.com/gpu\" and drop the volume.";
constexpr std::string_view kAskAccel =
    "set resources.limits to the accelerator's resource (\"habana.ai/gaudi\", \"google.com/tpu\", "
    "\"npu.intel.com/accel\") and drop the volume.";
constexpr std::string_view kAskNeuron =
    "set resources.limits \"aws.amazon.com/neuron\" and drop the volume.";
constexpr std::string_view kAskGaudi =
    "set resources.limits \"habana.ai/gaudi\" and drop the volume.";
constexpr std::string_view kAskAscend =
    "set resources.limits to your Ascend device plugin's resource and drop the volume.";
constexpr std::string_view kAskRdma =
    "set resources.limits to the RDMA resource that your nodes offer (\"rdma/...\", or the SR-IOV "
    "one) and drop the volume.";
constexpr std::string_view kAskGdrcopy =
    "request the GPU, set NVIDIA_GDRCOPY to \"enabled\" and drop the volume.";
constexpr std::string_view kAskGds =
    "request the GPU, set NVIDIA_GDS to \"enabled\" and drop the volume.";
constexpr std::string_view kAskPassthrough =
    "set resources.limits to the passthrough resource of your device plugin and drop the volume.";
constexpr std::string_view kDropOrExempt =
    "drop the volume; a node agent that needs it is exempted by namespace and service account.";
constexpr std::string_view kDropMps =
    "drop the volume; where the device plugin shares GPUs by MPS it mounts the pipe itself.";

// Sources. Device nodes: kernel Documentation/admin-guide/devices.txt (majors 195 NVIDIA, 226 DRM,
// 231 InfiniBand, 261 accel), nvidia-container-toolkit's discovery, ROCm and Neuron device plugins.
// Control channels: default paths of containerd, CRI-O, Docker, k3s, RKE2, k0s, MicroK8s, kubelet,
// kubeadm and of the CDI specification. The order decides where several match: special first.
constexpr std::array kEntries{
    HostPathEntry{"/dev/nvidia-fs*", true, kDeviceNode, "GPUDirect Storage", kAskGds},
    HostPathEntry{"/dev/nvidia-caps*", true, kDeviceNode,
                  "control of MIG devices or of other nodes' GPU memory", kAskNvidia},
    HostPathEntry{"/dev/nvidia-nvswitch*", true, kDeviceNode, "the NVLink switches", kAskNvidia},
    HostPathEntry{"/dev/nvidia*", true, kDeviceNode, "an NVIDIA GPU", kAskNvidia},
    HostPathEntry{"/dev/gdrdrv", true, kDeviceNode, "GPU memory through GDRCopy", kAskGdrcopy},
    HostPathEntry{"/dev/dri", true, kDeviceNode, "the GPUs' render nodes", kAskVendor},
    HostPathEntry{"/dev/kfd", true, kDeviceNode, "all AMD GPUs of the node", kAskAmd},
    HostPathEntry{"/dev/accel*", true, kDeviceNode, "an accelerator", kAskAccel},
    HostPathEntry{"/dev/neuron*", true, kDeviceNode, "an AWS Neuron device", kAskNeuron},
    HostPathEntry{"/dev/habanalabs*", true, kDeviceNode, "a Gaudi accelerator", kAskGaudi},
    HostPathEntry{"/dev/davinci*", true, kDeviceNode, "an Ascend NPU", kAskAscend},
    HostPathEntry{"/dev/infiniband", true, kDeviceNode, "the RDMA network cards", kAskRdma},
    HostPathEntry{"/dev/vfio", true, kDeviceNode, "whole PCI devices", kAskPassthrough},
    HostPathEntry{"/dev/dxg", true, kDeviceNode, "the GPU of a WSL host", kAskNvidia},
    HostPathEntry{"/dev/nvmap", true, kDeviceNode, "the GPU of a Jetson", kAskNvidia},
    HostPathEntry{"/dev/nvhost*", true, kDeviceNode, "the GPU of a Jetson", kAskNvidia},
    HostPathEntry{"/dev/char/195:*", true, kDeviceNode, "an NVIDIA GPU by its number", kAskNvidia},
    HostPathEntry{"/dev/char/226:*", true, kDeviceNode, "a GPU's render node by its number",
                  kAskVendor},
    HostPathEntry{"/dev/char/231:*", true, kDeviceNode, "an RDMA card by its number", kAskRdma},
    HostPathEntry{"/dev/char/261:*", true, kDeviceNode, "an accelerator by its number", kAskAccel},
    HostPathEntry{"/dev/char", false, kDeviceNode, "every GPU by its number", kAskVendor},

    HostPathEntry{"/dev", false, kDeviceRoot, "every device of the node", kAskVendor},
    HostPathEntry{"/run/nvidia/mps", true, kControlChannel, "another pod's MPS server", kDropMps},
    HostPathEntry{"/run/nvidia", true, kDeviceRoot,
                  "the driver's own files with every NVIDIA device in them", kAskNvidia},

    HostPathEntry{"/proc", false, kHostRoot, "the whole node through /proc/1/root", kDropOrExempt},
    HostPathEntry{"/", false, kHostRoot, "the whole node with every device", kDropOrExempt},

    HostPathEntry{"/run/containerd", false, kControlChannel, "the container runtime",
                  kDropOrExempt},
    HostPathEntry{"/run/containerd/containerd.sock*", false, kControlChannel,
                  "the container runtime", kDropOrExempt},
    HostPathEntry{"/run/k3s", false, kControlChannel, "the container runtime", kDropOrExempt},
    HostPathEntry{"/run/k3s/containerd", false, kControlChannel, "the container runtime",
                  kDropOrExempt},
    HostPathEntry{"/run/k3s/containerd/containerd.sock*", false, kControlChannel,
                  "the container runtime", kDropOrExempt},
    HostPathEntry{"/run/k0s", false, kControlChannel, "the container runtime", kDropOrExempt},
    HostPathEntry{"/run/k0s/containerd.sock*", false, kControlChannel, "the container runtime",
                  kDropOrExempt},
    HostPathEntry{"/var/snap/microk8s/common/run/containerd.sock*", false, kControlChannel,
                  "the container runtime", kDropOrExempt},
    HostPathEntry{"/run/crio", false, kControlChannel, "the container runtime", kDropOrExempt},
    HostPathEntry{"/run/crio/crio.sock", false, kControlChannel, "the container runtime",
                  kDropOrExempt},
    HostPathEntry{"/run/docker.sock", false, kControlChannel, "the container runtime",
                  kDropOrExempt},
    HostPathEntry{"/run/docker", false, kControlChannel, "the container runtime", kDropOrExempt},
    HostPathEntry{"/run/docker/containerd", true, kControlChannel, "the container runtime",
                  kDropOrExempt},
    HostPathEntry{"/run/cri-dockerd.sock", false, kControlChannel, "the container runtime",
                  kDropOrExempt},
    HostPathEntry{"/run/podman", true, kControlChannel, "the container runtime", kDropOrExempt},
    HostPathEntry{"/run/nri", true, kControlChannel, "the container runtime through NRI",
                  kDropOrExempt},

    HostPathEntry{"/var/lib/kubelet", false, kControlChannel, "the kubelet's sockets",
                  kDropOrExempt},
    HostPathEntry{"/var/lib/kubelet/device-plugins", true, kControlChannel,
                  "the kubelet's list of devices", kDropOrExempt},
    HostPathEntry{"/var/lib/kubelet/plugins_registry", true, kControlChannel,
                  "the kubelet's list of plugins", kDropOrExempt},
    HostPathEntry{"/var/lib/kubelet/pod-resources", true, kPodResources,
                  "the list of who holds which GPU", kDropOrExempt},
    HostPathEntry{"/var/lib/k0s/kubelet", false, kControlChannel, "the kubelet's sockets",
                  kDropOrExempt},
    HostPathEntry{"/var/lib/k0s/kubelet/device-plugins", true, kControlChannel,
                  "the kubelet's list of devices", kDropOrExempt},
    HostPathEntry{"/var/lib/k0s/kubelet/plugins_registry", true, kControlChannel,
                  "the kubelet's list of plugins", kDropOrExempt},
    HostPathEntry{"/var/snap/microk8s/common/var/lib/kubelet", false, kControlChannel,
                  "the kubelet's sockets", kDropOrExempt},
    HostPathEntry{"/var/snap/microk8s/common/var/lib/kubelet/device-plugins", true, kControlChannel,
                  "the kubelet's list of devices", kDropOrExempt},
    HostPathEntry{"/var/snap/microk8s/common/var/lib/kubelet/plugins_registry", true,
                  kControlChannel, "the kubelet's list of plugins", kDropOrExempt},

    HostPathEntry{"/run/cdi", true, kControlChannel, "the node's CDI device definitions",
                  kDropOrExempt},
    HostPathEntry{"/etc/cdi", true, kControlChannel, "the node's CDI device definitions",
                  kDropOrExempt},
    HostPathEntry{"/etc/kubernetes", false, kControlChannel, "the node's static pods",
                  kDropOrExempt},
    HostPathEntry{"/etc/kubernetes/manifests", true, kControlChannel, "the node's static pods",
                  kDropOrExempt},
    HostPathEntry{"/var/lib/rancher/*/agent/pod-manifests", true, kControlChannel,
                  "the node's static pods", kDropOrExempt},
    HostPathEntry{"/etc/containerd", true, kControlChannel, "the runtime's configuration",
                  kDropOrExempt},
    HostPathEntry{"/etc/crio", true, kControlChannel, "the runtime's configuration", kDropOrExempt},
    HostPathEntry{"/etc/docker", true, kControlChannel, "the runtime's configuration",
                  kDropOrExempt},
    HostPathEntry{"/var/lib/rancher/*/agent/etc/containerd", true, kControlChannel,
                  "the runtime's configuration", kDropOrExempt},
    HostPathEntry{"/etc/nvidia-container-runtime", true, kControlChannel,
                  "the NVIDIA runtime's configuration", kDropOrExempt},
    HostPathEntry{"/usr/local/nvidia/toolkit", true, kControlChannel,
                  "the NVIDIA runtime's configuration", kDropOrExempt},
    HostPathEntry{"/usr/share/containers/oci/hooks.d", true, kControlChannel, "the runtime's hooks",
                  kDropOrExempt},
    HostPathEntry{"/etc/containers/oci/hooks.d", true, kControlChannel, "the runtime's hooks",
                  kDropOrExempt},
    HostPathEntry{"/tmp/nvidia-mps", true, kControlChannel, "another pod's MPS server", kDropMps},

    HostPathEntry{"/sys", false, kBroad, "the kernel's view of every device", {}},
    HostPathEntry{"/run", false, kBroad, "the sockets of runtimes and drivers", {}},
    HostPathEntry{"/var", false, kBroad, "the kubelet's and the runtimes' files", {}},
    HostPathEntry{"/var/lib", false, kBroad, "the kubelet's and the runtimes' files", {}},
};

// The first segment of a path without its leading slash, which is cut off `path`.
std::string_view take_segment(std::string_view& path) {
  if (!path.empty()) path.remove_prefix(1);
  const std::string_view segment = path.substr(0, path.find('/'));
  path.remove_prefix(segment.size());
  return segment;
}

enum class Relation : std::uint8_t { kApart, kEqual, kPathIsBelow, kPathIsAbove };

Relation relate(std::string_view path, std::string_view pattern) {
  if (path == "/") path = {};
  if (pattern == "/") pattern = {};
  while (!path.empty() && !pattern.empty()) {
    if (!matches_glob(take_segment(pattern), take_segment(path))) return Relation::kApart;
  }
  if (path.empty() && pattern.empty()) return Relation::kEqual;
  return path.empty() ? Relation::kPathIsAbove : Relation::kPathIsBelow;
}

// /proc, /proc/PID and its threads: what lies in them has the link `root`, which is the whole node.
bool holds_process_roots(std::string_view path) {
  const std::string directory(path);
  return canonical_host_path(directory + "/root") == "/" ||
         canonical_host_path(directory + "/1/root") == "/";
}

}  // namespace

std::span<const HostPathEntry> host_path_entries() {
  return kEntries;
}

const HostPathEntry* look_up(std::string_view path, HostPathKind kind) {
  for (const HostPathEntry& entry : kEntries) {
    const Relation relation = relate(path, entry.pattern);
    if (relation == Relation::kEqual || (entry.and_below && relation == Relation::kPathIsBelow))
      return entry.kind == kind ? &entry : nullptr;
  }
  return kind == kHostRoot && holds_process_roots(path) ? look_up("/proc", kHostRoot) : nullptr;
}

const HostPathEntry* look_up_below(std::string_view path, HostPathKind kind) {
  if (holds_process_roots(path)) path = "/";
  const auto* const found = std::find_if(kEntries.begin(), kEntries.end(), [&](const auto& entry) {
    return entry.kind == kind && relate(path, entry.pattern) == Relation::kPathIsAbove;
  });
  return found == kEntries.end() ? nullptr : found;
}

}  // namespace rankward::admission
