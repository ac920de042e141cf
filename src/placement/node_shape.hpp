// Nodes that no call can tell apart but by their names and places, under one object.
#pragma once

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "rankward/placement/request.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

// Gives out one shared object for equal nodes, as long as somebody holds it.
class ShapePool {
 public:
  // After recount().
  [[nodiscard]] std::shared_ptr<const NodeShape> intern(const NodeState& node);

 private:
  void drop_unused();

  std::unordered_multimap<std::size_t, std::weak_ptr<const NodeShape>> known_;
  std::size_t sweep_at_ = 1024;
};

// Whether the shape says all that judging the request for filter reads: what others on a
// time-sliced GPU have declared of its memory stands in the holders alone.
[[nodiscard]] bool shape_is_enough(const Request& request, const NodeShape& shape);

}  // namespace rankward::placement
