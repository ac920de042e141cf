#include "node_links.hpp"

#include <boost/container_hash/hash.hpp>

#include <algorithm>
#include <array>
#include <bit>

namespace rankward::placement {

namespace {

using topology::NodeTopology;

double slowest(const NodeLinks& links, bool crosses) {
  const double intra = links.intra.bandwidth.value;
  return crosses ? std::min(intra, links.inter.bandwidth.value) : intra;
}

NodeLinks of_set(const LinkQuestion& question, const GpuSet& set) {
  NodeLinks links{topology::intra_node(*question.machine, set), {}};
  if (question.crosses) {
    links.inter = topology::inter_node(*question.machine, set, question.transport);
  }
  return links;
}

void keep_worse(NodeLinks& worst, NodeLinks links, bool crosses) {
  if (slowest(links, crosses) < slowest(worst, crosses)) worst = std::move(links);
}

// Below what any set has: a ring is no slower than its slowest pair could be, and more GPUs reach
// no fewer NICs than one.
NodeLinks at_least(const LinkQuestion& question) {
  const auto gpus = static_cast<std::uint32_t>(question.machine->gpus.size());
  NodeLinks worst = of_set(question, {0});
  for (std::uint32_t a = 0; a < gpus; ++a) {
    if (question.crosses) {
      const GpuSet one{a};
      auto inter = topology::inter_node(*question.machine, one, question.transport);
      if (inter.bandwidth < worst.inter.bandwidth) worst.inter = std::move(inter);
    }
    for (std::uint32_t b = a + 1; question.count > 1 && b < gpus; ++b) {
      const std::array<std::uint32_t, 2> pair{a, b};
      auto intra = topology::intra_node(*question.machine, pair);
      if (intra.bandwidth < worst.intra.bandwidth) worst.intra = std::move(intra);
    }
  }
  return worst;
}

// Slices and replicas talk through host memory, and which GPU each is on nobody knows.
NodeLinks of_parts(const LinkQuestion& question) {
  NodeTopology parts = *question.machine;
  parts.sharing = topology::SharingMode::kMigSingle;
  LinkQuestion one = question;
  one.machine = &parts;
  NodeLinks links;
  if (parts.gpus.empty()) {
    links = of_set(one, {0});
  } else {
    one.count = 1;
    links = at_least(one);
  }
  GpuSet several(question.count);
  for (std::uint32_t i = 0; i < question.count; ++i)
    several[i] = i;
  links.intra = topology::intra_node(parts, several);
  return links;
}

NodeLinks work_out(const LinkQuestion& question) {
  if (!question.whole_gpus) return of_parts(question);
  const auto held = static_cast<std::uint32_t>(std::popcount(question.held));
  if (held + question.count >= question.machine->gpus.size() && !question.machine->gpus.empty()) {
    return of_set(question,
                  predict_pick(*question.machine, {}, held + question.count).sets.front());
  }
  const Pick pick = predict_pick(*question.machine, question.free, question.count);
  if (pick.open) return at_least(question);
  NodeLinks worst;
  bool first = true;
  for (GpuSet set : pick.sets) {
    for (std::uint64_t mask = question.held; mask != 0; mask &= mask - 1) {
      set.push_back(static_cast<std::uint32_t>(std::countr_zero(mask)));
    }
    NodeLinks links = of_set(question, set);
    if (first) {
      worst = std::move(links);
    } else {
      keep_worse(worst, std::move(links), question.crosses);
    }
    first = false;
  }
  return worst;
}

}  // namespace

bool only_whole_gpus(const Request& request, const topology::NodeTopology& topology) {
  using topology::SharingMode;
  const bool divided = topology.sharing == SharingMode::kTimeSlicing ||
                       topology.sharing == SharingMode::kMps ||
                       topology.sharing == SharingMode::kMigSingle;
  return !divided && std::all_of(request.devices.begin(), request.devices.end(),
                                 [](const DeviceRequest& device) {
                                   return device.kind == kube::DeviceKind::kWholeGpu;
                                 });
}

bool is_reported(const topology::NodeTopology& topology) {
  return !topology.gpus.empty() || !topology.nics.empty();
}

double clique_bandwidth(const topology::NodeTopology& topology, double otherwise) {
  const auto nvlink = topology::nvlink_per_gpu(topology);
  return nvlink ? nvlink->value : otherwise;
}

std::size_t LinkMemo::Hash::operator()(const LinkQuestion& question) const {
  std::size_t seed = 0;
  boost::hash_combine(seed, question.machine);
  boost::hash_combine(seed, static_cast<int>(question.transport));
  boost::hash_combine(seed, question.crosses);
  boost::hash_combine(seed, question.whole_gpus);
  boost::hash_combine(seed, question.held);
  boost::hash_combine(seed, question.free.value_or(~std::uint64_t{0}));
  boost::hash_combine(seed, question.count);
  return seed;
}

const NodeLinks& LinkMemo::links(const LinkQuestion& question) {
  auto& known = known_[question];
  if (!known) known = std::make_unique<NodeLinks>(work_out(question));
  return *known;
}

}  // namespace rankward::placement
