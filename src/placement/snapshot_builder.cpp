#include <algorithm>
#include <map>
#include <utility>

#include "gang_roster.hpp"
#include "machine_key.hpp"
#include "node_names.hpp"
#include "node_shape.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

struct SnapshotBuilder::State {
  struct Entry {
    std::shared_ptr<const kube::Node> node;  // null: only its pods have been seen
    std::shared_ptr<const topology::NodeTopology> topology;
    std::shared_ptr<const topology::NodeTopology> machine;
    // As in the last Snapshot. Its holders are the entry's, so that they are there once, unless
    // there is a draft.
    std::shared_ptr<const NodeState> state;
    std::optional<std::vector<Holder>> draft;  // holders by UID
    std::uint32_t index = 0;                   // in the last Snapshot, if it was there
    bool changed = false;

    [[nodiscard]] const std::vector<Holder>& current() const {
      static const std::vector<Holder> kNone;
      return draft ? *draft : state ? state->holders : kNone;
    }
    std::vector<Holder>& holders() {
      if (!draft) draft = current();
      return *draft;
    }
  };
  using Entries = std::map<std::string, Entry, std::less<>>;
  // Where a pod is kept: on its node, with its gang, else among those that wait. The strings are
  // the keys there.
  struct Place {
    const std::string* node = nullptr;
    const std::string* gang_key = nullptr;
  };

  RequestOptions options;
  Entries entries;                  // by node name
  Snapshot::NameMap<Place> places;  // by UID
  GangRoster gangs;
  Snapshot::WaitingPods waiting;
  bool waiting_changed = false;
  std::shared_ptr<const std::vector<std::string>> owner_kinds;
  std::vector<std::string> changed;  // names of entries with `changed` set
  bool nodes_changed = true;         // a node has come or gone, so indexes move
  TopologyPool pool;
  ShapePool shapes;
  std::shared_ptr<const Snapshot> last = std::make_shared<Snapshot>();

  void mark(const std::string& name, Entry& entry) {
    if (entry.changed) return;
    entry.changed = true;
    changed.push_back(name);
  }

  static std::vector<Holder>::iterator place_of(std::vector<Holder>& holders,
                                                std::string_view uid) {
    return std::lower_bound(
        holders.begin(), holders.end(), uid,
        [](const Holder& holder, std::string_view wanted) { return holder.uid < wanted; });
  }

  void drop_pod(std::string_view uid) {
    const auto found = places.find(uid);
    if (found == places.end()) return;
    const Place place = found->second;
    if (place.gang_key != nullptr) {
      gangs.remove_pending(std::string(*place.gang_key), found->first);
    } else if (place.node == nullptr) {
      waiting.erase(found->first);
      waiting_changed = true;
    } else {
      const auto entry = entries.find(*place.node);
      std::vector<Holder>& holders = entry->second.holders();
      const auto holder = place_of(holders, uid);
      if (!holder->gang_key.empty()) gangs.unbind(holder->gang_key, *place.node);
      holders.erase(holder);
      mark(entry->first, entry->second);
    }
    places.erase(found);
  }

  [[nodiscard]] bool has_holder(const std::string& node, const Holder& holder) {
    const auto found = places.find(holder.uid);
    if (found == places.end() || found->second.node == nullptr || *found->second.node != node) {
      return false;
    }
    const auto& holders = entries.find(node)->second.current();
    const auto known = std::lower_bound(
        holders.begin(), holders.end(), holder.uid,
        [](const Holder& each, const std::string& wanted) { return each.uid < wanted; });
    return *known == holder;
  }

  void forget_node(Entry& entry);

  void put_holder(const std::string& node, Holder holder) {
    const auto entry = entries.try_emplace(node).first;
    if (!holder.gang_key.empty()) gangs.bind(holder.gang_key, node);
    places[holder.uid].node = &entry->first;
    std::vector<Holder>& holders = entry->second.holders();
    holders.insert(place_of(holders, holder.uid), std::move(holder));
    mark(entry->first, entry->second);
  }

  [[nodiscard]] std::shared_ptr<const Snapshot::WaitingPods> first_waiting() const {
    const auto count = std::min(waiting.size(), kMostWaitingPods);
    return std::make_shared<const Snapshot::WaitingPods>(
        waiting.begin(), std::next(waiting.begin(), static_cast<std::ptrdiff_t>(count)));
  }

  // What an entry with a node is in the next Snapshot.
  std::shared_ptr<const NodeState> built(Entry& entry) {
    if (!entry.changed && entry.state) return entry.state;
    auto state = std::make_shared<NodeState>();
    state->node = entry.node;
    state->topology = entry.topology;
    state->machine = entry.machine;
    if (entry.draft) {
      state->holders = *std::exchange(entry.draft, std::nullopt);
      state->holders.shrink_to_fit();
    } else if (entry.state) {
      state->holders = entry.state->holders;
    }
    state->recount();
    state->shape = shapes.intern(*state);
    entry.state = state;
    return state;
  }

