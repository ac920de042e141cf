#include "backoff.hpp"

#include <algorithm>

namespace rankward::cluster {

Backoff::Backoff(std::chrono::milliseconds least, std::chrono::milliseconds longest)
    : least_(least),
      longest_(std::max(least, longest)),
      first_bound_(std::min(longest_, 2 * least)),
      bound_(first_bound_) {}

std::chrono::milliseconds Backoff::next(double random) {
  const auto span = static_cast<double>((bound_ - least_).count());
  const auto wait = least_ + std::chrono::milliseconds(static_cast<std::int64_t>(span * random));
  bound_ = std::min(longest_, 2 * bound_);
  return wait;
}

}  // namespace rankward::cluster
