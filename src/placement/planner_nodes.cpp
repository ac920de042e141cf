#include "planner_nodes.hpp"

#include <algorithm>
#include <boost/container_hash/hash.hpp>
#include <boost/unordered/unordered_flat_map.hpp>
#include <map>
#include <memory>
#include <tuple>
#include <utility>

#include "availability.hpp"
#include "fabric_tier.hpp"
#include "network.hpp"
#include "node_room.hpp"
#include "node_shape.hpp"
#include "transport_class.hpp"

namespace rankward::placement {

namespace {

constexpr std::string_view kTierNames[] = {"leaf", "spine", "core"};

std::string path_down_to(std::size_t tier, const topology::FabricPosition& fabric) {
  if (tier >= fabric.domains.size() || fabric.domains[tier].empty()) return {};
  std::string path;
  for (std::size_t i = fabric.domains.size(); i-- > tier;) {
    path += fabric.domains[i];
    path += '/';
  }
  return path;
}

// Gives equal texts equal numbers, in the order in which they come.
class Numbers {
 public:
  std::uint32_t of(const std::string& text) {
    return numbers_.try_emplace(text, static_cast<std::uint32_t>(numbers_.size())).first->second;
  }
  std::uint32_t of_domain(const std::string& text) { return text.empty() ? kNoGroup : of(text); }

 private:
  boost::unordered_flat_map<std::string, std::uint32_t> numbers_;
};

// Which GPUs the ranks on a node have, as far as the Snapshot shows them.
struct Standing {
  std::int32_t seen = 0;
  std::optional<std::uint64_t> held = 0;
};

Standing standing_on(const Request& request, const NodeState& node) {
  Standing standing;
  if (!request.gang) return standing;
  const auto& gpus = node.topology->gpus;
  for (const Holder& holder : node.holders) {
    if (holder.gang_key != request.gang->key || holder.role != request.gang->role ||
        holder.uid == request.uid) {
      continue;
    }
    ++standing.seen;
    if (holder.gpus == 0) continue;
    if (static_cast<std::int64_t>(holder.gpu_indexes.size()) != holder.gpus || gpus.size() > 64) {
      standing.held.reset();
      continue;
    }
    for (std::size_t i = 0; standing.held && i < gpus.size(); ++i) {
      const auto& indexes = holder.gpu_indexes;
      if (std::find(indexes.begin(), indexes.end(), gpus[i].index) != indexes.end()) {
        *standing.held |= std::uint64_t{1} << i;
      }
    }
  }
  return standing;
}

// What a node's links hang on: the same for all nodes of one make that hand out the same devices.
struct Transport {
  topology::Transport transport = topology::Transport::kSocket;
  std::uint32_t number = 0;  // of the transport class
};

class NodeReader {
 public:
  NodeReader(const PlanQuestion& question, const Snapshot& snapshot, const HeldPlaces& held,
             const Options& options, ShareTables& tables)
      : question_(question),
        request_(*question.request),
        snapshot_(snapshot),
        held_(held),
        options_(options),
        tables_(tables),
        counter_(request_, question.use),
        fixed_(question.fixed.begin(), question.fixed.end()) {
    std::sort(fixed_.begin(), fixed_.end());
    for (const DeviceRequest& device : request_.devices) {
      if (device.kind == kube::DeviceKind::kFraction) continue;
      devices_per_pod_ = device.count;
      break;
    }
  }

  PlanNodes read() {
    // Nodes to choose from and those of fixed ranks, merged.
    const std::size_t all = question_.among ? question_.among->size() : snapshot_.size();
    std::size_t next = 0;
    auto fixed = fixed_.begin();
    while (next < all || fixed != fixed_.end()) {
      const NodeIndex offered = next == all       ? NodeIndex{UINT32_MAX}
                                : question_.among ? (*question_.among)[next]
                                                  : NodeIndex{static_cast<std::uint32_t>(next)};
      const bool has_fixed = fixed != fixed_.end() && *fixed <= offered;
      const NodeIndex index = has_fixed ? *fixed : offered;
      const bool open = next < all && index == offered;
      std::int32_t ranks = 0;
      for (; fixed != fixed_.end() && *fixed == index; ++fixed)
        ++ranks;
      if (open) ++next;
      add(index, ranks, open);
    }
    return std::move(result_);
  }

