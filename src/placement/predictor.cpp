#include "predictor.hpp"

#include <algorithm>
#include <limits>

#include "collective.hpp"
#include "fabric_tier.hpp"
#include "network.hpp"

namespace rankward::placement {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
// Collectives of more GPUs than any machine has are counted, not listed.
constexpr std::int64_t kMostGpus = 1024;

const NodeState& empty_node() {
  static const NodeState kNode = [] {
    NodeState node;
    node.node = std::make_shared<const kube::Node>();
    node.topology = std::make_shared<const topology::NodeTopology>();
    node.machine = node.topology;
    return node;
  }();
  return kNode;
}

}  // namespace

std::int64_t hosts_pods(const Request& request, const NodeState& node) {
  std::int64_t pods = std::numeric_limits<std::int64_t>::max();
  bool counted = false;
  for (const auto* devices : {&request.devices, &request.nics}) {
    for (const DeviceRequest& device : *devices) {
      if (device.kind == kube::DeviceKind::kFraction) continue;
      pods = std::min(pods, node.free(device.resource).value_or(0) / device.count);
      counted = true;
    }
  }
  return counted ? std::max<std::int64_t>(1, pods) : 1;
}

Predictor::Predictor(const Request& request, const Snapshot& snapshot, const Options& options)
    : request_(request),
      request_gpus_(request.gpus()),
      snapshot_(snapshot),
      options_(options),
      gang_(request, snapshot, options) {
  if (!gang_.empty() && request_.gpus() > 0) all_others_ = others_than(nullptr);
}

const NodeLinks& Predictor::links(const NodeState& node, const GangNode* members,
                                  std::uint32_t count, bool crosses,
                                  topology::Transport transport) {
  LinkQuestion question;
  question.machine = node.machine.get();
  question.transport = transport;
  question.crosses = crosses;
  question.whole_gpus = only_whole_gpus(request_, *node.machine);
  question.count = count;
  question.free = node.free_gpu_mask;
  if (members != nullptr && members->pods > 0) {
    if (members->held && (question.free || count == 0)) {
      question.held = *members->held;
    } else {
      // Which GPUs the others have is not known: any of the node for all of them.
      question.count = static_cast<std::uint32_t>(std::min(kMostGpus, count + members->gpus));
      question.free.reset();
    }
  }
  return memo_.links(question);
}

Predictor::Others Predictor::others_than(const GangNode* here) {
  Others others{kUnlimited, kUnlimited, kUnlimited, 0, {}, {}, true};
  for (const GangNode& member : gang_.nodes()) {
    if (here != nullptr && member.index == here->index) continue;
    const NodeState& node = snapshot_.node(member.index);
    const NodeLinks& links =
        this->links(node, &member, 0, true, network_of(request_, node).transport);
    if (links.intra.bandwidth.value < others.intra) {
      others.intra = links.intra.bandwidth.value;
      others.intra_link = node.node->metadata.name + ": " + links.intra.link;
    }
    if (links.inter.bandwidth.value < others.network) {
      others.network = links.inter.bandwidth.value;
      others.network_link = node.node->metadata.name + ": " + links.inter.link;
    }
    others.clique =
        std::min(others.clique, clique_bandwidth(*node.machine, links.inter.bandwidth.value));
    others.step = std::max(others.step, links.intra.step.value);
    others.known = others.known && is_reported(*node.machine);
  }
  return others;
}

Predictor::Stand Predictor::stand(const NodeState& node, const GangNode* members,
                                  std::uint32_t tier) const {
  const std::int64_t gpus = std::min(kMostGpus, request_.gpus());
  Stand stand;
  stand.here = static_cast<std::uint32_t>(gpus);
  stand.gpus = gpus;
  stand.tier = tier;
  if (!gang_.empty()) {
    // The bound ranks held fixed, this one added.
    stand.gpus = gang_.gpus() + gpus;
    stand.nodes = static_cast<std::int64_t>(gang_.nodes().size()) + (members == nullptr ? 1 : 0);
    stand.members = members;
    return stand;
  }
  const std::int64_t pods = gang_.missing().value_or(1);
  if (pods > 1) {
    // The first rank of its gang, as if all nodes were like this one: as few as hold the gang, the
    // pods spread evenly over them.
    const std::int64_t nodes = (pods - 1) / std::min(pods, hosts_pods(request_, node)) + 1;
    const std::int64_t share = (pods - 1) / nodes + 1;
    stand.gpus = gpus * pods;
    stand.nodes = nodes;
    stand.here = static_cast<std::uint32_t>(std::min(kMostGpus, gpus * share));
    return stand;
  }
  // One of two such pods on two nodes, so that the way to the NICs counts.
  if (request_.wants_rdma()) {
    stand.gpus = 2 * gpus;
    stand.nodes = 2;
  }
  return stand;
}

