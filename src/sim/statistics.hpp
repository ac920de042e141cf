// Means and quantiles.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace rankward::sim {

// 0 for none.
inline double mean(const std::vector<double>& values) {
  if (values.empty()) return 0;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

// Nearest rank, of values in ascending order; `share` from 0 to 1. 0 for none.
inline double quantile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(share * static_cast<double>(sorted.size()));
  return sorted[static_cast<std::size_t>(std::max(1.0, rank)) - 1];
}

}  // namespace rankward::sim
