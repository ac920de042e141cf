// The time of one all-reduce, NCCL's ring model (placement.md, "The physics").
#pragma once

#include <cstdint>

#include "rankward/topology/units.hpp"

namespace rankward::placement {

struct Collective {
  topology::Bytes message;               // V
  std::int64_t gpus = 1;                 // G, of all pods together
  std::int64_t nodes = 1;                // h
  topology::GigabytesPerSecond slowest;  // B; infinite where nothing is sent
  topology::Seconds step;                // l, one step inside a node
};

// 2(G-1)/G * V/B + 2(h-1) * 14 us + 2(G-h) * l. One GPU alone: 0.
[[nodiscard]] topology::Seconds time_of(const Collective& collective);

}  // namespace rankward::placement
