// So many at once, so many a second after that.
#pragma once

#include <algorithm>
#include <cstdint>

#include "rankward/placement/reservations.hpp"

namespace rankward::cluster {

class TokenBucket {
 public:
  // Full at first. Both above 0.
  TokenBucket(double per_second, double burst)
      : per_second_(per_second), burst_(burst), tokens_(burst) {}

  // Takes one where there is one. `now` never goes back.
  [[nodiscard]] bool take(placement::Instant now) {
    if (started_) {
      const auto passed = static_cast<double>(now.milliseconds - last_.milliseconds) / 1000;
      tokens_ = std::min(burst_, tokens_ + per_second_ * std::max(0.0, passed));
    }
    started_ = true;
    last_ = now;
    if (tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

 private:
  double per_second_;
  double burst_;
  double tokens_;
  bool started_ = false;
  placement::Instant last_;
};

}  // namespace rankward::cluster
