#include "rankward/placement/evaluate.hpp"

#include <algorithm>
#include <bit>
#include <limits>

#include "collective.hpp"
#include "device_pick.hpp"
#include "fabric_tier.hpp"
#include "network.hpp"
#include "node_links.hpp"

namespace rankward::placement {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// Keeps the slowest link of all and remembers its name.
struct Slowest {
  double bandwidth = kUnlimited;
  std::string link;

  void add(double other, const NodeState& node, const std::string& name) {
    if (other >= bandwidth) return;
    bandwidth = other;
    link = node.node->metadata.name + ": " + name;
  }
};

LinkQuestion question_of(const Request& request, const Share& share, const NodeState& node,
                         bool crosses, topology::Transport transport) {
  LinkQuestion question;
  question.machine = node.machine.get();
  question.transport = transport;
  question.crosses = crosses;
  question.whole_gpus = only_whole_gpus(request, *node.machine);
  if (share.gpus && !node.machine->gpus.empty()) {
    question.held = *share.gpus;
  } else {
    question.count = static_cast<std::uint32_t>(
        std::min<std::int64_t>(1024, request.gpus() * std::max(0, share.pods)));
    question.free = node.free_gpu_mask;
  }
  return question;
}

}  // namespace

Evaluation evaluate(const Request& request, std::span<const Share> shares, const Snapshot& snapshot,
                    const Options& options) {
  Evaluation evaluation;
  Prediction& prediction = evaluation.prediction;
  prediction.nodes = static_cast<std::uint32_t>(shares.size());
  const bool crosses = shares.size() > 1;

  std::int64_t gpus = 0;
  for (const Share& share : shares)
    gpus += request.gpus() * share.pods;
  if (crosses) {
    // Domains are nested, so where each meets the first tells where all meet.
    const auto& first = snapshot.node(shares.front().node).topology->fabric;
    for (const Share& share : shares.subspan(1)) {
      prediction.tier = std::max(
          prediction.tier, common_tier(first, snapshot.node(share.node).topology->fabric, options));
    }
    prediction.transport = network_of(request, snapshot.node(shares.front().node)).transport;
  }
  if (gpus < 2) {
    prediction.bandwidth = {kUnlimited};
    prediction.bottleneck = request.gpus() == 1 ? "one GPU: nothing to send" : "nothing to send";
    return evaluation;
  }

  const bool in_clique = crosses && prediction.tier == kCliqueTier;
  const double factor = factor_of(prediction.tier, options);
  LinkMemo memo;
  Slowest slowest;
  double step = 0;
  for (const Share& share : shares) {
    const NodeState& node = snapshot.node(share.node);
    const topology::Transport transport = network_of(request, node).transport;
    const NodeLinks& links = memo.links(question_of(request, share, node, crosses, transport));
    step = std::max(step, links.intra.step.value);
    slowest.add(links.intra.bandwidth.value, node, links.intra.link);
    prediction.topology_known = prediction.topology_known && is_reported(*node.machine);
    if (!crosses) continue;
    if (transport != prediction.transport) evaluation.mixed_transport = true;
    if (in_clique) {
      slowest.add(clique_bandwidth(*node.machine, links.inter.bandwidth.value) * factor, node,
                  "NVLink clique");
    } else {
      slowest.add(links.inter.bandwidth.value * factor, node, links.inter.link);
    }
  }
  prediction.bandwidth = {slowest.bandwidth};
  prediction.bottleneck = std::move(slowest.link);
  prediction.seconds = time_of({request.message_size,
                                gpus,
                                static_cast<std::int64_t>(shares.size()),
                                {slowest.bandwidth},
                                {step}});
  return evaluation;
}

std::optional<std::uint64_t> pick_gpus(const NodeState& node, std::uint64_t free,
                                       std::size_t count) {
  const std::size_t gpus = node.machine->gpus.size();
  if (gpus == 0 || gpus > 64 || static_cast<std::size_t>(std::popcount(free)) < count) {
    return std::nullopt;
  }
  const Pick pick = predict_pick(*node.machine, free, count);
  std::uint64_t mask = 0;
  if (pick.sets.empty()) {
    // Too many to score: the plugin's order decides.
    for (std::size_t i = 0; i < count; ++i, free &= free - 1)
      mask |= free & (~free + 1);
    return mask;
  }
  for (const std::uint32_t position : pick.sets.front())
    mask |= std::uint64_t{1} << position;
  return mask;
}

}  // namespace rankward::placement
