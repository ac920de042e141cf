#include "simulator.hpp"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>

namespace rankward::sim {
namespace {

class Stopwatch {
 public:
  [[nodiscard]] double microseconds() const {
    const std::chrono::duration<double, std::micro> passed =
        std::chrono::steady_clock::now() - start_;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

// After the last arrival everything has had its time; who has not started by then never will.
constexpr double kPatience = 60.0 * 86'400;

}  // namespace

placement::Evaluation price(const JobInfo& info, const std::vector<PlacedPod>& pods,
                            const Cluster& cluster, const placement::Options& options) {
  std::map<HostIndex, placement::Share> by_host;
  for (const PlacedPod& pod : pods) {
    auto [place, is_new] =
        by_host.try_emplace(pod.host, placement::Share{{pod.host}, 0, std::uint64_t{0}});
    ++place->second.pods;
    *place->second.gpus |= pod.gpus;
  }
  std::vector<placement::Share> shares;
  shares.reserve(by_host.size());
  for (const auto& [host, share] : by_host)
    shares.push_back(share);
  return placement::evaluate(info.request, shares, cluster.empty(), options);
}

Simulator::Simulator(Cluster& cluster, PolicyInstance& policy, const Fragmentation& fragmentation,
                     const std::vector<JobInfo>& jobs, const SimulationOptions& options)
    : cluster_(cluster),
      policy_(policy),
      fragmentation_(fragmentation),
      jobs_(jobs),
      options_(options),
      states_(jobs.size()) {
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    events_.push({jobs[i].job->arrival, What::kArrival, i, 0});
    last_arrival_ = std::max(last_arrival_, jobs[i].job->arrival);
  }
  for (const Host& host : cluster.hosts()) {
    fragmented_by_host_.push_back(fragmentation.of(host));
    fragmented_ += fragmented_by_host_.back();
  }
}

void Simulator::run(SimulationResult& result, const Progress& progress) {
  result_ = &result;
  result.jobs.assign(jobs_.size(), {});
  result.gpus = cluster_.gpus();
  const double first_arrival = events_.empty() ? 0 : events_.top().time;
  now_ = first_arrival;
  while (!events_.empty() && events_.top().time <= last_arrival_ + kPatience) {
    pass_time(events_.top().time);
    // Everything of one moment before anybody is placed.
    while (!events_.empty() && events_.top().time == now_) {
      const Event event = events_.top();
      events_.pop();
      handle(event);
    }
    try_waiting();
    if (progress) progress(static_cast<double>(done_) / static_cast<double>(jobs_.size()));
  }
  const double span = last_arrival_ - first_arrival;
  if (span > 0) {
    result.running_gpus /= span;
    result.idle_held_gpus /= span;
    result.fragmented_gpus /= span;
  }
}

void Simulator::pass_time(double now) {
  const double counted = std::min(now, last_arrival_) - now_;
  if (counted > 0) {
    result_->running_gpus += counted * static_cast<double>(running_gpus_);
    result_->idle_held_gpus += counted * static_cast<double>(held_gpus_);
    result_->fragmented_gpus += counted * fragmented_;
  }
  now_ = now;
}

void Simulator::handle(const Event& event) {
  State& state = states_[event.job];
  if (event.attempt != state.attempt) return;
  switch (event.what) {
    case What::kArrival:
      waiting_.push_back(event.job);
      break;
    case What::kEnd:
      running_gpus_ -= jobs_[event.job].job->gpus * static_cast<std::int64_t>(state.pods.size());
      release_all(event.job);
      ++done_;
      break;
    case What::kHoldOver:
      if (state.running) break;
      held_gpus_ -= jobs_[event.job].job->gpus * static_cast<std::int64_t>(state.pods.size());
      release_all(event.job);
      ++state.attempt;
      state.not_before = now_ + options_.retry_seconds;
      events_.push({state.not_before, What::kRetry, event.job, state.attempt});
      break;
    case What::kRetry:
      state.failed_at = 0;
      break;
  }
}

void Simulator::try_waiting() {
  std::size_t tried = 0;
  std::vector<std::size_t> left;
  left.reserve(waiting_.size());
  // A job of the same make that found no place since the last release: nor will this one.
  std::set<std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, JobNetwork>> failed;
  bool stopped = false;
  for (const std::size_t job : waiting_) {
    const Job& asked = *jobs_[job].job;
    State& state = states_[job];
    if (stopped || state.not_before > now_) {
      left.push_back(job);
      continue;
    }
    if (++tried > options_.backfill_depth) {
      stopped = true;
      left.push_back(job);
      continue;
    }
    const std::tuple key(asked.pods, asked.gpus, asked.cpu_milli, asked.memory.count,
                         asked.network);
    const bool no_use = state.failed_at == releases_ ||
                        (policy_.gangs && asked.products.empty() && failed.contains(key));
    if (no_use || !try_job(job)) {
      state.failed_at = releases_;
      if (policy_.gangs) failed.insert(key);
      left.push_back(job);
      if (!options_.backfill) stopped = true;
    }
  }
  waiting_ = std::move(left);
}

bool Simulator::try_job(std::size_t job) {
  return policy_.gangs ? place_whole(job) : place_pods(job);
}

bool Simulator::place_whole(std::size_t job) {
  const JobInfo& info = jobs_[job];
  if (cluster_.free_gpus() < info.job->pods * info.job->gpus) return false;
  const Stopwatch watch;
  const auto shares = policy_.gangs->place(info, cluster_);
  if (info.job->pods > 1) result_->microseconds.push_back(watch.microseconds());
  if (!shares) return false;
  for (const HostShare& share : *shares) {
    for (std::int32_t i = 0; i < share.pods; ++i)
      bind(job, share.host);
  }
  start(job);
  return true;
}

bool Simulator::place_pods(std::size_t job) {
  const JobInfo& info = jobs_[job];
  State& state = states_[job];
  const auto wanted = static_cast<std::size_t>(info.job->pods);
  const bool was_held = !state.pods.empty();
  const auto held_before = static_cast<std::int64_t>(state.pods.size());
  const Stopwatch watch;
  while (state.pods.size() < wanted) {
    const auto host = policy_.pods->choose(info, cluster_);
    if (!host) break;
    bind(job, *host);
  }
  if (info.job->pods > 1) result_->microseconds.push_back(watch.microseconds());
  held_gpus_ -= held_before * info.job->gpus;
  if (state.pods.size() == wanted) {
    start(job);
    return true;
  }
  if (state.pods.empty()) return false;
  held_gpus_ += static_cast<std::int64_t>(state.pods.size()) * info.job->gpus;
  result_->jobs[job].half_placed = true;
  if (!was_held) {
    events_.push({now_ + options_.hold_seconds, What::kHoldOver, job, state.attempt});
  }
  return false;
}

void Simulator::start(std::size_t job) {
  const JobInfo& info = jobs_[job];
  State& state = states_[job];
  state.running = true;
  ++state.attempt;  // a hold that still runs is void
  running_gpus_ += info.job->gpus * static_cast<std::int64_t>(state.pods.size());
  JobResult& result = result_->jobs[job];
  result.started = true;
  result.waited = now_ - info.job->arrival;
  const auto evaluation = price(info, state.pods, cluster_, options_.placement);
  result.seconds = evaluation.prediction.seconds.value;
  result.nodes = evaluation.prediction.nodes;
  result.tier = evaluation.prediction.tier;
  result.mixed_transport = evaluation.mixed_transport;
  result.ran = info.job->duration;
  if (options_.communication > 0 && job < options_.best.size() && options_.best[job] > 0) {
    const double slower = result.seconds / options_.best[job];
    result.ran *= 1 - options_.communication + options_.communication * slower;
  }
  events_.push({now_ + result.ran, What::kEnd, job, state.attempt});
}

void Simulator::bind(std::size_t job, HostIndex host) {
  State& state = states_[job];
  state.pods.push_back(
      cluster_.bind(jobs_[job], static_cast<std::int32_t>(state.pods.size()), host));
  recount(host);
}

void Simulator::release_all(std::size_t job) {
  State& state = states_[job];
  for (const PlacedPod& pod : state.pods) {
    cluster_.release(*jobs_[job].job, pod);
    recount(pod.host);
  }
  state.pods.clear();
  ++releases_;
}

void Simulator::recount(HostIndex host) {
  const double now = fragmentation_.of(cluster_.hosts()[host]);
  fragmented_ += now - fragmented_by_host_[host];
  fragmented_by_host_[host] = now;
}

}  // namespace rankward::sim
