// What a pod asks for, worked out once per pod and then run over the nodes.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/kube/pod.hpp"
#include "rankward/result.hpp"
#include "rankward/topology/bandwidth.hpp"
#include "rankward/topology/units.hpp"

namespace rankward::placement {

// kRdmaRequired is judged by what the node has up; whether the pod also requests the devices is
// admission's business.
enum class TransportWish : std::uint8_t { kAny, kRdmaRequired, kRdmaPreferred, kTcp };
// kExclusive is a demand. kMig and kShared are consent: slices or replicas will do where the
// resource name alone would mean whole GPUs.
enum class SharingWish : std::uint8_t { kByResourceName, kExclusive, kMig, kShared };

// One accelerator resource of the pod: name and devices, by Kubernetes' effective request.
struct DeviceRequest {
  std::string resource;
  kube::DeviceKind kind = kube::DeviceKind::kNone;
  std::int64_t count = 0;
  std::int64_t largest_container = 0;  // the most that one container asks for
};

// Which gang a pod belongs to, as its own annotations and labels say. Sizes from Job, PodGroup and
// the like need the watch and come later.
struct GangRef {
  // namespace/kind/name, with the owner's UID behind it where the pods carry that: equal for all
  // members, another one for a job that was deleted and made again.
  std::string key;
  std::string name;
  std::optional<std::int32_t> size;
  std::optional<std::int32_t> rank;
  std::string role;  // members with other requests are a sub-gang
};

// A JobSet whose pods carry it has each of its Jobs in a domain of its own, whole: each is a gang.
inline constexpr std::string_view kExclusiveTopologyKey =
    "alpha.jobset.sigs.k8s.io/exclusive-topology";
// Likewise of the groups of a LeaderWorkerSet.
inline constexpr std::string_view kExclusiveGroupKey =
    "leaderworkerset.sigs.k8s.io/exclusive-topology";

// The second part of a gang's key; of those that pods name in rankward.io/gang: kOwnGangKind.
inline constexpr std::string_view kOwnGangKind = "Gang";
[[nodiscard]] std::string_view gang_kind(std::string_view gang_key);

struct Request {
  std::string pod;  // namespace/name
  std::string uid;
  std::vector<DeviceRequest> devices;  // accelerators, by name
  std::vector<DeviceRequest> nics;     // RDMA and SR-IOV resources, by name
  kube::ResourceList resources;        // everything, effective
  bool has_device_claim = false;  // DRA: what it gets stands in ResourceSlices, not in allocatable
  bool host_network = false;
  std::optional<GangRef> gang;
  TransportWish transport = TransportWish::kAny;
  SharingWish sharing = SharingWish::kByResourceName;
  std::optional<topology::Bytes> gpu_memory;  // peak need of one GPU
  topology::Bytes message_size{topology::kGibibyte};
  std::string topology_required;  // node-label key or tier name, "" for none
  std::string topology_preferred;
  // The others are made in the domain where the first one is bound, and by affinity the scheduler
  // alone knows which domains that one may have.
  bool follows_first_rank = false;

  [[nodiscard]] std::int64_t gpus() const;  // devices of whole, MIG and shared kinds together
  // Whether how far NICs are from the pod's GPUs matters to it.
  [[nodiscard]] bool wants_rdma() const;
  [[nodiscard]] bool asks_for_devices() const { return !devices.empty() || has_device_claim; }
};

struct RequestOptions {
  topology::Bytes message_size{topology::kGibibyte};
};

// kInvalid where an annotation of ours is not in its form; names the key and the accepted form.
// Values of other projects' keys that cannot be read count as absent.
[[nodiscard]] Result<Request> make_request(const kube::Pod& pod, const RequestOptions& options);

// The gang that the pod's own metadata names: rankward.io/gang, else spec.schedulingGroup, else the
// key of the framework that made it (field/topology.md, section 5). kInvalid as above.
[[nodiscard]] Result<std::optional<GangRef>> gang_of(const kube::Pod& pod);

// Whether a call about this pod is ours to judge: it requests or is limited to one of these
// resources in a container or init container (as the scheduler decides about managedResources), has
// a device claim, or belongs to a gang. With an empty list every pod is.
[[nodiscard]] bool is_managed(const kube::Pod& pod,
                              const std::vector<std::string>& managed_resources);

}  // namespace rankward::placement
