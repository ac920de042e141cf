// The event loop of simulate().
#pragma once

#include <map>
#include <optional>
#include <queue>
#include <vector>

#include "cluster.hpp"
#include "fragmentation.hpp"
#include "policies/policy.hpp"
#include "rankward/placement/evaluate.hpp"
#include "rankward/sim/simulation.hpp"

namespace rankward::sim {

// What a placed gang's collectives would take, by the GPUs that its pods have.
[[nodiscard]] placement::Evaluation price(const JobInfo& info, const std::vector<PlacedPod>& pods,
                                          const Cluster& cluster,
                                          const placement::Options& options);

class Simulator {
 public:
  // All outlive the Simulator.
  Simulator(Cluster& cluster, PolicyInstance& policy, const Fragmentation& fragmentation,
            const std::vector<JobInfo>& jobs, const SimulationOptions& options);

  // Fills in everything but the policy's name.
  void run(SimulationResult& result, const Progress& progress);

 private:
  enum class What : std::uint8_t { kEnd, kHoldOver, kRetry, kArrival };
  struct Event {
    double time;
    What what;
    std::size_t job;
    std::uint32_t attempt;  // of the job; events of earlier attempts are void
    friend bool operator>(const Event& a, const Event& b) {
      return std::tuple(a.time, a.what, a.job) > std::tuple(b.time, b.what, b.job);
    }
  };
  struct State {
    std::vector<PlacedPod> pods;
    bool running = false;
    std::uint32_t attempt = 0;
    double not_before = 0;
    std::uint64_t failed_at = 0;  // releases_ when it last found no place; 0: never tried
  };

  void handle(const Event& event);
  void try_waiting();
  // Whether something was placed.
  bool try_job(std::size_t job);
  bool place_whole(std::size_t job);
  bool place_pods(std::size_t job);
  void bind(std::size_t job, HostIndex host);
  void release_all(std::size_t job);
  void start(std::size_t job);
  void recount(HostIndex host);
  void pass_time(double now);

  Cluster& cluster_;
  PolicyInstance& policy_;
  const Fragmentation& fragmentation_;
  const std::vector<JobInfo>& jobs_;
  const SimulationOptions& options_;

  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::vector<State> states_;
  std::vector<std::size_t> waiting_;  // by arrival
  double now_ = 0;
  double last_arrival_ = 0;
  std::uint64_t releases_ = 1;
  std::size_t done_ = 0;
  std::int64_t running_gpus_ = 0;
  std::int64_t held_gpus_ = 0;
  double fragmented_ = 0;
  std::vector<double> fragmented_by_host_;
  SimulationResult* result_ = nullptr;
};

}  // namespace rankward::sim
