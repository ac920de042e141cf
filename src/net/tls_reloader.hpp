// Keeps the contexts of all listeners in step with their files.
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "rankward/net/server.hpp"
#include "tls_context.hpp"

namespace rankward::net {

// The context of one listener. current() may be called from any thread.
class TlsSource {
 public:
  // Reads the files; fails where they are not good.
  static Result<std::unique_ptr<TlsSource>> open(std::string name, TlsOptions options);

  [[nodiscard]] std::shared_ptr<TlsContext> current() const;
  [[nodiscard]] const std::string& name() const { return name_; }

  enum class Change : std::uint8_t { kNone, kSwapped };
  // Swaps the context when the files have changed and are good. One caller at a time.
  Result<Change> refresh();

 private:
  TlsSource(std::string name, TlsOptions options)
      : name_(std::move(name)), options_(std::move(options)) {}

  const std::string name_;
  const TlsOptions options_;
  Fingerprint in_use_{};
  mutable std::mutex mutex_;  // guards context_
  std::shared_ptr<TlsContext> context_;
};

// Refreshes its sources every `interval` on a thread of its own. A failure is reported once as long
// as it stays the same; files are tried again each time, since a Secret may have been caught
// half-way through its update.
class TlsReloader {
 public:
  TlsReloader(std::vector<TlsSource*> sources, std::chrono::milliseconds interval,
              std::function<void(const Event&)> on_event);
  ~TlsReloader();

  Result<void> reload();

 private:
  void run();

  const std::vector<TlsSource*> sources_;
  const std::chrono::milliseconds interval_;
  const std::function<void(const Event&)> on_event_;
  std::mutex refresh_mutex_;           // one refresh at a time; guards reported_
  std::vector<std::string> reported_;  // last failure by source, empty while all is well
  std::mutex stop_mutex_;              // guards stopping_
  std::condition_variable stop_signal_;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace rankward::net
