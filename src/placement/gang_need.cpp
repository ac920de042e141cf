#include "gang_need.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace rankward::placement {

namespace {

constexpr std::string_view kHostname = "kubernetes.io/hostname";
constexpr std::string_view kNodeName = "metadata.name";

// A pod's place in its gang: two pods with one rank are tries of the same.
struct Collected {
  PartNeed part;
  std::set<std::int32_t> ranks;  // that stand or wait
};
using Roles = std::map<std::string, Collected, std::less<>>;

void add_standing(const Snapshot& snapshot, std::string_view gang_key, std::string_view caller_uid,
                  Roles& roles, std::int32_t& leaders) {
  const NodeIndex* last = nullptr;
  for (const NodeIndex& index : snapshot.bound_members(gang_key)) {
    if (last != nullptr && *last == index) continue;
    last = &index;
    for (const Holder& holder : snapshot.node(index).holders) {
      if (holder.gang_key != gang_key || holder.uid == caller_uid) continue;
      if (holder.gpus == 0) {
        ++leaders;
        continue;
      }
      Collected& role = roles[holder.role];
      if (holder.rank && !role.ranks.insert(*holder.rank).second) continue;
      role.part.bound.push_back(index);
    }
  }
}

bool asks_for_gpus(const Request& request) {
  return request.gpus() > 0;
}

// A part whose pods ask for different numbers of GPUs is planned by those that ask for most: room
// for all of them is then room for each.
bool is_measure(const PartNeed& part, const Request& request) {
  return !part.request || request.gpus() > part.request->gpus();
}

void add_waiting(const GangState* gang, GangNeed& need, Roles& roles, std::int32_t& leaders) {
  if (gang == nullptr) return;
  for (const PendingMember& member : gang->pending) {
    if (member.deleting) continue;
    need.gated_by_others = need.gated_by_others || member.gated_by_others;
    need.pinned = need.pinned || is_pinned(*member.spec);
    if (!asks_for_gpus(*member.request)) {
      ++leaders;
      continue;
    }
    Collected& role = roles[member.role()];
    if (is_measure(role.part, *member.request)) {
      role.part.request = member.request;
      role.part.spec = member.spec;
    }
    if (const auto rank = member.rank(); rank && !role.ranks.insert(*rank).second) continue;
    role.part.pending.push_back(&member);
  }
}

// Roles of which no pod is there yet, where the owner's template says what they will ask for: room
// that only the first role has is no room for the gang.
void add_unseen(const GangState* gang, Roles& roles) {
  if (gang == nullptr) return;
  for (const GangFacts& facts : gang->facts) {
    for (const RoleSize& size : facts.sizes) {
      // Of what may be smaller, nobody knows how much will come.
      if (size.role.empty() || !size.pod || size.least != 0 || roles.contains(size.role)) continue;
      PartNeed& part = roles[size.role].part;
      part.request = std::shared_ptr<const Request>(size.pod, &size.pod->request);
      part.spec = std::shared_ptr<const kube::PodSpec>(size.pod, &size.pod->spec);
    }
  }
}

// Sizes by the owners' word, else by what the pods say of the whole gang.
void set_sizes(const GangState* gang, std::optional<std::int32_t> total, std::int32_t leaders,
               Roles& roles) {
  std::map<std::string_view, std::int32_t> by_role;
  if (gang != nullptr) {
    for (const GangFacts& facts : gang->facts) {
      for (const RoleSize& size : facts.sizes) {
        if (size.role.empty() && !total) {
          total = size.pods;
        } else if (!size.role.empty()) {
          by_role[size.role] = size.pods;
        }
      }
    }
  }
  std::int32_t open = 0;   // roles that nobody has given a number
  std::int32_t known = 0;  // ranks of the others
  for (auto& [name, role] : roles) {
    const auto size = by_role.find(name);
    if (size == by_role.end()) {
      ++open;
    } else {
      role.part.size = size->second;
      known += size->second;
    }
  }
  if (!total || open == 0) return;
  const std::int32_t left = *total - leaders - known;
  if (open == 1) {
    for (auto& [name, role] : roles) {
      if (!by_role.contains(name)) role.part.size = std::max(left, 0);
    }
    return;
  }
  // Several roles share the number: they are told apart once all pods are there.
  std::int32_t there = 0;
  const auto count = [](const PartNeed& part) {
    return static_cast<std::int32_t>(part.bound.size() + part.pending.size());
  };
  for (const auto& [name, role] : roles) {
    if (!by_role.contains(name)) there += count(role.part);
  }
  if (there < left) return;
  for (auto& [name, role] : roles) {
    if (!by_role.contains(name)) role.part.size = count(role.part);
  }
}

}  // namespace

