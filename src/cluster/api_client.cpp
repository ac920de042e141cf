#include "api_client.hpp"

#include <utility>

namespace rankward::cluster {
namespace {

constexpr int kUnauthorized = 401;

// Without Accept-Encoding: inflating costs ten times what parsing does.
net::ClientHeaders headers_for(const Credential& credential) {
  net::ClientHeaders headers = {{"Accept", "application/json"}, {"User-Agent", "rankward"}};
  if (!credential.token.empty()) {
    headers.emplace_back("Authorization", "Bearer " + credential.token);
  }
  return headers;
}

}  // namespace

net::ClientOptions ApiClient::options_for(const Credential& credential) const {
  net::ClientOptions options;
  options.host = server_.host;
  options.port = server_.port;
  if (!server_.tls) return options;
  net::ClientTls tls;
  tls.server_name = server_.server_name;
  tls.ca_file = server_.ca.file;
  tls.ca_pem = server_.ca.pem;
  if (!credential.certificate_pem.empty()) {
    tls.certificate_pem = credential.certificate_pem;
    tls.key_pem = credential.key_pem;
  } else {
    tls.certificate_file = server_.certificate.file;
    tls.certificate_pem = server_.certificate.pem;
    tls.key_file = server_.key.file;
    tls.key_pem = server_.key.pem;
  }
  options.tls = std::move(tls);
  return options;
}

std::shared_ptr<net::Client> ApiClient::client_for(const Credential& credential) {
  const std::lock_guard lock(mutex_);
  if (!client_ || certificate_pem_ != credential.certificate_pem) {
    client_ = std::make_shared<net::Client>(options_for(credential));
    certificate_pem_ = credential.certificate_pem;
    if (cancelled_) client_->cancel();
  }
  return client_;
}

Result<net::ClientResponse> ApiClient::get(std::string_view target,
                                           std::chrono::milliseconds timeout) {
  return request("GET", target, {}, {}, timeout);
}

Result<net::ClientResponse> ApiClient::send(std::string_view method, std::string_view target,
                                            std::string_view content_type, std::string_view body,
                                            std::chrono::milliseconds timeout) {
  return request(method, target, content_type, body, timeout);
}

Result<net::ClientResponse> ApiClient::request(std::string_view method, std::string_view target,
                                               std::string_view content_type, std::string_view body,
                                               std::chrono::milliseconds timeout) {
  const std::string path = server_.base_path + std::string(target);
  for (bool again = false;; again = true) {
    auto credential = credentials_.get();
    if (!credential) return credential.error();
    auto headers = headers_for(*credential);
    if (!content_type.empty()) headers.emplace_back("Content-Type", content_type);
    auto response = client_for(*credential)->request(method, path, headers, body, timeout);
    if (!response || response->status != kUnauthorized) return response;
    credentials_.reject(*credential);
    if (again) return response;
  }
}

Result<void> ApiClient::stream(std::string_view target, const net::Client::OnHead& on_head,
                               const net::Client::OnChunk& on_chunk,
                               std::chrono::milliseconds silence) {
  const std::string path = server_.base_path + std::string(target);
  for (bool again = false;; again = true) {
    auto credential = credentials_.get();
    if (!credential) return credential.error();
    bool refused = false;
    const auto look_at_head = [&](const net::ClientResponse& head) {
      refused = head.status == kUnauthorized;
      return refused && !again ? false : on_head(head);
    };
    auto outcome =
        client_for(*credential)
            ->stream("GET", path, headers_for(*credential), look_at_head, on_chunk, silence);
    if (!refused) return outcome;
    credentials_.reject(*credential);
    if (again) return outcome;
  }
}

void ApiClient::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  if (client_) client_->cancel();
}

}  // namespace rankward::cluster
