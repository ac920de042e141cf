#include "planner_outcome.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <string>
#include <utility>

#include "collective.hpp"
#include "fabric_tier.hpp"
#include "network.hpp"

namespace rankward::placement {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

std::string link_name(ShareTables& tables, const ShareTable& table, std::int32_t pods, bool crosses,
                      bool inside, std::uint32_t tier) {
  if (!inside && tier == kCliqueTier) return "NVLink clique";
  const NodeLinks& links = tables.links(table, pods, crosses);
  return inside ? links.intra.link : links.inter.link;
}

Prediction predict(const NodeChoice& choice, const OutcomeContext& context) {
  Prediction prediction;
  prediction.nodes = context.as_one_of_two ? 2 : static_cast<std::uint32_t>(choice.shares.size());
  prediction.tier = context.as_one_of_two ? kLeafTier : context.tier;
  const bool crosses = prediction.nodes > 1;
  if (crosses) {
    const NodeIndex first = context.nodes->nodes[choice.shares.front().node].index;
    prediction.transport = network_of(*context.request, context.snapshot->node(first)).transport;
  }
  prediction.bandwidth = {kUnlimited};
  const std::int64_t gpus = context.as_one_of_two ? 2 * context.gpus : context.gpus;
  if (gpus < 2) {
    prediction.bottleneck = gpus == 1 ? "one GPU: nothing to send" : "nothing to send";
    return prediction;
  }
  const double phi = factor_of(prediction.tier, *context.options);
  double step = 0;
  for (const NodeShare& share : choice.shares) {
    const PlanNode& node = context.nodes->nodes[share.node];
    ShareTable& table = *context.nodes->kind(node).table;
    prediction.topology_known = prediction.topology_known && table.known();
    const ShareLinks& links = crosses ? table.crossing()[static_cast<std::size_t>(share.pods)]
                                      : context.tables->alone(table, share.pods);
    step = std::max(step, links.step);
    const double bandwidth = crosses ? links.bandwidth(prediction.tier, phi) : links.intra;
    if (bandwidth >= prediction.bandwidth.value) continue;
    prediction.bandwidth = {bandwidth};
    prediction.bottleneck = context.snapshot->node(node.index).node->metadata.name + ": " +
                            link_name(*context.tables, table, share.pods, crosses,
                                      links.intra <= bandwidth, prediction.tier);
  }
  prediction.seconds = time_of(
      {context.request->message_size, gpus, prediction.nodes, prediction.bandwidth, {step}});
  return prediction;
}

}  // namespace

Plan spell_out(const NodeChoice& choice, const OutcomeContext& context) {
  Plan plan;
  std::map<NodeIndex, std::int32_t> pods;
  std::vector<NodeIndex> used;
  for (const NodeShare& share : choice.shares) {
    if (share.pods == 0) continue;
    used.push_back(context.nodes->nodes[share.node].index);
    pods[used.back()] = share.pods;
  }
  for (const NodeIndex index : in_tree_order(std::move(used), *context.snapshot))
    plan.slots.insert(plan.slots.end(), static_cast<std::size_t>(pods[index]), index);
  plan.prediction = predict(choice, context);
  return plan;
}

}  // namespace rankward::placement
