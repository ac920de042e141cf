// Every way to spread a gang over a small cluster, one after the other: what the planner is held
// to. Shares nothing with it but what a node has room for, which GPUs the plugin picks and how fast
// links are.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "rankward/placement/plan.hpp"

namespace rankward::placement::testing {

// The objective's terms, in its order; names left out.
struct PlanTerms {
  double seconds = 0;
  bool unknown = false;            // stands on a node of which nobody reports devices
  bool outside_preferred = false;  // a domain was preferred, and this is not all in one
  std::uint32_t tier = 0;
  std::int64_t nodes = 0;
  std::int64_t broken = 0;
  std::int64_t left_over = 0;
  std::int64_t gpu_sets = 0;

  // Those that decide among plans of equal seconds.
  [[nodiscard]] auto rest() const {
    return std::tuple(unknown, outside_preferred, tier, nodes, broken, left_over, gpu_sets);
  }
};

class ExhaustivePlanner {
 public:
  ExhaustivePlanner(const PlanQuestion& question, const Snapshot& snapshot, const HeldPlaces& held,
                    const Options& options);

  // `seconds` is the least over all plans, the rest of the best plan within 2 % of it. Nothing:
  // there is no plan.
  [[nodiscard]] std::optional<PlanTerms> best() const;
  // Nothing where these slots are no plan: too many on a node, mixed transport, not one domain.
  [[nodiscard]] std::optional<PlanTerms> terms_of(const std::vector<NodeIndex>& slots) const;

 private:
  using GpuIndexes = std::set<std::set<std::uint32_t>>;
  struct Links {
    double intra = 0;
    double inter = 0;
    double step = 0;
    GpuIndexes gpus;
  };
  struct Place {
    NodeIndex index;
    std::int32_t room = 0;
    std::int32_t fixed = 0;
    bool whole_free = false;
    std::int64_t free_devices = 0;
    std::vector<Links> crossing;  // by new pods
    std::vector<Links> inside;
  };

  void read(NodeIndex index);
  [[nodiscard]] Links links(const Place& place, std::int32_t pods, bool crosses) const;
  [[nodiscard]] std::optional<PlanTerms> terms(const std::vector<std::int32_t>& shares) const;
  void for_each(std::vector<std::int32_t>& shares, std::size_t place, std::int32_t left,
                const std::function<void(const PlanTerms&)>& visit) const;
  [[nodiscard]] bool one_class(const std::vector<const Place*>& used) const;
  [[nodiscard]] bool one_domain(std::string_view level,
                                const std::vector<const Place*>& used) const;
  [[nodiscard]] std::uint32_t tier(const std::vector<const Place*>& used) const;

  const PlanQuestion& question_;
  const Request& request_;
  const Snapshot& snapshot_;
  const HeldPlaces& held_;
  const Options& options_;
  std::vector<Place> places_;
  std::int64_t gpus_ = 0;
  std::size_t levels_ = 0;  // of the fabric, the most that a usable node names
};

}  // namespace rankward::placement::testing
