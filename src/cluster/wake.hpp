// When to wake the pods that kube-scheduler keeps as unschedulable since an extender refused them.
#pragma once

#include <cstdint>

#include "rankward/placement/reservations.hpp"

namespace rankward::cluster {

// Many reasons within the interval become one wake at its end.
class Wake {
 public:
  explicit Wake(std::int64_t interval_milliseconds) : interval_(interval_milliseconds) {}

  void ask() { asked_ = true; }
  [[nodiscard]] bool due(placement::Instant now) const {
    return asked_ && now.milliseconds >= not_before_;
  }
  void done(placement::Instant now) {
    asked_ = false;
    tried(now);
  }
  void tried(placement::Instant now) { not_before_ = now.milliseconds + interval_; }

 private:
  const std::int64_t interval_;
  bool asked_ = false;
  std::int64_t not_before_ = 0;
};

}  // namespace rankward::cluster
