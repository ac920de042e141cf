#include <algorithm>
#include <map>
#include <utility>

#include "annotations.hpp"
#include "gang_roster.hpp"
#include "machine_key.hpp"
#include "rankward/kube/scheduling.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

namespace {

// More than any node has; what is longer is no such annotation.
constexpr std::int32_t kMaxGpuIndex = 1023;
constexpr std::size_t kMaxAssignedText = 1024;

// "0,1,5". Nothing usable in it: empty, which is "not known".
std::vector<std::uint32_t> assigned_gpus(const kube::StringMap& annotations) {
  const std::string* text = kube::find(annotations, kAssignedGpusKey);
  if (text == nullptr || text->size() > kMaxAssignedText) return {};
  std::vector<std::uint32_t> indexes;
  std::string_view rest = *text;
  while (true) {
    const std::size_t comma = rest.find(',');
    const auto index = small_number(rest.substr(0, comma), kMaxGpuIndex);
    if (!index) return {};
    indexes.push_back(static_cast<std::uint32_t>(*index));
    if (comma == std::string_view::npos) return indexes;
    rest.remove_prefix(comma + 1);
  }
}

std::int64_t gpus_of(const kube::ResourceList& resources) {
  std::int64_t sum = 0;
  for (const auto& [name, amount] : resources) {
    switch (kube::device_kind(name)) {
      case kube::DeviceKind::kWholeGpu:
      case kube::DeviceKind::kMigSlice:
      case kube::DeviceKind::kSharedSlice:
        if (__builtin_add_overflow(sum, amount.value(), &sum)) return INT64_MAX;
        break;
      case kube::DeviceKind::kNone:
      case kube::DeviceKind::kFraction:
      case kube::DeviceKind::kDraClass:
        break;
    }
  }
  return sum;
}

Holder holder_of(const kube::Pod& pod, std::string key) {
  Holder holder;
  holder.uid = std::move(key);
  holder.pod = pod.metadata.full_name();
  holder.resources = kube::effective_requests(pod.spec);
  holder.resources.insert_or_assign("pods", kube::Quantity(1));
  holder.gpus = gpus_of(holder.resources);
  // A bound pod whose annotations are not in our form still holds its devices: it has only not said
  // anything that we can read.
  if (auto memory = read_bytes(pod.metadata.annotations, kGpuMemoryKey)) {
    holder.declared_memory = *memory;
  }
  if (holder.gpus > 0) holder.gpu_indexes = assigned_gpus(pod.metadata.annotations);
  if (auto gang = gang_of(pod); gang && *gang && !pod.metadata.deleting) {
    holder.gang_key = std::move((*gang)->key);
    holder.rank = (*gang)->rank;
    holder.role = std::move((*gang)->role);
  }
  return holder;
}

}  // namespace

struct SnapshotBuilder::State {
  struct Entry {
    std::shared_ptr<const kube::Node> node;  // null: only its pods have been seen
    std::shared_ptr<const topology::NodeTopology> topology;
    std::shared_ptr<const topology::NodeTopology> machine;
    std::map<std::string, Holder, std::less<>> holders;  // by UID
    std::uint32_t index = 0;                             // in the last Snapshot, if it was there
    bool changed = false;
  };
  using Entries = std::map<std::string, Entry, std::less<>>;

  // Where a pod is kept: on its node, else with its gang.
  struct Place {
    std::string node;
    std::string gang_key;
  };

  RequestOptions options;
  Entries entries;                                   // by node name
  std::map<std::string, Place, std::less<>> places;  // by UID
  GangRoster gangs;
  std::vector<std::string> changed;  // names of entries with `changed` set
  bool nodes_changed = true;         // a node has come or gone, so indexes move
  TopologyPool pool;
  std::shared_ptr<const Snapshot> last = std::make_shared<Snapshot>();

  void mark(const std::string& name, Entry& entry) {
    if (entry.changed) return;
    entry.changed = true;
    changed.push_back(name);
  }

  void drop_pod(std::string_view uid) {
    const auto found = places.find(uid);
    if (found == places.end()) return;
    const Place& place = found->second;
    if (place.node.empty()) {
      gangs.remove_pending(place.gang_key, found->first);
    } else {
      const auto entry = entries.find(place.node);
      const auto holder = entry->second.holders.find(uid);
      if (!holder->second.gang_key.empty()) gangs.unbind(holder->second.gang_key, place.node);
      entry->second.holders.erase(holder);
      mark(entry->first, entry->second);
    }
    places.erase(found);
  }

  static std::shared_ptr<const NodeState> state_of(const Entry& entry) {
    auto state = std::make_shared<NodeState>();
    state->node = entry.node;
    state->topology = entry.topology;
    state->machine = entry.machine;
    state->holders.reserve(entry.holders.size());
    for (const auto& [uid, holder] : entry.holders)
      state->holders.push_back(holder);
    state->recount();
    return state;
  }

  // Names, indexes and gangs anew; what each node is made of is still shared.
  void number_nodes(Snapshot& next) {
    auto names = std::make_shared<Snapshot::Names>();
    names->reserve(entries.size());
    for (auto it = entries.begin(); it != entries.end();) {
      Entry& entry = it->second;
      if (!entry.node) {
        // Kept only as long as pods are said to be there.
        it = entry.holders.empty() ? entries.erase(it) : std::next(it);
        continue;
      }
      const bool keeps = !entry.changed && entry.index < last->nodes_.size();
      next.nodes_.push_back(keeps ? last->nodes_[entry.index] : state_of(entry));
      entry.index = static_cast<std::uint32_t>(next.nodes_.size() - 1);
      names->emplace(it->first, entry.index);
      ++it;
    }
    next.by_name_ = std::move(names);
    std::array<std::shared_ptr<Snapshot::Gangs>, Snapshot::kGangParts> parts;
    for (const auto& [key, gang] : gangs.refreshed()) {
      auto& part = parts[Snapshot::gang_part(key)];
      if (!part) part = std::make_shared<Snapshot::Gangs>();
      part->emplace(key, numbered(gang, *next.by_name_));
    }
    std::copy(parts.begin(), parts.end(), next.gangs_.begin());
  }

