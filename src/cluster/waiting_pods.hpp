// Pods in no gang that the scheduler keeps aside: which of them to look at next, and how they do.
// Nothing of this may be asked of a call: the scheduler's own filters may have left us no node.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "rankward/placement/reservations.hpp"
#include "rankward/placement/waiting.hpp"

namespace rankward::cluster {

class WaitingPods {
 public:
  struct Timing {
    // In milliseconds. What has just been refused is often tried again at once.
    std::int64_t grace = 5'000;
    // Between two looks at one pod, doubling. kube-scheduler itself gives a pod up to five minutes.
    std::int64_t least_wait = 15'000;
    std::int64_t longest_wait = 300'000;
    // Between two looks at any: one judges every node.
    std::int64_t pause = 200;
    // Between two wakes for those that would fit. A wake is for all of them, and each costs the
    // scheduler an attempt, in vain where affinity, volumes or ports are against it that we know
    // nothing of. Doubles up to longest_wait while the pods are the same; `a_pod` for each that
    // waits is the least.
    std::int64_t least_between_wakes = 15'000;
    std::int64_t a_pod = 100;
  };
  explicit WaitingPods(Timing timing) : timing_(timing) {}
  WaitingPods() : WaitingPods(Timing{}) {}

  struct Finding {
    std::shared_ptr<const placement::WaitingPod> pod;
    placement::WaitingOutlook outlook;
    bool shall_wake = false;  // a node has room, and nobody was woken for that lately
    // Reasons of the host and of device plugins, as bits, that stand in its way and that the
    // scheduler has no words for, where people have not been told of all of them; else 0.
    std::uint64_t news = 0;
  };
  // The pod whose turn it is, if any. `served`: whether its scheduler is one that calls us.
  [[nodiscard]] std::optional<Finding> look(
      const placement::ClusterView& view, placement::Instant now, const placement::Options& options,
      const std::function<bool(const kube::PodSpec&)>& served);

  // People know of it now.
  void told(const Finding& finding);

 private:
  struct Turn {
    std::int64_t at = 0;
    std::int64_t wait = 0;
    std::uint64_t told = 0;  // reasons as bits
    bool had_room = false;   // at its last look
    std::int32_t wakes = 0;  // while it had room
  };
  void follow(const placement::Snapshot& snapshot, placement::Instant now);
  bool may_wake_for(const Turn& turn, placement::Instant now);

  const Timing timing_;
  std::map<std::string, Turn, std::less<>> turns_;  // by UID
  std::int64_t not_before_ = 0;
  std::int64_t last_wake_ = INT64_MIN / 2;
};

}  // namespace rankward::cluster
