#include "constants.hpp"

#include <array>

namespace rankward::topology {

// NCCL's model is src/graph/topo.h of v2.30.7 (bandwidth per link) and src/graph/tuning.cc (seconds
// per step), where not said otherwise.
namespace constant {

constexpr Constant kNvLinkSm70{"nvlink-sm70", 20.0, "NCCL topo.h, one NVLink of V100"};
constexpr Constant kNvLinkSm80{"nvlink-sm80", 20.0, "NCCL topo.h, one NVLink of A100"};
constexpr Constant kNvLinkSm86{"nvlink-sm86", 12.0, "NCCL topo.h, one NVLink of A40 or RTX A6000"};
constexpr Constant kNvLinkSm90{"nvlink-sm90", 20.6,
                               "NCCL topo.h, one NVLink of H100; 18 links give 371, and a ring on "
                               "8 H200 was measured at 367 (stas00/ml-engineering)"};
constexpr Constant kNvLinkSm100{"nvlink-sm100", 40.1,
                                "NCCL topo.h, one NVLink of B200; 18 links give 722"};
constexpr Constant kC2C{"nvlink-c2c", 450.0, "Grace-Blackwell NVLink-C2C, one direction, quoted"};
constexpr Constant kPcieGen3{"pcie-gen3-x16", 12.0, "NCCL topo.h"};
constexpr Constant kPcieGen4{"pcie-gen4-x16", 24.0, "NCCL topo.h, scaled by speed and width"};
constexpr Constant kPcieGen5{"pcie-gen5-x16", 53.0,
                             "least of 53 to 56.6 measured between H200 of one NUMA node "
                             "(stas00/ml-engineering); NCCL's 48 would hold a 400 Gb/s port below "
                             "its line rate"};
constexpr Constant kPcieGen6{"pcie-gen6-x16", 96.0, "NCCL topo.h, scaled by speed and width"};
constexpr Constant kCpuLinkArm{"cpu-link-arm", 6.0, "NCCL topo.h, Arm other than Grace"};
constexpr Constant kCpuLinkBroadwell{"cpu-link-broadwell", 6.0,
                                     "NCCL topo.h; the least, and what MI300X across NUMA nodes "
                                     "showed: 6.1 (dranet README)"};
constexpr Constant kCpuLinkSkylake{"cpu-link-skylake", 10.0, "NCCL topo.h"};
constexpr Constant kCpuLinkAmd{"cpu-link-amd", 16.0, "NCCL topo.h"};
constexpr Constant kCpuLinkSapphireRapids{"cpu-link-sapphire-rapids", 22.0, "NCCL topo.h"};
constexpr Constant kCpuLinkGrace{"cpu-link-grace", 25.0,
                                 "one 400 Gb/s port across NUMA nodes on GB200 and GB300, measured "
                                 "(dranet README)"};
constexpr Constant kCpuLinkPower9{"cpu-link-power9", 32.0, "NCCL topo.h"};
constexpr Constant kCpuLinkEmeraldRapids{"cpu-link-emerald-rapids", 40.0, "NCCL topo.h"};
constexpr Constant kHostBridgeOverhead{"host-bridge-overhead", 1.2,
                                       "divisor; NCCL topo.h, Intel peer access through the CPU"};
constexpr Constant kNic100{"nic-100g", 12.0, "NCCL topo.h, the slowest port it models"};
constexpr Constant kSocketCap{"socket-cap", 12.5, "TCP over 100 GbE at line rate"};
constexpr Constant kNoGpuDirectFactor{"no-gpudirect-factor", 0.5,
                                      "AWS p4d with and without GPUDirect: 11.35 and 6.04 GB/s "
                                      "(dranet README)"};
constexpr Constant kNvLinkStep{"step-nvlink", 3.4e-6, "NCCL tuning.cc, ring, simple, seconds"};
constexpr Constant kPcieStep{"step-pcie", 5.7e-6, "NCCL tuning.cc, ring, simple, seconds"};
constexpr Constant kNetworkStep{"step-network", 14e-6, "NCCL tuning.cc, ring, simple, seconds"};

}  // namespace constant

std::span<const Constant> constants() {
  using namespace constant;
  static constexpr std::array kAll{
      kNvLinkSm70,         kNvLinkSm80,    kNvLinkSm86,
      kNvLinkSm90,         kNvLinkSm100,   kC2C,
      kPcieGen3,           kPcieGen4,      kPcieGen5,
      kPcieGen6,           kCpuLinkArm,    kCpuLinkBroadwell,
      kCpuLinkSkylake,     kCpuLinkAmd,    kCpuLinkSapphireRapids,
      kCpuLinkGrace,       kCpuLinkPower9, kCpuLinkEmeraldRapids,
      kHostBridgeOverhead, kNic100,        kSocketCap,
      kNoGpuDirectFactor,  kNvLinkStep,    kPcieStep,
      kNetworkStep,
  };
  return kAll;
}

}  // namespace rankward::topology
