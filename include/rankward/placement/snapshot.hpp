// The cluster as last seen: immutable, numbered, read by many threads without a lock.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "rankward/kube/node.hpp"
#include "rankward/kube/pod.hpp"
#include "rankward/placement/gang.hpp"
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
  kube::ResourceList resources;  // effective requests, and one of "pods"
  std::int64_t gpus = 0;
  std::optional<topology::Bytes> declared_memory;  // per GPU; nothing: it has not said
  // As the annotation rankward.io/assigned-gpus says, numbered as in the node's report.
  std::vector<std::uint32_t> gpu_indexes;
  std::string gang_key;  // "" for none, and once the pod is being deleted: no rank any more
  std::optional<std::int32_t> rank;
  std::string role;  // of gang_key's members
  friend bool operator==(const Holder&, const Holder&) = default;
};

// One accelerator or RDMA resource of a node, apart from the rest: every call asks for these, of
// every node.
struct DeviceAmount {
  std::string resource;
  kube::DeviceKind kind = kube::DeviceKind::kNone;
  bool rdma = false;
  std::optional<std::int64_t> capacity;  // nothing: the key is absent
  std::optional<std::int64_t> allocatable;
  std::int64_t used = 0;  // by holders

  // allocatable - used, never below 0.
  [[nodiscard]] std::int64_t free() const;
  friend bool operator==(const DeviceAmount&, const DeviceAmount&) = default;
};

// What a call reads of a node beside its name, its labels and its place in the fabric. A cluster
// has few distinct ones, so what was worked out for one node holds for all of its shape.
struct NodeShape {
  std::shared_ptr<const topology::NodeTopology> machine;
  std::vector<DeviceAmount> devices;
  std::optional<std::uint64_t> free_gpu_mask;
  std::int64_t held_gpus = 0;
  friend bool operator==(const NodeShape&, const NodeShape&) = default;
};

// A resource that nearly every pod asks for, as one number, so that a plan over all nodes need not
// go through their lists.
struct PlainAmount {
  enum class Form : std::uint8_t { kAbsent, kThousandths, kWide };
  Form form = Form::kAbsent;  // kWide: it does not fit, see the lists
  std::int64_t free = 0;      // allocatable - used, in thousandths; never below 0
};

struct NodeState {
  std::shared_ptr<const kube::Node> node;
  std::shared_ptr<const topology::NodeTopology> topology;  // shared by equal nodes
  // The same without what tells two equal machines apart (UUIDs, bus addresses, place in the
  // fabric, time of the report): one object for all nodes of one make, so that what was worked out
  // for one holds for all.
  std::shared_ptr<const topology::NodeTopology> machine;
  std::vector<Holder> holders;        // by UID
  kube::ResourceList used;            // sum over holders
  std::vector<DeviceAmount> devices;  // by name
  PlainAmount cpu, memory, pod_slots;
  // Positions in topology->gpus that are healthy, not cut into slices, and that no holder has, as
  // bits. Nothing where devices, or which of them somebody holds, are not known (also where holders
  // contradict each other), or there are more than 64.
  std::optional<std::uint64_t> free_gpu_mask;
  // One object for all nodes of a Snapshot that are equal in it; null outside of Snapshots.
  std::shared_ptr<const NodeShape> shape;

  // Works out all below `holders` from node, topology and holders, and forgets the shape.
  void recount();
  // allocatable - used, never below 0. Nothing where the node does not have the resource at all.
  [[nodiscard]] std::optional<std::int64_t> free(std::string_view resource) const;
  // nullptr where neither the node nor a holder knows such a device.
  [[nodiscard]] const DeviceAmount* device(std::string_view resource) const;
  // The positions in free_gpu_mask, ascending; empty where it is not known.
  [[nodiscard]] std::vector<std::uint32_t> free_gpus() const;
};

// Whether the node advertises a device of any accelerator, healthy or not.
[[nodiscard]] bool has_accelerators(const NodeState& node);

// A pod that asks for devices, is in no gang, and that the scheduler has tried in vain. Of these
// the scheduler may not have asked us about a single node: its own filters come first.
struct WaitingPod {
  std::string uid;
  std::string pod;  // namespace/name
  std::shared_ptr<const Request> request;
  std::shared_ptr<const kube::PodSpec> spec;
};

// A cluster may have a hundred thousand, all for the same few reasons: so many are in a Snapshot,
// and so many are kept for the time when those are gone.
inline constexpr std::size_t kMostWaitingPods = 1'000;
inline constexpr std::size_t kMostKeptWaitingPods = 10'000;

class NodeNames;

