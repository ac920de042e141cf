#include "rankward/placement/snapshot.hpp"

#include <algorithm>
#include <bit>

#include "node_names.hpp"

namespace rankward::placement {

namespace {

constexpr std::size_t kMaskBits = 64;

std::optional<std::size_t> position_of(const topology::NodeTopology& topology,
                                       std::uint32_t index) {
  for (std::size_t i = 0; i < topology.gpus.size(); ++i) {
    if (topology.gpus[i].index == index) return i;
  }
  return std::nullopt;
}

// Devices that the plugin could hand out as whole GPUs.
std::uint64_t usable_gpus(const topology::NodeTopology& topology) {
  std::uint64_t mask = 0;
  for (std::size_t i = 0; i < topology.gpus.size(); ++i) {
    const topology::Gpu& gpu = topology.gpus[i];
    if (gpu.health != topology::Health::kUnhealthy && gpu.mig.empty()) {
      mask |= std::uint64_t{1} << i;
    }
  }
  return mask;
}

// What holders have, as far as they agree: as many devices as each requested, none twice.
std::optional<std::uint64_t> held_gpus(const topology::NodeTopology& topology,
                                       const std::vector<Holder>& holders) {
  std::uint64_t held = 0;
  for (const Holder& holder : holders) {
    if (holder.gpus == 0) continue;
    if (static_cast<std::int64_t>(holder.gpu_indexes.size()) != holder.gpus) return std::nullopt;
    for (const std::uint32_t index : holder.gpu_indexes) {
      const auto position = position_of(topology, index);
      if (!position) return std::nullopt;
      const std::uint64_t bit = std::uint64_t{1} << *position;
      if ((held & bit) != 0) return std::nullopt;
      held |= bit;
    }
  }
  return held;
}

// Both come from quantities of either sign, so that the difference may leave 64 bits.
std::int64_t left_of(std::int64_t allocatable, std::int64_t used) {
  std::int64_t left = 0;
  if (__builtin_sub_overflow(allocatable, used, &left)) return 0;
  return std::max<std::int64_t>(0, left);
}

std::vector<DeviceAmount> device_amounts(const kube::Node& node, const kube::ResourceList& used) {
  std::vector<DeviceAmount> devices;
  const auto entry_of = [&devices](const std::string& name) -> DeviceAmount* {
    const auto place = std::lower_bound(devices.begin(), devices.end(), name,
                                        [](const DeviceAmount& entry, const std::string& wanted) {
                                          return entry.resource < wanted;
                                        });
    if (place != devices.end() && place->resource == name) return &*place;
    const kube::DeviceKind kind = kube::device_kind(name);
    const bool rdma = kube::is_rdma(name);
    if (kind == kube::DeviceKind::kNone && !rdma) return nullptr;
    return &*devices.insert(place, DeviceAmount{name, kind, rdma, {}, {}, 0});
  };
  for (const auto& [name, amount] : node.capacity) {
    if (DeviceAmount* entry = entry_of(name)) entry->capacity = amount.value();
  }
  for (const auto& [name, amount] : node.allocatable) {
    if (DeviceAmount* entry = entry_of(name)) entry->allocatable = amount.value();
  }
  for (const auto& [name, amount] : used) {
    if (DeviceAmount* entry = entry_of(name)) entry->used = amount.value();
  }
  return devices;
}

// Replicas and slices of a GPU leave nothing to say about whole ones.
bool hands_out_whole_gpus(const topology::NodeTopology& topology) {
  switch (topology.sharing) {
    case topology::SharingMode::kTimeSlicing:
    case topology::SharingMode::kMps:
    case topology::SharingMode::kMigSingle:
      return false;
    case topology::SharingMode::kUnknown:
    case topology::SharingMode::kExclusive:
    case topology::SharingMode::kMigMixed:
      break;
  }
  return true;
}

PlainAmount plain_amount(const kube::Node& node, const kube::ResourceList& used,
                         std::string_view resource) {
  const auto has = node.allocatable.find(resource);
  if (has == node.allocatable.end()) return {};
  const auto taken = used.find(resource);
  const bool is_used = taken != used.end();
  if (has->second.milli_value_overflows() || (is_used && taken->second.milli_value_overflows())) {
    return {PlainAmount::Form::kWide, 0};
  }
  return {PlainAmount::Form::kThousandths,
          left_of(has->second.milli_value(), is_used ? taken->second.milli_value() : 0)};
}

}  // namespace

std::int64_t DeviceAmount::free() const {
  return left_of(allocatable.value_or(0), used);
}

void NodeState::recount() {
  shape.reset();
  used.clear();
  for (const Holder& holder : holders) {
    for (const auto& [name, amount] : holder.resources)
      used[name] += amount;
  }
  devices = device_amounts(*node, used);
  cpu = plain_amount(*node, used, "cpu");
  memory = plain_amount(*node, used, "memory");
  pod_slots = plain_amount(*node, used, "pods");
  free_gpu_mask.reset();
  if (!topology || topology->gpus.empty() || topology->gpus.size() > kMaskBits ||
      !hands_out_whole_gpus(*topology)) {
    return;
  }
  if (const auto held = held_gpus(*topology, holders)) {
    free_gpu_mask = usable_gpus(*topology) & ~*held;
  }
}

const DeviceAmount* NodeState::device(std::string_view resource) const {
  for (const DeviceAmount& entry : devices) {
    if (entry.resource == resource) return &entry;
  }
  return nullptr;
}

std::optional<std::int64_t> NodeState::free(std::string_view resource) const {
  if (const DeviceAmount* entry = device(resource)) {
    return entry->allocatable ? std::optional(entry->free()) : std::nullopt;
  }
  const auto has = node->allocatable.find(resource);
  if (has == node->allocatable.end()) return std::nullopt;
  const auto taken = used.find(resource);
  return left_of(has->second.value(), taken == used.end() ? 0 : taken->second.value());
}

std::vector<std::uint32_t> NodeState::free_gpus() const {
  std::vector<std::uint32_t> positions;
  for (std::uint64_t mask = free_gpu_mask.value_or(0); mask != 0; mask &= mask - 1) {
    positions.push_back(static_cast<std::uint32_t>(std::countr_zero(mask)));
  }
  return positions;
}

bool has_accelerators(const NodeState& node) {
  return std::any_of(node.devices.begin(), node.devices.end(), [](const DeviceAmount& entry) {
    return entry.kind != kube::DeviceKind::kNone && entry.capacity.value_or(0) > 0;
  });
}

std::optional<NodeIndex> Snapshot::find(std::string_view name) const {
  if (!by_name_) return std::nullopt;
  const auto found = by_name_->find(name);
  return found ? std::optional(NodeIndex{*found}) : std::nullopt;
}

std::optional<NodeIndex> Snapshot::find(std::string_view name, NodeIndex guess) const {
  if (!by_name_) return std::nullopt;
  const auto found = by_name_->find(name, guess.value);
  return found ? std::optional(NodeIndex{*found}) : std::nullopt;
}

const std::vector<NodeIndex>& Snapshot::bound_members(std::string_view gang_key) const {
  static const std::vector<NodeIndex> kNone;
  const auto& part = gangs_[gang_part(gang_key)];
  if (!part) return kNone;
  const auto found = part->find(gang_key);
  return found == part->end() ? kNone : found->second.bound;
}

const GangState* Snapshot::gang(std::string_view gang_key) const {
  const auto& part = gangs_[gang_part(gang_key)];
  if (!part) return nullptr;
  const auto found = part->find(gang_key);
  return found == part->end() ? nullptr : found->second.state.get();
}

bool Snapshot::hears_owners_of(std::string_view gang_kind) const {
  return owner_kinds_ &&
         std::find(owner_kinds_->begin(), owner_kinds_->end(), gang_kind) != owner_kinds_->end();
}

const Snapshot::WaitingPods& Snapshot::waiting_pods() const {
  static const WaitingPods kNone;
  return waiting_ ? *waiting_ : kNone;
}

void Snapshot::for_each_pending_gang(const std::function<void(const GangState&)>& visit) const {
  for (const auto& part : gangs_) {
    if (!part) continue;
    for (const auto& [key, gang] : *part) {
      if (gang.state && !gang.state->pending.empty()) visit(*gang.state);
    }
  }
}

}  // namespace rankward::placement