Prediction Predictor::price(const NodeState& node, const Stand& stand, const Others* others) {
  Prediction prediction;
  prediction.nodes = static_cast<std::uint32_t>(stand.nodes);
  const bool crosses = stand.nodes > 1;
  prediction.tier = crosses ? stand.tier : 0;
  prediction.transport =
      crosses ? network_of(request_, node).transport : topology::Transport::kUnknown;
  if (stand.gpus < 2) {
    prediction.bandwidth = {kUnlimited};
    prediction.bottleneck = request_.gpus() == 1 ? "one GPU: nothing to send" : "nothing to send";
    return prediction;
  }
  const NodeLinks& links =
      this->links(node, stand.members, stand.here, crosses, prediction.transport);
  prediction.topology_known = is_reported(*node.machine);

  double slowest = links.intra.bandwidth.value;
  double step = links.intra.step.value;
  const std::string* link = &links.intra.link;
  if (others != nullptr) {
    step = std::max(step, others->step);
    prediction.topology_known = prediction.topology_known && others->known;
    if (others->intra < slowest) {
      slowest = others->intra;
      link = &others->intra_link;
    }
  }
  static const std::string kCliqueLink = "NVLink clique";
  if (crosses) {
    const bool in_clique = stand.tier == kCliqueTier;
    const double factor = factor_of(stand.tier, options_);
    const auto way = [&](double bandwidth, const std::string& name) {
      if (bandwidth * factor >= slowest) return;
      slowest = bandwidth * factor;
      link = in_clique ? &kCliqueLink : &name;
    };
    const double inter = links.inter.bandwidth.value;
    way(in_clique ? clique_bandwidth(*node.machine, inter) : inter, links.inter.link);
    if (others != nullptr) way(in_clique ? others->clique : others->network, others->network_link);
  }
  prediction.bandwidth = {slowest};
  prediction.bottleneck = *link;
  prediction.seconds = time_of({request_.message_size, stand.gpus, stand.nodes, {slowest}, {step}});
  return prediction;
}

const Prediction& Predictor::on(NodeIndex index, std::optional<std::uint32_t> tier) {
  const GangNode* members = gang_.empty() ? nullptr : gang_.on(index);
  std::uint32_t crossed = tier.value_or(kLeafTier);
  if (request_gpus_ <= 0 || (!tier && !gang_.empty())) {
    crossed = gang_.tier_with(snapshot_.node(index));
  }
  if (members != nullptr) {
    return made_.emplace_back(work_out(snapshot_.node(index), members, crossed));
  }
  const Key key(snapshot_.shape(index), crossed);
  if (last_ != nullptr && key == last_key_) return *last_;
  const Prediction*& known = known_[key];
  if (known == nullptr) {
    known = &made_.emplace_back(work_out(snapshot_.node(index), nullptr, crossed));
  }
  last_key_ = key;
  last_ = known;
  return *known;
}

Prediction Predictor::work_out(const NodeState& node, const GangNode* members, std::uint32_t tier) {
  if (request_.gpus() <= 0) {
    // Leaders and pods with claims send nothing that could be foretold, but want to be near.
    Prediction prediction;
    prediction.bandwidth = {kUnlimited};
    prediction.bottleneck = "nothing to send";
    prediction.tier = tier;
    return prediction;
  }
  const Stand where = stand(node, members, tier);
  if (gang_.empty()) return price(node, where, nullptr);
  if (members == nullptr) return price(node, where, &*all_others_);
  const Others others = others_than(members);
  return price(node, where, &others);
}

const Prediction& Predictor::on_unknown_node() {
  if (unknown_node_ != nullptr) return *unknown_node_;
  const NodeState& node = empty_node();
  Prediction prediction;
  if (request_.gpus() > 0) {
    const Others* others = all_others_ ? &*all_others_ : nullptr;
    prediction = price(node, stand(node, nullptr, top_tier(options_)), others);
  } else {
    prediction.bandwidth = {kUnlimited};
    prediction.bottleneck = "nothing to send";
  }
  prediction.topology_known = false;
  unknown_node_ = &made_.emplace_back(std::move(prediction));
  return *unknown_node_;
}

Prediction predict(const Request& request, NodeIndex node, const Snapshot& snapshot,
                   const Options& options) {
  return Predictor(request, snapshot, options).on(node);
}

}  // namespace rankward::placement
