#include "rankward/cluster/cluster_facts.hpp"

#include <algorithm>
#include <mutex>
#include <random>
#include <stop_token>
#include <thread>
#include <utility>

#include "cluster_facts_board.hpp"
#include "cluster_facts_sinks.hpp"
#include "cluster_facts_source.hpp"
#include "credentials.hpp"

namespace rankward::cluster {

std::string_view to_string(FactsResource resource) {
  switch (resource) {
    case FactsResource::kPersistentVolumes:
      return "persistentvolumes";
    case FactsResource::kNamespaces:
      return "namespaces";
    case FactsResource::kNodes:
      return "nodes";
  }
  return "";
}

struct ClusterFactsWatcher::Impl {
  Impl(ApiServer api_server, const std::vector<FactsResource>& resources,
       WatcherOptions watcher_options)
      : server(std::move(api_server)),
        options(std::move(watcher_options)),
        credentials(server, *options.clock, stopping.get_token()),
        board(options.timing.publish_interval),
        nodes(board),
        namespaces(board),
        volumes(board) {
    if (!options.random) {
      options.random = [engine = std::mt19937_64(std::random_device{}())]() mutable {
        return std::generate_canonical<double, 53>(engine);
      };
    }
    for (const FactsResource resource : resources)
      add(resource);
    for (const auto& source : sources)
      threads.emplace_back([this, &source] { source->run(stopping.get_token()); });
  }
  ~Impl() { stop(); }

  void add(FactsResource resource) {
    switch (resource) {
      case FactsResource::kPersistentVolumes:
        return add(resource, volumes);
      case FactsResource::kNamespaces:
        return add(resource, namespaces);
      case FactsResource::kNodes:
        return add(resource, nodes);
    }
  }

  template <class Sink>
  void add(FactsResource resource, Sink& sink) {
    sources.push_back(std::make_unique<ClusterFactsSource>(
        resource, sink, [&sink] { sink.forget(); }, server, credentials, options,
        [this] {
          const std::lock_guard lock(random_mutex);
          return std::clamp(options.random(), 0.0, 1.0);
        }));
  }

  void stop() {
    stopping.request_stop();
    for (const auto& source : sources)
      source->cancel();
    for (auto& thread : threads) {
      if (thread.joinable()) thread.join();
    }
    board.stop();
  }

  const ApiServer server;
  WatcherOptions options;
  std::mutex random_mutex;  // all threads draw from one source
  std::stop_source stopping;
  CredentialSource credentials;
  ClusterFactsBoard board;
  NodeFactsSink nodes;
  NamespaceFactsSink namespaces;
  VolumeFactsSink volumes;
  std::vector<std::unique_ptr<ClusterFactsSource>> sources;
  std::vector<std::thread> threads;
};

ClusterFactsWatcher::ClusterFactsWatcher(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ClusterFactsWatcher::~ClusterFactsWatcher() = default;

std::unique_ptr<ClusterFactsWatcher> ClusterFactsWatcher::start(
    ApiServer server, const std::vector<FactsResource>& resources, WatcherOptions options) {
  return std::unique_ptr<ClusterFactsWatcher>(new ClusterFactsWatcher(
      std::make_unique<Impl>(std::move(server), resources, std::move(options))));
}

const Latest<admission::ClusterFacts>& ClusterFactsWatcher::facts() const {
  return impl_->board.published();
}

std::vector<FactsStats> ClusterFactsWatcher::stats() const {
  std::vector<FactsStats> out;
  for (const auto& source : impl_->sources)
    out.push_back(source->stats());
  return out;
}

void ClusterFactsWatcher::stop() {
  impl_->stop();
}

}  // namespace rankward::cluster
