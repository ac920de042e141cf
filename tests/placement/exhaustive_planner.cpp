#include "exhaustive_planner.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "device_pick.hpp"
#include "network.hpp"
#include "node_room.hpp"

namespace rankward::placement::testing {

namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

// Ports that could carry the transport: layer, rate in Gb/s.
std::multiset<std::pair<int, long>> ports(const topology::NodeTopology& machine,
                                          topology::Transport transport) {
  using topology::LinkLayer;
  std::multiset<std::pair<int, long>> result;
  if (transport == topology::Transport::kSocket) return result;
  for (const topology::Nic& nic : machine.nics) {
    const LinkLayer wanted = transport == topology::Transport::kInfiniBand ? LinkLayer::kInfiniBand
                             : transport == topology::Transport::kEfa      ? LinkLayer::kEfa
                                                                           : LinkLayer::kEthernet;
    if (nic.state == topology::PortState::kDown) continue;
    if (nic.link_layer != LinkLayer::kUnknown && nic.link_layer != wanted) continue;
    result.emplace(static_cast<int>(nic.link_layer),
                   nic.rate ? std::lround(nic.rate->value * 8) : -1);
  }
  return result;
}

// Names from the top of the fabric down to this level; empty where it has no name.
std::vector<std::string> path(const topology::FabricPosition& fabric, std::size_t level) {
  if (level >= fabric.domains.size() || fabric.domains[level].empty()) return {};
  return {fabric.domains.begin() + static_cast<std::ptrdiff_t>(level), fabric.domains.end()};
}

double phi(std::uint32_t tier, const Options& options) {
  if (tier == 0) return 1;
  return options.phi[std::min<std::size_t>(tier, options.phi.size()) - 1];
}

// The ring model of placement.md, spelled out once more.
double ring_seconds(double bytes, double gpus, double nodes, double bandwidth, double step) {
  if (gpus < 2) return 0;
  return 2 * (gpus - 1) / gpus * bytes / (bandwidth * 1e9) + 2 * (nodes - 1) * 14e-6 +
         2 * std::max(0.0, gpus - nodes) * step;
}

}  // namespace

ExhaustivePlanner::ExhaustivePlanner(const PlanQuestion& question, const Snapshot& snapshot,
                                     const HeldPlaces& held, const Options& options)
    : question_(question),
      request_(*question.request),
      snapshot_(snapshot),
      held_(held),
      options_(options) {
  gpus_ = request_.gpus() * (question.pods + static_cast<std::int64_t>(question.fixed.size()));
  for (std::uint32_t i = 0; i < snapshot.size(); ++i)
    read({i});
}

void ExhaustivePlanner::read(NodeIndex index) {
  const NodeState& node = snapshot_.node(index);
  Place place;
  place.index = index;
  place.fixed =
      static_cast<std::int32_t>(std::count(question_.fixed.begin(), question_.fixed.end(), index));
  std::int32_t seen = 0;
  for (const Holder& holder : node.holders) {
    if (request_.gang && holder.gang_key == request_.gang->key) ++seen;
  }
  const bool offered =
      !question_.among || std::count(question_.among->begin(), question_.among->end(), index) > 0;
  if (offered && judge(request_, *question_.spec, node, options_, question_.use).fits()) {
    const std::int32_t unseen = place.fixed > 0 ? std::max(0, place.fixed - seen) : 0;
    const NodeRoom room = room_on(request_, node, {held_.on(index), unseen}, question_.use);
    place.room = static_cast<std::int32_t>(std::min<std::int64_t>(room.pods, 1000));
    place.free_devices = room.free_devices;
    place.whole_free = room.whole_free && place.fixed == 0;
  }
  for (std::int32_t pods = 0; pods <= std::min(place.room, question_.pods); ++pods) {
    place.crossing.push_back(links(place, pods, true));
    place.inside.push_back(links(place, pods, false));
  }
  if (place.room > 0 || place.fixed > 0) {
    levels_ = std::max(levels_, node.topology->fabric.domains.size());
  }
  places_.push_back(std::move(place));
}

