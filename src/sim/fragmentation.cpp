#include "fragmentation.hpp"

#include <algorithm>
#include <map>
#include <tuple>

namespace rankward::sim {
namespace {

constexpr double kTypicalShare = 0.95;

bool is_accessible(const Host& host, const Job& job) {
  if (job.network == JobNetwork::kRdmaDevices && !host.rdma) return false;
  return job.products.empty() ||
         std::find(job.products.begin(), job.products.end(), host.product) != job.products.end();
}

}  // namespace

Fragmentation::Fragmentation(const std::vector<Job>& jobs) {
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, std::vector<std::string>>;
  std::map<Key, TypicalPod> kinds;
  double all = 0;
  for (const Job& job : jobs) {
    if (job.gpus == 0) continue;
    TypicalPod& kind = kinds[{job.gpus, job.cpu_milli, job.memory.count,
                              job.network == JobNetwork::kRdmaDevices, job.products}];
    kind.job = job;
    kind.frequency += static_cast<double>(job.pods);
    all += static_cast<double>(job.pods);
  }
  std::vector<TypicalPod> sorted;
  for (const auto& [key, kind] : kinds)
    sorted.push_back(kind);
  std::stable_sort(sorted.begin(), sorted.end(), [](const TypicalPod& a, const TypicalPod& b) {
    return a.frequency > b.frequency;
  });
  double counted = 0;
  for (const TypicalPod& kind : sorted) {
    if (counted >= kTypicalShare * all) break;
    counted += kind.frequency;
    typical_.push_back(kind);
  }
  for (TypicalPod& kind : typical_)
    kind.frequency /= counted;
}

double Fragmentation::of(const Host& host, const FreeAmounts& free) const {
  if (free.gpus == 0) return 0;
  double lost = 0;
  for (const TypicalPod& pod : typical_) {
    const Job& job = pod.job;
    const bool fits = free.gpus >= job.gpus && free.cpu_milli >= job.cpu_milli &&
                      free.memory >= job.memory.count && is_accessible(host, job);
    if (!fits) lost += pod.frequency;
  }
  return lost * static_cast<double>(free.gpus);
}

}  // namespace rankward::sim
