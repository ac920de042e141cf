// Kueue's balanced placement (feature gate TASBalancedPlacement; kubernetes-sigs/kueue,
// pkg/cache/scheduler/tas_balanced_placement.go) with podset-preferred-topology at the level above
// the hosts. The greatest least number of pods a host (the threshold) decides; then fewest domains,
// then least capacity taken. Falls back to BestFit.
#include <algorithm>
#include <cmath>

#include "kueue.hpp"

namespace rankward::sim {
namespace {

using kueue::Counts;
using kueue::DomainShare;
using kueue::Order;

// Filling the fullest first: how many domains it takes and what the last one has.
struct Greedy {
  std::int64_t domains = 0;
  std::int64_t last = 0;
};
std::optional<Greedy> fill_greedily(const TopologyTree& tree, const Counts& counts,
                                    const std::vector<DomainIndex>& domains, std::int64_t pods) {
  Greedy greedy;
  for (const DomainIndex domain : kueue::sorted(tree, counts, domains, Order::kMostFirst)) {
    if (pods <= 0 || counts[domain] == 0) break;
    ++greedy.domains;
    greedy.last = counts[domain];
    pods -= counts[domain];
  }
  if (pods > 0) return std::nullopt;
  return greedy;
}

double entropy(const TopologyTree& tree, const Counts& counts, DomainIndex domain) {
  double all = 0;
  for (const DomainIndex child : tree.domain(domain).children)
    all += static_cast<double>(counts[child]);
  double sum = 0;
  for (const DomainIndex child : tree.domain(domain).children) {
    const double share = static_cast<double>(counts[child]) / all;
    if (share > 0) sum -= share * std::log2(share);
  }
  return sum;
}

// As few domains as can be that together hold the pods, with the least capacity beyond that. Of
// equals those that come first in `ordered`.
std::optional<std::vector<DomainIndex>> tightest_set(const TopologyTree& tree, const Counts& counts,
                                                     const std::vector<DomainIndex>& ordered,
                                                     std::int64_t pods) {
  const auto greedy = fill_greedily(tree, counts, ordered, pods);
  if (!greedy) return std::nullopt;
  std::int64_t largest = 0;
  for (const DomainIndex domain : ordered)
    largest = std::max(largest, counts[domain]);
  const auto sums = static_cast<std::size_t>(pods + largest);
  const auto sets = static_cast<std::size_t>(greedy->domains);
  constexpr std::int32_t kNone = -1;
  // last[i][s]: position of the domain that first made i domains hold s pods; kNone: not reached.
  std::vector<std::vector<std::int32_t>> last(sets + 1, std::vector<std::int32_t>(sums, kNone));
  std::vector<std::size_t> reached(sets + 1, 0);  // greatest sum of i domains
  last[0][0] = 0;
  for (std::size_t position = 0; position < ordered.size(); ++position) {
    const auto capacity = static_cast<std::size_t>(counts[ordered[position]]);
    if (capacity == 0) continue;
    for (std::size_t i = std::min(sets, position + 1); i > 0; --i) {
      // Sets that hold all pods already grow no further.
      const std::size_t most = std::min(reached[i - 1], static_cast<std::size_t>(pods) - 1);
      for (std::size_t before = 0; before <= most; ++before) {
        if (last[i - 1][before] == kNone || last[i][before + capacity] != kNone) continue;
        last[i][before + capacity] = static_cast<std::int32_t>(position);
        reached[i] = std::max(reached[i], before + capacity);
      }
    }
  }
  for (auto sum = static_cast<std::size_t>(pods); sum < sums; ++sum) {
    if (last[sets][sum] == kNone) continue;
    std::vector<DomainIndex> chosen;
    for (std::size_t i = sets; i > 0; --i) {
      chosen.push_back(ordered[static_cast<std::size_t>(last[i][sum])]);
      sum -= static_cast<std::size_t>(counts[chosen.back()]);
    }
    std::reverse(chosen.begin(), chosen.end());
    return chosen;
  }
  return std::nullopt;
}

class KueueBalanced : public GangPolicy {
 public:
  explicit KueueBalanced(const Cluster& cluster)
      : tree_(cluster.empty()),
        host_level_(tree_.host_level()),
        level_(std::max<std::size_t>(1, host_level_ - 1)) {}

  std::optional<std::vector<HostShare>> place(const JobInfo& job, Cluster& cluster) override {
    const Counts counts = kueue::count_pods(tree_, cluster, *job.job);
    if (auto shares = balanced(counts, job.job->pods)) return shares;
    return kueue::best_fit(tree_, counts, job.job->pods);
  }

