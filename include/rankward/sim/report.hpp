// Results of several policies over the same jobs, side by side.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankward/sim/simulation.hpp"

namespace rankward::sim {

struct Summary {
  PolicyName policy;
  std::size_t gangs = 0;          // that started
  std::size_t never_started = 0;  // jobs of any kind
  // T / T* of every gang that started, ascending. T* is best_seconds(), or less where any policy of
  // the run gave a gang of the same kind less: no ratio is below 1.
  std::vector<double> ratios;
  double mean_ratio = 0;
  double p95_ratio = 0;
  double mean_seconds = 0;        // T
  double mean_ratio_unmixed = 0;  // over gangs on one transport
  double mixed = 0;               // share of the gangs, 0 to 1
  double half_placed = 0;         // share of the gangs that ever held GPUs without running
  double allocation = 0;          // running GPUs over all, 0 to 1
  double idle_held = 0;           // held by half-placed gangs, over all
  double fragmentation = 0;       // FGD's F over all
  double mean_wait = 0;           // seconds, of all jobs
  double p95_wait = 0;
  double mean_gang_wait = 0;
  double mean_gang_done = 0;    // seconds from a gang's arrival to its end
  double p50_microseconds = 0;  // of one attempt to place a gang
  double p99_microseconds = 0;
};

// `best` as best_seconds() gives it for these jobs.
[[nodiscard]] std::vector<Summary> summarise(const std::vector<SimulationResult>& results,
                                             const std::vector<Job>& jobs,
                                             std::vector<double> best);

// What was simulated, for the heads of reports.
struct Setting {
  std::string cluster;
  std::string jobs;
  std::size_t hosts = 0;
  std::int64_t gpus = 0;
  std::size_t gangs = 0;
  std::size_t singles = 0;
  std::uint64_t seed = 1;
};

[[nodiscard]] std::string report_json(const Setting& setting,
                                      const std::vector<Summary>& summaries);
// One line a policy; shares 0 to 1, times in seconds, placing in microseconds.
[[nodiscard]] std::string report_csv(const std::vector<Summary>& summaries);
// SVG: how T / T* spreads by policy, and how many GPUs ran. Colours are of Okabe and Ito's palette,
// told apart with any kind of colour vision, and no fact is in colour alone.
[[nodiscard]] std::string report_plot(const Setting& setting,
                                      const std::vector<Summary>& summaries);

}  // namespace rankward::sim