ExhaustivePlanner::Links ExhaustivePlanner::links(const Place& place, std::int32_t pods,
                                                  bool crosses) const {
  const NodeState& node = snapshot_.node(place.index);
  const std::int32_t fixed = place.fixed;
  const topology::NodeTopology& machine = *node.machine;
  const auto transport = network_of(request_, node).transport;
  std::int64_t choose = request_.gpus() * pods;
  std::set<std::uint32_t> held;
  std::int32_t seen = 0;
  bool held_known = true;
  for (const Holder& holder : node.holders) {
    if (fixed == 0 || !request_.gang || holder.gang_key != request_.gang->key) continue;
    ++seen;
    if (static_cast<std::int64_t>(holder.gpu_indexes.size()) != holder.gpus) held_known = false;
    for (std::uint32_t i = 0; i < machine.gpus.size(); ++i) {
      if (std::count(holder.gpu_indexes.begin(), holder.gpu_indexes.end(), machine.gpus[i].index))
        held.insert(i);
    }
  }
  auto free = node.free_gpu_mask;
  for (const Held& each : held_.on(place.index)) {
    if (each.pods > 0) free.reset();
  }
  if (fixed > 0 && seen <= fixed && held_known && free) {
    choose += request_.gpus() * (fixed - seen);
  } else if (fixed > 0) {
    choose += request_.gpus() * fixed;
    held.clear();
    free.reset();
  }

  Links result{kInfinite, kInfinite, 0, {}};
  if (choose == 0 && held.empty()) return result;
  std::vector<GpuSet> sets;
  if (!machine.gpus.empty() &&
      held.size() + static_cast<std::size_t>(choose) >= machine.gpus.size()) {
    sets = predict_pick(machine, {}, machine.gpus.size()).sets;
  } else {
    sets = predict_pick(machine, free, static_cast<std::size_t>(choose)).sets;
    for (GpuSet& set : sets)
      set.insert(set.end(), held.begin(), held.end());
  }
  double worst = kInfinite;
  bool first = true;
  for (const GpuSet& set : sets) {
    const auto intra = topology::intra_node(machine, set);
    const auto inter = topology::inter_node(machine, set, transport);
    const double slowest =
        crosses ? std::min(intra.bandwidth.value, inter.bandwidth.value) : intra.bandwidth.value;
    if (first || slowest < worst) {
      worst = slowest;
      result.intra = intra.bandwidth.value;
      result.inter = inter.bandwidth.value;
      result.step = intra.step.value;
    }
    first = false;
    std::set<std::uint32_t> indexes;
    for (const std::uint32_t position : set)
      indexes.insert(position < machine.gpus.size() ? machine.gpus[position].index : position);
    result.gpus.insert(std::move(indexes));
  }
  return result;
}

bool ExhaustivePlanner::one_class(const std::vector<const Place*>& used) const {
  const NodeState& first = snapshot_.node(used.front()->index);
  const auto transport = network_of(request_, first).transport;
  for (const Place* place : used) {
    const NodeState& node = snapshot_.node(place->index);
    if (network_of(request_, node).transport != transport) return false;
    if (node.machine->product != first.machine->product) return false;
    if (node.machine->sharing != first.machine->sharing) return false;
    if (transport == topology::Transport::kSocket) continue;
    if (ports(*node.machine, transport) != ports(*first.machine, transport)) return false;
    if (node.machine->gpu_direct != first.machine->gpu_direct) return false;
  }
  return true;
}

bool ExhaustivePlanner::one_domain(std::string_view level,
                                   const std::vector<const Place*>& used) const {
  if (level.empty()) return true;
  std::set<std::vector<std::string>> domains;
  for (const Place* place : used) {
    const NodeState& node = snapshot_.node(place->index);
    const topology::FabricPosition& fabric = node.topology->fabric;
    std::vector<std::string> domain;
    if (level == "clique") {
      if (!fabric.clique.empty()) domain = {fabric.clique};
    } else if (level == "leaf") {
      domain = path(fabric, 0);
    } else if (level == "spine") {
      domain = path(fabric, 1);
    } else if (const auto* value = kube::find(node.node->metadata.labels, level)) {
      domain = {*value};
    }
    if (domain.empty()) return false;
    domains.insert(domain);
  }
  return domains.size() == 1;
}

std::uint32_t ExhaustivePlanner::tier(const std::vector<const Place*>& used) const {
  if (used.size() == 1) return 0;
  std::set<std::string> cliques;
  for (const Place* place : used)
    cliques.insert(snapshot_.node(place->index).topology->fabric.clique);
  if (cliques.size() == 1 && !cliques.begin()->empty()) return 0;
  for (std::size_t level = 0; level < levels_; ++level) {
    std::set<std::vector<std::string>> paths;
    for (const Place* place : used)
      paths.insert(path(snapshot_.node(place->index).topology->fabric, level));
    if (paths.size() == 1 && !paths.begin()->empty()) return static_cast<std::uint32_t>(level) + 1;
  }
  return static_cast<std::uint32_t>(std::max(options_.phi.size(), levels_ + 1));
}

