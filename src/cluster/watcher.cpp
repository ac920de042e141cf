#include "rankward/cluster/watcher.hpp"

#include <algorithm>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "api_client.hpp"
#include "credentials.hpp"
#include "gang_source.hpp"
#include "publisher.hpp"
#include "reflector.hpp"
#include "sinks.hpp"

namespace rankward::cluster {
namespace {

Resource nodes_resource() {
  return {"nodes", "/api/v1/nodes", ""};
}
// Pods that hold something or wait to. One that ends comes as DELETED, since it no longer matches.
Resource pods_resource() {
  return {"pods", "/api/v1/pods", "status.phase!=Succeeded,status.phase!=Failed"};
}

std::vector<const formats::GangResource*> wanted_gang_resources(const WatcherOptions& options) {
  std::vector<const formats::GangResource*> wanted;
  for (const formats::GangResource& resource : formats::gang_resources()) {
    const auto& names = options.gang_resources;
    if (!names || std::find(names->begin(), names->end(), resource.name()) != names->end()) {
      wanted.push_back(&resource);
    }
  }
  return wanted;
}

std::function<double()> seeded_random() {
  return [engine = std::mt19937_64(std::random_device{}())]() mutable {
    return std::generate_canonical<double, 53>(engine);
  };
}

}  // namespace

struct ClusterWatcher::Impl {
  Impl(ApiServer api_server, WatcherOptions watcher_options, Publish publish)
      : server(std::move(api_server)),
        options(std::move(watcher_options)),
        credentials(server, *options.clock, stopping.get_token()),
        gang_resources(wanted_gang_resources(options)),
        publisher(
            {options.timing.publish_interval, gang_resources.size(), options.timing.gang_patience},
            std::move(publish)),
        node_sink(publisher, options),
        pod_sink(publisher, options),
        node_client(server, credentials),
        pod_client(server, credentials),
        nodes(nodes_resource(), node_sink, node_client, options, random()),
        pods(pods_resource(), pod_sink, pod_client, options, random()) {
    for (const auto* resource : gang_resources) {
      gangs.push_back(std::make_unique<GangSource>(*resource, server, credentials, publisher,
                                                   options, random()));
    }
    threads.emplace_back([this] { nodes.run(stopping.get_token()); });
    threads.emplace_back([this] { pods.run(stopping.get_token()); });
    for (const auto& source : gangs)
      threads.emplace_back([this, &source] { source->run(stopping.get_token()); });
  }
  ~Impl() { stop(); }

  // All threads draw from one source.
  std::function<double()> random() {
    if (!options.random) options.random = seeded_random();
    return [this] {
      const std::lock_guard lock(random_mutex);
      return std::clamp(options.random(), 0.0, 1.0);
    };
  }

  void stop() {
    stopping.request_stop();
    node_client.cancel();
    pod_client.cancel();
    for (const auto& source : gangs)
      source->cancel();
    // Before the join: a reflector may be waiting for room in the queue.
    publisher.stop();
    for (auto& thread : threads) {
      if (thread.joinable()) thread.join();
    }
  }

  const ApiServer server;
  WatcherOptions options;
  std::mutex random_mutex;
  std::stop_source stopping;
  CredentialSource credentials;
  const std::vector<const formats::GangResource*> gang_resources;
  Publisher publisher;
  NodeSink node_sink;
  PodSink pod_sink;
  ApiClient node_client;
  ApiClient pod_client;
  Reflector nodes;
  Reflector pods;
  std::vector<std::unique_ptr<GangSource>> gangs;
  std::vector<std::thread> threads;
};

ClusterWatcher::ClusterWatcher(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClusterWatcher::~ClusterWatcher() = default;

std::unique_ptr<ClusterWatcher> ClusterWatcher::start(ApiServer server, WatcherOptions options,
                                                      Publish publish) {
  return std::unique_ptr<ClusterWatcher>(new ClusterWatcher(
      std::make_unique<Impl>(std::move(server), std::move(options), std::move(publish))));
}

std::shared_ptr<const placement::Snapshot> ClusterWatcher::current() const {
  return impl_->publisher.holder().load();
}

bool ClusterWatcher::synced() const {
  return impl_->publisher.synced();
}

std::optional<std::chrono::milliseconds> ClusterWatcher::snapshot_age() const {
  if (!synced()) return std::nullopt;
  const auto nodes = impl_->nodes.last_contact();
  const auto pods = impl_->pods.last_contact();
  if (!nodes || !pods) return std::nullopt;
  const auto age = impl_->options.clock->now() - std::min(*nodes, *pods);
  // A contact may have come between the two readings.
  return std::max(std::chrono::milliseconds(0),
                  std::chrono::duration_cast<std::chrono::milliseconds>(age));
}

WatcherStats ClusterWatcher::stats() const {
  WatcherStats out;
  out.nodes = impl_->nodes.stats();
  out.pods = impl_->pods.stats();
  for (const auto& source : impl_->gangs)
    out.gang_sources.push_back(source->stats());
  out.bad_annotations = impl_->node_sink.bad_annotations();
  out.snapshots = impl_->publisher.published();
  return out;
}

void ClusterWatcher::stop() {
  impl_->stop();
}

}  // namespace rankward::cluster
