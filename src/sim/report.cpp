#include "rankward/sim/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>

#include "rankward/formats/json_writer.hpp"
#include "statistics.hpp"

namespace rankward::sim {
namespace {

// Gangs that have the same T*.
using Kind = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                        JobNetwork, std::vector<std::string>>;
Kind kind_of(const Job& job) {
  return {job.pods,    job.gpus,    job.cpu_milli, job.memory.count, job.message_size.count,
          job.network, job.products};
}

void lower_to_what_was_reached(const std::vector<SimulationResult>& results,
                               const std::vector<Job>& jobs, std::vector<double>& best) {
  std::map<Kind, double> least;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].pods < 2) continue;
    double& seconds = least.try_emplace(kind_of(jobs[i]), best[i]).first->second;
    for (const SimulationResult& result : results) {
      if (result.jobs[i].started) seconds = std::min(seconds, result.jobs[i].seconds);
    }
  }
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (jobs[i].pods > 1) best[i] = least[kind_of(jobs[i])];
  }
}

Summary summary_of(const SimulationResult& result, const std::vector<Job>& jobs,
                   const std::vector<double>& best) {
  Summary summary;
  summary.policy = result.policy;
  std::vector<double> seconds;
  std::vector<double> unmixed;
  std::vector<double> waits;
  std::vector<double> gang_waits;
  std::vector<double> gang_dones;
  std::size_t all_gangs = 0;
  std::size_t half_placed = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    const JobResult& job = result.jobs[i];
    const bool is_gang = jobs[i].pods > 1;
    all_gangs += is_gang ? 1 : 0;
    half_placed += job.half_placed ? 1 : 0;
    if (!job.started) {
      ++summary.never_started;
      continue;
    }
    waits.push_back(job.waited);
    if (!is_gang) continue;
    gang_waits.push_back(job.waited);
    gang_dones.push_back(job.waited + job.ran);
    seconds.push_back(job.seconds);
    const double ratio = best[i] > 0 ? job.seconds / best[i] : 1;
    summary.ratios.push_back(ratio);
    if (!job.mixed_transport) unmixed.push_back(ratio);
  }
  summary.gangs = seconds.size();
  std::sort(summary.ratios.begin(), summary.ratios.end());
  summary.mean_ratio = mean(summary.ratios);
  summary.p95_ratio = quantile(summary.ratios, 0.95);
  summary.mean_seconds = mean(seconds);
  summary.mean_ratio_unmixed = mean(unmixed);
  const auto share = [](std::size_t part, std::size_t all) {
    return all == 0 ? 0 : static_cast<double>(part) / static_cast<double>(all);
  };
  summary.mixed = share(seconds.size() - unmixed.size(), seconds.size());
  summary.half_placed = share(half_placed, all_gangs);
  const auto gpus = static_cast<double>(std::max<std::int64_t>(1, result.gpus));
  summary.allocation = result.running_gpus / gpus;
  summary.idle_held = result.idle_held_gpus / gpus;
  summary.fragmentation = result.fragmented_gpus / gpus;
  summary.mean_wait = mean(waits);
  summary.mean_gang_wait = mean(gang_waits);
  summary.mean_gang_done = mean(gang_dones);
  std::sort(waits.begin(), waits.end());
  summary.p95_wait = quantile(waits, 0.95);
  std::vector<double> microseconds = result.microseconds;
  std::sort(microseconds.begin(), microseconds.end());
  summary.p50_microseconds = quantile(microseconds, 0.5);
  summary.p99_microseconds = quantile(microseconds, 0.99);
  return summary;
}

// The numbers of a summary by name, in the order of reports.
std::vector<std::pair<std::string_view, double>> numbers(const Summary& summary) {
  return {{"gangs", static_cast<double>(summary.gangs)},
          {"neverStarted", static_cast<double>(summary.never_started)},
          {"meanRatio", summary.mean_ratio},
          {"p95Ratio", summary.p95_ratio},
          {"meanRatioUnmixed", summary.mean_ratio_unmixed},
          {"meanSeconds", summary.mean_seconds},
          {"mixedTransport", summary.mixed},
          {"halfPlaced", summary.half_placed},
          {"allocation", summary.allocation},
          {"idleHeld", summary.idle_held},
          {"fragmentation", summary.fragmentation},
          {"meanWaitSeconds", summary.mean_wait},
          {"p95WaitSeconds", summary.p95_wait},
          {"meanGangWaitSeconds", summary.mean_gang_wait},
          {"meanGangDoneSeconds", summary.mean_gang_done},
          {"p50PlaceMicroseconds", summary.p50_microseconds},
          {"p99PlaceMicroseconds", summary.p99_microseconds}};
}

}  // namespace

std::vector<Summary> summarise(const std::vector<SimulationResult>& results,
                               const std::vector<Job>& jobs, std::vector<double> best) {
  lower_to_what_was_reached(results, jobs, best);
  std::vector<Summary> summaries;
  for (const SimulationResult& result : results)
    summaries.push_back(summary_of(result, jobs, best));
  return summaries;
}

std::string report_json(const Setting& setting, const std::vector<Summary>& summaries) {
  std::string out;
  formats::JsonWriter json(out);
  json.begin_object();
  json.member("cluster", setting.cluster).member("jobs", setting.jobs);
  json.member("hosts", static_cast<std::uint64_t>(setting.hosts)).member("gpus", setting.gpus);
  json.member("gangs", static_cast<std::uint64_t>(setting.gangs));
  json.member("singlePods", static_cast<std::uint64_t>(setting.singles));
  json.member("seed", setting.seed);
  json.key("policies").begin_array();
  for (const Summary& summary : summaries) {
    json.begin_object().member("policy", summary.policy.name);
    for (const auto& [name, value] : numbers(summary))
      json.member(name, value);
    json.key("ratioQuantiles").begin_array();
    for (int percent = 0; percent <= 100; percent += 5)
      json.value(quantile(summary.ratios, percent / 100.0));
    json.end_array().end_object();
  }
  json.end_array().end_object();
  return out + "\n";
}

std::string report_csv(const std::vector<Summary>& summaries) {
  std::string out = "policy";
  for (const auto& [name, value] : numbers({}))
    out += fmt::format(",{}", name);
  out += '\n';
  for (const Summary& summary : summaries) {
    out += summary.policy.name;
    for (const auto& [name, value] : numbers(summary))
      out += fmt::format(",{:.6g}", value);
    out += '\n';
  }
  return out;
}

}  // namespace rankward::sim
