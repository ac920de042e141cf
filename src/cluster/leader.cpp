#include "rankward/cluster/leader.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <condition_variable>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "api_client.hpp"
#include "credentials.hpp"
#include "lease.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;

// client-go's JitterFactor: waiters that saw the same record end do not come back together.
constexpr double kJitter = 1.2;
// What is left for giving the Lease back when the process ends.
constexpr milliseconds kReleaseTimeout{2'000};

std::string random_identity() {
  std::array<char, 256> host{};
  if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '\0';
  std::random_device device;
  const auto number = (static_cast<std::uint64_t>(device()) << 32U) | device();
  std::string digits;
  for (int shift = 60; shift >= 0; shift -= 4)
    digits += "0123456789abcdef"[(number >> static_cast<unsigned>(shift)) & 15U];
  return std::string(host.data()) + "_" + digits;
}

std::function<double()> seeded_random() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::generate_canonical<double, 53>(engine);
  };
}

}  // namespace

struct Leader::Impl {
  Impl(ApiServer api_server, LeaderOptions leader_options)
      : server(std::move(api_server)),
        options(std::move(leader_options)),
        credentials(server, *options.clock, stopping.get_token()),
        client(server, credentials),
        releasing_credentials(server, *options.clock, {}),
        releasing_client(server, releasing_credentials),
        candidate(client, *options.clock, options) {
    if (options.identity.empty()) options.identity = random_identity();
    if (!options.random) options.random = seeded_random();
    thread = std::thread([this] { run(stopping.get_token()); });
  }
  ~Impl() { stop(); }

  void stop() {
    stopping.request_stop();
    client.cancel();
    if (thread.joinable()) thread.join();
  }

  void run(const std::stop_token& stop) {
    while (!stop.stop_requested()) {
      step();
      wait(stop);
    }
    give_back();
  }

  void step() {
    const bool was = is_leading();
    const auto result = candidate.attempt();
    if (stopping.stop_requested()) return;
    if (result == LeaseCandidate::Try::kHeld) {
      leading_until = deadline_ticks(candidate.held_since());
      holding = true;
      ++renewals;
      if (!was) {
        ++acquired;
        report(Severity::kInfo, "this process writes now: it holds the Lease", {});
      }
      failing = false;
      return;
    }
    if (result == LeaseCandidate::Try::kOthers && holding) leading_until = 0;
    if (result == LeaseCandidate::Try::kFailed) {
      ++failures;
      if (!failing)
        report(Severity::kWarning, "cannot read or renew the Lease", candidate.failure());
      failing = true;
    } else {
      failing = false;
    }
    if (holding && !is_leading()) {
      holding = false;
      ++lost;
      report(Severity::kWarning, "this process writes no more: it has lost the Lease", {});
    }
  }

  void wait(const std::stop_token& stop) {
    // A holder keeps its pace; waiters spread.
    const double factor = holding ? 1.0 : 1.0 + kJitter * std::clamp(options.random(), 0.0, 1.0);
    const auto time = std::chrono::duration_cast<milliseconds>(options.timing.retry * factor);
    std::unique_lock lock(mutex);
    wake.wait_for(lock, stop, time, [] { return false; });
  }

  // On a client of its own: the other one has been cancelled.
  void give_back() {
    if (!holding) return;
    leading_until = 0;
    candidate.release(releasing_client, std::min(options.timing.request_timeout, kReleaseTimeout));
    holding = false;
  }

  [[nodiscard]] std::int64_t deadline_ticks(std::chrono::steady_clock::time_point since) const {
    return (since + options.timing.renew_deadline).time_since_epoch().count();
  }
  [[nodiscard]] bool is_leading() const {
    return options.clock->now().time_since_epoch().count() < leading_until;
  }
  void report(Severity severity, std::string_view message, std::string error) const {
    if (options.on_event) {
      // Two replicas of one machine differ in their identities alone.
      options.on_event({severity, "leases", options.identity, message, std::move(error)});
    }
  }

  const ApiServer server;
  LeaderOptions options;
  std::stop_source stopping;
  CredentialSource credentials;
  ApiClient client;
  CredentialSource releasing_credentials;
  ApiClient releasing_client;
  LeaseCandidate candidate;  // of the thread, as the two below
  bool holding = false;
  bool failing = false;
  std::atomic<std::int64_t> leading_until{0};  // steady clock ticks; 0: not
  std::atomic<std::uint64_t> acquired{0}, lost{0}, renewals{0}, failures{0};
  std::mutex mutex;
  std::condition_variable_any wake;
  std::thread thread;  // last: starts when all else is there
};

Leader::Leader(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Leader::~Leader() = default;

std::unique_ptr<Leader> Leader::start(ApiServer server, LeaderOptions options) {
  return std::unique_ptr<Leader>(
      new Leader(std::make_unique<Impl>(std::move(server), std::move(options))));
}

bool Leader::leading() const {
  return impl_->is_leading();
}

const std::string& Leader::identity() const {
  return impl_->options.identity;
}

LeaderStats Leader::stats() const {
  return {impl_->is_leading(), impl_->acquired, impl_->lost, impl_->renewals, impl_->failures};
}

void Leader::stop() {
  impl_->stop();
}

}  // namespace rankward::cluster
