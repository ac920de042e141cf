#include "credentials.hpp"

#include <utility>

#include "files.hpp"

namespace rankward::cluster {
namespace {

constexpr std::size_t kMaxTokenBytes = std::size_t{1} << 20;
// The kubelet renews a projected token at 80 % of its life; client-go reads it once a minute too.
constexpr std::chrono::seconds kTokenLife{60};
// So that a credential does not end between here and the API server.
constexpr std::chrono::seconds kExpiryMargin{10};

bool same(const Credential& a, const Credential& b) {
  return a.token == b.token && a.certificate_pem == b.certificate_pem;
}

}  // namespace

bool CredentialSource::uses_plugin() const {
  return server_.exec && server_.token.empty() && server_.token_file.empty() &&
         server_.certificate.empty();
}

bool CredentialSource::is_fresh() const {
  if (!cached_ || rejected_) return false;
  if (uses_plugin()) {
    return !cached_->expires || clock_.wall_now() + kExpiryMargin < *cached_->expires;
  }
  return server_.token_file.empty() || clock_.now() - read_at_ < kTokenLife;
}

Result<Credential> CredentialSource::read_token_file() {
  auto text = read_file(server_.token_file, kMaxTokenBytes);
  if (text) {
    constexpr std::string_view kBlanks = " \t\r\n";
    const auto first = text->find_first_not_of(kBlanks);
    const auto last = text->find_last_not_of(kBlanks);
    if (first != std::string::npos) {
      return Credential{.token = text->substr(first, last - first + 1)};
    }
    text = Error::unavailable("is empty").in(server_.token_file);
  }
  if (cached_) return *cached_;
  if (!server_.token.empty()) return Credential{.token = server_.token};
  return text.error();
}

Result<Credential> CredentialSource::get() {
  const std::lock_guard lock(mutex_);
  if (is_fresh()) return *cached_;
  Result<Credential> fresh = Credential{.token = server_.token};
  if (uses_plugin()) {
    fresh = run_exec_plugin(server_, stop_);
  } else if (!server_.token_file.empty()) {
    fresh = read_token_file();
  }
  if (!fresh) return fresh;
  // It becomes part of a header line.
  for (const char c : fresh->token) {
    if (c <= ' ' || c > '~') return Error::invalid("the token has bytes that no token has");
  }
  cached_ = *fresh;
  read_at_ = clock_.now();
  rejected_ = false;
  return fresh;
}

void CredentialSource::reject(const Credential& credential) {
  const std::lock_guard lock(mutex_);
  if (cached_ && same(*cached_, credential)) rejected_ = true;
}

}  // namespace rankward::cluster
