#include "node_room.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <string_view>

#include "node_links.hpp"
#include "question.hpp"

namespace rankward::placement {

namespace {

using topology::TopologyManagerPolicy;

constexpr std::int64_t kUnlimited = std::numeric_limits<std::int64_t>::max();
constexpr std::string_view kPods = "pods";

// Sums that leave 64 bits are above everything that they are compared with.
std::int64_t times(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) ? kUnlimited : product;
}

std::string_view own_gang(const Request& request) {
  return request.gang ? std::string_view(request.gang->key) : std::string_view{};
}

class Counter {
 public:
  Counter(const Request& request, const NodeState& node, const RoomTaken& taken, Use use)
      : request_(request), node_(node), taken_(taken), use_(use) {}

  NodeRoom count() {
    for (const auto* devices : {&request_.devices, &request_.nics}) {
      for (const DeviceRequest& device : *devices)
        count_device(device, devices == &request_.devices);
    }
    for (const auto& [name, need] : request_.resources) {
      if (need.sign() > 0 && !is_device(name)) count_resource(name, need);
    }
    // Inventories written by hand often leave out how many pods a node takes.
    if (node_.node->allocatable.contains(kPods)) {
      limit(node_.free(kPods).value_or(0), 1, held(kPods));
    }
    count_gpus();
    room_.pods = pods_ == kUnlimited ? kUnlimited : std::max<std::int64_t>(0, pods_);
    return room_;
  }

 private:
  [[nodiscard]] static bool is_device(std::string_view name) {
    return kube::is_accelerator(name) || kube::is_rdma(name);
  }

  [[nodiscard]] std::int64_t held(std::string_view resource) const {
    return taken_.held.empty() ? 0 : held_by_others(taken_.held, own_gang(request_), resource);
  }

  // What is left of `free` for pods that need so much each.
  std::int64_t left(std::int64_t free, std::int64_t need, std::int64_t held) const {
    std::int64_t rest = free;
    rest -= std::min(rest, times(need, taken_.own_unseen));
    if (use_ == Use::kFilter) rest = std::max(rest, need);
    return std::max<std::int64_t>(0, rest - std::min(rest, held));
  }

  void limit(std::int64_t free, std::int64_t need, std::int64_t held) {
    pods_ = std::min(pods_, left(free, need, held) / need);
  }

  void count_device(const DeviceRequest& device, bool accelerator) {
    // Whoever hands fractions out counts them.
    if (device.kind == kube::DeviceKind::kFraction || device.count <= 0) return;
    const DeviceAmount* has = node_.device(device.resource);
    const std::int64_t free = has == nullptr ? 0 : has->free();
    const std::int64_t others = held(device.resource);
    limit(free, device.count, others);
    if (!accelerator || seen_device_) return;
    seen_device_ = true;
    room_.free_devices = left(free, device.count, others);
    room_.whole_free =
        has != nullptr && has->used == 0 && free > 0 && others == 0 && taken_.own_unseen == 0;
  }

  // In thousandths where that fits, since CPU comes so.
  void count_resource(const std::string& name, const kube::Quantity& need) {
    const auto has = node_.node->allocatable.find(name);
    const auto used = node_.used.find(name);
    const std::int64_t others = held(name);
    const kube::Quantity none;
    const kube::Quantity& all = has == node_.node->allocatable.end() ? none : has->second;
    const kube::Quantity& gone = used == node_.used.end() ? none : used->second;
    const bool fits = !all.milli_value_overflows() && !gone.milli_value_overflows() &&
                      !need.milli_value_overflows();
    const auto amount = [fits](const kube::Quantity& quantity) {
      return fits ? quantity.milli_value() : quantity.value();
    };
    std::int64_t free = 0;
    if (__builtin_sub_overflow(amount(all), amount(gone), &free)) free = 0;
    limit(std::max<std::int64_t>(0, free), amount(need), fits ? times(others, 1000) : others);
  }

  // Device by device: unhealthy ones and those that slices are cut from are none.
  void count_gpus() {
    if (!node_.free_gpu_mask || !only_whole_gpus(request_, *node_.machine)) return;
    const DeviceRequest* gpu = nullptr;
    for (const DeviceRequest& device : request_.devices) {
      if (device.kind == kube::DeviceKind::kWholeGpu && device.count > 0) gpu = &device;
    }
    if (gpu == nullptr) return;
    const std::int64_t others = held(gpu->resource);
    limit(std::popcount(*node_.free_gpu_mask), gpu->count, others);
    count_numa(*gpu, others);
  }

  // A pod that has to lie on one NUMA node finds room by NUMA node. Where the GPUs are told apart
  // by container, as many containers as the largest fits into the pod's count are taken for as
  // large.
  void count_numa(const DeviceRequest& gpu, std::int64_t others) {
    const topology::NodeTopology& machine = *node_.machine;
    const bool single = machine.topology_manager == TopologyManagerPolicy::kSingleNumaNode;
    if (!single && machine.topology_manager != TopologyManagerPolicy::kRestricted) return;
    const auto free = free_per_numa(ask(request_, gpu, node_, use_));
    const std::int64_t unit =
        machine.topology_manager_pod_scope ? gpu.count : gpu.largest_container;
    if (free.empty() || unit <= 0) return;
    if (!single && !empty_numa_node_holds(unit)) return;
    std::int64_t units = 0;
    for (const std::int64_t gpus : free)
      units += gpus / unit;
    std::int64_t pods = units / std::max<std::int64_t>(1, gpu.count / unit);
    // Each GPU of another gang's pods may stand in the way of one pod, but a pod no larger than
    // ours, aligned as well, of one only.
    std::int64_t in_the_way = taken_.own_unseen;
    for (const Held& each : taken_.held) {
      if (others == 0 || each.gang_key == own_gang(request_)) continue;
      const std::int64_t theirs = each.request->gpus();
      in_the_way += times(each.pods, (theirs + unit - 1) / unit);
    }
    pods -= std::min(pods, in_the_way);
    if (use_ == Use::kFilter && in_the_way == 0) pods = std::max<std::int64_t>(1, pods);
    pods_ = std::min(pods_, pods);
  }

  // restricted wants as few NUMA nodes as an empty machine would need.
  [[nodiscard]] bool empty_numa_node_holds(std::int64_t unit) const {
    std::vector<std::int64_t> gpus;
    for (const topology::Gpu& each : node_.machine->gpus) {
      if (!each.numa_node) return false;
      if (gpus.size() <= *each.numa_node) gpus.resize(*each.numa_node + std::size_t{1});
      if (each.health != topology::Health::kUnhealthy) ++gpus[*each.numa_node];
    }
    return std::any_of(gpus.begin(), gpus.end(),
                       [unit](std::int64_t count) { return count >= unit; });
  }

  const Request& request_;
  const NodeState& node_;
  const RoomTaken& taken_;
  Use use_;
  std::int64_t pods_ = kUnlimited;
  bool seen_device_ = false;
  NodeRoom room_;
};

}  // namespace

NodeRoom room_on(const Request& request, const NodeState& node, const RoomTaken& taken, Use use) {
  return Counter(request, node, taken, use).count();
}

}  // namespace rankward::placement
