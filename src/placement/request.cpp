#include "rankward/placement/request.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

#include "annotations.hpp"
#include "rankward/kube/scheduling.hpp"

namespace rankward::placement {

namespace {

using kube::DeviceKind;

std::int64_t largest_container_request(const kube::PodSpec& spec, std::string_view resource) {
  std::int64_t largest = 0;
  for (const auto* containers : {&spec.containers, &spec.init_containers}) {
    for (const kube::Container& container : *containers) {
      const auto amount = kube::container_request(container, resource);
      if (amount) largest = std::max(largest, amount->value());
    }
  }
  return largest;
}

bool has_device_claim(const kube::PodSpec& spec) {
  if (!spec.resource_claims.empty() || !spec.pod_resources.claims.empty()) return true;
  for (const auto* containers : {&spec.containers, &spec.init_containers}) {
    for (const kube::Container& container : *containers) {
      if (!container.resources.claims.empty()) return true;
    }
  }
  return false;
}

// Others' keys stand in where the pod does not carry ours.
Result<std::string> topology_level(const kube::StringMap& annotations, std::string_view key,
                                   std::span<const std::string_view> others) {
  auto own = read_topology_level(annotations, key);
  if (!own) return std::move(own).error();
  if (*own) return std::move(**own);
  for (const std::string_view other : others) {
    auto level = read_topology_level(annotations, other);
    if (level && *level) return std::move(**level);
  }
  return std::string();
}

constexpr std::array<std::string_view, 1> kRequiredByOthers{
    "kueue.x-k8s.io/podset-required-topology"};
constexpr std::array<std::string_view, 1> kPreferredByOthers{
    "kueue.x-k8s.io/podset-preferred-topology"};

// How a Request is read, one group of annotations a step; each error names its key.
Result<void> read_wishes(const kube::StringMap& annotations, Request& request) {
  auto transport = read_transport(annotations);
  if (!transport) return std::move(transport).error();
  request.transport = transport->value_or(request.nics.empty() ? TransportWish::kAny
                                                               : TransportWish::kRdmaPreferred);
  auto sharing = read_sharing(annotations);
  if (!sharing) return std::move(sharing).error();
  request.sharing = sharing->value_or(SharingWish::kByResourceName);
  auto memory = read_bytes(annotations, kGpuMemoryKey);
  if (!memory) return std::move(memory).error();
  request.gpu_memory = *memory;
  auto message = read_bytes(annotations, kMessageSizeKey);
  if (!message) return std::move(message).error();
  if (*message) request.message_size = **message;
  return {};
}

Result<void> read_topology_levels(const kube::StringMap& annotations, Request& request) {
  auto required = topology_level(annotations, kTopologyRequiredKey, kRequiredByOthers);
  if (!required) return std::move(required).error();
  request.topology_required = std::move(*required);
  auto preferred = topology_level(annotations, kTopologyPreferredKey, kPreferredByOthers);
  if (!preferred) return std::move(preferred).error();
  request.topology_preferred = std::move(*preferred);
  return {};
}

// Pods with the first index are held by affinity in a domain that no other group has; those that
// follow are made once that one is bound, and tied to its domain by a node selector (jobset,
// pkg/webhooks/pod_mutating_webhook.go; lws, pkg/webhooks and pkg/controllers/pod_controller.go).
void read_exclusive_topology(const kube::StringMap& annotations, Request& request) {
  if (!request.gang) return;
  const std::string_view kind = gang_kind(request.gang->key);
  const std::string_view key = kind == "Job"               ? kExclusiveTopologyKey
                               : kind == "LeaderWorkerSet" ? kExclusiveGroupKey
                                                           : std::string_view();
  if (key.empty()) return;
  auto level = read_topology_level(annotations, key);
  if (!level || !*level) return;
  request.follows_first_rank = true;
  if (request.topology_required.empty()) request.topology_required = std::move(**level);
}

void read_devices(const kube::PodSpec& spec, Request& request) {
  request.resources = kube::effective_requests(spec);
  request.has_device_claim = has_device_claim(spec);
  for (const auto& [name, amount] : request.resources) {
    const std::int64_t count = amount.value();
    if (count <= 0) continue;
    const DeviceKind kind = kube::device_kind(name);
    DeviceRequest device{name, kind, count, largest_container_request(spec, name)};
    if (kind == DeviceKind::kDraClass) {
      // Counted by no node: the DRA driver's slices hold what it gets.
      request.has_device_claim = true;
    } else if (kind != DeviceKind::kNone) {
      request.devices.push_back(std::move(device));
    } else if (kube::is_rdma(name)) {
      request.nics.push_back(std::move(device));
    }
  }
}

}  // namespace

std::int64_t Request::gpus() const {
  std::int64_t sum = 0;
  for (const DeviceRequest& device : devices) {
    if (device.kind == DeviceKind::kFraction) continue;
    if (__builtin_add_overflow(sum, device.count, &sum)) return INT64_MAX;
  }
  return sum;
}

bool Request::wants_rdma() const {
  if (transport == TransportWish::kTcp) return false;
  return !nics.empty() || transport != TransportWish::kAny;
}

Result<Request> make_request(const kube::Pod& pod, const RequestOptions& options) {
  Request request;
  request.pod = pod.metadata.full_name();
  request.uid = pod.metadata.uid;
  request.host_network = pod.spec.host_network;
  request.message_size = options.message_size;
  read_devices(pod.spec, request);
  if (auto read = read_wishes(pod.metadata.annotations, request); !read) return read.error();
  if (auto read = read_topology_levels(pod.metadata.annotations, request); !read) {
    return read.error();
  }
  auto gang = gang_of(pod);
  if (!gang) return std::move(gang).error();
  request.gang = std::move(*gang);
  read_exclusive_topology(pod.metadata.annotations, request);
  return request;
}

bool is_managed(const kube::Pod& pod, const std::vector<std::string>& managed_resources) {
  if (managed_resources.empty() || has_device_claim(pod.spec)) return true;
  for (const auto* containers : {&pod.spec.containers, &pod.spec.init_containers}) {
    for (const kube::Container& container : *containers) {
      for (const std::string& name : managed_resources) {
        if (container.resources.requests.count(name) != 0 ||
            container.resources.limits.count(name) != 0) {
          return true;
        }
      }
    }
  }
  const auto gang = gang_of(pod);
  // Let the full path say what is wrong with the pod's annotations.
  return !gang || gang->has_value();
}

}  // namespace rankward::placement
