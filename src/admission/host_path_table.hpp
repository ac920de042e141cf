// What lies where on a node: the one table of host paths that the rules know.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/policy.hpp"

namespace rankward::admission {

enum class HostPathKind : std::uint8_t {
  kDeviceNode,      // an accelerator's or RDMA device's node, or the directory of such nodes
  kDeviceRoot,      // /dev, and the driver container's own /dev
  kHostRoot,        // / and /proc: everything, for a container that may open device nodes
  kControlChannel,  // gives devices through a runtime, the kubelet or CDI
  kPodResources,    // the kubelet's list of who holds which device
  kBroad,           // directories far above all of these
};

struct HostPathEntry {
  // Segments; `*` stands for any characters within one segment.
  std::string_view pattern;
  bool and_below = false;
  HostPathKind kind{};
  std::string_view gives;    // "an NVIDIA GPU"
  std::string_view instead;  // what to write instead, as a fix
};

// The shipped table, in the order in which an entry decides before another.
[[nodiscard]] std::span<const HostPathEntry> host_path_entries();

// The shipped table, followed by the device paths of configured vendors.
class HostPathTable {
 public:
  HostPathTable() = default;
  explicit HostPathTable(std::span<const VendorOption> vendors);
  HostPathTable(const HostPathTable&) = delete;
  HostPathTable& operator=(const HostPathTable&) = delete;

  // The first entry that `path` (canonical) is or lies below, or nullptr. Of /dev itself: the
  // device root, not the devices in it.
  [[nodiscard]] const HostPathEntry* look_up(std::string_view path, HostPathKind kind) const;
  // The same for a path that is not known but for its beginning: whatever can lie below `path`.
  [[nodiscard]] const HostPathEntry* look_up_below(std::string_view path, HostPathKind kind) const;

 private:
  [[nodiscard]] std::array<std::span<const HostPathEntry>, 2> parts() const {
    return {host_path_entries(), more_};
  }

  std::deque<std::string> texts_;  // that `more_` refers to
  std::vector<HostPathEntry> more_;
};

}  // namespace rankward::admission