 private:
  void add(NodeIndex index, std::int32_t ranks, bool open) {
    ShapeFacts* facts = facts_of(index);
    const auto held = held_.empty() ? std::span<const Held>{} : held_.on(index);
    if (facts != nullptr && ranks == 0 && held.empty()) {
      if (open) add_open(index, *facts);
      return;
    }
    const NodeState& node = snapshot_.node(index);
    const Standing standing = ranks > 0 ? standing_on(request_, node) : Standing{};
    const std::int32_t unseen = std::max(0, ranks - standing.seen);
    NodeRoom room;
    if (open && may_host(node)) {
      room = counter_.room_on(node, {held, unseen});
    }
    if (room.pods <= 0 && ranks == 0) return;

    const Transport transport = transport_of(node);
    ShareKey key;
    key.machine = node.machine.get();
    key.transport = transport.transport;
    key.free = node.free_gpu_mask;
    // Which GPUs other gangs will get nobody knows yet.
    if (gpus_are_held(held)) key.free.reset();
    key.extra = unseen;
    if (ranks > 0 && standing.seen == ranks - unseen && standing.held && key.free) {
      key.held = *standing.held;
    } else if (ranks > 0) {
      key.extra = ranks;
      key.free.reset();
    }
    room.whole_free = room.whole_free && ranks == 0;
    result_.nodes.push_back({index, kind_of(key, room), ranks, transport.number,
                             required_group(node), preferred_group(node)});
  }

  // What all nodes of one shape have in common on which no rank stands and nobody holds a place.
  struct ShapeFacts {
    bool may_host = false;
    NodeRoom room;  // by devices
    Transport transport;
    std::int64_t counted = -1;  // room of the last node
    std::uint32_t kind = 0;     // with that room
  };

  // Null where the shape does not say enough.
  ShapeFacts* facts_of(NodeIndex index) {
    const NodeShape* shape = snapshot_.shape(index);
    if (!shape_is_enough(request_, *shape)) return nullptr;
    if (shape == last_shape_) return last_facts_;
    auto [entry, is_new] = facts_.try_emplace(shape);
    if (is_new) {
      entry->second = std::make_unique<ShapeFacts>();
      const NodeState& node = snapshot_.node(index);
      ShapeFacts& facts = *entry->second;
      facts.may_host = judge(request_, *question_.spec, node, options_, Use::kFilter).fits();
      if (facts.may_host) facts.room = counter_.room_of_devices(node, {});
      if (facts.room.pods > 0) facts.transport = transport_of(node);
    }
    last_shape_ = shape;
    return last_facts_ = entry->second.get();
  }

  void add_open(NodeIndex index, ShapeFacts& facts) {
    if (!facts.may_host || facts.room.pods <= 0) return;
    const NodeState& node = snapshot_.node(index);
    if (question_.use != Use::kFilter && closed_to(*question_.spec, *node.node)) return;
    NodeRoom room = facts.room;
    counter_.limit_by_the_rest(node, {}, room);
    if (room.pods <= 0) return;
    if (room.pods != facts.counted) {
      ShareKey key;
      key.machine = node.machine.get();
      key.transport = facts.transport.transport;
      key.free = node.free_gpu_mask;
      facts.kind = kind_of(key, room);
      facts.counted = room.pods;
    }
    result_.nodes.push_back({index, facts.kind, 0, facts.transport.number, required_group(node),
                             preferred_group(node)});
  }

  // What is against the node whatever is free on it. Room is counted by RoomCounter, so what
  // explain counts is left out here.
  [[nodiscard]] bool may_host(const NodeState& node) const {
    const kube::PodSpec& spec = *question_.spec;
    return judge(request_, spec, node, options_, Use::kFilter).fits() &&
           (question_.use == Use::kFilter || !closed_to(spec, *node.node));
  }

  [[nodiscard]] Transport transport_of(const NodeState& node) {
    // All that network_of() reads of a node beside its machine.
    std::string_view rdma;
    for (const DeviceAmount& device : node.devices) {
      if (!device.rdma || device.allocatable.value_or(0) <= 0) continue;
      rdma = device.resource;
      break;
    }
    const auto [place, added] = transports_.try_emplace(std::pair(node.machine.get(), rdma));
    if (added) {
      place->second = {network_of(request_, node).transport,
                       classes_.of(transport_class(request_, node))};
    }
    return place->second;
  }

