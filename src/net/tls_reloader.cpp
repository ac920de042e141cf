#include "tls_reloader.hpp"

namespace rankward::net {

Result<std::unique_ptr<TlsSource>> TlsSource::open(std::string name, TlsOptions options) {
  std::unique_ptr<TlsSource> source(new TlsSource(std::move(name), std::move(options)));
  if (auto read = source->refresh(); !read) return read.error();
  return source;
}

std::shared_ptr<TlsContext> TlsSource::current() const {
  const std::lock_guard lock(mutex_);
  return context_;
}

Result<TlsSource::Change> TlsSource::refresh() {
  auto material = read_material(options_);
  if (!material) return material.error();
  const Fingerprint print = fingerprint(*material);
  if (context_ && print == in_use_) return Change::kNone;
  auto context = make_server_context(options_, *material);
  if (!context) return context.error();
  in_use_ = print;
  const std::lock_guard lock(mutex_);
  context_ = std::move(*context);
  return Change::kSwapped;
}

TlsReloader::TlsReloader(std::vector<TlsSource*> sources, std::chrono::milliseconds interval,
                         std::function<void(const Event&)> on_event)
    : sources_(std::move(sources)),
      interval_(interval),
      on_event_(std::move(on_event)),
      reported_(sources_.size()),
      thread_([this] { run(); }) {}

TlsReloader::~TlsReloader() {
  {
    const std::lock_guard lock(stop_mutex_);
    stopping_ = true;
  }
  stop_signal_.notify_all();
  thread_.join();
}

Result<void> TlsReloader::reload() {
  const std::lock_guard lock(refresh_mutex_);
  Result<void> outcome;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    TlsSource& source = *sources_[i];
    const auto refreshed = source.refresh();
    if (!refreshed) {
      const std::string text = refreshed.error().to_string();
      if (on_event_ && text != reported_[i]) {
        on_event_({EventLevel::kError, source.name(),
                   "New certificate files are not usable, the old ones stay in use", text});
      }
      reported_[i] = text;
      if (outcome) outcome = refreshed.error();
      continue;
    }
    reported_[i].clear();
    if (*refreshed == TlsSource::Change::kSwapped && on_event_) {
      on_event_({EventLevel::kInfo, source.name(), "Certificates reloaded", {}});
    }
  }
  return outcome;
}

void TlsReloader::run() {
  std::unique_lock lock(stop_mutex_);
  while (!stop_signal_.wait_for(lock, interval_, [this] { return stopping_; })) {
    lock.unlock();
    // The outcome has been reported as an event.
    static_cast<void>(reload());
    lock.lock();
  }
}

}  // namespace rankward::net
