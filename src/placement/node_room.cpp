#include "node_room.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "node_links.hpp"
#include "question.hpp"

namespace rankward::placement {

namespace {

using topology::TopologyManagerPolicy;

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kPods = "pods";

// Products that leave 64 bits are above everything that they are compared with.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kUnlimited : product;
}

// Whoever hands fractions out counts them.
bool is_counted(const DeviceRequest& device) {
  return device.kind != kube::DeviceKind::kFraction && device.count > 0;
}

// restricted wants as few NUMA nodes as an empty machine would need.
bool one_numa_node_holds(const topology::NodeTopology& machine, std::int64_t unit) {
  std::vector<std::int64_t> gpus;
  for (const topology::Gpu& each : machine.gpus) {
    if (!each.numa_node) return false;
    if (gpus.size() <= *each.numa_node) gpus.resize(*each.numa_node + std::size_t{1});
    if (each.health != topology::Health::kUnhealthy) ++gpus[*each.numa_node];
  }
  return std::any_of(gpus.begin(), gpus.end(),
                     [unit](std::int64_t count) { return count >= unit; });
}

const PlainAmount NodeState::*plain_member(std::string_view resource) {
  if (resource == "cpu") return &NodeState::cpu;
  if (resource == "memory") return &NodeState::memory;
  return nullptr;
}

}  // namespace

RoomCounter::RoomCounter(const Request& request, Use use)
    : request_(request),
      use_(use),
      own_gang_(request.gang ? std::string_view(request.gang->key) : std::string_view{}) {
  for (const auto& [name, amount] : request.resources) {
    if (amount.sign() <= 0 || kube::is_accelerator(name) || kube::is_rdma(name)) continue;
    const bool fits = !amount.milli_value_overflows();
    needs_.push_back({name, &amount, fits, fits ? amount.milli_value() : amount.value(),
                      fits ? plain_member(name) : nullptr});
  }
  for (const DeviceRequest& device : request.devices) {
    if (!is_counted(device)) continue;
    if (first_ == nullptr) first_ = &device;
    if (device.kind == kube::DeviceKind::kWholeGpu) gpu_ = &device;
  }
}

std::int64_t RoomCounter::held(const RoomTaken& taken, std::string_view resource) const {
  return taken.held.empty() ? 0 : held_by_others(taken.held, own_gang_, resource);
}

// What is left of `free` for pods that need so much each.
std::int64_t RoomCounter::left(std::int64_t free, std::int64_t need, std::int64_t held,
                               const RoomTaken& taken) const {
  std::int64_t rest = free - std::min(free, times(need, taken.own_unseen));
  if (use_ == Use::kFilter) rest = std::max(rest, need);
  return rest - std::min(rest, held);
}

std::int64_t RoomCounter::pods_by(const Need& need, const NodeState& node,
                                  const RoomTaken& taken) const {
  if (need.plain != nullptr) {
    const PlainAmount& amount = node.*need.plain;
    if (amount.form != PlainAmount::Form::kWide) {
      const std::int64_t others = times(held(taken, need.resource), 1000);
      return left(amount.free, need.count, others, taken) / need.count;
    }
  }
  const auto has = node.node->allocatable.find(need.resource);
  const auto used = node.used.find(need.resource);
  std::int64_t free = 0;
  std::int64_t each = need.count;
  std::int64_t others = held(taken, need.resource);
  if (has != node.node->allocatable.end()) {
    const bool is_used = used != node.used.end();
    const bool fits = need.in_thousandths && !has->second.milli_value_overflows() &&
                      !(is_used && used->second.milli_value_overflows());
    const auto amount = [fits](const kube::Quantity& quantity) {
      return fits ? quantity.milli_value() : quantity.value();
    };
    if (__builtin_sub_overflow(amount(has->second), is_used ? amount(used->second) : 0, &free)) {
      free = 0;
    }
    if (fits) {
      others = times(others, 1000);
    } else {
      each = need.amount->value();
    }
  }
  return left(std::max<std::int64_t>(0, free), each, others, taken) / each;
}

