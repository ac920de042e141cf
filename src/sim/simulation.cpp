#include "rankward/sim/simulation.hpp"

#include <limits>
#include <map>
#include <tuple>

#include "simulator.hpp"

namespace rankward::sim {
namespace {

using Make = PolicyInstance (*)(const PolicyInputs&);

struct Entry {
  PolicyName name;
  Make make;
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> kEntries = {
      {{"random", "random", false}, make_random},
      {{"least-allocated", "LeastAllocated", false}, make_least_allocated},
      {{"most-allocated", "MostAllocated", false}, make_most_allocated},
      {{"fgd", "FGD", false}, make_fgd},
      {{"kueue-best-fit", "Kueue BestFit", true}, make_kueue_best_fit},
      {{"kueue-least-free-capacity", "Kueue LeastFreeCapacity", true},
       make_kueue_least_free_capacity},
      {{"kueue-balanced", "Kueue Balanced", true}, make_kueue_balanced},
      {{"kai", "KAI tightest domain", true}, make_kai},
      {{"koordinator", "Koordinator", true}, make_koordinator},
      {{"rankward", "Rankward", true}, make_rankward},
  };
  return kEntries;
}

const Entry* entry_of(std::string_view name) {
  for (const Entry& entry : entries()) {
    if (entry.name.name == name) return &entry;
  }
  return nullptr;
}

std::vector<JobInfo> describe_all(const std::vector<Job>& jobs) {
  std::vector<JobInfo> infos;
  infos.reserve(jobs.size());
  for (const Job& job : jobs)
    infos.push_back(describe(job));
  return infos;
}

}  // namespace

const std::vector<PolicyName>& policies() {
  static const std::vector<PolicyName> kNames = [] {
    std::vector<PolicyName> names;
    for (const Entry& entry : entries())
      names.push_back(entry.name);
    return names;
  }();
  return kNames;
}

Result<SimulationResult> simulate(std::string_view policy, const std::vector<SimulatedNode>& nodes,
                                  const std::vector<Job>& jobs, const SimulationOptions& options,
                                  const Progress& progress) {
  const Entry* entry = entry_of(policy);
  if (entry == nullptr) {
    std::string known;
    for (const PolicyName& name : policies())
      known += (known.empty() ? "" : ", ") + std::string(name.name);
    return Error(ErrorKind::kNotFound,
                 "\"" + std::string(policy) + "\" is no policy; known: " + known);
  }
  Cluster cluster(nodes, entry->make == make_rankward);
  const Fragmentation fragmentation(jobs);
  PolicyInstance instance = entry->make({cluster, fragmentation, options.placement, options.seed});
  const std::vector<JobInfo> infos = describe_all(jobs);
  SimulationResult result;
  result.policy = entry->name;
  Simulator(cluster, instance, fragmentation, infos, options).run(result, progress);
  return result;
}

std::vector<double> best_seconds(const std::vector<SimulatedNode>& nodes,
                                 const std::vector<Job>& jobs, const SimulationOptions& options) {
  Cluster cluster(nodes, true);
  const Fragmentation fragmentation(jobs);
  const PolicyInstance planner =
      make_rankward({cluster, fragmentation, options.placement, options.seed});
  using Key = std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                         JobNetwork, std::vector<std::string>>;
  std::map<Key, double> known;
  std::vector<double> best;
  best.reserve(jobs.size());
  for (const Job& job : jobs) {
    if (job.pods < 2) {
      best.push_back(0);
      continue;
    }
    const auto [place, is_new] =
        known.emplace(Key{job.pods, job.gpus, job.cpu_milli, job.memory.count,
                          job.message_size.count, job.network, job.products},
                      std::numeric_limits<double>::infinity());
    if (is_new) {
      const JobInfo info = describe(job);
      if (const auto shares = planner.gangs->place(info, cluster)) {
        std::vector<PlacedPod> pods;
        for (const HostShare& share : *shares) {
          for (std::int32_t i = 0; i < share.pods; ++i)
            pods.push_back(cluster.bind(info, static_cast<std::int32_t>(pods.size()), share.host));
        }
        place->second = price(info, pods, cluster, options.placement).prediction.seconds.value;
        for (const PlacedPod& pod : pods)
          cluster.release(job, pod);
      }
    }
    best.push_back(place->second);
  }
  return best;
}

}  // namespace rankward::sim
