// Jobs over a cluster, event by event, under one way of choosing hosts.
//
// * Jobs wait in order of arrival. With backfilling, jobs behind one that does not fit are tried
//   too, up to a depth; without it nobody overtakes.
// * Policies of schedulers that know gangs place a job whole or not at all. The others take pods
//   one by one: those that have a place hold their GPUs idle until the last one has its own, or
//   until `hold_seconds` after the first; then all go back and the job waits `retry_seconds`.
// * A job runs for its duration once all of its pods have a place. How fast its collectives are
//   does not change how long it runs, so that every policy meets the same load; unless a share of
//   the duration is said to be communication.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/placement/verdict.hpp"
#include "rankward/result.hpp"
#include "rankward/sim/models.hpp"

namespace rankward::sim {

struct PolicyName {
  std::string_view name;    // "kueue-best-fit"
  std::string_view title;   // "Kueue BestFit", for tables and plots
  bool whole_gangs = true;  // all or nothing
};
[[nodiscard]] const std::vector<PolicyName>& policies();

struct SimulationOptions {
  std::uint64_t seed = 1;
  bool backfill = true;
  std::size_t backfill_depth = 100;  // waiting jobs that are tried after each event
  double hold_seconds = 600;         // torchrun's default wait for the last rank
  double retry_seconds = 60;
  // Share of a gang's duration that its collectives take at T*: the gang runs for duration *
  // (1 - share + share * T / T*). Needs `best`.
  double communication = 0;
  std::vector<double> best;  // T* by job, as best_seconds() gives it; empty: not known
  placement::Options placement;
};

// What became of a job.
struct JobResult {
  bool started = false;
  double waited = 0;        // seconds from arrival to the last pod's place
  double ran = 0;           // seconds
  double seconds = 0;       // T, of one all-reduce of the gang's message where it stood
  std::uint32_t nodes = 0;  // over how many
  std::uint32_t tier = 0;
  bool mixed_transport = false;
  bool half_placed = false;  // held GPUs without running, at any time
};

struct SimulationResult {
  PolicyName policy;
  std::vector<JobResult> jobs;  // in the order given
  std::int64_t gpus = 0;        // of the cluster
  // Means over the time between the first and the last arrival, GPUs.
  double running_gpus = 0;
  double idle_held_gpus = 0;         // by half-placed gangs
  double fragmented_gpus = 0;        // FGD's F: free, but of no use to the typical pod
  std::vector<double> microseconds;  // of each attempt to place a gang, wall clock
};

// Called often, with the share of jobs that are done.
using Progress = std::function<void(double done)>;  // 0 to 1

// kNotFound for a policy that is not one of policies(). The same input gives the same output, the
// wall-clock microseconds apart. Jobs are in order of arrival.
[[nodiscard]] Result<SimulationResult> simulate(std::string_view policy,
                                                const std::vector<SimulatedNode>& nodes,
                                                const std::vector<Job>& jobs,
                                                const SimulationOptions& options,
                                                const Progress& progress = {});

// T* of each job: what our planner gives it on the empty cluster, with the GPUs that the device
// plugin then picks. 0 for single pods, infinite where not even that cluster holds the gang.
[[nodiscard]] std::vector<double> best_seconds(const std::vector<SimulatedNode>& nodes,
                                               const std::vector<Job>& jobs,
                                               const SimulationOptions& options);

}  // namespace rankward::sim
