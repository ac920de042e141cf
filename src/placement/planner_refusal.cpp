#include "planner_refusal.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace rankward::placement {

namespace {

// Room by transport class and, maybe, domain; and where the most of one is.
struct Rooms {
  using Group = std::pair<std::uint32_t, std::uint32_t>;
  std::map<Group, std::int64_t> room;
  std::map<Group, NodeIndex> first_node;

  void add(Group group, const PlanNode& node, std::int64_t pods) {
    room[group] += pods;
    first_node.try_emplace(group, node.index);
  }
  [[nodiscard]] std::pair<std::optional<NodeIndex>, std::int64_t> most() const {
    std::pair<std::optional<NodeIndex>, std::int64_t> best{std::nullopt, 0};
    for (const auto& [group, pods] : room) {
      if (pods > best.second) best = {first_node.at(group), pods};
    }
    return best;
  }
};

std::string ranks(std::int64_t count) {
  return std::to_string(count) + (count == 1 ? " rank" : " ranks");
}

std::int32_t cut(std::int64_t room) {
  return static_cast<std::int32_t>(std::min<std::int64_t>(room, INT32_MAX));
}

bool names_clique(std::string_view level, const NodeState& node) {
  const std::string& clique = node.topology->fabric.clique;
  return level == "clique" || (!clique.empty() && domain_by(level, node) == clique);
}

class Refuser {
 public:
  Refuser(const PlanQuestion& question, const PlanNodes& nodes, const Snapshot& snapshot)
      : question_(question), nodes_(nodes), snapshot_(snapshot) {
    for (const PlanNode& node : nodes.nodes) {
      if (node.fixed > 0 && first_fixed_ == nullptr) first_fixed_ = &node;
    }
    for (const PlanNode& node : nodes.nodes) {
      const std::int64_t room = nodes.profile(node).most();
      if (room == 0) continue;
      all_ += room;
      classes_.add({node.transport, 0}, node, room);
      if (node.required != kNoGroup) domains_.insert(node.required);
      if (first_fixed_ != nullptr && node.transport == first_fixed_->transport) own_class_ += room;
      if (in_one_place(node)) places_.add({node.transport, node.required}, node, room);
    }
  }

  PlanRefusal refuse() {
    PlanRefusal refusal;
    refusal.room = cut(places_.most().second);
    const std::string need = ranks(question_.pods);
    const std::string beside =
        question_.fixed.empty()
            ? ""
            : " beside " + std::to_string(question_.fixed.size()) + " that stand";
    if (all_ < question_.pods) {
      refusal.reason = ReasonCode::kGangDoesNotFit;
      refusal.note = need + beside + "; all nodes together have room for " + std::to_string(all_);
    } else if (first_fixed_ != nullptr && own_class_ < question_.pods) {
      refusal.reason = ReasonCode::kTransportMismatch;
      refusal.note = need + beside + "; nodes of their transport class have room for " +
                     std::to_string(own_class_) + ", others for " +
                     std::to_string(all_ - own_class_);
    } else if (first_fixed_ == nullptr && classes_.most().second < question_.pods) {
      refusal.reason = ReasonCode::kTransportMismatch;
      refusal.note = need + "; room for " + std::to_string(all_) + " in " +
                     std::to_string(classes_.room.size()) +
                     " transport classes, the most of one is " +
                     std::to_string(classes_.most().second);
    } else {
      refuse_domain(refusal, need + beside);
    }
    return refusal;
  }

 private:
  [[nodiscard]] bool in_one_place(const PlanNode& node) const {
    if (node.required == kNoGroup) return false;
    return first_fixed_ == nullptr ||
           (node.transport == first_fixed_->transport && node.required == first_fixed_->required);
  }

  [[nodiscard]] std::string_view level() const {
    return question_.required_topology.empty()
               ? std::string_view(question_.request->topology_required)
               : question_.required_topology;
  }

  void refuse_domain(PlanRefusal& refusal, const std::string& need) {
    refusal.reason = ReasonCode::kOutsideFabricDomain;
    const auto [first, room] = places_.most();
    if (first_fixed_ != nullptr) {
      const NodeState& node = snapshot_.node(first_fixed_->index);
      if (names_clique(level(), node)) refusal.reason = ReasonCode::kCliqueMismatch;
      refusal.note = need + "; in the " + std::string(level()) + " of those there is room for " +
                     std::to_string(room);
      return;
    }
    if (!first) {
      if (level() == "clique") refusal.reason = ReasonCode::kCliqueMismatch;
      refusal.note = need + "; no node with room has a " + std::string(level());
      return;
    }
    const NodeState& node = snapshot_.node(*first);
    if (names_clique(level(), node)) refusal.reason = ReasonCode::kCliqueMismatch;
    std::string name = domain_by(level(), node);
    if (!name.empty() && name.back() == '/') name.pop_back();
    refusal.note = need + "; " + std::string(level()) + " " + name + " of " +
                   std::to_string(domains_.size()) + " has the most room, " + std::to_string(room);
  }

  const PlanQuestion& question_;
  const PlanNodes& nodes_;
  const Snapshot& snapshot_;
  const PlanNode* first_fixed_ = nullptr;
  std::int64_t all_ = 0;
  std::int64_t own_class_ = 0;
  Rooms classes_;
  Rooms places_;                     // where this gang may stand: one class in one required domain
  std::set<std::uint32_t> domains_;  // required ones with room
};

}  // namespace

PlanRefusal refuse(const PlanQuestion& question, const PlanNodes& nodes, const Snapshot& snapshot) {
  return Refuser(question, nodes, snapshot).refuse();
}

}  // namespace rankward::placement
