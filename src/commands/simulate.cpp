#include "rankward/commands/simulate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ostream>
#include <utility>

#include "files.hpp"
#include "rankward/cluster/inventory.hpp"
#include "rankward/sim/models.hpp"
#include "rankward/sim/report.hpp"
#include "rankward/sim/simulation.hpp"

namespace rankward::commands {
namespace {

using sim::Job;
using sim::SimulatedNode;

struct Loaded {
  std::string name;
  std::vector<SimulatedNode> nodes;
};

bool has_kind(std::string_view text, std::string_view kind) {
  return text.find(kind) != std::string_view::npos;
}

std::string base_name(const std::string& path) {
  return path.substr(path.find_last_of('/') + 1);
}

std::vector<SimulatedNode> nodes_of(const placement::Snapshot& snapshot) {
  std::vector<SimulatedNode> nodes;
  for (std::uint32_t i = 0; i < snapshot.size(); ++i) {
    const placement::NodeState& state = snapshot.node({i});
    nodes.push_back({*state.node, *state.topology});
  }
  return nodes;
}

Result<Loaded> load_nodes(const SimulateOptions& options) {
  const auto known = sim::built_in_clusters();
  if (std::find(known.begin(), known.end(), options.nodes) != known.end()) {
    return Loaded{options.nodes,
                  sim::hosts_of(*sim::built_in_cluster(options.nodes), options.seed)};
  }
  auto text = read_file(options.nodes);
  if (!text) {
    if (options.nodes.find_first_of("./") == std::string::npos) {
      return sim::built_in_cluster(options.nodes).error();
    }
    return std::move(text.error());
  }
  if (text->starts_with("sn,")) {
    auto nodes = sim::read_openb_nodes(*text, options.nodes);
    if (!nodes) return std::move(nodes.error());
    return Loaded{base_name(options.nodes), std::move(*nodes)};
  }
  if (has_kind(*text, "SimulatedCluster")) {
    auto model = formats::read_cluster_model(*text, options.nodes);
    if (!model) return std::move(model.error());
    std::string name = model->name.empty() ? base_name(options.nodes) : model->name;
    return Loaded{std::move(name), sim::hosts_of(*model, options.seed)};
  }
  auto inventory = cluster::InventorySource::from_files({options.nodes});
  if (!inventory) return std::move(inventory.error());
  return Loaded{base_name(options.nodes), nodes_of(*(*inventory)->current())};
}

struct LoadedJobs {
  std::string name;
  std::vector<Job> jobs;
};

std::int64_t gpus_of(const std::vector<SimulatedNode>& nodes, std::int64_t& largest) {
  std::int64_t sum = 0;
  for (const SimulatedNode& node : nodes) {
    const auto gpus = node.node.allocatable.find("nvidia.com/gpu");
    if (gpus == node.node.allocatable.end()) continue;
    sum += gpus->second.value();
    largest = std::max(largest, gpus->second.value());
  }
  return sum;
}

Result<LoadedJobs> load_jobs(const SimulateOptions& options,
                             const std::vector<SimulatedNode>& nodes) {
  if (options.jobs == "gangs" || options.jobs == "gangs-hostnetwork") {
    sim::WorkloadOptions work;
    work.seed = options.seed;
    work.gangs = options.gangs;
    work.singles = options.singles;
    work.load = options.load.value_or(work.load);
    work.largest_pod = 1;
    work.cluster_gpus = gpus_of(nodes, work.largest_pod);
    // A quarter of the cluster, so that one gang is never all of it.
    work.largest_gang_gpus = work.cluster_gpus / 4;
    work.network =
        options.jobs == "gangs" ? sim::JobNetwork::kRdmaDevices : sim::JobNetwork::kHostNetwork;
    return LoadedJobs{options.jobs, sim::synthetic_jobs(work)};
  }
  const auto text = read_file(options.jobs);
  if (!text) return text.error();
  auto jobs = has_kind(*text, "SimulatedJobs") ? formats::read_job_models(*text, options.jobs)
              : has_kind(text->substr(0, 200), "gpu_spec")
                  ? sim::read_openb_pods(*text, options.jobs)
                  : sim::read_job_csv(*text, options.jobs);
  if (!jobs) return std::move(jobs.error());
  std::stable_sort(jobs->begin(), jobs->end(),
                   [](const Job& a, const Job& b) { return a.arrival < b.arrival; });
  std::int64_t largest = 0;
  if (options.load) sim::scale_to_load(*jobs, *options.load, gpus_of(nodes, largest));
  return LoadedJobs{base_name(options.jobs), std::move(*jobs)};
}

std::vector<std::string> wanted_policies(const SimulateOptions& options) {
  std::vector<std::string> wanted;
  for (const std::string& name : options.policies) {
    if (name == "all") {
      for (const sim::PolicyName& policy : sim::policies())
        wanted.emplace_back(policy.name);
    } else {
      wanted.push_back(name);
    }
  }
  std::vector<std::string> once;
  for (std::string& name : wanted) {
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(std::move(name));
  }
  return once;
}

// "12 s", "3.4 min", "2.1 h".
std::string format_wait(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 5'400) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3'600);
}

std::string format_percent(double share) {
  return fmt::format("{:.1f} %", 100 * share);
}

void print_table(const std::vector<sim::Summary>& summaries, const Console& console) {
  Table table({"POLICY", "T/T* MEAN", "T/T* P95", "T MEAN", "MIXED", "HALF-PLACED", "RUNNING",
               "IDLE HELD", "FRAGMENTED", "WAIT MEAN", "WAIT P95", "GANG DONE", "PLACE P50",
               "PLACE P99"});
  for (const sim::Summary& summary : summaries) {
    const auto ratio = [&](double value) {
      return summary.gangs == 0 ? std::string("-") : fmt::format("{:.2f}", value);
    };
    table.add({{std::string(summary.policy.name)},
               {ratio(summary.mean_ratio)},
               {ratio(summary.p95_ratio)},
               {format_seconds(summary.mean_seconds)},
               {format_percent(summary.mixed), summary.mixed > 0 ? Colour::kRed : Colour::kGreen},
               {format_percent(summary.half_placed),
                summary.half_placed > 0 ? Colour::kRed : Colour::kGreen},
               {format_percent(summary.allocation)},
               {format_percent(summary.idle_held)},
               {format_percent(summary.fragmentation)},
               {format_wait(summary.mean_wait)},
               {format_wait(summary.p95_wait)},
               {format_wait(summary.mean_gang_done)},
               {fmt::format("{:.0f} us", summary.p50_microseconds)},
               {fmt::format("{:.0f} us", summary.p99_microseconds)}});
  }
  table.print(console);
  for (const sim::Summary& summary : summaries) {
    if (summary.never_started == 0) continue;
    console.out << fmt::format("{}: {} jobs never started\n", summary.policy.name,
                               summary.never_started);
  }
}

// One line on a terminal, rewritten at most once a percent.
class ProgressBar {
 public:
  ProgressBar(const Console& console, bool shown) : console_(console), shown_(shown) {}
  ~ProgressBar() {
    if (shown_) console_.err << "\r\x1b[K" << std::flush;
  }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::string_view what, double done) {
    constexpr int kCells = 30;
    const int percent = static_cast<int>(100 * done);
    if (!shown_ || (percent == percent_ && what == what_)) return;
    percent_ = percent;
    what_ = what;
    const auto full = static_cast<std::size_t>(kCells * done);
    console_.err << fmt::format("\r[{}{}] {:3} %  {}\x1b[K", std::string(full, '#'),
                                std::string(kCells - full, '.'), percent, what)
                 << std::flush;
  }

