// How long to wait before trying again.
#pragma once

#include <chrono>

namespace rankward::cluster {

// Doubles from `least` up to `longest`; each wait is drawn between `least` and the current bound,
// so that many clients which failed together do not come back together.
class Backoff {
 public:
  Backoff(std::chrono::milliseconds least, std::chrono::milliseconds longest);

  // `random` is uniform in [0, 1).
  [[nodiscard]] std::chrono::milliseconds next(double random);
  // After something went well.
  void reset() { bound_ = first_bound_; }

 private:
  std::chrono::milliseconds least_;
  std::chrono::milliseconds longest_;
  std::chrono::milliseconds first_bound_;
  std::chrono::milliseconds bound_;
};

}  // namespace rankward::cluster
