#include "reflector.hpp"

#include <algorithm>
#include <utility>

#include "backoff.hpp"
#include "line_splitter.hpp"
#include "list_splitter.hpp"
#include "rankward/formats/objects.hpp"
#include "rankward/net/percent_encoding.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;

// "As the cache has it", the cheapest list; "" asks etcd.
constexpr std::string_view kAnyVersion = "0";
// A watch that ends sooner and without any event is a failure, or we would spin.
constexpr std::chrono::seconds kShortestWatch{1};
constexpr std::size_t kMaxStatusBytes = 4096;
// Above the limit of an event, so that an object that is over that one is still read from a list.
constexpr std::size_t kMaxItemBytes = std::size_t{64} << 20;

// The start of a body that says why; false once there is enough of it.
bool collect(net::ClientResponse& refusal, std::string_view chunk) {
  refusal.body.append(chunk.substr(0, kMaxStatusBytes - refusal.body.size()));
  return refusal.body.size() < kMaxStatusBytes;
}

}  // namespace

Reflector::Reflector(Resource resource, ResourceSink& sink, ApiClient& client,
                     const WatcherOptions& options, std::function<double()> random)
    : resource_(std::move(resource)),
      sink_(sink),
      client_(client),
      options_(options),
      random_(std::move(random)) {}

std::string Reflector::list_target(const std::string& version,
                                   const std::string& continue_token) const {
  std::string target = resource_.path + "?";
  if (!resource_.field_selector.empty()) {
    target += "fieldSelector=" + net::percent_encoded(resource_.field_selector) + "&";
  }
  if (!continue_token.empty()) {
    return target + "limit=" + std::to_string(options_.page_size) +
           "&continue=" + net::percent_encoded(continue_token);
  }
  if (version.empty()) return target + "limit=" + std::to_string(options_.page_size);
  target += "resourceVersion=" + net::percent_encoded(version);
  // Without a limit, which together with a version would ask for exactly that version.
  if (version != kAnyVersion) target += "&resourceVersionMatch=NotOlderThan";
  return target;
}

std::string Reflector::watch_target() const {
  const auto least = options_.timing.least_watch.count();
  const auto span = std::max<std::int64_t>(0, options_.timing.longest_watch.count() - least);
  const auto seconds = least + static_cast<std::int64_t>(static_cast<double>(span) * random_());
  std::string target = resource_.path + "?watch=1&allowWatchBookmarks=true";
  if (!resource_.field_selector.empty()) {
    target += "&fieldSelector=" + net::percent_encoded(resource_.field_selector);
  }
  return target + "&resourceVersion=" + net::percent_encoded(version_) +
         "&timeoutSeconds=" + std::to_string(seconds);
}

std::optional<ApiFailure> Reflector::list(const std::string& version) {
  sink_.begin_list();
  std::string continue_token;
  do {
    if (auto failure = list_page(list_target(version, continue_token), continue_token)) {
      return failure;
    }
  } while (!continue_token.empty());
  sink_.end_list();
  ++counters_.lists;
  contact();
  return std::nullopt;
}

std::optional<ApiFailure> Reflector::list_page(const std::string& target,
                                               std::string& continue_token) {
  const auto deadline = options_.clock->now() + options_.timing.list_timeout;
  std::optional<net::ClientResponse> refusal;
  std::optional<ApiFailure> failure;
  ListSplitter items(kMaxItemBytes);

  const auto on_item = [&](std::string_view json) {
    if (auto taken = sink_.list_item(json); !taken) unreadable(taken.error());
  };
  const auto on_head = [&](const net::ClientResponse& head) {
    if (head.status != 200) refusal = head;
    return true;
  };
  const auto on_chunk = [&](std::string_view chunk) {
    if (refusal) return collect(*refusal, chunk);
    if (!items.feed(chunk, on_item)) {
      ++counters_.parse_errors;
      failure =
          ApiFailure{.what = "an item is larger than " + std::to_string(kMaxItemBytes) + " bytes"};
    } else if (options_.clock->now() > deadline) {
      failure = ApiFailure{.what = "the list took too long"};
    }
    return !failure;
  };

  const auto outcome = client_.stream(target, on_head, on_chunk, options_.timing.list_timeout);
  if (refusal) return api_failure(*refusal);
  if (failure) return failure;
  if (!outcome) return ApiFailure{.what = outcome.error().to_string()};
  auto meta = formats::read_list(items.rest(), [](std::string_view) -> Result<void> {
    return Error::invalid("must be an object");
  });
  if (!meta) {
    ++counters_.parse_errors;
    return ApiFailure{.what = meta.error().to_string()};
  }
  if (meta->resource_version.empty()) return ApiFailure{.what = "the list has no resourceVersion"};
  // Later pages may be newer; what came in between then comes again as events.
  if (continue_token.empty()) version_ = std::move(meta->resource_version);
  continue_token = std::move(meta->continue_token);
  return std::nullopt;
}

