// Clusters and workloads to simulate: built in, or from files.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/formats/simulation.hpp"
#include "rankward/kube/node.hpp"
#include "rankward/result.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::sim {

using Job = formats::JobModel;
using JobNetwork = formats::JobNetwork;

struct SimulatedNode {
  kube::Node node;
  topology::NodeTopology topology;
};

// The names that built_in_cluster() knows: "fabric-850", "nvl72", "openb", "fabric-850-uniform".
//
// * fabric-850: 847 hosts under 122 leaves and three spines, in the proportions of the published
//   Lingjun fabric (alibaba-lingjun-dataset-2023, data/topo.csv: 362 + 306 + 179 hosts, leaves of
//   up to eight). Eight H100s each. Of 100 hosts 84 have one NIC a GPU, 8 have four NICs for eight
//   GPUs (nccl 1357), 4 have theirs on the wrong socket and 4 have no RDMA.
// * fabric-850-uniform: the same, every host with one NIC a GPU.
// * nvl72: twelve racks of 18 trays with four GB200 and four NICs, one NVLink clique a rack.
// * openb: the GPU nodes of Alibaba's cluster-trace-gpu-v2023 by number, GPUs and product (1,213
//   nodes, 6,212 GPUs). The trace says nothing of links: they are assumed by product.
[[nodiscard]] std::vector<std::string> built_in_clusters();
// kNotFound for other names.
[[nodiscard]] Result<formats::ClusterModel> built_in_cluster(std::string_view name);

// The hosts of a model as Kubernetes shows them, with labels, allocatable and report; by name.
// `seed` decides which hosts are of which make.
[[nodiscard]] std::vector<SimulatedNode> hosts_of(const formats::ClusterModel& model,
                                                  std::uint64_t seed);

// openb_node_list_*.csv: sn, cpu_milli, memory_mib, gpu, model. Nodes without GPUs are left out.
[[nodiscard]] Result<std::vector<SimulatedNode>> read_openb_nodes(std::string_view csv,
                                                                  std::string_view source_name);

struct WorkloadOptions {
  std::uint64_t seed = 1;
  std::size_t gangs = 1'000;
  std::size_t singles = 1'000;  // pods alone, 1 to 8 GPUs
  // Offered GPU-seconds a second over the GPUs of the cluster; 1: as much as it could ever do.
  double load = 0.9;
  std::int64_t cluster_gpus = 1;
  std::int64_t largest_pod = 8;        // GPUs of one pod at most
  std::int64_t largest_gang_gpus = 1;  // of one gang at most
  JobNetwork network = JobNetwork::kRdmaDevices;
};

// Moves arrivals so that the jobs ask for this share of the cluster's GPUs; durations stay.
void scale_to_load(std::vector<Job>& jobs, double load, std::int64_t cluster_gpus);

// Gangs of 2 to 1,024 pods with 1 to 8 GPUs each, and single pods beside them: Poisson arrivals,
// log-normal durations. The same options give the same jobs, by arrival.
[[nodiscard]] std::vector<Job> synthetic_jobs(const WorkloadOptions& options);

// openb_pod_list_*.csv as single pods by arrival. A part of a GPU (gpu_milli below 1000) counts as
// a whole one: the simulated nodes do not share theirs. Pods without GPUs are left out. Times are
// shifted so that the first arrival is 0.
[[nodiscard]] Result<std::vector<Job>> read_openb_pods(std::string_view csv,
                                                       std::string_view source_name);

// CSV of gangs with the heading
//   name,arrival,duration,pods,gpus,cpu_milli,memory_mib,message_mib,network
// in any order; name, arrival, duration, pods and gpus are required.
[[nodiscard]] Result<std::vector<Job>> read_job_csv(std::string_view csv,
                                                    std::string_view source_name);

}  // namespace rankward::sim
