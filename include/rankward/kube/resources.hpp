// Resource names and amounts, and which of them are accelerators.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/quantity.hpp"

namespace rankward::kube {

// Resource name -> amount. An absent name differs from an amount of 0.
using ResourceList = std::map<std::string, Quantity, std::less<>>;

// An amount that Kubernetes could not read. Never in a Pod that the API server has stored, but
// possible in the template of a custom resource, which nobody validates.
struct UnreadableAmount {
  std::string field;    // `limits["nvidia.com/gpu"]`, below the container
  std::string literal;  // as written
};

struct ResourceRequirements {
  ResourceList requests;
  ResourceList limits;
  std::vector<std::string> claims;  // names in spec.resourceClaims
  std::vector<UnreadableAmount> unreadable;
};

// What a device plugin's resource name stands for.
enum class DeviceKind : std::uint8_t {
  kNone,         // not an accelerator
  kWholeGpu,     // nvidia.com/gpu, amd.com/gpu, gpu.intel.com/i915, aws.amazon.com/neuron, ...
  kMigSlice,     // nvidia.com/mig-1g.10gb
  kSharedSlice,  // nvidia.com/gpu.shared, nvidia.com/mig-1g.10gb.shared
  kFraction,     // HAMi's nvidia.com/gpumem, aliyun.com/gpu-mem, KAI fractions: the holder decides
  kDraClass,     // deviceclass.resource.kubernetes.io/NAME
};

// Anchored: nvidia.com/mig-x is a MIG slice only where x is a profile name. One partition of an AMD
// GPU (amd.com/cpx_nps4) is a whole GPU to software and here; gpu.intel.com/*_monitoring is kNone.
[[nodiscard]] DeviceKind device_kind(std::string_view resource_name);
// True for every kind but kNone.
[[nodiscard]] bool is_accelerator(std::string_view resource_name);
// is_accelerator() for those who cannot call it (CEL): a name is one where the whole of it matches
// `accepts` and does not match `excepts`. Regular expressions that RE2 and ECMAScript read alike.
struct NamePattern {
  std::string accepts;
  std::string excepts;
};
[[nodiscard]] NamePattern accelerator_pattern();
// "1g.10gb" of "nvidia.com/mig-1g.10gb" and of "nvidia.com/mig-1g.10gb.shared"; nothing for other
// names.
[[nodiscard]] std::optional<std::string_view> mig_profile(std::string_view resource_name);
// rdma/*, nvidia.com/hostdev, vpc.amazonaws.com/efa, koordinator.sh/rdma. SR-IOV plugins let the
// administrator choose the name, so below intel.com, nvidia.com, mellanox.com and openshift.io a
// hint decides: rdma, mlnx, mellanox, connectx, roce or infiniband anywhere, ib or hca as a word. A
// name without a hint ("intel.com/sriov_dpdk") is not taken for RDMA.
[[nodiscard]] bool is_rdma(std::string_view resource_name);
// A name with a domain that is not *kubernetes.io: integer, never overcommitted.
[[nodiscard]] bool is_extended(std::string_view resource_name);

}  // namespace rankward::kube
