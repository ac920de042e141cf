#include "rankward/cluster/watcher.hpp"

#include <algorithm>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "api_client.hpp"
#include "credentials.hpp"
#include "publisher.hpp"
#include "reflector.hpp"
#include "sinks.hpp"

namespace rankward::cluster {
namespace {

constexpr Resource kNodes{"nodes", "/api/v1/nodes", ""};
// Pods that hold something: bound and not ended. One that ends comes as DELETED, since it no longer
// matches.
constexpr Resource kPods{"pods", "/api/v1/pods",
                         "spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"};

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
        publisher(options.timing.publish_interval, std::move(publish)),
        node_sink(publisher, options),
        pod_sink(publisher),
        node_client(server, credentials),
        pod_client(server, credentials),
        nodes(kNodes, node_sink, node_client, options, random()),
        pods(kPods, pod_sink, pod_client, options, random()) {
    node_thread = std::thread([this] { nodes.run(stopping.get_token()); });
    pod_thread = std::thread([this] { pods.run(stopping.get_token()); });
  }
  ~Impl() { stop(); }

  // Two threads draw from one source.
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
    // Before the join: a reflector may be waiting for room in the queue.
    publisher.stop();
    for (auto* thread : {&node_thread, &pod_thread}) {
      if (thread->joinable()) thread->join();
    }
  }

  const ApiServer server;
  WatcherOptions options;
  std::mutex random_mutex;
  std::stop_source stopping;
  CredentialSource credentials;
  Publisher publisher;
  NodeSink node_sink;
  PodSink pod_sink;
  ApiClient node_client;
  ApiClient pod_client;
  Reflector nodes;
  Reflector pods;
  std::thread node_thread;
  std::thread pod_thread;
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
  out.bad_annotations = impl_->node_sink.bad_annotations();
  out.snapshots = impl_->publisher.published();
  return out;
}

void ClusterWatcher::stop() {
  impl_->stop();
}

}  // namespace rankward::cluster