std::optional<PlanTerms> ExhaustivePlanner::terms(const std::vector<std::int32_t>& shares) const {
  std::vector<const Place*> used;
  std::vector<std::int32_t> pods;
  PlanTerms terms;
  std::set<GpuIndexes> sets;
  for (std::size_t i = 0; i < places_.size(); ++i) {
    const Place& place = places_[i];
    if (shares[i] > place.room) return std::nullopt;
    if (shares[i] == 0 && place.fixed == 0) continue;
    used.push_back(&place);
    pods.push_back(shares[i]);
    const std::int64_t devices = request_.devices.empty() ? 0 : request_.devices.front().count;
    if (place.whole_free && place.free_devices > devices * shares[i]) ++terms.broken;
    terms.left_over += place.room - shares[i];
    const auto share = static_cast<std::size_t>(shares[i]);
    sets.insert(place.crossing[share].gpus);
    const auto& machine = *snapshot_.node(place.index).machine;
    if (options_.unknown_topology != UnknownTopology::kAllow && place.fixed == 0 &&
        machine.gpus.empty() && machine.nics.empty()) {
      terms.unknown = true;
    }
  }
  if (used.empty() || !one_class(used)) return std::nullopt;
  if (!one_domain(request_.topology_required, used)) return std::nullopt;
  if (!one_domain(question_.required_topology, used)) return std::nullopt;
  terms.outside_preferred = !one_domain(request_.topology_preferred, used);
  terms.gpu_sets = static_cast<std::int64_t>(sets.size());
  terms.nodes = static_cast<std::int64_t>(used.size());
  terms.tier = tier(used);

  double bandwidth = kInfinite;
  double step = 0;
  double gpus = static_cast<double>(gpus_);
  double nodes = static_cast<double>(used.size());
  // A lone pod that wants RDMA counts as one of two under one leaf.
  const bool pair = question_.pods == 1 && question_.fixed.empty() && request_.wants_rdma();
  const bool crosses = pair || used.size() > 1;
  if (pair) {
    gpus *= 2;
    nodes = 2;
  }
  const std::uint32_t crossed = pair ? 1 : terms.tier;
  for (std::size_t i = 0; i < used.size(); ++i) {
    const auto share = static_cast<std::size_t>(pods[i]);
    const Links& links = crosses ? used[i]->crossing[share] : used[i]->inside[share];
    step = std::max(step, links.step);
    bandwidth = std::min(bandwidth, links.intra);
    if (!crosses) continue;
    double out = phi(crossed, options_) * links.inter;
    if (crossed == 0) {
      out = links.inter;
      const auto nvlink = topology::nvlink_per_gpu(*snapshot_.node(used[i]->index).machine);
      if (nvlink) out = nvlink->value;
    }
    bandwidth = std::min(bandwidth, out);
  }
  terms.seconds =
      ring_seconds(static_cast<double>(request_.message_size.count), gpus, nodes, bandwidth, step);
  return terms;
}

void ExhaustivePlanner::for_each(std::vector<std::int32_t>& shares, std::size_t place,
                                 std::int32_t left,
                                 const std::function<void(const PlanTerms&)>& visit) const {
  if (place == places_.size()) {
    if (left > 0) return;
    if (const auto found = terms(shares)) visit(*found);
    return;
  }
  const std::int32_t most = std::min(left, places_[place].room);
  for (shares[place] = 0; shares[place] <= most; ++shares[place])
    for_each(shares, place + 1, left - shares[place], visit);
  shares[place] = 0;
}

std::optional<PlanTerms> ExhaustivePlanner::best() const {
  std::vector<PlanTerms> all;
  std::vector<std::int32_t> shares(places_.size(), 0);
  for_each(shares, 0, question_.pods, [&all](const PlanTerms& terms) { all.push_back(terms); });
  if (all.empty()) return std::nullopt;
  double least = kInfinite;
  for (const PlanTerms& terms : all)
    least = std::min(least, terms.seconds);
  const PlanTerms* best = nullptr;
  for (const PlanTerms& terms : all) {
    if (terms.seconds > 1.02 * least) continue;
    if (best == nullptr || terms.rest() < best->rest()) best = &terms;
  }
  PlanTerms result = *best;
  result.seconds = least;
  return result;
}

std::optional<PlanTerms> ExhaustivePlanner::terms_of(const std::vector<NodeIndex>& slots) const {
  std::vector<std::int32_t> shares(places_.size(), 0);
  for (const NodeIndex index : slots)
    ++shares[index.value];
  return terms(shares);
}

}  // namespace rankward::placement::testing
