#include "sinks.hpp"

#include <utility>

#include "rankward/formats/objects.hpp"

namespace rankward::cluster {

Result<NodeFacts> NodeSink::read(std::string_view json) {
  auto node = formats::read_node(json);
  if (!node) return node.error();
  auto facts = node_facts(std::move(*node), options_.labels);
  const auto& name = facts.node.metadata.name;
  if (!facts.bad_annotation) {
    reported_.erase(name);
    return facts;
  }
  ++bad_annotations_;
  auto why = facts.bad_annotation->to_string();
  auto& last = reported_[name];
  if (options_.on_event && last != why) {
    options_.on_event({Severity::kWarning, "nodes", name,
                       "topology annotation cannot be read, labels are used", why});
  }
  last = std::move(why);
  return facts;
}

Result<void> NodeSink::list_item(std::string_view json) {
  auto facts = read(json);
  if (!facts) return facts.error();
  listed_.push_back(std::move(*facts));
  return {};
}

void NodeSink::end_list() {
  publisher_.push(NodesReplaced{std::exchange(listed_, {})});
}

Result<void> NodeSink::put(std::string_view json) {
  auto facts = read(json);
  if (!facts) return facts.error();
  publisher_.push(NodePut{std::move(*facts)});
  return {};
}

Result<void> NodeSink::remove(std::string_view json) {
  auto head = formats::read_object_head(json);
  if (!head) return head.error();
  reported_.erase(head->metadata.name);
  publisher_.push(NodeRemoved{std::move(head->metadata.name)});
  return {};
}

Result<void> PodSink::list_item(std::string_view json) {
  auto pod = formats::read_pod(json);
  if (!pod) return pod.error();
  listed_.push_back(placement::digest_of(*pod, options_.requests));
  return {};
}

void PodSink::end_list() {
  publisher_.push(PodsReplaced{std::exchange(listed_, {})});
}

Result<void> PodSink::put(std::string_view json) {
  auto pod = formats::read_pod(json);
  if (!pod) return pod.error();
  publisher_.push(PodPut{placement::digest_of(*pod, options_.requests)});
  return {};
}

Result<void> PodSink::remove(std::string_view json) {
  auto head = formats::read_object_head(json);
  if (!head) return head.error();
  publisher_.push(PodRemoved{pod_key(head->metadata)});
  return {};
}

}  // namespace rankward::cluster
