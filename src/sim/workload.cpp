#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "random.hpp"
#include "rankward/sim/models.hpp"

namespace rankward::sim {
namespace {

// GPUs of one pod and how often, in parts of 100.
struct PodSize {
  std::int64_t gpus;
  std::uint64_t often;
};
constexpr std::array kRankSizes{PodSize{1, 25}, PodSize{2, 20}, PodSize{4, 20}, PodSize{8, 35}};
constexpr std::array kSingleSizes{PodSize{1, 60}, PodSize{2, 20}, PodSize{4, 12}, PodSize{8, 8}};
constexpr std::array kMessageMebibytes{256, 1024, 4096};
// CPUs and memory go with the GPUs, so that they are never what is short.
constexpr std::int64_t kMilliPerGpu = 8'000;
constexpr std::int64_t kMebibytesPerGpu = 32 * 1024;
constexpr std::int64_t kMostPods = 1'024;
constexpr double kGangHours = 2;  // median; singles half an hour
constexpr double kSingleHours = 0.5;
constexpr double kSpread = 0.8;  // sigma of the logarithm
constexpr double kMostHours = 24;

template <std::size_t N>
std::int64_t drawn(const std::array<PodSize, N>& sizes, std::int64_t largest, Random& random) {
  auto left = static_cast<std::int64_t>(random.below(100));
  for (const PodSize& size : sizes) {
    left -= static_cast<std::int64_t>(size.often);
    if (left < 0) return std::min(size.gpus, largest);
  }
  return std::min(sizes.back().gpus, largest);
}

// 2 to 1,024, half of the draws each time the size doubles; three of ten are no power of two.
std::int64_t drawn_pods(Random& random) {
  std::int64_t pods = 2;
  while (pods < kMostPods && random.below(100) < 58)
    pods *= 2;
  if (random.below(100) < 30)
    pods += static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(pods)));
  return std::min(pods, kMostPods);
}

double drawn_seconds(double median_hours, Random& random) {
  return 3600 * std::min(kMostHours, median_hours * std::exp(kSpread * random.normal()));
}

}  // namespace

void scale_to_load(std::vector<Job>& jobs, double load, std::int64_t cluster_gpus) {
  double gpu_seconds = 0;
  double span = 0;
  for (const Job& job : jobs) {
    gpu_seconds += static_cast<double>(job.pods * job.gpus) * job.duration;
    span = std::max(span, job.arrival);
  }
  if (span <= 0 || cluster_gpus <= 0) return;
  const double wanted = gpu_seconds / (load * static_cast<double>(cluster_gpus));
  for (Job& job : jobs)
    job.arrival *= wanted / span;
}

std::vector<Job> synthetic_jobs(const WorkloadOptions& options) {
  Random random(options.seed);
  std::vector<Job> jobs;
  jobs.reserve(options.gangs + options.singles);
  double gpu_seconds = 0;
  const auto finish = [&](Job& job) {
    job.cpu_milli = job.gpus * kMilliPerGpu;
    job.memory = {(job.gpus * kMebibytesPerGpu) << 20};
    gpu_seconds += static_cast<double>(job.pods * job.gpus) * job.duration;
    jobs.push_back(std::move(job));
  };
  for (std::size_t i = 0; i < options.gangs; ++i) {
    Job job;
    job.name = fmt::format("gang-{:05}", i);
    job.gpus = drawn(kRankSizes, options.largest_pod, random);
    job.pods = std::clamp<std::int64_t>(
        drawn_pods(random), 2, std::max<std::int64_t>(2, options.largest_gang_gpus / job.gpus));
    job.duration = drawn_seconds(kGangHours, random);
    job.message_size = {std::int64_t{kMessageMebibytes[random.below(kMessageMebibytes.size())]}
                        << 20};
    job.network = options.network;
    finish(job);
  }
  for (std::size_t i = 0; i < options.singles; ++i) {
    Job job;
    job.name = fmt::format("pod-{:05}", i);
    job.gpus = drawn(kSingleSizes, options.largest_pod, random);
    job.duration = drawn_seconds(kSingleHours, random);
    finish(job);
  }
  for (std::size_t i = jobs.size(); i > 1; --i)
    std::swap(jobs[i - 1], jobs[random.below(i)]);
  const double span =
      gpu_seconds /
      (options.load * static_cast<double>(std::max<std::int64_t>(1, options.cluster_gpus)));
  double now = 0;
  for (Job& job : jobs) {
    now += random.exponential() * span / static_cast<double>(jobs.size());
    job.arrival = now;
  }
  return jobs;
}

}  // namespace rankward::sim
