// The writes of a gang, made by the holder of the Lease alone and never on the path of an answer:
// plans from the watch, nominations, scheduling gates, Events, and waking the pods that wait for
// places that came free (placement.md, "The extender is never told the outcome").
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "rankward/cluster/clock.hpp"
#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/cluster/leader.hpp"
#include "rankward/cluster/plan_board.hpp"
#include "rankward/cluster/watcher.hpp"
#include "rankward/placement/plan_tiers.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::cluster {

// How fast it may write. A nomination is one small PATCH; kube-scheduler's own client defaults to
// 50 a second with bursts of 100.
struct WriteRate {
  double per_second = 100;
  double burst = 200;
};

struct GangKeeperTiming {
  // The board is looked at this often; what has not changed costs one comparison.
  std::chrono::milliseconds look{100};
  // How long all ranks of a gated gang may exist before their gates are lifted without a plan, so
  // that autoscalers see the pods (configuration key gateMaxHold).
  std::chrono::milliseconds gate_max_hold{60'000};
  // A gang without a plan is planned again this long after the last try, doubling up to the
  // longest.
  std::chrono::milliseconds least_replan{250};
  std::chrono::milliseconds longest_replan{2'000};
  // A gang whose reservation ended unbound is left to its own calls for that long, doubling up to
  // ten minutes: what never comes must not hold its places for ever.
  std::chrono::milliseconds after_expiry{60'000};
  // A nomination that was cleared is made again after that long, doubling up to 30 s.
  std::chrono::milliseconds least_renewal{200};
  std::chrono::milliseconds request_timeout{5'000};
  // After a 403 that kind of write rests: roles do not change by themselves.
  std::chrono::milliseconds after_refusal{300'000};
  // Between two Events of one reason about one gang.
  std::chrono::milliseconds event_interval{60'000};
  // Between two wakes.
  std::chrono::milliseconds wake_interval{1'000};
};

struct GangKeeperOptions {
  bool nominate = true;  // configuration key nominate
  // Schedulers that call this extender (configuration key schedulerNames): gangs of others are left
  // to them, since a nomination is honoured by whichever scheduler finds it. Empty: all.
  std::vector<std::string> scheduler_names;
  std::string name_space;  // our own: of the Lease and the claim that wakes; "": the ApiServer's,
                           // else rankward-system
  placement::Options placement;
  WriteRate rate;
  GangKeeperTiming timing;
  LeaderOptions leader;  // its namespace, clock, random and on_event are taken from here
  const Clock* clock = &machine_clock();  // outlives the keeper; the board's own
  std::function<double()> random;         // uniform in [0, 1)
  // Of each plan that was made or changed from the watch; as on_event.
  std::function<void(const placement::PlanTiers&)> on_planned;
  // For the log; called from the keeper's threads, quick. `resource` is "gangs" or "leases",
  // `object` the gang's key or the pod.
  std::function<void(const WatchEvent&)> on_event;
};

// Since start.
struct GangKeeperStats {
  LeaderStats leader;
  std::uint64_t planned = 0;  // plans made or changed from the watch, by this process
  std::uint64_t nominations_made = 0;
  std::uint64_t nominations_renewed = 0;  // made again after an attempt had cleared them
  std::uint64_t nominations_cleared = 0;
  std::uint64_t nominations_foreign = 0;  // pods passed over since another's nomination stands
  std::uint64_t gates_lifted_planned = 0;
  std::uint64_t gates_lifted_unplanned =
      0;  // for lack of capacity, or since nothing can be planned
  std::uint64_t events = 0;
  std::uint64_t wakes = 0;
  // Writes that failed, by what they were.
  std::uint64_t nominate_failures = 0;
  std::uint64_t gate_failures = 0;
  std::uint64_t event_failures = 0;
  std::uint64_t wake_failures = 0;
};

class GangKeeper {
 public:
  // Starts nothing. The board outlives the keeper.
  GangKeeper(ApiServer server, PlanBoard& board, GangKeeperOptions options);
  ~GangKeeper();
  GangKeeper(const GangKeeper&) = delete;
  GangKeeper& operator=(const GangKeeper&) = delete;

  // Two threads: one keeps the Lease, one looks and writes. Nothing is asked of the API server but
  // the Lease until this process holds it.
  void start();
  // A newer Snapshot is there: look now. From any thread.
  void notify();
  // Ends what is in flight, gives the Lease back, joins. Nominations stay: whoever leads next
  // adopts them.
  void stop();

  [[nodiscard]] bool leading() const;
  [[nodiscard]] GangKeeperStats stats() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankward::cluster
