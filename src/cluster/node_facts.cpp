#include "node_facts.hpp"

#include <utility>

#include "rankward/formats/topology_annotation.hpp"

namespace rankward::cluster {

NodeFacts node_facts(kube::Node node, const topology::LabelOptions& labels) {
  NodeFacts facts;
  facts.topology = topology::from_labels(node, labels);
  const auto annotation = node.metadata.annotations.find(formats::kTopologyAnnotation);
  if (annotation != node.metadata.annotations.end()) {
    if (auto report = formats::read_topology(annotation->second)) {
      facts.topology = topology::merge(std::move(*report), facts.topology);
    } else {
      facts.bad_annotation = report.error();
    }
    node.metadata.annotations.erase(annotation);
  }
  facts.node = std::move(node);
  return facts;
}

std::string pod_key(const kube::ObjectMeta& metadata) {
  return metadata.uid.empty() ? metadata.full_name() : metadata.uid;
}

}  // namespace rankward::cluster
