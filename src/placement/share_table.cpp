#include "share_table.hpp"

#include <algorithm>
#include <bit>
#include <boost/container_hash/hash.hpp>
#include <limits>

#include "device_pick.hpp"

namespace rankward::placement {

namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
// Collectives of more GPUs than any machine has are counted, not listed.
constexpr std::int64_t kMostGpus = 1024;
constexpr std::uint32_t kNextSet = UINT32_MAX;
constexpr std::uint32_t kAnySet = UINT32_MAX - 1;

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

// Which sets of GPU indexes may come out; of devices that nobody reports, how many.
std::uint32_t ShareTables::gpus_of(const LinkQuestion& question) {
  std::vector<std::uint32_t> name;
  const auto& gpus = question.machine->gpus;
  const auto held = static_cast<std::uint32_t>(std::popcount(question.held));
  const auto add = [&](const GpuSet& set) {
    std::vector<std::uint32_t> indexes;
    for (const std::uint32_t position : set)
      indexes.push_back(position < gpus.size() ? gpus[position].index : position);
    for (std::uint64_t mask = question.held; mask != 0; mask &= mask - 1) {
      const auto position = static_cast<std::size_t>(std::countr_zero(mask));
      if (position < gpus.size()) indexes.push_back(gpus[position].index);
    }
    std::sort(indexes.begin(), indexes.end());
    indexes.erase(std::unique(indexes.begin(), indexes.end()), indexes.end());
    name.insert(name.end(), indexes.begin(), indexes.end());
    name.push_back(kNextSet);
  };
  if (!question.whole_gpus) {
    name = {kAnySet, question.count};
  } else if (held + question.count >= gpus.size() && !gpus.empty()) {
    add(predict_pick(*question.machine, {}, gpus.size()).sets.front());
  } else {
    const Pick pick = predict_pick(*question.machine, question.free, question.count);
    if (pick.open) name = {kAnySet, held + question.count};
    for (const GpuSet& set : pick.sets)
      add(set);
  }
  return sets_.try_emplace(std::move(name), static_cast<std::uint32_t>(sets_.size())).first->second;
}

ShareLinks ShareTables::share(const ShareKey& key, std::int32_t pods, bool crosses) {
  const LinkQuestion question = this->question(key, pods, crosses);
  ShareLinks share{kUnlimited, kUnlimited, kUnlimited, 0, 0};
  if (question.count == 0 && question.held == 0) return share;  // nothing is sent
  const NodeLinks& links = memo_.links(question);
  share.intra = links.intra.bandwidth.value;
  share.step = links.intra.step.value;
  if (crosses) {
    share.network = links.inter.bandwidth.value;
    share.clique = clique_bandwidth(*key.machine, share.network);
  }
  share.gpus = gpus_of(question);
  return share;
}

const NodeLinks& ShareTables::links(const ShareTable& table, std::int32_t pods, bool crosses) {
  return memo_.links(question(table.key_, pods, crosses));
}

const ShareTable* ShareTables::table(const ShareKey& key, std::int32_t most) {
  auto& table = tables_[key];
  if (!table) {
    table = std::make_unique<ShareTable>();
    table->owner_ = this;
    table->key_ = key;
    table->known_ = is_reported(*key.machine);
  }
  for (auto pods = static_cast<std::int32_t>(table->crossing_.size()); pods <= most; ++pods)
    table->crossing_.push_back(share(key, pods, true));
  return table.get();
}

const ShareLinks& ShareTable::alone(std::int32_t pods) const {
  const auto found = alone_.find(pods);
  if (found != alone_.end()) return found->second;
  return alone_.emplace(pods, owner_->share(key_, pods, false)).first->second;
}

}  // namespace rankward::placement