  std::uint32_t kind_of(const ShareKey& key, const NodeRoom& room) {
    const auto most =
        static_cast<std::int32_t>(std::min<std::int64_t>(room.pods, std::max(0, question_.pods)));
    ShareTable* table = tables_.table(key, most);
    const auto [place, added] =
        kinds_.try_emplace(std::tuple(table, room.pods, room.free_devices, room.whole_free),
                           static_cast<std::uint32_t>(result_.kinds.size()));
    if (added) {
      NodeProfile profile;
      const auto& links = table->crossing();
      profile.links.assign(links.begin(), links.begin() + most + 1);
      profile.room = room.pods;
      profile.whole_free = room.whole_free;
      const std::int64_t fill = devices_per_pod_ > 0 && room.free_devices % devices_per_pod_ == 0
                                    ? room.free_devices / devices_per_pod_
                                    : -1;
      if (room.whole_free && fill <= most) profile.full = static_cast<std::int32_t>(fill);
      const auto next = static_cast<std::uint32_t>(result_.profiles.size());
      const auto [number, made] = profiles_.try_emplace(profile, next);
      if (made) result_.profiles.push_back(std::move(profile));
      result_.kinds.push_back({table, number->second});
    }
    return place->second;
  }

  [[nodiscard]] bool gpus_are_held(std::span<const Held> held) const {
    const std::string_view own =
        request_.gang ? std::string_view(request_.gang->key) : std::string_view{};
    return std::any_of(held.begin(), held.end(), [own](const Held& each) {
      return each.gang_key != own && each.pods > 0 && each.request->gpus() > 0;
    });
  }

  std::uint32_t required_group(const NodeState& node) {
    if (request_.topology_required.empty() && question_.required_topology.empty()) return 0;
    std::string group;
    for (const std::string_view level :
         {std::string_view(request_.topology_required), question_.required_topology}) {
      if (level.empty()) continue;
      const std::string domain = domain_by(level, node);
      if (domain.empty()) return kNoGroup;
      group += domain;
      group += '\n';
    }
    return required_.of(group);
  }

  std::uint32_t preferred_group(const NodeState& node) {
    if (request_.topology_preferred.empty()) return kNoGroup;
    return preferred_.of_domain(domain_by(request_.topology_preferred, node));
  }

  const PlanQuestion& question_;
  const Request& request_;
  const Snapshot& snapshot_;
  const HeldPlaces& held_;
  const Options& options_;
  ShareTables& tables_;
  RoomCounter counter_;
  std::vector<NodeIndex> fixed_;
  std::int64_t devices_per_pod_ = 0;
  boost::unordered_flat_map<std::tuple<ShareTable*, std::int64_t, std::int64_t, bool>,
                            std::uint32_t,
                            boost::hash<std::tuple<ShareTable*, std::int64_t, std::int64_t, bool>>>
      kinds_;
  std::map<NodeProfile, std::uint32_t> profiles_;
  boost::unordered_flat_map<std::pair<const topology::NodeTopology*, std::string_view>, Transport>
      transports_;
  boost::unordered_flat_map<const NodeShape*, std::unique_ptr<ShapeFacts>> facts_;
  const NodeShape* last_shape_ = nullptr;
  ShapeFacts* last_facts_ = nullptr;
  Numbers classes_;
  Numbers required_;
  Numbers preferred_;
  PlanNodes result_;
};

}  // namespace

std::optional<std::uint32_t> tier_by(std::string_view level, const NodeState& node) {
  if (level == "clique") return kCliqueTier;
  for (std::uint32_t above = 0; above < std::size(kTierNames); ++above) {
    if (level == kTierNames[above]) return kLeafTier + above;
  }
  const auto& keys = node.topology->fabric.keys;
  const auto found = std::find(keys.begin(), keys.end(), level);
  if (found == keys.end()) return std::nullopt;
  return kLeafTier + static_cast<std::uint32_t>(found - keys.begin());
}

std::string domain_by(std::string_view level, const NodeState& node) {
  const topology::FabricPosition& fabric = node.topology->fabric;
  if (const auto tier = tier_by(level, node)) {
    return *tier == kCliqueTier ? fabric.clique : path_down_to(*tier - kLeafTier, fabric);
  }
  const std::string* value = kube::find(node.node->metadata.labels, level);
  return value == nullptr ? std::string() : *value;
}

PlanNodes look_at_nodes(const PlanQuestion& question, const Snapshot& snapshot,
                        const HeldPlaces& held, const Options& options, ShareTables& tables) {
  return NodeReader(question, snapshot, held, options, tables).read();
}

}  // namespace rankward::placement
