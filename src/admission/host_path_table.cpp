#include "host_path_table.hpp"

#include <array>
#include <string>

#include "rankward/admission/host_path.hpp"
#include "text.hpp"
#include "vendors.hpp"

namespace rankward::admission {
namespace {

using enum HostPathKind;

using vendor_data::kAskDrm;
using vendor_data::kDropOrExempt;

// What belongs to no vendor. Sources: default paths of containerd, CRI-O, Docker, k3s, RKE2, k0s,
// MicroK8s, kubelet, kubeadm and of the CDI specification. The order decides where several match.
constexpr std::array kOtherPaths{
    HostPathEntry{"/dev/char", false, kDeviceNode, "every GPU by its number", kAskDrm},

    HostPathEntry{"/dev", false, kDeviceRoot, "every device of the node", kAskDrm},

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
    HostPathEntry{"/usr/share/containers/oci/hooks.d", true, kControlChannel, "the runtime's hooks",
                  kDropOrExempt},
    HostPathEntry{"/etc/containers/oci/hooks.d", true, kControlChannel, "the runtime's hooks",
                  kDropOrExempt},

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

constexpr std::size_t kVendorPaths = of_all_vendors<&Vendor::host_paths>().size();

// The vendors' paths with the vendors' own advice, then the others.
constexpr auto kEntries = [] {
  std::array<HostPathEntry, kVendorPaths + kOtherPaths.size()> out{};
  std::size_t next = 0;
  for (const Vendor& vendor : kVendors) {
    for (HostPathEntry entry : vendor.host_paths) {
      if (entry.instead.empty()) entry.instead = vendor.instead;
      out[next++] = entry;
    }
  }
  for (const HostPathEntry& entry : kOtherPaths)
    out[next++] = entry;
  return out;
}();

}  // namespace

std::span<const HostPathEntry> host_path_entries() {
  return kEntries;
}

HostPathTable::HostPathTable(std::span<const VendorOption> vendors) {
  for (const VendorOption& vendor : vendors) {
    const std::string resource =
        vendor.resources.empty() ? "the device plugin's resource" : in_quotes(vendor.resources[0]);
    const std::string& gives = texts_.emplace_back("a device of " + in_quotes(vendor.name));
    const std::string& instead = texts_.emplace_back(
        "set resources.limits " + std::string(vendor.resources.empty() ? "to " : "") + resource +
        " and drop the volume.");
    for (const std::string& path : vendor.device_paths)
      more_.push_back({texts_.emplace_back(path), true, kDeviceNode, gives, instead});
  }
}

const HostPathEntry* HostPathTable::look_up(std::string_view path, HostPathKind kind) const {
  for (const std::span<const HostPathEntry> entries : parts()) {
    for (const HostPathEntry& entry : entries) {
      const Relation relation = relate(path, entry.pattern);
      if (relation == Relation::kEqual || (entry.and_below && relation == Relation::kPathIsBelow))
        return entry.kind == kind ? &entry : nullptr;
    }
  }
  return kind == kHostRoot && holds_process_roots(path) ? look_up("/proc", kHostRoot) : nullptr;
}

const HostPathEntry* HostPathTable::look_up_below(std::string_view path, HostPathKind kind) const {
  if (holds_process_roots(path)) path = "/";
  for (const std::span<const HostPathEntry> entries : parts())
    for (const HostPathEntry& entry : entries)
      if (entry.kind == kind && relate(path, entry.pattern) == Relation::kPathIsAbove)
        return &entry;
  return nullptr;
}

}  // namespace rankward::admission
