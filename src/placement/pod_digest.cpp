// A pod as the builder keeps it: what it holds, or that it waits with its gang.
#include <algorithm>
#include <utility>

#include "annotations.hpp"
#include "rankward/kube/scheduling.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

namespace {

// Nothing usable in the annotation: empty, which is "not known".
std::vector<std::uint32_t> assigned_gpus(const kube::StringMap& annotations) {
  const std::string* text = kube::find(annotations, kube::kAssignedGpusKey);
  if (text == nullptr) return {};
  return kube::gpu_indexes(*text).value_or(std::vector<std::uint32_t>());
}

std::int64_t gpus_of(const kube::ResourceList& resources) {
  std::int64_t sum = 0;
  for (const auto& [name, amount] : resources) {
    switch (kube::device_kind(name)) {
      case kube::DeviceKind::kWholeGpu:
      case kube::DeviceKind::kMigSlice:
      case kube::DeviceKind::kSharedSlice:
        if (__builtin_add_overflow(sum, amount.value(), &sum)) return INT64_MAX;
        break;
      case kube::DeviceKind::kNone:
      case kube::DeviceKind::kFraction:
      case kube::DeviceKind::kDraClass:
        break;
    }
  }
  return sum;
}

Holder holder_of(const kube::Pod& pod, std::string key) {
  Holder holder;
  holder.uid = std::move(key);
  holder.pod = pod.metadata.full_name();
  holder.resources = kube::effective_requests(pod.spec);
  holder.resources.insert_or_assign("pods", kube::Quantity(1));
  holder.gpus = gpus_of(holder.resources);
  // A bound pod whose annotations are not in our form still holds its devices: it has only not said
  // anything that we can read.
  if (auto memory = read_bytes(pod.metadata.annotations, kGpuMemoryKey)) {
    holder.declared_memory = *memory;
  }
  if (holder.gpus > 0) holder.gpu_indexes = assigned_gpus(pod.metadata.annotations);
  if (auto gang = gang_of(pod); gang && *gang && !pod.metadata.deleting) {
    holder.gang_key = std::move((*gang)->key);
    holder.rank = (*gang)->rank;
    holder.role = std::move((*gang)->role);
  }
  return holder;
}

// What neither the planner nor the scheduler's filters read, and what makes most of a spec's bytes.
void drop_unread(std::vector<kube::Container>& containers) {
  for (kube::Container& container : containers) {
    container.env = {};
    container.env_from = {};
    container.volume_mounts = {};
    container.volume_devices = {};
    container.capabilities_added = {};
  }
}

kube::PodSpec without_unread(kube::PodSpec spec) {
  drop_unread(spec.containers);
  drop_unread(spec.init_containers);
  spec.ephemeral_containers = {};
  return spec;
}

// Batch clusters have a hundred thousand of them waiting, and nobody would ever read them.
bool is_job_without_devices(const Request& request, const kube::ObjectMeta& metadata) {
  return !request.asks_for_devices() && request.nics.empty() &&
         request.gang->key.starts_with(metadata.namespace_ + "/Job/");
}

PendingMember pending_member(const kube::Pod& pod, std::string uid, Request request) {
  PendingMember member;
  member.pod = request.pod;
  member.uid = std::move(uid);
  member.request = std::make_shared<const Request>(std::move(request));
  member.spec = std::make_shared<const kube::PodSpec>(without_unread(pod.spec));
  member.nominated_node = pod.status.nominated_node_name;
  member.unschedulable = pod.status.unschedulable;
  for (const std::string& gate : pod.spec.scheduling_gates) {
    (gate == kGangGate ? member.gated : member.gated_by_others) = true;
  }
  member.deleting = pod.metadata.deleting;
  return member;
}

bool is_gated_by_us(const kube::Pod& pod) {
  const auto& gates = pod.spec.scheduling_gates;
  return std::find(gates.begin(), gates.end(), kGangGate) != gates.end();
}

// What is kept of a pod without a node, if anything.
void keep_pending(const kube::Pod& pod, const RequestOptions& options, PodDigest& digest) {
  auto request = make_request(pod, options);
  if (!request) return;
  if (request->gang) {
    if (is_job_without_devices(*request, pod.metadata) && !is_gated_by_us(pod)) return;
    digest.pending = pending_member(pod, digest.key, std::move(*request));
  } else if (pod.status.unschedulable && !pod.metadata.deleting && !request->devices.empty()) {
    auto waiting = std::make_shared<WaitingPod>();
    waiting->uid = digest.key;
    waiting->pod = request->pod;
    waiting->request = std::make_shared<const Request>(std::move(*request));
    waiting->spec = std::make_shared<const kube::PodSpec>(without_unread(pod.spec));
    digest.waiting = std::move(waiting);
  }
}

}  // namespace

std::shared_ptr<const RolePod> role_pod(const kube::Pod& pod, std::size_t hash,
                                        const RequestOptions& options) {
  auto request = make_request(pod, options);
  if (!request || request->gpus() <= 0) return nullptr;
  return std::make_shared<const RolePod>(
      RolePod{std::move(*request), without_unread(pod.spec), hash});
}

PodDigest digest_of(const kube::Pod& pod, const RequestOptions& options) {
  PodDigest digest;
  digest.key = pod.metadata.uid.empty() ? pod.metadata.full_name() : pod.metadata.uid;
  if (pod.is_terminal()) return digest;
  if (pod.spec.node_name.empty()) {
    keep_pending(pod, options, digest);
  } else {
    digest.node = pod.spec.node_name;
    digest.holder = holder_of(pod, digest.key);
  }
  return digest;
}

}  // namespace rankward::placement
