// `rankward simulate`: how well each way of placing gangs does on a simulated cluster.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rankward/commands/console.hpp"

namespace rankward::commands {

enum class ReportForm : unsigned char { kTable, kJson, kCsv };

struct SimulateOptions {
  // --nodes: a built-in cluster (sim::built_in_clusters()), Kubernetes Nodes, an openb node list
  // (CSV), or a SimulatedCluster.
  std::string nodes = "fabric-850";
  // --jobs: built-in work (gangs: they request RDMA devices; gangs-hostnetwork: they do not), an
  // openb pod list (CSV), SimulatedJobs (YAML) or CSV of gangs.
  std::string jobs = "gangs";
  std::vector<std::string> policies = {"all"};
  std::uint64_t seed = 1;
  // Of built-in work.
  std::size_t gangs = 1'000;
  std::size_t singles = 1'000;
  // GPUs that the jobs ask for, over all GPUs. Built-in work: 0.9 where nothing is said. Of a file
  // the arrivals are moved to give this load; where nothing is said they stay.
  std::optional<double> load;
  double communication = 0;  // see sim::SimulationOptions
  bool no_backfill = false;
  ReportForm output = ReportForm::kTable;
  std::string plot;            // file of the SVG, "" for none
  bool show_progress = false;  // a bar on console.err
};

// Exit code 0: simulated; 1: some job never started under some policy; 3: input that cannot be
// read or used.
int simulate(const SimulateOptions& options, const Console& console);

}  // namespace rankward::commands
