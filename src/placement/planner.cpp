#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "collective.hpp"
#include "domain_search.hpp"
#include "domain_tree.hpp"
#include "fabric_tier.hpp"
#include "network.hpp"
#include "node_choice.hpp"
#include "planner_refusal.hpp"
#include "rankward/placement/plan.hpp"

namespace rankward::placement {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
// placement.md, objective (2): differences below are no reason to break other rules.
constexpr double kEqualSeconds = 1.02;

// Nodes that one plan may be made of.
struct Arena {
  // 0 is best: known nodes in a preferred domain, known ones, then the same with unknown nodes.
  int rank = 0;
  std::vector<std::uint32_t> members;  // with room or fixed ranks, ascending
  DomainTree tree;
  std::vector<DomainContents> contents;  // by domain
  // Over the kinds in it: values of B by tier, largest first, and of the ring step.
  std::map<std::uint32_t, std::vector<double>> bandwidths;
  std::vector<double> steps;  // ascending
};

// What a plan is compared by before its nodes are.
struct Grade {
  int rank = std::numeric_limits<int>::max();
  std::uint32_t tier = 0;
  std::int32_t nodes = 0;
  friend auto operator<=>(const Grade&, const Grade&) = default;
};

class Planner {
 public:
  Planner(const PlanQuestion& question, const Snapshot& snapshot, const HeldPlaces& held,
          const Options& options)
      : question_(question),
        request_(*question.request),
        snapshot_(snapshot),
        options_(options),
        tables_(request_),
        nodes_(look_at_nodes(question, snapshot, held, options, tables_)) {
    const auto ranks =
        std::int64_t{question.pods} + static_cast<std::int64_t>(question.fixed.size());
    if (__builtin_mul_overflow(request_.gpus(), ranks, &gpus_)) {
      gpus_ = std::numeric_limits<std::int64_t>::max();
    }
    for (std::uint32_t i = 0; i < nodes_.nodes.size(); ++i) {
      if (nodes_.nodes[i].fixed > 0) fixed_.push_back(i);
    }
    top_ = whole_fabric_tier(nodes_, snapshot, options);
    alone_in_pair_ = ranks == 1 && request_.wants_rdma() && request_.gpus() > 0;
  }

  PlanResult plan() {
    PlanResult result;
    if (question_.pods <= 0) {
      result.plan.emplace();
      return result;
    }
    make_arenas();
    for (Arena& arena : arenas_)
      look_for_least(arena);
    if (!found_) {
      result.refusal = refuse(question_, nodes_, snapshot_);
      return result;
    }
    for (const Arena& arena : arenas_)
      choose_in(arena);
    if (!choice_) {
      result.refusal = refuse(question_, nodes_, snapshot_);
      return result;
    }
    result.plan = make_plan_of(*choice_);
    return result;
  }

 private:
  // One arena a transport class and required domain; with fixed ranks only theirs.
  void make_arenas() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> classes;
    for (std::uint32_t i = 0; i < nodes_.nodes.size(); ++i) {
      const PlanNode& node = nodes_.nodes[i];
      if (node.fixed == 0 && node.required != kNoGroup) {
        classes[{node.transport, node.required}].push_back(i);
      }
    }
    if (!fixed_.empty()) {
      const PlanNode& first = nodes_.nodes[fixed_.front()];
      const std::pair key{first.transport, first.required};
      auto own = std::move(classes[key]);
      classes.clear();
      own.insert(own.end(), fixed_.begin(), fixed_.end());
      std::sort(own.begin(), own.end());
      if (first.required != kNoGroup) classes.emplace(key, std::move(own));
    }
    for (auto& [key, members] : classes) {
      if (room_of(members) >= question_.pods) add_arenas(std::move(members));
    }
  }

  [[nodiscard]] std::int64_t room_of(const std::vector<std::uint32_t>& members) const {
    std::int64_t room = 0;
    for (const std::uint32_t member : members)
      room += nodes_.kind(nodes_.nodes[member]).most;
    return room;
  }

