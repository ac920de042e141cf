#include "planner_arena.hpp"

#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "fabric_tier.hpp"

namespace rankward::placement {

namespace {

using Members = std::vector<std::uint32_t>;

class ArenaMaker {
 public:
  ArenaMaker(const PlanNodes& nodes, const Members& fixed, const PlanQuestion& question,
             const Snapshot& snapshot, const Options& options)
      : nodes_(nodes),
        fixed_(fixed),
        question_(question),
        snapshot_(snapshot),
        options_(options),
        top_(whole_fabric_tier(nodes, snapshot, options)) {}

  std::vector<Arena> make() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, Members> classes;
    for (std::uint32_t i = 0; i < nodes_.nodes.size(); ++i) {
      const PlanNode& node = nodes_.nodes[i];
      if (node.fixed == 0 && node.required != kNoGroup) {
        classes[{node.transport, node.required}].push_back(i);
      }
    }
    if (!fixed_.empty()) keep_those_of_fixed(classes);
    for (auto& [key, members] : classes)
      add_variants(std::move(members));
    return std::move(arenas_);
  }

 private:
  // Ranks that stand decide about class and domain; the first of them should they differ.
  void keep_those_of_fixed(
      std::map<std::pair<std::uint32_t, std::uint32_t>, Members>& classes) const {
    const PlanNode& first = nodes_.nodes[fixed_.front()];
    const std::pair key{first.transport, first.required};
    Members own = std::move(classes[key]);
    classes.clear();
    if (first.required == kNoGroup) return;
    own.insert(own.end(), fixed_.begin(), fixed_.end());
    std::sort(own.begin(), own.end());
    classes.emplace(key, std::move(own));
  }

  // All nodes, the known ones, and either's preferred domains.
  void add_variants(Members members) {
    const bool allow = options_.unknown_topology == UnknownTopology::kAllow;
    Members known;
    for (const std::uint32_t member : members) {
      const PlanNode& node = nodes_.nodes[member];
      if (allow || node.fixed > 0 || nodes_.kind(node).table->known()) known.push_back(member);
    }
    const bool all_known = known.size() == members.size();
    add_preferred(known, 0);
    add(std::move(known), 1);
    if (all_known) return;
    add_preferred(members, 2);
    add(std::move(members), 3);
  }

  void add_preferred(const Members& members, int rank) {
    if (question_.request->topology_preferred.empty()) return;
    std::map<std::uint32_t, Members> domains;
    for (const std::uint32_t member : members) {
      const std::uint32_t domain = nodes_.nodes[member].preferred;
      if (domain != kNoGroup) domains[domain].push_back(member);
    }
    for (auto& [domain, inside] : domains)
      add(std::move(inside), rank);
  }

  void add(Members members, int rank) {
    std::int64_t room = 0;
    std::size_t fixed = 0;
    std::vector<bool> profiles(nodes_.profiles.size());
    for (const std::uint32_t member : members) {
      const std::uint32_t profile = nodes_.profile_of(member);
      room += nodes_.profiles[profile].most();
      profiles[profile] = true;
      if (nodes_.nodes[member].fixed > 0) ++fixed;
    }
    if (room < question_.pods || fixed != fixed_.size()) return;
    Arena arena{rank, {}, DomainTree(nodes_, members, snapshot_, top_), {}, {}, 1};
    arena.members = std::move(members);
    collect_values(arena, profiles);
    arenas_.push_back(std::move(arena));
  }

  void collect_values(Arena& arena, const std::vector<bool>& profiles) const {
    std::map<std::uint32_t, std::set<double, std::greater<>>> bandwidths;
    for (const Domain& domain : arena.tree.domains())
      bandwidths.try_emplace(domain.tier);
    std::set<double> steps;
    for (std::size_t i = 0; i < profiles.size(); ++i) {
      if (!profiles[i]) continue;
      const NodeProfile& profile = nodes_.profiles[i];
      arena.most = std::max(arena.most, profile.most());
      for (std::int32_t pods = fixed_.empty() ? 1 : 0; pods <= profile.most(); ++pods) {
        const ShareLinks& links = profile.links[static_cast<std::size_t>(pods)];
        steps.insert(links.step);
        for (auto& [tier, values] : bandwidths)
          values.insert(links.bandwidth(tier, factor_of(tier, options_)));
      }
    }
    arena.steps.assign(steps.begin(), steps.end());
    for (const auto& [tier, values] : bandwidths)
      arena.bandwidths.emplace(tier, std::vector<double>(values.begin(), values.end()));
  }

  const PlanNodes& nodes_;
  const Members& fixed_;
  const PlanQuestion& question_;
  const Snapshot& snapshot_;
  const Options& options_;
  std::uint32_t top_;
  std::vector<Arena> arenas_;
};

}  // namespace

std::vector<Arena> make_arenas(const PlanNodes& nodes, const std::vector<std::uint32_t>& fixed,
                               const PlanQuestion& question, const Snapshot& snapshot,
                               const Options& options) {
  return ArenaMaker(nodes, fixed, question, snapshot, options).make();
}

}  // namespace rankward::placement
