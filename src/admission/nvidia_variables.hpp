// Variables other than those that pick GPUs which the NVIDIA runtime acts on. Source:
// nvidia-container-toolkit internal/config/image and internal/modifier (gated.go for those that are
// switched on by the value `enabled`).
#pragma once

#include <array>
#include <string_view>

namespace rankward::admission {

// ENV-05: an image with the first and without the other two counts as an old one.
inline constexpr std::string_view kCudaVersion = "CUDA_VERSION";
inline constexpr std::string_view kCudaRequirement = "NVIDIA_REQUIRE_CUDA";
inline constexpr std::string_view kVisibleDevices = "NVIDIA_VISIBLE_DEVICES";

// ENV-06: a variable that adds devices beside GPUs.
struct DriverFeature {
  std::string_view variable;
  std::string_view gives;
  bool is_switch = false;          // only the value `enabled` counts
  bool fine_with_request = false;  // adds nothing that another pod could hold
  bool grave = false;
};

// GDS and GDRCopy reach the GPUs that the container has, no others; HP-01 sends people to them.
inline constexpr std::array kDriverFeatureVariables{
    DriverFeature{"NVIDIA_MIG_CONFIG_DEVICES",
                  "the right to change how the node's GPUs are partitioned", false, false, true},
    DriverFeature{"NVIDIA_MIG_MONITOR_DEVICES", "a look at all MIG devices of the node"},
    DriverFeature{"NVIDIA_IMEX_CHANNELS", "a channel to the GPU memory of other nodes"},
    DriverFeature{"NVIDIA_MOFED", "every RDMA card of the node", true},
    DriverFeature{"NVIDIA_NVSWITCH", "the node's NVLink switches", true},
    DriverFeature{"NVIDIA_GDS", "GPUDirect Storage", true, true},
    DriverFeature{"NVIDIA_GDRCOPY", "GDRCopy", true, true},
};

}  // namespace rankward::admission