  // The class whole, its known nodes, and either's preferred domains.
  void add_arenas(std::vector<std::uint32_t> members) {
    const bool allow = options_.unknown_topology == UnknownTopology::kAllow;
    std::vector<std::uint32_t> known;
    for (const std::uint32_t member : members) {
      const PlanNode& node = nodes_.nodes[member];
      if (allow || node.fixed > 0 || nodes_.kind(node).table->known()) known.push_back(member);
    }
    const bool all_known = known.size() == members.size();
    add_preferred(known, 0);
    add_arena(std::move(known), 1);
    if (all_known) return;
    add_preferred(members, 2);
    add_arena(std::move(members), 3);
  }

  void add_preferred(const std::vector<std::uint32_t>& members, int rank) {
    if (request_.topology_preferred.empty()) return;
    std::map<std::uint32_t, std::vector<std::uint32_t>> domains;
    for (const std::uint32_t member : members) {
      if (nodes_.nodes[member].preferred != kNoGroup) {
        domains[nodes_.nodes[member].preferred].push_back(member);
      }
    }
    for (auto& [domain, inside] : domains)
      add_arena(std::move(inside), rank);
  }

  void add_arena(std::vector<std::uint32_t> members, int rank) {
    const auto fixed = std::count_if(members.begin(), members.end(), [this](std::uint32_t member) {
      return nodes_.nodes[member].fixed > 0;
    });
    if (static_cast<std::size_t>(fixed) != fixed_.size()) return;
    if (room_of(members) < question_.pods) return;
    Arena arena;
    arena.rank = rank;
    arena.tree = make_domain_tree(nodes_, members, snapshot_, top_);
    arena.members = std::move(members);
    std::set<double> steps;
    std::set<std::uint32_t> kinds;
    for (const std::uint32_t member : arena.members)
      kinds.insert(nodes_.nodes[member].kind);
    std::set<std::uint32_t> tiers;
    for (const Domain& domain : arena.tree.domains) {
      tiers.insert(domain.tier);
      arena.contents.push_back(contents_of(domain));
    }
    std::map<std::uint32_t, std::set<double>> values;
    for (const std::uint32_t number : kinds) {
      const NodeKind& kind = nodes_.kinds[number];
      for (std::int32_t pods = fixed_.empty() ? 1 : 0; pods <= kind.most; ++pods) {
        const ShareLinks& links = kind.table->at(pods);
        steps.insert(links.step);
        for (const std::uint32_t tier : tiers)
          values[tier].insert(links.bandwidth(tier, factor_of(tier, options_)));
      }
    }
    for (const auto& [tier, each] : values)
      arena.bandwidths.emplace(tier, std::vector<double>(each.rbegin(), each.rend()));
    arena.steps.assign(steps.begin(), steps.end());
    arenas_.push_back(std::move(arena));
  }

  [[nodiscard]] DomainContents contents_of(const Domain& domain) const {
    DomainContents contents;
    std::map<std::uint32_t, std::size_t> places;
    for (const std::uint32_t member : domain.members) {
      const PlanNode& node = nodes_.nodes[member];
      if (node.fixed > 0) {
        contents.fixed.push_back(member);
        continue;
      }
      const auto [place, added] = places.try_emplace(node.kind, contents.alike.size());
      if (added) contents.alike.push_back({node.kind, {}});
      contents.alike[place->second].nodes.push_back(member);
    }
    return contents;
  }

  [[nodiscard]] double seconds(double bandwidth, std::int64_t nodes, double step) const {
    return time_of({request_.message_size, gpus_, nodes, {bandwidth}, {step}}).value;
  }

  // The whole gang on this node.
  [[nodiscard]] std::optional<double> seconds_alone(const PlanNode& node) const {
    const NodeKind& kind = nodes_.kind(node);
    if (kind.most < question_.pods) return std::nullopt;
    if (fixed_.size() > 1 || (fixed_.size() == 1 && node.fixed == 0)) return std::nullopt;
    if (alone_in_pair_) {
      // As one of two such pods on two nodes, so that the way to the NICs counts.
      const ShareLinks& links = kind.table->at(1);
      const double bandwidth = links.bandwidth(kLeafTier, factor_of(kLeafTier, options_));
      return time_of({request_.message_size, 2 * gpus_, 2, {bandwidth}, {links.step}}).value;
    }
    const ShareLinks& links = kind.table->alone(question_.pods);
    return seconds(links.intra, 1, links.step);
  }

