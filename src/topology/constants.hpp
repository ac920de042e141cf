// The constants by name. constants() in bandwidth.hpp lists the same objects for people.
#pragma once

#include "rankward/topology/bandwidth.hpp"

namespace rankward::topology::constant {

extern const Constant kNvLinkSm70;
extern const Constant kNvLinkSm80;
extern const Constant kNvLinkSm86;
extern const Constant kNvLinkSm90;
extern const Constant kNvLinkSm100;
extern const Constant kC2C;
extern const Constant kPcieGen3;
extern const Constant kPcieGen4;
extern const Constant kPcieGen5;
extern const Constant kPcieGen6;
extern const Constant kCpuLinkArm;
extern const Constant kCpuLinkBroadwell;
extern const Constant kCpuLinkSkylake;
extern const Constant kCpuLinkAmd;
extern const Constant kCpuLinkSapphireRapids;
extern const Constant kCpuLinkGrace;
extern const Constant kCpuLinkPower9;
extern const Constant kCpuLinkEmeraldRapids;
extern const Constant kHostBridgeOverhead;
extern const Constant kNic100;
extern const Constant kSocketCap;
extern const Constant kNoGpuDirectFactor;
extern const Constant kNvLinkStep;
extern const Constant kPcieStep;
extern const Constant kNetworkStep;

}  // namespace rankward::topology::constant
