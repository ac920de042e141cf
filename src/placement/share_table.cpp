#include "share_table.hpp"

#include <bit>
#include <boost/container_hash/hash.hpp>
#include <limits>

#include "device_pick.hpp"

namespace rankward::placement {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
// Collectives of more GPUs than any machine has are counted, not listed.
constexpr std::int64_t kMostGpus = 1024;
constexpr std::size_t kMaskBits = 64;
constexpr std::uint64_t kAnySet = ~std::uint64_t{0};

bool takes_all(const LinkQuestion& question) {
  const std::size_t gpus = question.machine->gpus.size();
  return gpus > 0 &&
         static_cast<std::size_t>(std::popcount(question.held)) + question.count >= gpus;
}

}  // namespace

std::size_t ShareTables::Hash::operator()(const ShareKey& key) const {
  std::size_t seed = 0;
  boost::hash_combine(seed, key.machine);
  boost::hash_combine(seed, static_cast<int>(key.transport));
  boost::hash_combine(seed, key.free.value_or(~std::uint64_t{0}));
  boost::hash_combine(seed, key.held);
  boost::hash_combine(seed, key.extra);
  return seed;
}

LinkQuestion ShareTables::question(const ShareKey& key, std::int32_t pods, bool crosses) const {
  LinkQuestion question;
  question.machine = key.machine;
  question.transport = key.transport;
  question.crosses = crosses;
  question.whole_gpus = only_whole_gpus(request_, *key.machine);
  question.held = key.held;
  question.free = key.free;
  const std::int64_t ranks = std::int64_t{pods} + key.extra;
  std::int64_t gpus = 0;
  if (__builtin_mul_overflow(request_.gpus(), ranks, &gpus)) gpus = kMostGpus;
  question.count = static_cast<std::uint32_t>(std::min(kMostGpus, gpus));
  return question;
}

const ShareLinks& ShareTables::of_set(OfSets& sets, std::uint64_t bits) {
  const auto [place, added] = sets.known.try_emplace(bits);
  if (added) {
    GpuSet set;
    for (std::uint64_t mask = bits; mask != 0; mask &= mask - 1)
      set.push_back(static_cast<std::uint32_t>(std::countr_zero(mask)));
    const auto intra = topology::intra_node(*sets.machine, set);
    const auto inter = topology::inter_node(*sets.machine, set, sets.transport);
    place->second = {intra.bandwidth.value, inter.bandwidth.value, 0, intra.step.value};
  }
  return place->second;
}

// As LinkMemo has it, but each set of GPUs is worked out once for all free masks.
ShareLinks ShareTables::worst_pick(const LinkQuestion& question) {
  auto found = std::find_if(sets_.begin(), sets_.end(), [&](const auto& each) {
    return each->machine == question.machine && each->transport == question.transport;
  });
  if (found == sets_.end()) {
    found = sets_.insert(found, std::make_unique<OfSets>());
    (*found)->machine = question.machine;
    (*found)->transport = question.transport;
  }
  OfSets& sets = **found;
  const Pick pick = predict_pick(*question.machine, question.free, question.count);
  ShareLinks worst;
  double slowest = kUnlimited;
  bool first = true;
  for (const GpuSet& set : pick.sets) {
    std::uint64_t bits = question.held;
    for (const std::uint32_t position : set)
      bits |= std::uint64_t{1} << position;
    const ShareLinks& links = of_set(sets, bits);
    const double speed = question.crosses ? std::min(links.intra, links.network) : links.intra;
    if (first || speed < slowest) {
      worst = links;
      slowest = speed;
    }
    first = false;
  }
  if (!first) return worst;
  const NodeLinks& any = memo_.links(question);
  return {any.intra.bandwidth.value, any.inter.bandwidth.value, 0, any.intra.step.value};
}

ShareLinks ShareTables::share(const ShareKey& key, std::int32_t pods, bool crosses) {
  const LinkQuestion question = this->question(key, pods, crosses);
  ShareLinks share{kUnlimited, kUnlimited, kUnlimited, 0};
  if (question.count == 0 && question.held == 0) return share;  // nothing is sent
  const std::size_t gpus = key.machine->gpus.size();
  if (question.whole_gpus && gpus > 0 && gpus <= kMaskBits && !takes_all(question)) {
    share = worst_pick(question);
  } else {
    const NodeLinks& links = memo_.links(question);
    share = {links.intra.bandwidth.value, links.inter.bandwidth.value, 0, links.intra.step.value};
  }
  share.clique = crosses ? clique_bandwidth(*key.machine, share.network) : kUnlimited;
  return share;
}

const NodeLinks& ShareTables::links(const ShareTable& table, std::int32_t pods, bool crosses) {
  return memo_.links(question(table.key_, pods, crosses));
}

ShareTable* ShareTables::table(const ShareKey& key, std::int32_t most) {
  auto& table = tables_[key];
  if (!table) {
    table = std::make_unique<ShareTable>();
    table->key_ = key;
    table->known_ = is_reported(*key.machine);
  }
  for (auto pods = static_cast<std::int32_t>(table->crossing_.size()); pods <= most; ++pods)
    table->crossing_.push_back(share(key, pods, true));
  return table.get();
}

const ShareLinks& ShareTables::alone(ShareTable& table, std::int32_t pods) {
  const auto found = table.alone_.find(pods);
  if (found != table.alone_.end()) return found->second;
  return table.alone_.emplace(pods, share(table.key_, pods, false)).first->second;
}

// Named by the sets that may come out; of devices that nobody reports, by how many.
std::uint32_t ShareTables::gpus(ShareTable& table, std::int32_t pods) {
  const auto known = table.gpus_.find(pods);
  if (known != table.gpus_.end()) return known->second;
  const LinkQuestion question = this->question(table.key_, pods, true);
  const auto& gpus = question.machine->gpus;
  const auto held = static_cast<std::uint64_t>(std::popcount(question.held));
  std::vector<std::uint64_t> name;
  const auto add = [&](const GpuSet& set) {
    std::array<std::uint64_t, 2> indexes{};
    const auto put = [&](std::size_t position) {
      const std::size_t index = position < gpus.size() ? gpus[position].index : position;
      indexes[index / kMaskBits % indexes.size()] |= std::uint64_t{1} << index % kMaskBits;
    };
    for (const std::uint32_t position : set)
      put(position);
    for (std::uint64_t mask = question.held; mask != 0; mask &= mask - 1)
      put(static_cast<std::size_t>(std::countr_zero(mask)));
    name.insert(name.end(), indexes.begin(), indexes.end());
  };
  if (!question.whole_gpus) {
    name = {kAnySet, question.count};
  } else if (takes_all(question)) {
    add(predict_pick(*question.machine, {}, gpus.size()).sets.front());
  } else {
    const Pick pick = predict_pick(*question.machine, question.free, question.count);
    if (pick.open) name = {kAnySet, held + question.count};
    for (const GpuSet& set : pick.sets)
      add(set);
  }
  const auto number = static_cast<std::uint32_t>(gpu_names_.size());
  const std::uint32_t result = gpu_names_.try_emplace(std::move(name), number).first->second;
  table.gpus_.emplace(pods, result);
  return result;
}

}  // namespace rankward::placement
