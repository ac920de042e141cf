// Kubernetes Nodes for tests, by labels and status.
#pragma once

#include <initializer_list>
#include <string>
#include <utility>

#include "rankward/kube/node.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::topology::testing {

using Counts = std::initializer_list<std::pair<const char*, std::int64_t>>;

// `status` is both capacity and allocatable.
inline kube::Node node(kube::StringMap labels, Counts status = {}) {
  kube::Node node;
  node.metadata.name = "gpu-a";
  node.metadata.labels = std::move(labels);
  for (const auto& [name, count] : status) {
    node.capacity[name] = kube::Quantity(count);
    node.allocatable[name] = kube::Quantity(count);
  }
  return node;
}

inline NodeTopology read(kube::StringMap labels, Counts status = {}) {
  return from_labels(node(std::move(labels), status), LabelOptions{});
}

}  // namespace rankward::topology::testing
