// When the scheduling gates of a gang go: with its plan, or without one so that autoscalers see it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>

#include "rankward/placement/gang_call.hpp"
#include "rankward/placement/reservations.hpp"

namespace rankward::cluster {

enum class GateStep : std::uint8_t {
  kHold,
  kLiftPlanned,
  kLiftUnplanned,  // for lack of capacity, or since nothing of ours is to be waited for
};

// What one gang's gates have been waiting for.
class GateHold {
 public:
  // `all_exist`: no rank is missing. `nominated`: every rank carries what it should, or cannot.
  [[nodiscard]] GateStep decide(placement::GangStanding standing, bool all_exist, bool nominated,
                                placement::Instant now, std::int64_t max_hold);

  // Its writes wait for our own rate, not for room: the hold begins anew.
  void restart(placement::Instant now) { since_ = now.milliseconds; }

  // The patch is out: not again before the watch had the time to show it.
  void lifted(const std::string& uid, placement::Instant now) { lifted_[uid] = now.milliseconds; }
  [[nodiscard]] bool awaits_echo(const std::string& uid, placement::Instant now) const;

 private:
  std::optional<std::int64_t> since_;  // all ranks have existed
  std::unordered_map<std::string, std::int64_t> lifted_;
};

}  // namespace rankward::cluster