  // Names, indexes and gangs anew; what each node is made of is still shared.
  void number_nodes(Snapshot& next) {
    auto names = std::make_shared<NodeNames>();
    for (auto it = entries.begin(); it != entries.end();) {
      Entry& entry = it->second;
      if (!entry.node) {
        // Kept only as long as pods are said to be there.
        it = entry.current().empty() ? entries.erase(it) : std::next(it);
        continue;
      }
      next.nodes_.push_back(built(entry));
      next.shapes_.push_back(next.nodes_.back()->shape.get());
      entry.index = static_cast<std::uint32_t>(next.nodes_.size() - 1);
      names->add(it->first);
      ++it;
    }
    names->close();
    next.by_name_ = std::move(names);
    std::array<std::shared_ptr<Snapshot::Gangs>, Snapshot::kGangParts> parts;
    for (const auto& [key, gang] : gangs.refreshed()) {
      auto& part = parts[Snapshot::gang_part(key)];
      if (!part) part = std::make_shared<Snapshot::Gangs>();
      part->emplace(key, numbered(gang, *next.by_name_));
    }
    std::copy(parts.begin(), parts.end(), next.gangs_.begin());
  }

  static Snapshot::Gang numbered(const GangRoster::Gang& gang, const NodeNames& names) {
    Snapshot::Gang out;
    out.state = gang.state;
    for (const auto& [node, count] : gang.bound) {
      const auto index = names.find(node);
      if (index) out.bound.insert(out.bound.end(), count, NodeIndex{*index});
    }
    return out;
  }

  void share_nodes(Snapshot& next) {
    next.nodes_ = last->nodes_;
    next.shapes_ = last->shapes_;
    next.by_name_ = last->by_name_;
    next.gangs_ = last->gangs_;
    for (const std::string& name : changed) {
      const auto entry = entries.find(name);
      if (entry != entries.end() && entry->second.node) {
        const auto index = entry->second.index;
        next.nodes_[index] = built(entry->second);
        next.shapes_[index] = next.nodes_[index]->shape.get();
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

void SnapshotBuilder::State::forget_node(Entry& entry) {
  entry.node.reset();
  entry.topology.reset();
  entry.machine.reset();
  // Its pods may still be there.
  if (!entry.current().empty()) (void)entry.holders();
  entry.state.reset();
  nodes_changed = true;
}

void SnapshotBuilder::remove_node(std::string_view name) {
  const auto entry = state_->entries.find(name);
  if (entry == state_->entries.end() || !entry->second.node) return;
  state_->forget_node(entry->second);
}

void SnapshotBuilder::put_pod(const kube::Pod& pod) {
  put_pod(digest_of(pod, state_->options));
}

void SnapshotBuilder::put_pod(PodDigest digest) {
  // Most of what comes about a bound pod is its status, which changes nothing here.
  if (digest.holder && state_->has_holder(digest.node, *digest.holder)) return;
  state_->drop_pod(digest.key);
  if (digest.holder) {
    state_->put_holder(digest.node, std::move(*digest.holder));
  } else if (digest.pending) {
    state_->places[digest.key].gang_key = &state_->gangs.put_pending(std::move(*digest.pending));
  } else if (digest.waiting && state_->waiting.size() < kMostKeptWaitingPods) {
    state_->places[digest.key] = {};
    state_->waiting.insert_or_assign(digest.key, std::move(digest.waiting));
    state_->waiting_changed = true;
  }
}

void SnapshotBuilder::remove_pod(std::string_view uid) {
  state_->drop_pod(uid);
}

void SnapshotBuilder::clear_nodes() {
  for (auto& [name, entry] : state_->entries)
    state_->forget_node(entry);
  state_->nodes_changed = true;
}

void SnapshotBuilder::clear_pods() {
  for (auto& [name, entry] : state_->entries) {
    if (entry.current().empty()) continue;
    entry.draft.emplace();
    state_->mark(name, entry);
  }
  state_->gangs.clear_members();
  state_->waiting_changed = state_->waiting_changed || !state_->waiting.empty();
  state_->waiting.clear();
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

void SnapshotBuilder::set_owner_kinds(std::vector<std::string> gang_kinds) {
  state_->owner_kinds = std::make_shared<const std::vector<std::string>>(std::move(gang_kinds));
}

bool SnapshotBuilder::changed() const {
  return state_->nodes_changed || state_->owner_kinds != state_->last->owner_kinds_ ||
         !state_->changed.empty() || !state_->gangs.changed().empty() || state_->waiting_changed;
}

std::shared_ptr<const Snapshot> SnapshotBuilder::build() {
  auto next = std::make_shared<Snapshot>();
  next->number_ = state_->last->number_ + 1;
  next->owner_kinds_ = state_->owner_kinds;
  next->waiting_ = state_->waiting_changed ? state_->first_waiting() : state_->last->waiting_;
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
  state_->waiting_changed = false;
  state_->nodes_changed = false;
  state_->last = next;
  return next;
}

}  // namespace rankward::placement
