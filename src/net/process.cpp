#include "rankward/net/process.hpp"

#include <malloc.h>
#include <pthread.h>

#include <cerrno>

namespace rankward::net {
namespace {

// glibc refuses a larger mmap threshold (half of HEAP_MAX_SIZE).
constexpr int kMmapThresholdBytes = 32 << 20;
constexpr int kTrimThresholdBytes = 512 << 20;

}  // namespace

void tune_allocator() {
  mallopt(M_MMAP_THRESHOLD, kMmapThresholdBytes);
  mallopt(M_TRIM_THRESHOLD, kTrimThresholdBytes);
}

SignalWaiter::SignalWaiter() {
  sigemptyset(&signals_);
  sigaddset(&signals_, SIGTERM);
  sigaddset(&signals_, SIGINT);
  sigaddset(&signals_, SIGHUP);
  pthread_sigmask(SIG_BLOCK, &signals_, &previous_);
}

SignalWaiter::~SignalWaiter() {
  pthread_sigmask(SIG_SETMASK, &previous_, nullptr);
}

int SignalWaiter::wait() {
  for (;;) {
    const int number = sigwaitinfo(&signals_, nullptr);
    if (number > 0) return number;
  }
}

std::optional<int> SignalWaiter::wait_for(std::chrono::milliseconds timeout) {
  const auto end = std::chrono::steady_clock::now() + timeout;
  for (;;) {
    const auto left = std::max(std::chrono::nanoseconds::zero(),
                               std::chrono::nanoseconds(end - std::chrono::steady_clock::now()));
    timespec spec{};
    spec.tv_sec = static_cast<time_t>(left.count() / 1'000'000'000);
    spec.tv_nsec = static_cast<long>(left.count() % 1'000'000'000);
    const int number = sigtimedwait(&signals_, nullptr, &spec);
    if (number > 0) return number;
    if (errno != EINTR) return std::nullopt;
  }
}

}  // namespace rankward::net
