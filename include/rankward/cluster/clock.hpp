// Time as this room sees it, passed in so that tests can move it.
#pragma once

#include <chrono>

namespace rankward::cluster {

// Both methods are called from several threads.
class Clock {
 public:
  virtual ~Clock() = default;
  // For ages and intervals.
  [[nodiscard]] virtual std::chrono::steady_clock::time_point now() const = 0;
  // For what carries a date, such as the expiry of a credential.
  [[nodiscard]] virtual std::chrono::system_clock::time_point wall_now() const = 0;
};

// The machine's clock. Lives as long as the process.
[[nodiscard]] const Clock& machine_clock();

}  // namespace rankward::cluster
