// A Node and what it is made of.
#pragma once

#include <optional>

#include "rankward/kube/node.hpp"
#include "rankward/result.hpp"
#include "rankward/topology/node_topology.hpp"
#include "rankward/topology/sources.hpp"

namespace rankward::cluster {

struct NodeFacts {
  kube::Node node;
  topology::NodeTopology topology;
  // Why the node's own report could not be read; labels alone were used.
  std::optional<Error> bad_annotation;
};

// Merges the topology annotation with the labels, and takes the annotation off the Node: it may be
// 16 KiB and has no reader after this.
[[nodiscard]] NodeFacts node_facts(kube::Node node, const topology::LabelOptions& labels);

// The key under which SnapshotBuilder knows a pod.
[[nodiscard]] std::string pod_key(const kube::ObjectMeta& metadata);

}  // namespace rankward::cluster
