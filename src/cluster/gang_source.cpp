#include "gang_source.hpp"

#include <algorithm>
#include <utility>

#include "api_failure.hpp"
#include "backoff.hpp"
#include "rankward/formats/objects.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;

constexpr milliseconds kLookTimeout{10'000};

}  // namespace

Result<void> GangSink::list_item(std::string_view json) {
  auto owner = formats::read_gang_owner(resource_, json, requests_);
  if (!owner) return owner.error();
  if (!owner->facts.empty()) listed_.push_back(std::move(*owner));
  return {};
}

void GangSink::end_list() {
  publisher_.push(GangOwnersReplaced{resource_.name(), std::exchange(listed_, {})});
}

Result<void> GangSink::put(std::string_view json) {
  auto owner = formats::read_gang_owner(resource_, json, requests_);
  if (!owner) return owner.error();
  publisher_.push(GangOwnerPut{std::move(*owner)});
  return {};
}

Result<void> GangSink::remove(std::string_view json) {
  auto head = formats::read_object_head(json);
  if (!head) return head.error();
  publisher_.push(GangOwnerRemoved{formats::gang_owner_key(resource_, head->metadata)});
  return {};
}

void GangSink::forget() {
  publisher_.push(GangOwnersAbsent{resource_.name()});
}

void GangSink::give_up() {
  publisher_.push(GangOwnersUnknown{resource_.name()});
}

GangSource::GangSource(const formats::GangResource& resource, const ApiServer& server,
                       CredentialSource& credentials, Publisher& publisher,
                       const WatcherOptions& options, std::function<double()> random)
    : resource_(resource),
      name_(resource.name()),
      options_(options),
      random_(random),
      sink_(resource, publisher, options.requests),
      client_(server, credentials),
      reflector_(Resource{name_, "", "", true}, sink_, client_, options, std::move(random)) {}

GangSource::Look GangSource::look() {
  for (const std::string_view version : resource_.versions) {
    if (version.empty()) break;
    const std::string path = "/apis/" + std::string(resource_.group) + "/" + std::string(version);
    auto response = client_.get(path, kLookTimeout);
    if (!response) return {GangSourceState::kUnknown, "", response.error().to_string()};
    if (response->status == 404) continue;
    if (response->status != 200) {
      auto failure = api_failure(*response);
      return {failure.status == 403 ? GangSourceState::kForbidden : GangSourceState::kUnknown, "",
              std::move(failure.what)};
    }
    const auto lists = formats::lists_resource(response->body, resource_.plural);
    if (!lists) return {GangSourceState::kUnknown, "", lists.error().to_string()};
    if (*lists) return {GangSourceState::kWatched, path + "/" + std::string(resource_.plural), ""};
  }
  return {GangSourceState::kAbsent, "", ""};
}

void GangSource::run(const std::stop_token& stop) {
  Backoff backoff(options_.timing.least_backoff, options_.timing.longest_backoff);
  while (!stop.stop_requested()) {
    Look found = look();
    if (found.state == GangSourceState::kWatched) found = watch(std::move(found.path), stop);
    if (stop.stop_requested()) return;
    state_ = found.state;
    tell(found);
    if (found.state == GangSourceState::kUnknown) {
      wait(stop, backoff.next(random_()));
      continue;
    }
    backoff.reset();
    found.state == GangSourceState::kAbsent ? sink_.forget() : sink_.give_up();
    // Spread, so that not all replicas and resources ask at once.
    wait(stop, std::chrono::duration_cast<milliseconds>(options_.timing.gang_rediscovery *
                                                        (0.9 + 0.2 * random_())));
  }
}

GangSource::Look GangSource::watch(std::string path, const std::stop_token& stop) {
  state_ = GangSourceState::kWatched;
  reflector_.set_path(std::move(path));
  const auto lists = reflector_.stats().lists;
  auto failure = reflector_.run(stop);
  if (reflector_.stats().lists > lists) told_.reset();
  if (!failure) return {};  // stopped
  return {failure->status == 404 ? GangSourceState::kAbsent : GangSourceState::kForbidden, "",
          std::move(failure->what)};
}

// Once, since the same comes again with every look. What is not installed is no news.
void GangSource::tell(const Look& found) {
  if (told_ == found.state) return;
  told_ = found.state;
  if (!options_.on_event || found.state == GangSourceState::kAbsent) return;
  const std::string_view message = found.state == GangSourceState::kForbidden
                                       ? "may not be watched, so it says nothing of gangs"
                                       : "cannot be looked for, trying again";
  options_.on_event({Severity::kWarning, name_, {}, message, found.error});
}

void GangSource::wait(const std::stop_token& stop, milliseconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, time, [] { return false; });
}

GangSourceStats GangSource::stats() const {
  return {name_, state_, reflector_.stats()};
}

}  // namespace rankward::cluster
