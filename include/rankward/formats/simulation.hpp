// The files that `rankward simulate` reads beside Kubernetes' own: a cluster in a few lines, and a
// list of jobs. YAML or JSON, strict: every key must be known.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/result.hpp"
#include "rankward/topology/node_topology.hpp"
#include "rankward/topology/units.hpp"

namespace rankward::formats {

// How the GPUs of a machine reach each other.
enum class GpuLinks : std::uint8_t {
  kNvSwitch,  // every pair by NVLink
  kPairs,     // GPUs 0-1, 2-3, ... bridged, PCIe otherwise
  kPcie,      // PIX-PXB within a socket, SYS across; two sockets
};

struct MachineModel {
  std::string name;
  std::string product = "NVIDIA-H100-80GB-HBM3";  // nvidia.com/gpu.product
  std::int64_t gpus = 8;
  GpuLinks links = GpuLinks::kNvSwitch;
  std::int64_t nics = 8;  // 0: no RDMA, TCP only
  topology::GigabytesPerSecond nic_rate{50};
  // From the GPUs that are nearest to a NIC. kPix: NICs and GPUs are spread evenly over as many
  // PCIe switches as there are NICs. kSys: all NICs sit on the socket where no GPU is.
  topology::PathType nic_path = topology::PathType::kPix;
  topology::LinkLayer link_layer = topology::LinkLayer::kInfiniBand;
  std::int64_t cpu_milli = 192'000;
  topology::Bytes memory{std::int64_t{2} << 40};
  std::int64_t weight = 1;  // of all weights: this share of the hosts is such a machine
};

struct SpineModel {
  std::int64_t leaves = 1;  // 0: these hosts carry no fabric labels
  std::int64_t hosts = 1;   // spread over the leaves as evenly as can be
};

// kind: SimulatedCluster, apiVersion: sim.rankward.io/v1alpha1.
struct ClusterModel {
  std::string name;
  std::vector<MachineModel> machines;
  std::vector<SpineModel> spines;
  std::int64_t clique_hosts = 0;  // so many neighbours under one leaf form an NVLink clique
};

// Which way the ranks of a job go to each other between nodes.
enum class JobNetwork : std::uint8_t {
  kNone,         // asks for nothing: TCP
  kRdmaDevices,  // requests rdma/ib, so that the scheduler keeps it off nodes without
  kHostNetwork,  // hostNetwork: RDMA where the node has it, TCP where not, and nobody checks
};

struct JobModel {
  std::string name;
  double arrival = 0;       // seconds since the start
  double duration = 3'600;  // seconds, from the moment at which all of its pods have a place
  std::int64_t pods = 1;
  std::int64_t gpus = 1;  // of each pod
  std::int64_t cpu_milli = 0;
  topology::Bytes memory{0};
  topology::Bytes message_size{topology::kGibibyte};
  JobNetwork network = JobNetwork::kNone;
  std::vector<std::string> products;  // that its pods accept; empty: all
};

[[nodiscard]] Result<ClusterModel> read_cluster_model(std::string_view text,
                                                      std::string_view source_name);
// kind: SimulatedJobs.
[[nodiscard]] Result<std::vector<JobModel>> read_job_models(std::string_view text,
                                                            std::string_view source_name);

// The latest arrival and the longest duration, about 300 years.
inline constexpr double kMostSeconds = 1e10;

}  // namespace rankward::formats