class Snapshot {
 public:
  [[nodiscard]] std::uint64_t number() const { return number_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const NodeState& node(NodeIndex index) const { return *nodes_[index.value]; }
  // The same as node(index).shape, never null; those of the whole Snapshot stand side by side.
  [[nodiscard]] const NodeShape* shape(NodeIndex index) const { return shapes_[index.value]; }
  [[nodiscard]] std::optional<NodeIndex> find(std::string_view name) const;
  // The same, faster where it is that node: names often come in their order.
  [[nodiscard]] std::optional<NodeIndex> find(std::string_view name, NodeIndex guess) const;
  // Nodes on which members of the gang are bound, one entry a member, ascending. Valid as long as
  // the Snapshot.
  [[nodiscard]] const std::vector<NodeIndex>& bound_members(std::string_view gang_key) const;
  // The gang's pods without a node and what its owners say. nullptr where there is neither. Valid
  // as long as the Snapshot.
  [[nodiscard]] const GangState* gang(std::string_view gang_key) const;
  // Whether objects that own gangs of this kind (the second part of a gang's key) are watched, so
  // that the size of one that is not known yet may still come.
  [[nodiscard]] bool hears_owners_of(std::string_view gang_kind) const;
  // Every gang that has a pod without a node, in no order to rely on.
  void for_each_pending_gang(const std::function<void(const GangState&)>& visit) const;
  // By UID, the first kMostWaitingPods. Nothing that is answered to a call may depend on it.
  using WaitingPods = std::map<std::string, std::shared_ptr<const WaitingPod>, std::less<>>;
  [[nodiscard]] const WaitingPods& waiting_pods() const;

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
  struct Gang {
    std::vector<NodeIndex> bound;
    std::shared_ptr<const GangState> state;  // null: nothing pending, and no owner says anything
  };
  using Gangs = NameMap<Gang>;
  // Gangs are split by hash, so that a change copies one part and shares the others.
  static constexpr std::size_t kGangParts = 256;
  static std::size_t gang_part(std::string_view gang_key) {
    return StringHash{}(gang_key) % kGangParts;
  }

  std::uint64_t number_ = 0;
  std::vector<std::shared_ptr<const NodeState>> nodes_;  // sorted by name
  std::vector<const NodeShape*> shapes_;                 // of nodes_
  std::shared_ptr<const NodeNames> by_name_;             // null: no nodes
  std::array<std::shared_ptr<const Gangs>, kGangParts> gangs_;
  std::shared_ptr<const std::vector<std::string>> owner_kinds_;  // null: none
  std::shared_ptr<const WaitingPods> waiting_;                   // null: none
};

// What is kept of a pod, worked out apart from the builder: a small part of it, and most of the
// work.
struct PodDigest {
  std::string key;   // UID; namespace/name where there is none
  std::string node;  // where `holder` is
  std::optional<Holder> holder;
  std::optional<PendingMember> pending;
  std::shared_ptr<const WaitingPod> waiting;  // none of the three: nothing is kept
};
[[nodiscard]] PodDigest digest_of(const kube::Pod& pod, const RequestOptions& options = {});

// Collects Nodes and Pods in any order and makes Snapshots of them. Not thread-safe; the Snapshots
// are. What has not changed is shared between one Snapshot and the next: build() costs a pointer a
// node and the work for the nodes and gangs that changed.
class SnapshotBuilder {
 public:
  // The options are for the requests of pending pods.
  explicit SnapshotBuilder(const RequestOptions& options = {});
  ~SnapshotBuilder();
  SnapshotBuilder(SnapshotBuilder&&) noexcept;
  SnapshotBuilder& operator=(SnapshotBuilder&&) noexcept;

  // Replaces the node of that name. The topology is what sources.hpp made of it.
  void put_node(kube::Node node, topology::NodeTopology topology);
  void remove_node(std::string_view name);
  // Adds or replaces by UID (by namespace/name where there is none). Terminal or unbound pods hold
  // nothing; a pod that is being deleted holds its devices until it is gone. A pod may come before
  // its node. Pods without a node are kept where they belong to a gang and have not ended; one
  // whose annotations are not in their form belongs to none. A Job's pods are all alike: where they
  // ask for no device and carry no gate of ours, they are not kept. See WaitingPod for those in no
  // gang.
  void put_pod(const kube::Pod& pod);
  void put_pod(PodDigest digest);
  // By the same key.
  void remove_pod(std::string_view uid);
  void clear_nodes();
  void clear_pods();
  // Replaces all that this owner has said. The key is the caller's, of the form KIND/NAME, so that
  // all owners of one kind can be cleared at once.
  void put_gang_facts(std::string_view owner_key, std::vector<GangFacts> facts);
  void remove_gang_facts(std::string_view owner_key);
  // Of every owner whose key begins so; "" for all.
  void clear_gang_facts(std::string_view owner_prefix);
  // Kinds of gangs (Snapshot::hears_owners_of) whose owners are heard of from now on; replaces what
  // was said before.
  void set_owner_kinds(std::vector<std::string> gang_kinds);
  // Whether a Snapshot built now could say anything that the last one does not.
  [[nodiscard]] bool changed() const;
  // Snapshots are numbered from 1.
  [[nodiscard]] std::shared_ptr<const Snapshot> build();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rankward::placement
