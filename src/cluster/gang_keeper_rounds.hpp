// What the keeper does each time it looks: plan, find out what differs, write some of it. One
// thread; knows no thread, and the time only from the board.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api_writes.hpp"
#include "backoff.hpp"
#include "gates.hpp"
#include "nominations.hpp"
#include "pod_events.hpp"
#include "rankward/cluster/gang_keeper.hpp"
#include "rankward/cluster/plan_board.hpp"
#include "rankward/placement/gang_call.hpp"
#include "token_bucket.hpp"
#include "waiting_pods.hpp"
#include "wake.hpp"

namespace rankward::cluster {

class GangRounds {
 public:
  // What is given outlives it. `leading` is asked before every write.
  GangRounds(PlanBoard& board, GangWrites& writes, const GangKeeperOptions& options,
             std::function<bool()> leading, std::string instance, std::function<double()> random);

  // Whether there is more to write at once.
  bool run();
  // From any thread; without the Leader's part.
  [[nodiscard]] GangKeeperStats stats() const;

 private:
  using Instant = placement::Instant;

  // What is remembered of a gang between two looks.
  struct Record {
    std::optional<placement::GangOutcome> outcome;  // of the last planning
    std::uint64_t planned_on = 0;                   // the view that it saw, by our number
    std::int64_t plan_at = 0;                       // not before, as all times in milliseconds
    std::int64_t plan_wait = 0;
    bool refused = false;  // since its last plan
    bool held_up = false;  // writes of it have waited for our own rate since the last look
    GateHold gates;
    std::optional<std::int64_t> waiting_since;
    // The plan that people were told of.
    std::optional<std::pair<std::int64_t, std::uint64_t>> announced;
    std::uint64_t look = 0;
  };
  // A gang whose reservation ended unbound is left alone. Kept longer than its Record.
  struct LeftAlone {
    std::int64_t until = 0;
    std::int64_t wait = 0;
  };

  enum class Kind : std::uint8_t { kAsk, kNominate, kLift };
  struct Action {
    Kind kind;
    NominationStep step = NominationStep::kStands;  // of kNominate
    bool planned = false;                           // of kLift
    std::string pod;
    std::string uid;
    std::string seen;
    std::string node;
    Record* record = nullptr;
  };
  // What one gang is and should be.
  struct Sight {
    const placement::GangState& gang;
    Record& record;
    placement::GangStanding standing = placement::GangStanding::kNotPlannable;
    std::shared_ptr<const placement::Reservation> reservation;
    bool gated = false;
    bool sleeps = false;  // the scheduler keeps a pod of it aside
    bool planned_now = false;
    bool all_exist = false;
    std::vector<std::string> nodes;  // one a pending member
    bool nominated = true;           // nothing is left to nominate
  };

  void look(const placement::ClusterView& view, Instant now, bool leading);
  void look_at(const placement::ClusterView& view, const placement::GangState& gang, Instant now,
               bool leading);
  void plan(Sight& sight, const placement::ClusterView& view, Instant now, bool leading);
  [[nodiscard]] placement::GangOutcome plan_and_publish(const std::string& key, bool complete);
  void slide(const std::string& key, Instant now);
  void choose_nodes(Sight& sight, const placement::ClusterView& view) const;
  // Whether the pod's scheduler is one that calls us.
  [[nodiscard]] bool is_served(const kube::PodSpec& spec) const;
  [[nodiscard]] bool is_left_alone(const std::string& key, Instant now) const;
  void compare_nominations(Sight& sight, Instant now);
  void compare_gates(Sight& sight, Instant now);
  void wake_sleepers(const Sight& sight, Instant now);
  void tell(Sight& sight, Instant now);

  void take_ended(const placement::ClusterView& view, Instant now, bool leading);
  void look_at_waiting(const placement::ClusterView& view, Instant now);
  // Whether it was cut short.
  bool perform();
  // These wait for tokens.
  void hold_up(std::span<const Action> actions);
  // False: no more writes in this round.
  bool perform_one(const Action& action, Instant now);
  bool perform_nomination(const Action& action, Instant now);
  bool perform_lift(const Action& action, Instant now);
  bool perform_ask(const Action& action, Instant now);
  // What every outcome means for later writes; false where there shall be none for now.
  bool take_in(const WriteOutcome& outcome, std::atomic<std::uint64_t>& failures,
               std::int64_t& rests_until, std::string_view what, const std::string& object,
               Instant now);
  void tell_about(const placement::GangState& gang, std::string_view reason, bool warning,
                  std::string note, std::size_t most, Instant now);
  void post_events();
  void wake_if_due();
  [[nodiscard]] bool may_nominate(Instant now) const;
  void report(Severity severity, std::string_view message, const std::string& object,
              std::string error) const;

  PlanBoard& board_;
  GangWrites& writes_;
  const GangKeeperOptions& options_;
  const std::function<bool()> leading_;
  const std::string instance_;
  const std::function<double()> random_;

  std::map<std::string, Record, std::less<>> records_;
  std::map<std::string, LeftAlone, std::less<>> left_alone_;
  Nominations nominations_;
  PodEvents events_;
  WaitingPods waiting_;
  Wake wake_;
  TokenBucket tokens_;
  Backoff backoff_;
  std::vector<Action> urgent_;   // what must go: no tokens asked
  std::vector<Action> actions_;  // the rest, gang by gang
  std::shared_ptr<const placement::ClusterView> seen_;
  std::vector<formats::PodEvent> to_post_;
  std::uint64_t view_number_ = 0;  // counts views that differ
  std::uint64_t look_ = 0;
  std::int64_t looked_at_ = -1'000'000;
  bool unfinished_ = false;
  std::int64_t pause_until_ = 0;
  std::int64_t nominations_rest_until_ = 0;
  std::int64_t gates_rest_until_ = 0;
  std::int64_t events_rest_until_ = 0;
  std::int64_t wakes_rest_until_ = 0;
  std::uint64_t event_number_ = 0;

  struct Counters {
    std::atomic<std::uint64_t> planned{0}, made{0}, renewed{0}, cleared{0}, foreign{0},
        lifted_planned{0}, lifted_unplanned{0}, events{0}, wakes{0}, nominate_failures{0},
        gate_failures{0}, event_failures{0}, wake_failures{0};
  };
  Counters counters_;
};

}  // namespace rankward::cluster
