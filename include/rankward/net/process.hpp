// What a serving process sets once: its allocator and its signals.
#pragma once

#include <signal.h>

#include <chrono>
#include <optional>

namespace rankward::net {

// Call first in main(). Keeps freed memory in the process (malloc trim and mmap thresholds),
// because memory that goes back to the system is zeroed and faulted in again at the next large
// request: on bodies of tens of MB that costs more than parsing them.
void tune_allocator();

// SIGTERM and SIGINT (stop) and SIGHUP (reload) as values. Blocks them for the calling thread and
// all threads started afterwards, so make it before any thread; restores the mask when destroyed.
class SignalWaiter {
 public:
  SignalWaiter();
  ~SignalWaiter();
  SignalWaiter(const SignalWaiter&) = delete;
  SignalWaiter& operator=(const SignalWaiter&) = delete;

  // Blocks until one of them is pending and returns its number.
  int wait();
  // As wait(), but gives up after `timeout`.
  std::optional<int> wait_for(std::chrono::milliseconds timeout);

 private:
  sigset_t signals_;
  sigset_t previous_;
};

}  // namespace rankward::net
