#include "cluster_facts_source.hpp"

#include <utility>

namespace rankward::cluster {

ClusterFactsSource::ClusterFactsSource(FactsResource resource, ResourceSink& sink,
                                       std::function<void()> forget, const ApiServer& server,
                                       CredentialSource& credentials, const WatcherOptions& options,
                                       std::function<double()> random)
    : resource_(resource),
      forget_(std::move(forget)),
      options_(options),
      random_(random),
      client_(server, credentials),
      reflector_(Resource{std::string(to_string(resource)),
                          "/api/v1/" + std::string(to_string(resource)), "", true},
                 sink, client_, options, std::move(random)) {}

void ClusterFactsSource::run(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    const auto lists = reflector_.stats().lists;
    lists_before_ = lists;
    auto failure = reflector_.run(stop);
    if (!failure || stop.stop_requested()) return;
    if (reflector_.stats().lists > lists) told_.reset();
    const FactsState state = failure->status == 404 ? FactsState::kAbsent : FactsState::kForbidden;
    lists_before_ = reflector_.stats().lists;
    state_ = state;
    // What cannot be kept up to date is not known.
    forget_();
    tell(state, std::move(failure->what));
    // Spread, so that not all replicas ask at once.
    wait(stop, std::chrono::duration_cast<std::chrono::milliseconds>(
                   options_.timing.gang_rediscovery * (0.9 + 0.2 * random_())));
  }
}

// Once, since the same comes again with every try.
void ClusterFactsSource::tell(FactsState state, std::string error) {
  if (told_ == state) return;
  told_ = state;
  if (!options_.on_event) return;
  options_.on_event({Severity::kWarning,
                     to_string(resource_),
                     {},
                     "may not be watched, so rules that need them find nothing",
                     std::move(error)});
}

void ClusterFactsSource::wait(const std::stop_token& stop, std::chrono::milliseconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, time, [] { return false; });
}

FactsStats ClusterFactsSource::stats() const {
  FactsStats out{resource_, state_, reflector_.stats()};
  if (out.watch.lists > lists_before_) out.state = FactsState::kWatched;
  return out;
}

}  // namespace rankward::cluster
