// A clock that stands still until it is moved.
#pragma once

#include <atomic>
#include <chrono>

#include "rankward/cluster/clock.hpp"

namespace rankward::cluster {

class FakeClock final : public Clock {
 public:
  explicit FakeClock(std::chrono::system_clock::time_point wall) : wall_(wall) {}

  void advance(std::chrono::milliseconds time) { passed_ += time.count(); }
  [[nodiscard]] std::chrono::steady_clock::time_point now() const override {
    return std::chrono::steady_clock::time_point(std::chrono::hours(1)) + passed();
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return wall_ + passed();
  }

 private:
  [[nodiscard]] std::chrono::milliseconds passed() const {
    return std::chrono::milliseconds(passed_);
  }
  std::chrono::system_clock::time_point wall_;
  std::atomic<std::int64_t> passed_{0};
};

}  // namespace rankward::cluster
