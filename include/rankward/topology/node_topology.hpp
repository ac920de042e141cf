// What one node is made of, as far as anybody has said. Unknown is unknown, never 0: every fact
// that may be missing is an optional or has a kUnknown.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/topology/units.hpp"

namespace rankward::topology {

// nvidia-smi's and NCCL's path types, nearest first. NODE is NCCL's PHB class across host bridges
// of one NUMA node. Source: nccl src/graph/topo.h, `nvidia-smi topo -m`.
enum class PathType : std::uint8_t {
  kSelf,
  kNvLink,
  kC2C,
  kPix,
  kPxb,
  kPhb,
  kNode,
  kSys,
  kUnknown
};
[[nodiscard]] std::string_view to_string(PathType path);  // "X", "NVL", "C2C", "PIX", ..., "?"
[[nodiscard]] std::optional<PathType> path_type(std::string_view text);

enum class Health : std::uint8_t { kUnknown, kHealthy, kUnhealthy };
enum class LinkLayer : std::uint8_t { kUnknown, kInfiniBand, kEthernet, kEfa };
enum class PortState : std::uint8_t { kUnknown, kActive, kDown };

// How the device plugin hands a GPU out.
enum class SharingMode : std::uint8_t {
  kUnknown,
  kExclusive,
  kTimeSlicing,  // replicas of one GPU, memory not divided
  kMps,          // replicas of one GPU, memory divided equally
  kMigSingle,    // nvidia.com/gpu counts slices
  kMigMixed,     // slices have names of their own
};

// nvidia.com/mig.config.state, written by mig-manager.
enum class MigState : std::uint8_t { kUnknown, kSuccess, kPending, kRebooting, kFailed };

// kubelet --topology-manager-policy.
enum class TopologyManagerPolicy : std::uint8_t {
  kUnknown,
  kNone,
  kBestEffort,
  kRestricted,
  kSingleNumaNode
};

struct MigProfile {
  std::string profile;             // "1g.10gb"
  std::optional<Bytes> memory;     // real size of one slice, never read off the name
  bool memory_from_table = false;  // from the measured table, since no label or report gave it
  std::int64_t count = 0;
};

struct Gpu {
  std::uint32_t index = 0;
  std::string uuid;
  std::string pci_bus_id;
  std::optional<std::uint32_t> numa_node;
  std::optional<Bytes> memory;
  std::string model;
  Health health = Health::kUnknown;
  std::vector<MigProfile> mig;
};

struct Nic {
  std::string device;  // "mlx5_0"
  std::string pci_bus_id;
  std::optional<std::uint32_t> numa_node;
  std::optional<GigabytesPerSecond> rate;
  LinkLayer link_layer = LinkLayer::kUnknown;
  PortState state = PortState::kUnknown;
  std::string resource;  // extended resource that hands it out, "" where unknown
};

// Where the node hangs. Domains are nearest first (leaf, spine, core); an empty string is "not
// known".
struct FabricPosition {
  // nvidia.com/gpu.clique, compared whole: <cluster UUID>.<clique id>. "" where none is known, also
  // where the cluster UUID is all zeros, as NVML reports it off a multi-node fabric.
  std::string clique;
  std::vector<std::string> domains;
  std::vector<std::string> keys;  // the label key of each domain, of the unknown ones too
};

// Where a fact came from; a NodeTopology carries the set.
enum class Source : std::uint8_t {
  kAnnotation = 1,
  kGfdLabels = 2,
  kFabricLabels = 4,
  kAllocatable = 8
};

struct NodeTopology {
  std::vector<Gpu> gpus;  // empty where nobody reported devices one by one
  std::vector<Nic> nics;
  // Row-major, gpus x gpus and gpus x nics; empty where no matrix is known.
  std::vector<PathType> gpu_paths;
  std::vector<std::uint8_t> nvlinks;  // number of NVLinks between two GPUs, same shape as gpu_paths
  std::vector<PathType> nic_paths;

  // What GFD's labels say of the node as a whole.
  std::optional<std::int64_t> gpu_count;  // physical GPUs; under MIG single the number of slices
  std::string product;                    // with -SHARED and -MIG-<profile> removed
  std::optional<Bytes> gpu_memory;        // of one device as the plugin hands it out
  std::optional<std::int64_t> replicas;   // 1 none, n sharing, 0 under MIG
  // How the plain resource name is handed out; kMigMixed where the node offers slices under names
  // of their own and does not share the rest.
  SharingMode sharing = SharingMode::kUnknown;
  std::string single_profile;  // under MIG single, the one profile
  std::vector<MigProfile> mig_profiles;
  bool mig_capable = false;
  std::optional<MigState> mig_state;
  std::string mig_config;
  bool mig_paused = false;   // nvidia.com/gpu.deploy.*=paused-for-mig-change is left on the node
  bool mig_invalid = false;  // product says -MIG-INVALID

  TopologyManagerPolicy topology_manager = TopologyManagerPolicy::kUnknown;
  bool topology_manager_pod_scope = false;
  std::optional<bool> gpu_direct;  // peer memory or DMA-BUF is there
  std::string driver;
  std::optional<std::int64_t> reported_at;  // seconds since the epoch, of the annotation
  FabricPosition fabric;
  std::uint8_t sources = 0;  // bits of Source

  [[nodiscard]] bool has(Source source) const {
    return (sources & static_cast<std::uint8_t>(source)) != 0;
  }
  [[nodiscard]] PathType gpu_path(std::size_t a, std::size_t b) const {
    return gpu_paths.empty() ? PathType::kUnknown : gpu_paths[a * gpus.size() + b];
  }
  [[nodiscard]] PathType nic_path(std::size_t gpu, std::size_t nic) const {
    return nic_paths.empty() ? PathType::kUnknown : nic_paths[gpu * nics.size() + nic];
  }
  [[nodiscard]] std::uint8_t nvlink_count(std::size_t a, std::size_t b) const {
    return nvlinks.empty() ? std::uint8_t{0} : nvlinks[a * gpus.size() + b];
  }
};

}  // namespace rankward::topology