 private:
  struct Choice {
    std::vector<DomainIndex> domains;  // siblings at level_
    Counts counts;                     // without hosts and domains below the threshold
    std::int64_t threshold = 0;
    std::int64_t fewest = 0;
  };

  // Domains of which a gang may use several: all of the top level, or those below one parent.
  [[nodiscard]] std::vector<std::vector<DomainIndex>> siblings() const {
    if (level_ == 1) return {tree_.levels()[1]};
    std::vector<std::vector<DomainIndex>> groups;
    for (const DomainIndex parent : tree_.levels()[level_ - 1])
      groups.push_back(tree_.domain(parent).children);
    return groups;
  }

  [[nodiscard]] Counts pruned(const Counts& counts, const std::vector<DomainIndex>& domains,
                              std::int64_t threshold) const {
    Counts kept = counts;
    for (const DomainIndex domain : domains) {
      if (level_ < host_level_) {
        kept[domain] = 0;
        for (const DomainIndex host : tree_.domain(domain).children) {
          if (kept[host] < threshold) kept[host] = 0;
          kept[domain] += kept[host];
        }
      }
      if (kept[domain] < threshold) kept[domain] = 0;
    }
    return kept;
  }

  [[nodiscard]] std::vector<DomainIndex> hosts_of(const std::vector<DomainIndex>& domains) const {
    return level_ < host_level_ ? kueue::children_of(tree_, domains) : domains;
  }

  [[nodiscard]] Choice best_siblings(const Counts& counts, std::int64_t pods) const {
    Choice best;
    for (auto& domains : siblings()) {
      const auto greedy = fill_greedily(tree_, counts, hosts_of(domains), pods);
      if (!greedy) continue;
      const std::int64_t threshold = std::min(pods / greedy->domains, greedy->last);
      if (threshold < best.threshold) continue;
      Counts kept = pruned(counts, domains, threshold);
      const auto after = fill_greedily(tree_, kept, domains, pods);
      if (!after) continue;
      if (threshold > best.threshold || after->domains < best.fewest) {
        best = {std::move(domains), std::move(kept), threshold, after->domains};
      }
    }
    return best;
  }

  [[nodiscard]] std::optional<std::vector<HostShare>> balanced(const Counts& counts,
                                                               std::int64_t pods) const {
    Choice choice = best_siblings(counts, pods);
    if (choice.threshold == 0) return std::nullopt;
    std::vector<DomainIndex> domains = std::move(choice.domains);
    if (level_ < host_level_) {
      std::vector<std::pair<double, DomainIndex>> keyed;
      for (const DomainIndex domain : domains)
        keyed.emplace_back(entropy(tree_, choice.counts, domain), domain);
      std::stable_sort(keyed.begin(), keyed.end(), [&](const auto& a, const auto& b) {
        const auto capacity = [&](const auto& each) { return choice.counts[each.second]; };
        return capacity(a) != capacity(b) ? capacity(a) > capacity(b) : a.first > b.first;
      });
      for (std::size_t i = 0; i < keyed.size(); ++i)
        domains[i] = keyed[i].second;
      auto set = tightest_set(tree_, choice.counts, domains, pods);
      if (!set) return std::nullopt;
      domains = kueue::children_of(tree_, *set);
    }
    std::sort(domains.begin(), domains.end(), [this](DomainIndex a, DomainIndex b) {
      return tree_.domain(a).path < tree_.domain(b).path;
    });
    auto hosts = tightest_set(tree_, choice.counts, domains, pods);
    if (!hosts) return std::nullopt;
    return spread(choice, *hosts, pods);
  }

  // The threshold everywhere, then what is left to the largest first.
  [[nodiscard]] std::optional<std::vector<HostShare>> spread(const Choice& choice,
                                                             const std::vector<DomainIndex>& hosts,
                                                             std::int64_t pods) const {
    std::int64_t extra = pods - static_cast<std::int64_t>(hosts.size()) * choice.threshold;
    if (extra < 0) return std::nullopt;
    std::vector<DomainShare> shares;
    for (const DomainIndex host : kueue::sorted(tree_, choice.counts, hosts, Order::kMostFirst)) {
      const std::int64_t more = std::min(extra, choice.counts[host] - choice.threshold);
      shares.push_back({host, choice.threshold + more});
      extra -= more;
    }
    if (extra > 0) return std::nullopt;
    return kueue::on_hosts(tree_, shares);
  }

  TopologyTree tree_;
  std::size_t host_level_;
  std::size_t level_;  // that the gang prefers to stay inside
};

}  // namespace

PolicyInstance make_kueue_balanced(const PolicyInputs& inputs) {
  return {nullptr, std::make_unique<KueueBalanced>(inputs.cluster)};
}

}  // namespace rankward::sim
