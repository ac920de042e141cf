// The credential in use now, whatever it comes from.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>

#include "exec_plugin.hpp"
#include "rankward/cluster/clock.hpp"
#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/result.hpp"

namespace rankward::cluster {

// Shared by all clients of one API server, from any thread: a plugin is run once for all of them.
class CredentialSource {
 public:
  CredentialSource(const ApiServer& server, const Clock& clock, std::stop_token stop)
      : server_(server), clock_(clock), stop_(std::move(stop)) {}

  // A token file is read again every minute, a plugin is run again shortly before its credential
  // ends. Blocks while a plugin runs, at most 60 s. Where a token file cannot be read any more the
  // last token is given.
  [[nodiscard]] Result<Credential> get();
  // The API server answered 401: the next get() reads or runs afresh, unless somebody else already
  // has.
  void reject(const Credential& credential);

 private:
  [[nodiscard]] bool uses_plugin() const;
  [[nodiscard]] bool is_fresh() const;
  Result<Credential> read_token_file();

  const ApiServer& server_;
  const Clock& clock_;
  const std::stop_token stop_;
  std::mutex mutex_;
  std::optional<Credential> cached_;  // under mutex_, as all below
  std::chrono::steady_clock::time_point read_at_;
  bool rejected_ = false;
};

}  // namespace rankward::cluster