 private:
  const Console& console_;
  bool shown_;
  int percent_ = -1;
  std::string what_;
};

Result<void> write_file(const std::string& path, const std::string& text) {
  const auto close = [](std::FILE* file) { std::fclose(file); };
  const std::unique_ptr<std::FILE, decltype(close)> file(std::fopen(path.c_str(), "wb"), close);
  if (!file || std::fwrite(text.data(), 1, text.size(), file.get()) != text.size()) {
    return Error::unavailable("cannot be written").in(path);
  }
  return {};
}

int refuse(const Error& error, const Console& console) {
  console.err << "rankward simulate: " << error.to_string() << '\n';
  return 3;
}

}  // namespace

int simulate(const SimulateOptions& options, const Console& console) {
  auto loaded = load_nodes(options);
  if (!loaded) return refuse(loaded.error(), console);
  auto work = load_jobs(options, loaded->nodes);
  if (!work) return refuse(work.error(), console);
  if (work->jobs.empty()) return refuse(Error::invalid("has no job").in(options.jobs), console);

  sim::SimulationOptions simulation;
  simulation.seed = options.seed;
  simulation.backfill = !options.no_backfill;
  simulation.communication = options.communication;
  simulation.best = sim::best_seconds(loaded->nodes, work->jobs, simulation);
  std::vector<sim::SimulationResult> results;
  {
    ProgressBar bar(console, options.show_progress);
    const auto wanted = wanted_policies(options);
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      auto result =
          sim::simulate(wanted[i], loaded->nodes, work->jobs, simulation, [&](double done) {
            bar.show(wanted[i],
                     (static_cast<double>(i) + done) / static_cast<double>(wanted.size()));
          });
      if (!result) return refuse(result.error(), console);
      results.push_back(std::move(*result));
    }
  }

  const auto summaries = sim::summarise(results, work->jobs, simulation.best);
  sim::Setting setting{loaded->name, work->name, loaded->nodes.size(), 0, 0, 0, options.seed};
  std::int64_t largest = 0;
  setting.gpus = gpus_of(loaded->nodes, largest);
  for (const Job& job : work->jobs)
    ++(job.pods > 1 ? setting.gangs : setting.singles);
  switch (options.output) {
    case ReportForm::kTable:
      print_table(summaries, console);
      break;
    case ReportForm::kJson:
      console.out << sim::report_json(setting, summaries);
      break;
    case ReportForm::kCsv:
      console.out << sim::report_csv(summaries);
      break;
  }
  if (!options.plot.empty()) {
    const auto written = write_file(options.plot, sim::report_plot(setting, summaries));
    if (!written) return refuse(written.error(), console);
  }
  const bool all_started =
      std::all_of(summaries.begin(), summaries.end(),
                  [](const sim::Summary& summary) { return summary.never_started == 0; });
  return all_started ? 0 : 1;
}

}  // namespace rankward::commands
