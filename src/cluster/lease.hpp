// One try at the Lease: look, and take or renew it where that is allowed. client-go's algorithm
// (tools/leaderelection), without a thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "api_client.hpp"
#include "rankward/cluster/clock.hpp"
#include "rankward/cluster/leader.hpp"
#include "rankward/formats/lease.hpp"

namespace rankward::cluster {

class LeaseCandidate {
 public:
  // What is given outlives it.
  LeaseCandidate(ApiClient& client, const Clock& clock, const LeaderOptions& options);

  enum class Try : std::uint8_t {
    kHeld,    // the Lease is ours until held_since + lease
    kOthers,  // somebody else's, or changed under our hands
    kFailed,  // nobody knows: `failure` says why
  };
  Try attempt();
  // Gives it back where attempt() said that it is ours, through a client that nobody has cancelled.
  void release(ApiClient& client, std::chrono::milliseconds timeout);

  [[nodiscard]] const std::string& failure() const { return failure_; }
  // When the request began that took or renewed it last: another can count from no earlier moment.
  [[nodiscard]] std::chrono::steady_clock::time_point held_since() const { return held_since_; }

 private:
  // Nothing: it could not be read. A Lease that does not exist is one without a version.
  std::optional<formats::Lease> read(ApiClient& client);
  Try write(ApiClient& client, const formats::Lease& lease, std::chrono::milliseconds timeout);
  // Remembers a record that is new to us, and when.
  void observe(const formats::Lease& lease);
  [[nodiscard]] std::string wall_time() const;
  [[nodiscard]] std::string path(bool one) const;

  ApiClient& client_;
  const Clock& clock_;
  const LeaderOptions& options_;
  std::optional<formats::Lease> observed_;
  std::chrono::steady_clock::time_point observed_at_;
  std::chrono::steady_clock::time_point held_since_;
  std::string failure_;
};

// "2026-01-31T12:00:00.000000Z", as metav1.MicroTime.
[[nodiscard]] std::string format_micro_time(std::chrono::system_clock::time_point time);

}  // namespace rankward::cluster
