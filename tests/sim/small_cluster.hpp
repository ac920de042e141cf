// Clusters of a few hosts, told by how many GPUs each has.
#pragma once

#include <fmt/format.h>

#include <map>
#include <string>
#include <vector>

#include "cluster.hpp"
#include "machines.hpp"
#include "policies/policy.hpp"

namespace rankward::sim::testing {

// A machine of eight GPUs and NICs of which so many are free.
struct SmallHost {
  std::int64_t free = 0;
  std::string leaf;
};

// Named "000", "001", ... in the order given.
inline std::vector<SimulatedNode> hosts(const std::vector<SmallHost>& wanted) {
  std::vector<SimulatedNode> nodes;
  for (const SmallHost& host : wanted) {
    nodes.push_back(make_host(fmt::format("{:03}", nodes.size()), formats::MachineModel{},
                              {host.leaf, host.leaf.empty() ? "" : "spine", ""}));
  }
  return nodes;
}

// Machines without anything on them, of so many GPUs and NICs each.
inline std::vector<SimulatedNode> machines(const std::vector<std::int64_t>& gpus) {
  std::vector<SimulatedNode> nodes;
  for (const std::int64_t count : gpus) {
    formats::MachineModel machine;
    machine.gpus = machine.nics = count;
    nodes.push_back(make_host(fmt::format("{:03}", nodes.size()), machine, {}));
  }
  return nodes;
}

// Takes what is not free.
inline void occupy(Cluster& cluster, const std::vector<SmallHost>& wanted) {
  for (HostIndex i = 0; i < wanted.size(); ++i) {
    Job job;
    job.name = fmt::format("busy-{}", i);
    job.gpus = 8 - wanted[i].free;
    if (job.gpus > 0) cluster.bind(describe(job), 0, i);
  }
}

inline Job gang(std::int64_t pods, std::int64_t gpus = 1) {
  Job job;
  job.name = "gang";
  job.pods = pods;
  job.gpus = gpus;
  job.duration = 10;
  job.network = JobNetwork::kRdmaDevices;
  return job;
}

using Make = PolicyInstance (*)(const PolicyInputs&);

// Pods by host, as the policy places the gang; empty where it does not.
inline std::map<HostIndex, std::int32_t> placed(Make make, const std::vector<SmallHost>& wanted,
                                                const Job& job) {
  Cluster cluster(hosts(wanted), true);
  occupy(cluster, wanted);
  const Fragmentation fragmentation({job});
  const placement::Options options;
  const PolicyInstance policy = make({cluster, fragmentation, options, 1});
  const JobInfo info = describe(job);
  std::map<HostIndex, std::int32_t> shares;
  if (policy.gangs) {
    const auto result = policy.gangs->place(info, cluster);
    if (!result) return {};
    for (const HostShare& share : *result)
      shares[share.host] += share.pods;
    return shares;
  }
  for (std::int32_t rank = 0; rank < job.pods; ++rank) {
    const auto host = policy.pods->choose(info, cluster);
    if (!host) return {};
    cluster.bind(info, rank, *host);
    ++shares[*host];
  }
  return shares;
}

}  // namespace rankward::sim::testing
