#include "cluster_facts_sinks.hpp"

#include <algorithm>
#include <utility>

#include "rankward/formats/objects.hpp"
#include "rankward/formats/volume.hpp"
#include "rankward/kube/resources.hpp"

namespace rankward::cluster {

template <class Value>
Result<void> FactsSink<Value>::list_item(std::string_view json) {
  auto object = read(json);
  if (!object) return object.error();
  if (object->value) listed_.insert_or_assign(std::move(object->name), std::move(*object->value));
  return {};
}

template <class Value>
void FactsSink<Value>::end_list() {
  objects_ = std::exchange(listed_, {});
  publish();
}

template <class Value>
Result<void> FactsSink<Value>::put(std::string_view json) {
  auto object = read(json);
  if (!object) return object.error();
  const auto known = objects_.find(object->name);
  if (!object->value) {
    if (known == objects_.end()) return {};
    objects_.erase(known);
  } else if (known == objects_.end()) {
    objects_.emplace(std::move(object->name), std::move(*object->value));
  } else {
    // Most events of a Node are heartbeats.
    if (known->second == *object->value) return {};
    known->second = std::move(*object->value);
  }
  publish();
  return {};
}

template <class Value>
Result<void> FactsSink<Value>::remove(std::string_view json) {
  const auto head = formats::read_object_head(json);
  if (!head) return head.error();
  if (objects_.erase(head->metadata.name) > 0) publish();
  return {};
}

template <class Value>
void FactsSink<Value>::forget() {
  objects_.clear();
  publish();
}

template <class Value>
void FactsSink<Value>::publish() {
  board_.edit([this](admission::ClusterFacts& facts) { return derive(objects_, facts); });
}

template class FactsSink<NodeAccelerators>;
template class FactsSink<kube::StringMap>;
template class FactsSink<ClaimedVolume>;

bool operator==(const ClaimedVolume& a, const ClaimedVolume& b) {
  const auto path = [](const kube::PersistentVolume& volume) {
    return volume.host_path ? std::optional(volume.host_path->path) : std::nullopt;
  };
  return a.claim == b.claim && a.volume.block == b.volume.block &&
         path(a.volume) == path(b.volume) && a.volume.local_path == b.volume.local_path;
}

namespace {

template <class T>
bool replace(T& part, T value) {
  if (part == value) return false;
  part = std::move(value);
  return true;
}

}  // namespace

Result<NodeFactsSink::Read> NodeFactsSink::read(std::string_view json) const {
  auto node = formats::read_node(json);
  if (!node) return node.error();
  NodeAccelerators found;
  for (const auto& [resource, amount] : node->allocatable)
    if (kube::is_accelerator(resource)) found[resource] = amount.value();
  Read out{std::move(node->metadata.name), std::nullopt};
  if (!found.empty()) out.value = std::move(found);
  return out;
}

bool NodeFactsSink::derive(const ByName& objects, admission::ClusterFacts& facts) const {
  NodeAccelerators largest;
  for (const auto& [name, accelerators] : objects) {
    for (const auto& [resource, amount] : accelerators) {
      std::int64_t& most = largest[resource];
      most = std::max(most, amount);
    }
  }
  return replace(facts.largest_node, std::move(largest));
}

Result<NamespaceFactsSink::Read> NamespaceFactsSink::read(std::string_view json) const {
  auto head = formats::read_object_head(json);
  if (!head) return head.error();
  return Read{std::move(head->metadata.name), std::move(head->metadata.labels)};
}

bool NamespaceFactsSink::derive(const ByName& objects, admission::ClusterFacts& facts) const {
  return replace(facts.namespace_labels, objects);
}

Result<VolumeFactsSink::Read> VolumeFactsSink::read(std::string_view json) const {
  auto volume = formats::read_persistent_volume(json);
  if (!volume) return volume.error();
  Read out{volume->metadata.name, std::nullopt};
  const bool on_host = volume->host_path || volume->local_path;
  if (!on_host || volume->claim_name.empty()) return out;
  ClaimedVolume claimed;
  claimed.claim = volume->claim_namespace + "/" + volume->claim_name;
  // Labels and annotations of thousands of volumes are of no use here.
  claimed.volume = std::move(*volume);
  claimed.volume.metadata = {};
  claimed.volume.metadata.name = out.name;
  out.value = std::move(claimed);
  return out;
}

bool VolumeFactsSink::derive(const ByName& objects, admission::ClusterFacts& facts) const {
  decltype(facts.claimed_volumes) claimed;
  for (const auto& [name, object] : objects)
    claimed.emplace(object.claim, object.volume);
  const auto same = [](const auto& a, const auto& b) {
    return a.first == b.first && a.second.metadata.name == b.second.metadata.name &&
           ClaimedVolume{a.first, a.second} == ClaimedVolume{b.first, b.second};
  };
  const auto& known = facts.claimed_volumes;
  if (std::equal(known.begin(), known.end(), claimed.begin(), claimed.end(), same)) return false;
  facts.claimed_volumes = std::move(claimed);
  return true;
}

}  // namespace rankward::cluster