// A pod that has to lie on one NUMA node finds room by NUMA node. Where containers are aligned one
// by one, a pod counts as so many of its largest as its sum holds.
std::int64_t RoomCounter::pods_by_numa(const NodeState& node, const RoomTaken& taken,
                                       std::int64_t others) const {
  const topology::NodeTopology& machine = *node.machine;
  const bool single = machine.topology_manager == TopologyManagerPolicy::kSingleNumaNode;
  if (!single && machine.topology_manager != TopologyManagerPolicy::kRestricted) return kUnlimited;
  const auto free = free_per_numa(ask(request_, *gpu_, node, use_));
  const std::int64_t unit =
      machine.topology_manager_pod_scope ? gpu_->count : gpu_->largest_container;
  if (free.empty() || unit <= 0) return kUnlimited;
  if (!single && !one_numa_node_holds(machine, unit)) return kUnlimited;
  std::int64_t units = 0;
  for (const std::int64_t gpus : free)
    units += gpus / unit;
  std::int64_t pods = units / std::max<std::int64_t>(1, gpu_->count / unit);
  // Where others' GPUs will lie nobody knows. A pod of theirs that is no larger than ours, aligned
  // as well, stands in the way of one of ours; a larger one of as many as it holds.
  std::int64_t in_the_way = taken.own_unseen;
  for (const Held& each : taken.held) {
    if (others == 0 || each.gang_key == own_gang_) continue;
    in_the_way += times(each.pods, (each.request->gpus() + unit - 1) / unit);
  }
  pods -= std::min(pods, in_the_way);
  return use_ == Use::kFilter && in_the_way == 0 ? std::max<std::int64_t>(1, pods) : pods;
}

NodeRoom RoomCounter::room_on(const NodeState& node, const RoomTaken& taken) const {
  NodeRoom room = room_of_devices(node, taken);
  if (room.pods > 0) limit_by_the_rest(node, taken, room);
  return room;
}

NodeRoom RoomCounter::room_of_devices(const NodeState& node, const RoomTaken& taken) const {
  NodeRoom room;
  room.pods = kUnlimited;
  const auto limit = [&room](std::int64_t pods) { room.pods = std::min(room.pods, pods); };
  for (const auto* devices : {&request_.devices, &request_.nics}) {
    for (const DeviceRequest& device : *devices) {
      if (!is_counted(device)) continue;
      const DeviceAmount* has = node.device(device.resource);
      const std::int64_t free = has == nullptr ? 0 : has->free();
      const std::int64_t others = held(taken, device.resource);
      const std::int64_t rest = left(free, device.count, others, taken);
      limit(rest / device.count);
      if (&device != first_) continue;
      room.free_devices = rest;
      room.whole_free =
          has != nullptr && has->used == 0 && free > 0 && others == 0 && taken.own_unseen == 0;
    }
  }
  // Device by device: unhealthy ones and those that slices are cut from are none.
  if (gpu_ != nullptr && node.free_gpu_mask && only_whole_gpus(request_, *node.machine)) {
    const std::int64_t others = held(taken, gpu_->resource);
    const std::int64_t free = std::popcount(*node.free_gpu_mask);
    limit(left(free, gpu_->count, others, taken) / gpu_->count);
    limit(pods_by_numa(node, taken, others));
  }
  return room;
}

void RoomCounter::limit_by_the_rest(const NodeState& node, const RoomTaken& taken,
                                    NodeRoom& room) const {
  const auto limit = [&room](std::int64_t pods) { room.pods = std::min(room.pods, pods); };
  for (const Need& need : needs_)
    limit(pods_by(need, node, taken));
  // Inventories written by hand often leave out how many pods a node takes.
  if (node.pod_slots.form == PlainAmount::Form::kThousandths) {
    limit(left(node.pod_slots.free / 1000, 1, held(taken, kPods), taken));
  }
}

}  // namespace rankward::placement