bool GangNeed::plannable() const {
  return !elastic && !parts.empty() &&
         std::all_of(parts.begin(), parts.end(), [](const PartNeed& part) {
           return part.size > 0 && (part.request || part.missing() <= 0);
         });
}

bool GangNeed::complete() const {
  return std::all_of(parts.begin(), parts.end(),
                     [](const PartNeed& part) { return part.complete(); });
}

bool GangNeed::whole() const {
  return std::all_of(parts.begin(), parts.end(),
                     [](const PartNeed& part) { return part.missing() <= 0; });
}

const PartNeed* GangNeed::part(std::string_view role) const {
  const auto found = std::find_if(parts.begin(), parts.end(),
                                  [role](const PartNeed& part) { return part.role == role; });
  return found == parts.end() ? nullptr : &*found;
}

bool is_pinned(const kube::PodSpec& spec) {
  if (!spec.node_name.empty() || spec.node_selector.contains(kHostname)) return true;
  if (!spec.required_node_affinity || spec.required_node_affinity->empty()) return false;
  const auto names_one = [](const kube::NodeSelectorRequirement& each) {
    return (each.key == kHostname || each.key == kNodeName) && each.op == "In" &&
           each.values.size() == 1;
  };
  // Terms are alternatives: several of them leave a choice.
  if (spec.required_node_affinity->size() != 1) return false;
  const kube::NodeSelectorTerm& term = spec.required_node_affinity->front();
  return std::any_of(term.match_expressions.begin(), term.match_expressions.end(), names_one) ||
         std::any_of(term.match_fields.begin(), term.match_fields.end(), names_one);
}

GangNeed need_of(const Snapshot& snapshot, std::string_view gang_key, const Caller* caller) {
  GangNeed need;
  Roles roles;
  std::int32_t leaders = 0;
  const GangState* gang = snapshot.gang(gang_key);
  const std::string_view caller_uid =
      caller == nullptr ? std::string_view() : std::string_view(caller->request.uid);
  std::optional<std::int32_t> total;
  if (gang != nullptr) {
    for (const GangFacts& facts : gang->facts) {
      need.elastic = need.elastic || facts.elastic;
      if (need.required_topology.empty()) need.required_topology = facts.required_topology;
    }
    for (const PendingMember& member : gang->pending) {
      if (!total) total = member.request->gang->size;
    }
  }
  add_standing(snapshot, gang_key, caller_uid, roles, leaders);
  add_waiting(gang, need, roles, leaders);
  if (caller != nullptr) {
    const GangRef& ref = *caller->request.gang;
    if (ref.size) total = ref.size;
    need.pinned = need.pinned || is_pinned(caller->pod.spec);
    if (asks_for_gpus(caller->request)) {
      PartNeed& part = roles[ref.role].part;
      if (is_measure(part, caller->request)) {
        part.request = std::make_shared<const Request>(caller->request);
        part.spec = std::make_shared<const kube::PodSpec>(caller->pod.spec);
      }
    }
  }
  add_unseen(gang, roles);
  set_sizes(gang, total, leaders, roles);
  for (auto& [name, role] : roles) {
    role.part.role = name;
    std::sort(role.part.bound.begin(), role.part.bound.end());
    need.parts.push_back(std::move(role.part));
  }
  need.awaits_first = std::all_of(need.parts.begin(), need.parts.end(),
                                  [](const PartNeed& part) { return part.bound.empty(); }) &&
                      std::any_of(need.parts.begin(), need.parts.end(), [](const PartNeed& part) {
                        return part.request && part.request->follows_first_rank;
                      });
  const auto gpus = [](const PartNeed& part) {
    return part.request ? part.request->gpus() * std::max<std::int64_t>(1, part.size) : 0;
  };
  std::stable_sort(need.parts.begin(), need.parts.end(),
                   [&](const PartNeed& a, const PartNeed& b) { return gpus(a) > gpus(b); });
  return need;
}

}  // namespace rankward::placement
