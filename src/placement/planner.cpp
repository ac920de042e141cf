#include <algorithm>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

#include "collective.hpp"
#include "domain_search.hpp"
#include "fabric_tier.hpp"
#include "node_choice.hpp"
#include "planner_arena.hpp"
#include "planner_outcome.hpp"
#include "planner_refusal.hpp"
#include "rankward/placement/plan.hpp"

namespace rankward::placement {

namespace {

// What a plan is compared by before its nodes are.
struct Grade {
  int rank = 0;  // of the arena
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
    as_one_of_two_ = ranks == 1 && request_.wants_rdma() && request_.gpus() > 0;
  }

  PlanResult plan() {
    PlanResult result;
    if (question_.pods <= 0) {
      result.plan.emplace();
      return result;
    }
    const auto arenas = make_arenas(nodes_, fixed_, question_, snapshot_, options_);
    for (const Arena& arena : arenas)
      look_for_least(arena);
    for (const Arena& arena : arenas) {
      if (!choice_ || arena.rank <= grade_.rank) choose_in(arena);
    }
    if (choice_) {
      result.plan = spell_out(*choice_, {&nodes_, &tables_, &snapshot_, &options_,
                                         question_.request, grade_.tier, gpus_, as_one_of_two_});
    } else {
      result.refusal = refuse(question_, nodes_, snapshot_);
    }
    return result;
  }

 private:
  [[nodiscard]] double seconds(double bandwidth, std::int64_t nodes, double step) const {
    return time_of({request_.message_size, gpus_, nodes, {bandwidth}, {step}}).value;
  }

  // The whole gang on this node.
  [[nodiscard]] std::optional<double> seconds_alone(const PlanNode& node) {
    const NodeProfile& profile = nodes_.profile(node);
    if (profile.most() < question_.pods) return std::nullopt;
    if (fixed_.size() > 1 || (fixed_.size() == 1 && node.fixed == 0)) return std::nullopt;
    if (as_one_of_two_) {
      const ShareLinks& links = profile.links[1];
      const double bandwidth = links.bandwidth(kLeafTier, factor_of(kLeafTier, options_));
      return time_of({request_.message_size, 2 * gpus_, 2, {bandwidth}, {links.step}}).value;
    }
    // One kind after the other: nodes that are named alike are mostly of one kind.
    auto& known = alone_.try_emplace(node.kind, -1).first->second;
    if (known < 0) {
      const ShareLinks& links = tables_.alone(*nodes_.kind(node).table, question_.pods);
      known = seconds(links.intra, 1, links.step);
    }
    return known;
  }

  // No plan over several nodes of the arena needs fewer.
  [[nodiscard]] std::int64_t fewest_possible(const Arena& arena) const {
    return std::max<std::int64_t>(
        {2, static_cast<std::int64_t>(fixed_.size()), (question_.pods - 1) / arena.most + 1});
  }

  // Calls `visit` with a search for each bound of this tier that `worth_it` says of the least
  // seconds under it.
  template <class Worth, class Visit>
  void for_each_bound(const Arena& arena, std::uint32_t tier, Worth&& worth_it, Visit&& visit) {
    const std::int64_t least = fewest_possible(arena);
    for (const double step : arena.steps) {
      for (const double bandwidth : arena.bandwidths.at(tier)) {
        if (!worth_it(seconds(bandwidth, least, step))) break;
        visit(DomainSearch(nodes_, fixed_, {tier, factor_of(tier, options_), bandwidth, step},
                           question_.pods));
      }
    }
  }

  template <class Visit>
  void for_each_domain(const Arena& arena, std::uint32_t tier, Visit&& visit) const {
    for (const Domain& domain : arena.tree.domains()) {
      if (domain.tier == tier && domain.fixed == fixed_.size()) visit(domain);
    }
  }

  void keep_least(double seconds) {
    least_ = found_ ? std::min(least_, seconds) : seconds;
    found_ = true;
  }

  void look_for_least(const Arena& arena) {
    for (const std::uint32_t member : arena.members) {
      if (const auto seconds = seconds_alone(nodes_.nodes[member])) keep_least(*seconds);
    }
    for (const auto& [tier, bandwidths] : arena.bandwidths) {
      for_each_bound(
          arena, tier, [this](double seconds) { return !found_ || seconds <= least_; },
          [&, tier = tier](const DomainSearch& search) {
            const PlanLimit& limit = search.limit();
            for_each_domain(arena, tier, [&](const Domain& domain) {
              const auto nodes = search.fewest_nodes(arena.tree.counts(domain));
              if (nodes) keep_least(seconds(limit.bandwidth, *nodes, limit.step));
            });
          });
    }
  }

  [[nodiscard]] bool fast_enough(double seconds) const { return seconds <= least_ * kEqualSeconds; }

