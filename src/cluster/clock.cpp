#include "rankward/cluster/clock.hpp"

namespace rankward::cluster {
namespace {

class MachineClock final : public Clock {
 public:
  [[nodiscard]] std::chrono::steady_clock::time_point now() const override {
    return std::chrono::steady_clock::now();
  }
  [[nodiscard]] std::chrono::system_clock::time_point wall_now() const override {
    return std::chrono::system_clock::now();
  }
};

}  // namespace

const Clock& machine_clock() {
  static const MachineClock clock;
  return clock;
}

}  // namespace rankward::cluster
