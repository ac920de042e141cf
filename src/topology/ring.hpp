// The best ring over a set of GPUs: the cycle through all of them whose slowest link is fastest.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace rankward::topology {

struct Ring {
  double bandwidth = 0;              // of its slowest link
  std::vector<std::uint32_t> order;  // every index once
};

// Up to so many GPUs the search is exact, above it is a greedy lower bound. 16 GPUs cost about 2
// ms, 8 about 3 us; machines with more than 16 under one kernel are rare.
inline constexpr std::size_t kExactRing = 16;

// `links` is row-major, n x n and symmetric. Two GPUs have one link and no cycle: their ring is
// that link; fewer have none. Deterministic.
[[nodiscard]] Ring best_ring(std::span<const double> links, std::size_t n);

}  // namespace rankward::topology