  static Snapshot::Gang numbered(const GangRoster::Gang& gang, const Snapshot::Names& names) {
    Snapshot::Gang out;
    out.state = gang.state;
    for (const auto& [node, count] : gang.bound) {
      const auto index = names.find(node);
      if (index != names.end()) out.bound.insert(out.bound.end(), count, NodeIndex{index->second});
    }
    return out;
  }

  void share_nodes(Snapshot& next) {
    next.nodes_ = last->nodes_;
    next.by_name_ = last->by_name_;
    next.gangs_ = last->gangs_;
    for (const std::string& name : changed) {
      const auto entry = entries.find(name);
      if (entry != entries.end() && entry->second.node) {
        next.nodes_[entry->second.index] = state_of(entry->second);
      }
    }
    std::array<std::shared_ptr<Snapshot::Gangs>, Snapshot::kGangParts> copies;
    const GangRoster::Gangs& all = gangs.refreshed();
    for (const std::string& key : gangs.changed()) {
      const std::size_t part = Snapshot::gang_part(key);
      auto& copy = copies[part];
      if (!copy) {
        copy = next.gangs_[part] ? std::make_shared<Snapshot::Gangs>(*next.gangs_[part])
                                 : std::make_shared<Snapshot::Gangs>();
        next.gangs_[part] = copy;
      }
      const auto gang = all.find(key);
      if (gang == all.end()) {
        copy->erase(key);
      } else {
        copy->insert_or_assign(key, numbered(gang->second, *next.by_name_));
      }
    }
  }
};

SnapshotBuilder::SnapshotBuilder(const RequestOptions& options)
    : state_(std::make_unique<State>()) {
  state_->options = options;
}
SnapshotBuilder::~SnapshotBuilder() = default;
SnapshotBuilder::SnapshotBuilder(SnapshotBuilder&&) noexcept = default;
SnapshotBuilder& SnapshotBuilder::operator=(SnapshotBuilder&&) noexcept = default;

void SnapshotBuilder::put_node(kube::Node node, topology::NodeTopology topology) {
  const std::string name = node.metadata.name;
  State::Entry& entry = state_->entries[name];
  if (!entry.node) state_->nodes_changed = true;
  entry.node = std::make_shared<const kube::Node>(std::move(node));
  entry.machine = state_->pool.intern(without_identity(topology));
  entry.topology = state_->pool.intern(std::move(topology));
  state_->mark(name, entry);
}

void SnapshotBuilder::remove_node(std::string_view name) {
  const auto entry = state_->entries.find(name);
  if (entry == state_->entries.end() || !entry->second.node) return;
  entry->second.node.reset();
  entry->second.topology.reset();
  entry->second.machine.reset();
  state_->nodes_changed = true;
}

void SnapshotBuilder::put_pod(const kube::Pod& pod) {
  const std::string key = pod.metadata.uid.empty() ? pod.metadata.full_name() : pod.metadata.uid;
  state_->drop_pod(key);
  if (pod.is_terminal()) return;
  if (pod.spec.node_name.empty()) {
    auto member = pending_member(pod, state_->options);
    if (!member) return;
    state_->places[key].gang_key = member->request->gang->key;
    state_->gangs.put_pending(std::move(*member));
    return;
  }
  State::Entry& entry = state_->entries[pod.spec.node_name];
  Holder& holder = entry.holders[key];
  holder = holder_of(pod, key);
  state_->places[key].node = pod.spec.node_name;
  if (!holder.gang_key.empty()) state_->gangs.bind(holder.gang_key, pod.spec.node_name);
  state_->mark(pod.spec.node_name, entry);
}

void SnapshotBuilder::remove_pod(std::string_view uid) {
  state_->drop_pod(uid);
}

void SnapshotBuilder::clear_nodes() {
  for (auto& [name, entry] : state_->entries) {
    entry.node.reset();
    entry.topology.reset();
    entry.machine.reset();
  }
  state_->nodes_changed = true;
}

void SnapshotBuilder::clear_pods() {
  for (auto& [name, entry] : state_->entries) {
    if (entry.holders.empty()) continue;
    entry.holders.clear();
    state_->mark(name, entry);
  }
  state_->gangs.clear_members();
  state_->places.clear();
}

void SnapshotBuilder::put_gang_facts(std::string_view owner_key, std::vector<GangFacts> facts) {
  state_->gangs.put_facts(std::string(owner_key), std::move(facts));
}

void SnapshotBuilder::remove_gang_facts(std::string_view owner_key) {
  state_->gangs.remove_facts(owner_key);
}

void SnapshotBuilder::clear_gang_facts(std::string_view owner_prefix) {
  state_->gangs.clear_facts(owner_prefix);
}

std::shared_ptr<const Snapshot> SnapshotBuilder::build() {
  auto next = std::make_shared<Snapshot>();
  next->number_ = state_->last->number_ + 1;
  if (state_->nodes_changed) {
    state_->number_nodes(*next);
  } else {
    state_->share_nodes(*next);
  }
  for (const std::string& name : state_->changed) {
    const auto entry = state_->entries.find(name);
    if (entry != state_->entries.end()) entry->second.changed = false;
  }
  state_->changed.clear();
  state_->gangs.forget_changes();
  state_->nodes_changed = false;
  state_->last = next;
  return next;
}

}  // namespace rankward::placement
