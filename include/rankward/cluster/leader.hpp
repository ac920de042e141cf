// Which of several processes may write: the holder of one Lease (coordination.k8s.io/v1).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "rankward/cluster/clock.hpp"
#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/cluster/watcher.hpp"

namespace rankward::cluster {

// client-go's times (tools/leaderelection; kube-scheduler's own defaults).
struct LeaderTiming {
  std::chrono::milliseconds lease{15'000};  // a record that old may be taken over
  // A holder that has not renewed for that long writes no more. The difference to `lease` is what
  // clocks may differ in speed and a write may take.
  std::chrono::milliseconds renew_deadline{10'000};
  std::chrono::milliseconds retry{
      2'000};  // between two tries; a waiter adds up to 1.2 times as much
  std::chrono::milliseconds request_timeout{5'000};
};

struct LeaderOptions {
  std::string name_space;  // of the Lease
  std::string name = "rankward";
  std::string identity;  // "": host name and a random number
  LeaderTiming timing;
  const Clock* clock = &machine_clock();  // outlives the Leader
  // Uniform in [0, 1); called from the Leader's thread. Absent: seeded by the system.
  std::function<double()> random;
  // Called from the Leader's thread; quick.
  std::function<void(const WatchEvent&)> on_event;
};

struct LeaderStats {
  bool leading = false;
  std::uint64_t acquired = 0;  // times that this process became the holder
  std::uint64_t lost = 0;      // and stopped being it without wanting to
  std::uint64_t renewals = 0;
  std::uint64_t failures = 0;  // reads or writes of the Lease that failed
};

class Leader {
 public:
  // Tries at once and for ever, on a thread of its own.
  [[nodiscard]] static std::unique_ptr<Leader> start(ApiServer server, LeaderOptions options);
  ~Leader();

  // From any thread: whether a write may begin now. False as soon as the renew deadline has passed,
  // also where the thread that renews has not run since.
  [[nodiscard]] bool leading() const;
  [[nodiscard]] const std::string& identity() const;
  [[nodiscard]] LeaderStats stats() const;

  // Gives the Lease back where it is held, so that another may take it at once. Joins the thread.
  void stop();

 private:
  struct Impl;
  explicit Leader(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankward::cluster
