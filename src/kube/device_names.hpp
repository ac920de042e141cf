// The vendors' resource names, for the functions that read names and for the pattern of them.
#pragma once

#include <array>
#include <string_view>

#include "rankward/kube/resources.hpp"

namespace rankward::kube {

struct DeviceName {
  std::string_view name;  // whole; or, where it ends in '*', its start
  DeviceKind kind;
};

// Resource names as the vendors' device plugins register them. MIG names, those of Intel GPUs, of
// AMD's partitions, of Ascend NPUs and shared names follow rules of their own. The first match
// counts.
inline constexpr std::array kDeviceNames = {
    DeviceName{"nvidia.com/gpu", DeviceKind::kWholeGpu},
    // KubeVirt's passthrough plugin, where it is told to use one name for every model.
    DeviceName{"nvidia.com/pgpu", DeviceKind::kWholeGpu},
    // HAMi: MiB, per cent of the memory, per cent of the cores.
    DeviceName{"nvidia.com/gpumem", DeviceKind::kFraction},
    DeviceName{"nvidia.com/gpumem-percentage", DeviceKind::kFraction},
    DeviceName{"nvidia.com/gpucores", DeviceKind::kFraction},
    DeviceName{"amd.com/gpu", DeviceKind::kWholeGpu},
    DeviceName{"habana.ai/gaudi*", DeviceKind::kWholeGpu},
    DeviceName{"habana.ai/goya", DeviceKind::kWholeGpu},
    DeviceName{"aws.amazon.com/neuron*", DeviceKind::kWholeGpu},
    DeviceName{"google.com/tpu", DeviceKind::kWholeGpu},
    DeviceName{"npu.intel.com/accel", DeviceKind::kWholeGpu},
    // gpushare-scheduler-extender and gpushare-device-plugin: GiB or MiB, and a number of devices.
    DeviceName{"aliyun.com/gpu*", DeviceKind::kFraction},
    DeviceName{"koordinator.sh/gpu*", DeviceKind::kFraction},
    DeviceName{"volcano.sh/gpu-*", DeviceKind::kFraction},
    DeviceName{"volcano.sh/vgpu-*", DeviceKind::kFraction},
};

// Partitions of an MI300 that AMD's device plugin names (resource_naming_strategy=mixed).
inline constexpr std::array<std::string_view, 5> kAmdPartitionModes = {"spx", "dpx", "tpx", "qpx",
                                                                       "cpx"};

}  // namespace rankward::kube
