// The cluster as last seen: immutable, numbered, read by many threads without a lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "rankward/kube/node.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/topology/node_topology.hpp"

namespace rankward::placement {

struct NodeIndex {
  std::uint32_t value = 0;
  friend auto operator<=>(NodeIndex, NodeIndex) = default;
};

// What one bound, not terminal pod holds on its node.
struct Holder {
  std::string uid;
  std::string pod;
  kube::ResourceList resources;
  std::int64_t gpus = 0;
  std::optional<topology::Bytes> declared_memory;  // per GPU; nothing: it has not said
  std::vector<std::uint32_t> gpu_indexes;          // where somebody reported them
  std::string gang_key;                            // "" for none
  std::optional<std::int32_t> rank;
};

struct NodeState {
  std::shared_ptr<const kube::Node> node;
  std::shared_ptr<const topology::NodeTopology> topology;  // shared by equal nodes
  std::vector<Holder> holders;
  kube::ResourceList used;  // sum over holders

  // allocatable - used, never below 0. Nothing where the node does not have the resource at all.
  [[nodiscard]] std::optional<std::int64_t> free(std::string_view resource) const;
  // GPUs that no holder is known to have, by index; empty where devices or their holders are
  // unknown.
  [[nodiscard]] std::vector<std::uint32_t> free_gpus() const;
};

class Snapshot {
 public:
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const NodeState& node(NodeIndex index) const { return *nodes_[index.value]; }
  [[nodiscard]] std::optional<NodeIndex> find(std::string_view name) const;
  // Nodes on which members of the gang are bound, one entry a member.
  [[nodiscard]] const std::vector<NodeIndex>& bound_members(std::string_view gang_key) const;

 private:
  friend class SnapshotBuilder;
  struct StringHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  template <class T>
  using NameMap = boost::unordered_flat_map<std::string, T, StringHash, std::equal_to<>>;

  std::uint64_t number_ = 0;
  std::vector<std::shared_ptr<const NodeState>> nodes_;  // sorted by name
  NameMap<std::uint32_t> by_name_;
  NameMap<std::vector<NodeIndex>> gangs_;
};

// Collects Nodes and Pods in any order and makes Snapshots of them. Not thread-safe; the Snapshots
// are. Unchanged nodes are shared between one Snapshot and the next.
class SnapshotBuilder {
 public:
  // Replaces the node of that name. The topology is what sources.hpp made of it.
  void put_node(kube::Node node, topology::NodeTopology topology);
  void remove_node(std::string_view name);
  // Adds or replaces by UID (by namespace/name where there is none). Terminal or unbound pods hold
  // nothing; a pod that is being deleted holds its devices until it is gone.
  void put_pod(const kube::Pod& pod);
  // By the same key.
  void remove_pod(std::string_view uid);
  void clear_nodes();
  void clear_pods();
  [[nodiscard]] std::shared_ptr<const Snapshot> build();

 private:
  struct Entry;
  std::uint64_t number_ = 0;
  std::map<std::string, std::shared_ptr<Entry>, std::less<>> nodes_;
  std::map<std::string, std::pair<std::string, Holder>, std::less<>> pods_;  // uid -> node, holder
};

}  // namespace rankward::placement
