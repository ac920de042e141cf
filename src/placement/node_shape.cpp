#include "node_shape.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>

namespace rankward::placement {

namespace {

NodeShape shape_of(const NodeState& node) {
  NodeShape shape;
  shape.machine = node.machine;
  shape.devices = node.devices;
  shape.free_gpu_mask = node.free_gpu_mask;
  for (const Holder& holder : node.holders)
    shape.held_gpus += holder.gpus;
  return shape;
}

std::size_t hash_of(const NodeShape& shape) {
  std::size_t hash = 0;
  boost::hash_combine(hash, shape.machine.get());
  boost::hash_combine(hash, shape.free_gpu_mask.value_or(~std::uint64_t{0}));
  boost::hash_combine(hash, shape.held_gpus);
  for (const DeviceAmount& device : shape.devices) {
    boost::hash_combine(hash, device.resource);
    boost::hash_combine(hash, device.allocatable.value_or(-1));
    boost::hash_combine(hash, device.used);
  }
  return hash;
}

}  // namespace

std::shared_ptr<const NodeShape> ShapePool::intern(const NodeState& node) {
  NodeShape shape = shape_of(node);
  const std::size_t hash = hash_of(shape);
  const auto [begin, end] = known_.equal_range(hash);
  for (auto each = begin; each != end; ++each) {
    if (auto shared = each->second.lock(); shared && *shared == shape) return shared;
  }
  auto made = std::make_shared<const NodeShape>(std::move(shape));
  known_.emplace(hash, made);
  if (known_.size() >= sweep_at_) drop_unused();
  return made;
}

// Without this every state that a node was ever in would stay.
void ShapePool::drop_unused() {
  std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
  sweep_at_ = std::max<std::size_t>(1024, known_.size() * 2);
}

bool shape_is_enough(const Request& request, const NodeShape& shape) {
  return !request.gpu_memory || shape.machine->sharing != topology::SharingMode::kTimeSlicing;
}

}  // namespace rankward::placement