  void choose_in(const Arena& arena) {
    bool alone = false;
    for (const std::uint32_t member : arena.members) {
      const auto seconds = seconds_alone(nodes_.nodes[member]);
      if (!seconds || !fast_enough(*seconds)) continue;
      offer_alone(arena, member);
      alone = true;
    }
    if (alone) return;
    for (const auto& [tier, bandwidths] : arena.bandwidths) {
      if (choice_ && Grade{arena.rank, tier, 0} > grade_) return;
      if (choose_at(arena, tier)) return;
    }
  }

  // Whether a domain of this tier holds the gang fast enough.
  bool choose_at(const Arena& arena, std::uint32_t tier) {
    // Fewest nodes by domain, over all bounds that are met fast enough.
    constexpr std::int32_t kNone = std::numeric_limits<std::int32_t>::max();
    std::vector<std::int32_t> fewest(arena.tree.domains().size(), kNone);
    const auto number = [&](const Domain& domain) {
      return static_cast<std::size_t>(&domain - arena.tree.domains().data());
    };
    for_each_bound(
        arena, tier, [this](double seconds) { return fast_enough(seconds); },
        [&](const DomainSearch& search) {
          const PlanLimit& limit = search.limit();
          for_each_domain(arena, tier, [&](const Domain& domain) {
            const auto nodes = search.fewest_nodes(arena.tree.counts(domain));
            if (!nodes || !fast_enough(seconds(limit.bandwidth, *nodes, limit.step))) return;
            fewest[number(domain)] = std::min(fewest[number(domain)], *nodes);
          });
        });
    const std::int32_t nodes = *std::min_element(fewest.begin(), fewest.end());
    if (nodes == kNone) return false;
    const Grade grade{arena.rank, tier, nodes};
    if (choice_ && grade > grade_) return true;
    for_each_domain(arena, tier, [&](const Domain& domain) {
      if (fewest[number(domain)] == nodes) choose_in_domain(arena, domain, grade);
    });
    return true;
  }

  // Of each ring step the least bandwidth that is enough with so many nodes leaves most choice.
  void choose_in_domain(const Arena& arena, const Domain& domain, const Grade& grade) {
    const auto& bandwidths = arena.bandwidths.at(domain.tier);
    ChoiceQuestion question;
    question.nodes = &nodes_;
    question.tables = &tables_;
    question.tree = &arena.tree;
    question.domain = &domain;
    question.fixed = &fixed_;
    question.pods = question_.pods;
    question.count = grade.nodes;
    for (const double step : arena.steps) {
      const auto least = std::find_if(
          bandwidths.rbegin(), bandwidths.rend(),
          [&](double bandwidth) { return fast_enough(seconds(bandwidth, grade.nodes, step)); });
      if (least == bandwidths.rend()) continue;
      question.limit = {domain.tier, factor_of(domain.tier, options_), *least, step};
      const NodeChoice* best = choice_ && grade_ == grade ? &*choice_ : nullptr;
      if (auto choice = choose_nodes(question, best)) offer(grade, std::move(*choice));
    }
  }

  void offer_alone(const Arena& arena, std::uint32_t member) {
    const NodeProfile& profile = nodes_.profile(nodes_.nodes[member]);
    const Grade grade{arena.rank, 0, 1};
    const std::int64_t broken = profile.breaks(question_.pods) ? 1 : 0;
    const std::int64_t left_over = profile.room - question_.pods;
    // Members come in the order of names.
    if (choice_ && grade_ == grade &&
        std::tie(broken, left_over) > std::tie(choice_->broken, choice_->left_over)) {
      return;
    }
    offer(grade, {broken, left_over, 1, {{member, question_.pods}}});
  }

  void offer(const Grade& grade, NodeChoice choice) {
    if (choice_ && (grade > grade_ || (grade == grade_ && !choice.better_than(*choice_)))) return;
    grade_ = grade;
    choice_ = std::move(choice);
  }

  const PlanQuestion& question_;
  const Request& request_;
  const Snapshot& snapshot_;
  const Options& options_;
  ShareTables tables_;
  PlanNodes nodes_;
  std::int64_t gpus_ = 0;             // G
  std::vector<std::uint32_t> fixed_;  // positions in nodes_
  // A lone pod that asks for RDMA is priced as one of two such pods on two nodes under one leaf, so
  // that the way to the NICs counts.
  bool as_one_of_two_ = false;
  std::map<std::uint32_t, double> alone_;  // seconds of the whole gang on one node, by kind
  bool found_ = false;
  double least_ = 0;  // seconds, over all plans
  Grade grade_;
  std::optional<NodeChoice> choice_;
};

}  // namespace

PlanResult make_plan(const PlanQuestion& question, const Snapshot& snapshot, const HeldPlaces& held,
                     const Options& options) {
  return Planner(question, snapshot, held, options).plan();
}

}  // namespace rankward::placement
