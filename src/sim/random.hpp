// Random numbers that are the same everywhere: the distributions of <random> differ by library.
#pragma once

#include <cmath>
#include <cstdint>
#include <numbers>

namespace rankward::sim {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }
  // 0 <= x < bound, bound above 0.
  std::uint64_t below(std::uint64_t bound) { return next() % bound; }
  // 0 < x <= 1.
  double unit() { return (static_cast<double>(next() >> 11) + 1) * 0x1p-53; }
  // Mean 1.
  double exponential() { return -std::log(unit()); }
  double normal() {
    return std::sqrt(-2 * std::log(unit())) * std::cos(2 * std::numbers::pi * unit());
  }

 private:
  std::uint64_t state_;
};

}  // namespace rankward::sim
