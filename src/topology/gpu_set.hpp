#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace rankward::topology {

// The same GPUs in one order, each once, so that the caller's order changes no answer.
[[nodiscard]] inline std::vector<std::uint32_t> gpu_set(std::span<const std::uint32_t> gpus) {
  std::vector<std::uint32_t> set(gpus.begin(), gpus.end());
  std::sort(set.begin(), set.end());
  set.erase(std::unique(set.begin(), set.end()), set.end());
  return set;
}

}  // namespace rankward::topology