std::optional<ApiFailure> Reflector::watch() {
  const auto started = options_.clock->now();
  std::optional<net::ClientResponse> refusal;
  std::optional<ApiFailure> failure;
  LineSplitter lines(options_.max_line_bytes);

  const auto on_head = [&](const net::ClientResponse& head) {
    if (head.status == 200) {
      ++counters_.watches;
      contact();
    } else {
      refusal = head;
    }
    return true;
  };
  const auto on_chunk = [&](std::string_view chunk) {
    if (refusal) return collect(*refusal, chunk);
    const auto outcome = lines.feed(chunk, [&](std::string_view line) {
      failure = take_line(line);
      return !failure;
    });
    if (outcome == LineSplitter::Outcome::kTooLong) {
      ++counters_.parse_errors;
      failure = ApiFailure{.what = "an event is larger than " +
                                   std::to_string(options_.max_line_bytes) + " bytes"};
    }
    return outcome == LineSplitter::Outcome::kMore;
  };

  const auto outcome =
      client_.stream(watch_target(), on_head, on_chunk, options_.timing.watch_silence);
  if (refusal) return api_failure(*refusal);
  if (failure) return failure;
  if (!outcome) return ApiFailure{.what = outcome.error().to_string()};
  if (!lines.at_line_start()) return ApiFailure{.what = "the watch ended inside an event"};
  if (!progress_ && options_.clock->now() - started < kShortestWatch) {
    return ApiFailure{.what = "the watch ended at once"};
  }
  progress_ = true;
  ++counters_.watch_ends;
  return std::nullopt;
}

std::optional<ApiFailure> Reflector::take_line(std::string_view line) {
  auto event = formats::read_watch_event(line);
  if (!event) {
    ++counters_.parse_errors;
    return ApiFailure{.what = event.error().to_string()};
  }
  if (event->type == "ERROR") {
    return ApiFailure{
        .what = "the watch reports status " + std::to_string(event->code) + ": " + event->message,
        .status = event->code};
  }
  Result<void> taken;
  if (event->type == "BOOKMARK") {
    ++counters_.bookmarks;
  } else if (event->type == "ADDED" || event->type == "MODIFIED") {
    ++counters_.events;
    taken = sink_.put(event->object_json);
  } else if (event->type == "DELETED") {
    ++counters_.events;
    taken = sink_.remove(event->object_json);
  } else {
    taken = Error::invalid("must be ADDED, MODIFIED, DELETED, BOOKMARK or ERROR").at_field("type");
  }
  if (!taken) unreadable(taken.error());
  if (!event->resource_version.empty()) version_ = std::move(event->resource_version);
  progress_ = true;
  contact();
  return std::nullopt;
}

std::optional<ApiFailure> Reflector::run(const std::stop_token& stop) {
  Backoff backoff(options_.timing.least_backoff, options_.timing.longest_backoff);
  std::string list_from(kAnyVersion);
  while (!stop.stop_requested()) {
    progress_ = false;
    auto failure = list(list_from);
    const bool listed = !failure;
    if (listed) report(Severity::kInfo, "listed");
    while (!failure && !stop.stop_requested()) {
      failure = watch();
      if (progress_) backoff.reset();
      if (!failure) progress_ = false;
    }
    if (stop.stop_requested()) return std::nullopt;

    ++counters_.failures;
    if (failure->is_gone()) ++counters_.gone;
    if (resource_.optional && (failure->status == 403 || failure->status == 404)) return failure;
    // 400 and 504: the server does not know the version yet or any more, as after a restore of
    // etcd. "" is always right, only dearer.
    const bool bad_version =
        failure->is_gone() ||
        (!listed && list_from != kAnyVersion && (failure->status == 400 || failure->status == 504));
    if (bad_version) {
      list_from.clear();
    } else if (listed) {
      list_from = version_;
    }
    report(failure->is_refusal() ? Severity::kError : Severity::kWarning,
           listed ? "watch broke off, listing again" : "list failed, trying again",
           std::move(failure->what));
    const auto asked = failure->retry_after.value_or(milliseconds(0));
    wait(stop,
         std::max(backoff.next(random_()), std::min(asked, options_.timing.longest_retry_after)));
  }
  return std::nullopt;
}

void Reflector::contact() {
  last_contact_.store(options_.clock->now().time_since_epoch().count(), std::memory_order_relaxed);
}

void Reflector::unreadable(const Error& error) {
  ++counters_.parse_errors;
  report(Severity::kWarning, "object cannot be read and is passed over", error.to_string());
}

void Reflector::report(Severity severity, std::string_view message, std::string error) const {
  if (!options_.on_event) return;
  options_.on_event({severity, resource_.name, {}, message, std::move(error)});
}

void Reflector::wait(const std::stop_token& stop, milliseconds time) {
  std::unique_lock lock(mutex_);
  wake_.wait_for(lock, stop, time, [] { return false; });
}

ResourceStats Reflector::stats() const {
  ResourceStats out;
  out.lists = counters_.lists;
  out.relists = out.lists > 0 ? out.lists - 1 : 0;
  out.watches = counters_.watches;
  out.watch_ends = counters_.watch_ends;
  out.failures = counters_.failures;
  out.gone = counters_.gone;
  out.events = counters_.events;
  out.bookmarks = counters_.bookmarks;
  out.parse_errors = counters_.parse_errors;
  return out;
}

std::optional<std::chrono::steady_clock::time_point> Reflector::last_contact() const {
  using std::chrono::steady_clock;
  const auto ticks = last_contact_.load(std::memory_order_relaxed);
  if (counters_.lists == 0) return std::nullopt;
  return steady_clock::time_point(steady_clock::duration(ticks));
}

}  // namespace rankward::cluster
