// Gauges and counters whose values stand elsewhere and are read when somebody asks.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "metrics.hpp"
#include "rankward/admission/policy.hpp"
#include "rankward/cluster/cluster_facts.hpp"
#include "rankward/cluster/gang_keeper.hpp"
#include "rankward/cluster/plan_board.hpp"
#include "rankward/cluster/watcher.hpp"
#include "rankward/net/server.hpp"

namespace rankward::server {

// Samples of one name must follow each other.
class SampleList {
 public:
  using Labels = std::vector<std::pair<std::string, std::string>>;

  void gauge(std::string name, std::string help, double value, Labels labels = {});
  void counter(std::string name, std::string help, std::uint64_t value, Labels labels = {});
  [[nodiscard]] std::vector<Sample> take() && { return std::move(samples_); }

 private:
  std::vector<Sample> samples_;
};

void add_board_samples(cluster::PlanBoard& board, SampleList& list);
void add_watcher_samples(const cluster::ClusterWatcher& watcher, SampleList& list);
void add_keeper_samples(const cluster::GangKeeperStats& stats, SampleList& list);
void add_facts_samples(const cluster::ClusterFactsWatcher& facts, SampleList& list);
// When each exemption that ends does.
void add_exemption_samples(const admission::Policy& policy, admission::UnixSeconds now,
                           SampleList& list);
// `doors`: names of the server's listeners, in their order.
void add_door_samples(const net::Server& server, const std::vector<std::string>& doors,
                      SampleList& list);

}  // namespace rankward::server