  [[nodiscard]] bool holds_fixed(const DomainContents& contents) const {
    return contents.fixed.size() == fixed_.size();
  }

  [[nodiscard]] PlanLimit limit(std::uint32_t tier, double bandwidth, double step) const {
    return {tier, factor_of(tier, options_), bandwidth, step};
  }

  void keep_least(double seconds) {
    if (!found_ || seconds < least_) least_ = seconds;
    found_ = true;
  }

  void look_for_least(const Arena& arena) {
    for (const std::uint32_t member : arena.members) {
      if (const auto seconds = seconds_alone(nodes_.nodes[member])) keep_least(*seconds);
    }
    for (std::size_t i = 0; i < arena.contents.size(); ++i) {
      const DomainContents& contents = arena.contents[i];
      if (!holds_fixed(contents)) continue;
      const std::uint32_t tier = arena.tree.domains[i].tier;
      const auto& bandwidths = arena.bandwidths.at(tier);
      for (const double step : arena.steps) {
        for (const double bandwidth : bandwidths) {
          if (found_ && seconds(bandwidth, 2, step) > least_) break;
          const auto nodes =
              fewest_nodes(nodes_, contents, limit(tier, bandwidth, step), question_.pods);
          if (nodes) keep_least(seconds(bandwidth, *nodes, step));
        }
      }
    }
  }

  [[nodiscard]] bool fast_enough(double seconds) const { return seconds <= least_ * kEqualSeconds; }

  void choose_in(const Arena& arena) {
    if (choice_ && arena.rank > grade_.rank) return;
    for (const std::uint32_t member : arena.members) {
      const PlanNode& node = nodes_.nodes[member];
      const auto seconds = seconds_alone(node);
      if (seconds && fast_enough(*seconds)) offer({arena.rank, 0, 1}, alone(member));
    }
    for (std::size_t i = 0; i < arena.contents.size(); ++i) {
      if (holds_fixed(arena.contents[i])) {
        choose_in_domain(arena, arena.tree.domains[i].tier, arena.contents[i]);
      }
    }
  }

  void choose_in_domain(const Arena& arena, std::uint32_t tier, const DomainContents& contents) {
    // Fewest nodes first: of each step the least bandwidth that is enough with so many.
    std::int32_t fewest = std::numeric_limits<std::int32_t>::max();
    const auto& bandwidths = arena.bandwidths.at(tier);
    for (const double step : arena.steps) {
      for (const double bandwidth : bandwidths) {
        if (!fast_enough(seconds(bandwidth, 2, step))) break;
        const auto nodes =
            fewest_nodes(nodes_, contents, limit(tier, bandwidth, step), question_.pods);
        if (nodes && fast_enough(seconds(bandwidth, *nodes, step))) {
          fewest = std::min(fewest, *nodes);
        }
      }
    }
    const Grade grade{arena.rank, tier, fewest};
    if (fewest == std::numeric_limits<std::int32_t>::max() || (choice_ && grade > grade_)) return;
    for (const double step : arena.steps) {
      const auto least = std::find_if(
          bandwidths.rbegin(), bandwidths.rend(),
          [&](double bandwidth) { return fast_enough(seconds(bandwidth, fewest, step)); });
      if (least == bandwidths.rend()) continue;
      if (auto choice =
              choose_nodes(nodes_, contents, limit(tier, *least, step), question_.pods, fewest)) {
        offer(grade, std::move(*choice));
      }
    }
  }

  [[nodiscard]] NodeChoice alone(std::uint32_t member) const {
    const NodeKind& kind = nodes_.kind(nodes_.nodes[member]);
    NodeChoice choice;
    choice.broken = nodes_.breaks(kind, question_.pods) ? 1 : 0;
    choice.left_over = kind.room - question_.pods;
    choice.gpu_sets = 1;
    choice.shares = {{member, question_.pods}};
    return choice;
  }

