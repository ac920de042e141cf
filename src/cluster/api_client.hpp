// Requests to the API server, with our credential.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>

#include "credentials.hpp"
#include "rankward/cluster/kubeconfig.hpp"
#include "rankward/net/client.hpp"

namespace rankward::cluster {

// One call at a time; cancel() from any thread. A 401 is tried once more with a fresh credential.
// Targets are paths below the server's base path, with their query.
class ApiClient {
 public:
  ApiClient(const ApiServer& server, CredentialSource& credentials)
      : server_(server), credentials_(credentials) {}

  [[nodiscard]] Result<net::ClientResponse> get(std::string_view target,
                                                std::chrono::milliseconds timeout);
  // A write: POST, PUT or PATCH, sent once (but for the 401). The body goes out again as it is, so
  // a caller whose answer was lost must find out itself what became of it.
  [[nodiscard]] Result<net::ClientResponse> send(std::string_view method, std::string_view target,
                                                 std::string_view content_type,
                                                 std::string_view body,
                                                 std::chrono::milliseconds timeout);
  // As net::Client::stream.
  [[nodiscard]] Result<void> stream(std::string_view target, const net::Client::OnHead& on_head,
                                    const net::Client::OnChunk& on_chunk,
                                    std::chrono::milliseconds silence);
  // Ends the running call and all later ones.
  void cancel();

 private:
  [[nodiscard]] Result<net::ClientResponse> request(std::string_view method,
                                                    std::string_view target,
                                                    std::string_view content_type,
                                                    std::string_view body,
                                                    std::chrono::milliseconds timeout);
  // The client for that credential: another one where its certificate has changed.
  std::shared_ptr<net::Client> client_for(const Credential& credential);
  [[nodiscard]] net::ClientOptions options_for(const Credential& credential) const;

  const ApiServer& server_;
  CredentialSource& credentials_;
  std::mutex mutex_;
  std::shared_ptr<net::Client> client_;  // under mutex_, as all below
  std::string certificate_pem_;
  bool cancelled_ = false;
};

}  // namespace rankward::cluster
