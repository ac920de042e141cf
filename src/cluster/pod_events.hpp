// What people are told about gangs, on the pods: composed here, sent by the keeper.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/formats/pod_writes.hpp"
#include "rankward/placement/gang.hpp"
#include "rankward/placement/gang_call.hpp"
#include "rankward/placement/reservations.hpp"
#include "rankward/placement/waiting.hpp"
#include "token_bucket.hpp"

namespace rankward::cluster {

// At most so many pods of a gang carry an Event that says the same.
inline constexpr std::size_t kMostPodsOfEvent = 5;

// "16 ranks on 2 nodes (a: 8, b: 8), 13.4 ms for an all-reduce of 1 GiB ...". The first nodes are
// named, the others counted.
[[nodiscard]] std::string planned_note(const placement::Reservation& reservation);
// "cannot start whole: ...", what is missing and since when; `hold_seconds` is how long a gated
// gang is still held back, nothing where it is not gated.
[[nodiscard]] std::string waiting_note(const placement::GangOutcome& outcome, std::size_t pods,
                                       bool gated);
// "ranks 3 and 5 of 8 were not bound in time; ...".
[[nodiscard]] std::string expired_note(const placement::Reservation& reservation);
// "no node of 40 takes it: 38: node has no GPUs (NotAGpuNode), 2: registered devices are ...", and
// what to do about the first fault below the scheduler's matching.
[[nodiscard]] std::string no_room_note(const placement::WaitingOutlook& outlook);

// Nobody is told the same twice within the interval, and all of them together are bounded: 25 at
// once, 5 a second after that.
class PodEvents {
 public:
  struct Limits {
    std::int64_t interval = 60'000;  // milliseconds between two of one reason about one gang
    double per_second = 5;
    double burst = 25;
  };
  explicit PodEvents(Limits limits) : limits_(limits), bucket_(limits.per_second, limits.burst) {}

  // Events about the first `most` pods of the gang that are not on their way out; none where the
  // limits forbid. Time, instance and suffix are the sender's.
  [[nodiscard]] std::vector<formats::PodEvent> about(const placement::GangState& gang,
                                                     std::string_view reason, bool warning,
                                                     std::string note, std::size_t most,
                                                     placement::Instant now);
  // A warning about a pod in no gang; the same limits.
  [[nodiscard]] std::vector<formats::PodEvent> about(const placement::WaitingPod& pod,
                                                     std::string_view reason, std::string note,
                                                     placement::Instant now);

 private:
  [[nodiscard]] bool was_told(const std::string& key, placement::Instant now) const;
  void forget_old(placement::Instant now);

  const Limits limits_;
  TokenBucket bucket_;
  std::map<std::string, std::int64_t, std::less<>> last_;  // by reason and gang key or UID
};

}  // namespace rankward::cluster