  void offer(const Grade& grade, NodeChoice choice) {
    if (choice_ && (grade > grade_ || (grade == grade_ && !choice.better_than(*choice_)))) return;
    grade_ = grade;
    choice_ = std::move(choice);
  }

  [[nodiscard]] Plan make_plan_of(const NodeChoice& choice) {
    Plan plan;
    std::map<NodeIndex, std::int32_t> pods;
    std::vector<NodeIndex> used;
    for (const NodeShare& share : choice.shares) {
      if (share.pods == 0) continue;
      const NodeIndex index = nodes_.nodes[share.node].index;
      pods[index] = share.pods;
      used.push_back(index);
    }
    for (const NodeIndex index : in_tree_order(std::move(used), snapshot_))
      plan.slots.insert(plan.slots.end(), static_cast<std::size_t>(pods[index]), index);
    plan.prediction = predict(choice);
    return plan;
  }

  [[nodiscard]] Prediction predict(const NodeChoice& choice) {
    Prediction prediction;
    prediction.nodes = alone_in_pair_ ? 2 : static_cast<std::uint32_t>(choice.shares.size());
    prediction.tier = alone_in_pair_ ? kLeafTier : grade_.tier;
    const bool crosses = prediction.nodes > 1;
    if (crosses) {
      const NodeIndex first = nodes_.nodes[choice.shares.front().node].index;
      prediction.transport = network_of(request_, snapshot_.node(first)).transport;
    }
    prediction.bandwidth = {kUnlimited};
    const std::int64_t gpus = alone_in_pair_ ? 2 * gpus_ : gpus_;
    if (gpus < 2) {
      prediction.bottleneck = gpus == 1 ? "one GPU: nothing to send" : "nothing to send";
      return prediction;
    }
    const PlanLimit limit = this->limit(prediction.tier, 0, 0);
    double step = 0;
    for (const NodeShare& share : choice.shares) {
      const PlanNode& node = nodes_.nodes[share.node];
      const ShareTable& table = *nodes_.kind(node).table;
      prediction.topology_known = prediction.topology_known && table.known();
      const ShareLinks& links = crosses ? table.at(share.pods) : table.alone(share.pods);
      step = std::max(step, links.step);
      const double bandwidth = crosses ? links.bandwidth(limit.tier, limit.phi) : links.intra;
      if (bandwidth >= prediction.bandwidth.value) continue;
      prediction.bandwidth = {bandwidth};
      const NodeLinks& named = tables_.links(table, share.pods, crosses);
      const bool inside = links.intra <= bandwidth;
      const std::string& link = inside                      ? named.intra.link
                                : limit.tier == kCliqueTier ? kCliqueLink
                                                            : named.inter.link;
      prediction.bottleneck = snapshot_.node(node.index).node->metadata.name + ": " + link;
    }
    prediction.seconds =
        time_of({request_.message_size, gpus, prediction.nodes, prediction.bandwidth, {step}});
    return prediction;
  }

  inline static const std::string kCliqueLink = "NVLink clique";

  const PlanQuestion& question_;
  const Request& request_;
  const Snapshot& snapshot_;
  const Options& options_;
  ShareTables tables_;
  PlanNodes nodes_;
  std::int64_t gpus_ = 0;             // G
  std::vector<std::uint32_t> fixed_;  // positions in nodes_
  std::uint32_t top_ = 0;             // the tier of the whole fabric
  // A lone pod that asks for RDMA is priced as one of two such pods on two nodes.
  bool alone_in_pair_ = false;
  std::vector<Arena> arenas_;
  bool found_ = false;
  double least_ = 0;  // seconds
  Grade grade_;
  std::optional<NodeChoice> choice_;
};

}  // namespace

PlanResult make_plan(const PlanQuestion& question, const Snapshot& snapshot, const HeldPlaces& held,
                     const Options& options) {
  return Planner(question, snapshot, held, options).plan();
}

}  // namespace rankward::placement
