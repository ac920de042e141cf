// A watcher on a fake API server, and waiting for what it shall come to.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "fake_api_server.hpp"
#include "node_facts.hpp"
#include "objects.hpp"
#include "rankward/cluster/watcher.hpp"
#include "rankward/formats/gang_objects.hpp"

namespace rankward::cluster {

// True as soon as it is; false after ten seconds.
inline bool eventually(const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  return true;
}

// client-go's times, made short.
inline WatcherOptions quick_options() {
  WatcherOptions options;
  options.timing.least_backoff = std::chrono::milliseconds(2);
  options.timing.longest_backoff = std::chrono::milliseconds(20);
  options.timing.publish_interval = std::chrono::milliseconds(1);
  options.timing.list_timeout = std::chrono::seconds(5);
  options.timing.watch_silence = std::chrono::seconds(20);
  options.page_size = 2;
  options.random = [] { return 0.5; };
  options.timing.gang_rediscovery = std::chrono::milliseconds(50);
  options.gang_resources = {};
  return options;
}

// With resources of gang owners.
inline WatcherOptions options_with_gangs() {
  WatcherOptions options = quick_options();
  options.gang_resources = {"jobs.batch", "statefulsets.apps"};
  return options;
}

class Watched {
 public:
  Watched() = default;

  void start(WatcherOptions options = quick_options(), ClusterWatcher::Publish publish = {}) {
    options.on_event = [this](const WatchEvent& event) {
      const std::lock_guard lock(mutex_);
      events_.push_back(std::string(event.resource) + " " + std::string(event.object) + ": " +
                        std::string(event.message) + ": " + event.error);
    };
    watcher_ = ClusterWatcher::start(address_ ? *address_ : server_.address(), std::move(options),
                                     std::move(publish));
  }
  // Whether all watches run and the Snapshot is, and stays, what an undisturbed client would have.
  // Old events that a watch still has to read take it back for a moment; that is no fault.
  bool settles() {
    const auto as_expected = [this] {
      return watcher_->synced() && all_watched() && describe(*watcher_->current()) == expected();
    };
    return eventually([&] {
      if (!as_expected()) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
      return as_expected();
    });
  }
  [[nodiscard]] bool all_watched() const {
    for (const auto* resource : {"nodes", "pods"}) {
      if (server_.open_watches(resource) != 1) return false;
    }
    for (const auto& resource : server_.installed()) {
      if (server_.open_watches(resource) != 1) return false;
    }
    return true;
  }
  [[nodiscard]] std::string expected() const {
    placement::SnapshotBuilder builder;
    for (auto& node : server_.nodes()) {
      auto facts = node_facts(std::move(node), {});
      builder.put_node(std::move(facts.node), std::move(facts.topology));
    }
    for (const auto& pod : server_.pods())
      builder.put_pod(pod);
    for (const auto& resource : formats::gang_resources()) {
      for (const auto& json : server_.objects(resource.name())) {
        auto owner = formats::read_gang_owner(resource, json);
        if (owner) builder.put_gang_facts(owner->key, std::move(owner->facts));
      }
    }
    return describe(*builder.build());
  }
  // Says that the gang has so many pods.
  void put_job(const std::string& name, const std::string& gang, int pods) {
    server_.put("jobs.batch", name, owner_json("batch/v1", "Job", name, gang, pods));
  }
  void put_stateful_set(const std::string& name, const std::string& gang, int pods) {
    server_.put("statefulsets.apps", name, owner_json("apps/v1", "StatefulSet", name, gang, pods));
  }
  void put_node(const std::string& name, int gpus, const std::string& annotations = "") {
    server_.put("nodes", name, node_json(name, gpus, annotations));
  }
  // As pod_json().
  void put_pod(const std::string& name, const std::string& uid, const std::string& node, int gpus,
               const std::string& gang = "") {
    server_.put("pods", name, pod_json(name, uid, node, gpus, gang));
  }
  [[nodiscard]] std::vector<std::string> events() const {
    const std::lock_guard lock(mutex_);
    return events_;
  }

  FakeApiServer server_;
  std::optional<ApiServer> address_;  // where it differs from the server's own

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> events_;

 public:
  std::unique_ptr<ClusterWatcher> watcher_;  // last: its threads use all of the above
};

}  // namespace rankward::cluster
