// What admission asks of the cluster beside the object that it judges, by list and watch.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/cluster_facts.hpp"
#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/cluster/latest.hpp"
#include "rankward/cluster/watcher.hpp"

namespace rankward::cluster {

enum class FactsResource : std::uint8_t { kPersistentVolumes, kNamespaces, kNodes };
// "persistentvolumes", "namespaces", "nodes": as RBAC writes them.
[[nodiscard]] std::string_view to_string(FactsResource resource);

enum class FactsState : std::uint8_t {
  kUnknown,    // not listed yet
  kAbsent,     // the API server has no such resource
  kForbidden,  // we may not list or watch it
  kWatched,
};

struct FactsStats {
  FactsResource resource = FactsResource::kNodes;
  FactsState state = FactsState::kUnknown;
  ResourceStats watch;
};

// Each resource by itself: one that may not be watched, or is not there, leaves its part of the
// facts empty, is reported once and tried again after timing.gang_rediscovery. Of the options the
// timing, the limits, on_event, clock and random are used.
class ClusterFactsWatcher {
 public:
  // Begins to list at once, one thread a resource and one that publishes, and never gives up.
  [[nodiscard]] static std::unique_ptr<ClusterFactsWatcher> start(
      ApiServer server, const std::vector<FactsResource>& resources, WatcherOptions options = {});
  ~ClusterFactsWatcher();

  // What is known now; empty parts are not known. Lives as long as the watcher.
  [[nodiscard]] const Latest<admission::ClusterFacts>& facts() const;
  [[nodiscard]] std::vector<FactsStats> stats() const;
  // Joins the threads. What was published stays. Not to be called from a callback.
  void stop();

 private:
  struct Impl;
  explicit ClusterFactsWatcher(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankward::cluster
