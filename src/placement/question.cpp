#include "question.hpp"

#include <algorithm>
#include <utility>

#include "rankward/topology/sources.hpp"

namespace rankward::placement {

namespace {

using kube::DeviceKind;
using topology::Bytes;
using topology::MigProfile;
using topology::SharingMode;

const MigProfile* find_profile(const std::vector<MigProfile>& profiles, std::string_view name) {
  const auto found = std::find_if(profiles.begin(), profiles.end(),
                                  [name](const MigProfile& p) { return p.profile == name; });
  return found == profiles.end() ? nullptr : &*found;
}

std::optional<Bytes> slice_memory(const Question& question, std::string_view profile) {
  const MigProfile* slice = find_profile(question.topology.mig_profiles, profile);
  for (const topology::Gpu& gpu : question.topology.gpus) {
    if (slice == nullptr || !slice->memory) slice = find_profile(gpu.mig, profile);
  }
  if (slice != nullptr && slice->memory) return slice->memory;
  return topology::measured_slice_memory(question.topology.product, profile);
}

// The smallest card: nobody can tell which one the plugin will take.
std::optional<Bytes> card_memory(const topology::NodeTopology& topology) {
  std::optional<Bytes> smallest;
  for (const topology::Gpu& gpu : topology.gpus) {
    if (!gpu.mig.empty() || gpu.health == topology::Health::kUnhealthy) continue;
    if (!gpu.memory) return topology.gpu_memory;
    if (!smallest || *gpu.memory < *smallest) smallest = gpu.memory;
  }
  return smallest ? smallest : topology.gpu_memory;
}

}  // namespace

bool Question::shared() const {
  if (device.kind == DeviceKind::kSharedSlice) return true;
  return whole_gpus() && is_nvidia() &&
         (topology.sharing == SharingMode::kTimeSlicing || topology.sharing == SharingMode::kMps);
}

bool Question::sliced() const {
  if (device.kind == DeviceKind::kMigSlice) return true;
  return whole_gpus() && is_nvidia() && topology.sharing == SharingMode::kMigSingle;
}

std::optional<std::int64_t> amount(const kube::ResourceList& resources, std::string_view name) {
  const auto found = resources.find(name);
  if (found == resources.end()) return std::nullopt;
  return found->second.value();
}

Question ask(const Request& request, const DeviceRequest& device, const NodeState& node, Use use) {
  Question question{request, device, node, *node.machine, use, {}, {}};
  if (const DeviceAmount* has = node.device(device.resource)) {
    question.capacity = has->capacity;
    question.allocatable = has->allocatable;
  }
  return question;
}

std::vector<std::string> other_offers(const Question& question) {
  std::vector<std::string> offers;
  for (const DeviceAmount& other : question.node.devices) {
    const std::int64_t count = other.allocatable.value_or(0);
    if (other.resource == question.device.resource || count <= 0) continue;
    if (other.kind == DeviceKind::kWholeGpu || other.kind == DeviceKind::kMigSlice ||
        other.kind == DeviceKind::kSharedSlice) {
      offers.push_back(other.resource + ": " + std::to_string(count));
    }
  }
  return offers;
}

std::optional<Bytes> device_memory(const Question& question) {
  const topology::NodeTopology& topology = question.topology;
  std::optional<Bytes> memory;
  if (const auto profile = kube::mig_profile(question.device.resource)) {
    memory = slice_memory(question, *profile);
  } else if (question.is_nvidia() && topology.sharing == SharingMode::kMigSingle) {
    memory = slice_memory(question, topology.single_profile);
    if (!memory) memory = topology.gpu_memory;
  } else {
    memory = card_memory(topology);
  }
  // MPS gives every replica the same part; time-slicing gives each the whole, and no guarantee.
  const std::int64_t replicas = topology.replicas.value_or(1);
  if (memory && question.shared() && topology.sharing == SharingMode::kMps && replicas > 1) {
    memory->count /= replicas;
  }
  return memory;
}

CoTenants co_tenants(const Question& question) {
  CoTenants result;
  for (const Holder& holder : question.node.holders) {
    const std::int64_t devices = amount(holder.resources, question.device.resource).value_or(0);
    if (devices <= 0 || holder.uid == question.request.uid) continue;
    if (!holder.declared_memory) {
      ++result.undeclared;
      continue;
    }
    std::int64_t sum = 0;
    if (__builtin_mul_overflow(holder.declared_memory->count, devices, &sum) ||
        __builtin_add_overflow(sum, result.declared.count, &result.declared.count)) {
      result.declared.count = INT64_MAX;
    }
  }
  return result;
}

std::vector<std::int64_t> free_per_numa(const Question& question) {
  if (!question.reported() || !question.node.free_gpu_mask) return {};
  std::vector<std::int64_t> free;
  for (std::size_t i = 0; i < question.topology.gpus.size(); ++i) {
    const auto numa = question.topology.gpus[i].numa_node;
    // No machine has so many; a number beyond it is a reporter's mistake.
    constexpr std::uint32_t kMaxNumaNodes = 1024;
    if (!numa || *numa >= kMaxNumaNodes) return {};
    if (free.size() <= *numa) free.resize(*numa + 1);
    free[*numa] += static_cast<std::int64_t>(*question.node.free_gpu_mask >> i & 1);
  }
  return free;
}

}  // namespace rankward::placement
