// What the tests of this room share: throwaway certificates in a folder, raw peers.
#pragma once

#include <openssl/ssl.h>

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "rankward/net/certificates.hpp"
#include "rankward/net/client.hpp"
#include "rankward/net/server.hpp"

#include "../temporary_folder.hpp"

namespace rankward::net::testing {

using std::chrono::milliseconds;
using std::chrono::seconds;

template <class T>
T must(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().to_string());
  return std::move(*result);
}
inline void must(const Result<void>& result) {
  if (!result) throw std::runtime_error(result.error().to_string());
}

KeyPair server_leaf(const KeyPair& authority);
KeyPair client_leaf(const KeyPair& authority, std::string common_name = "system:kube-scheduler");

// An authority with the files of a server in a folder.
struct ServerFiles {
  TemporaryFolder folder;
  KeyPair authority = must(make_authority("rankward test CA"));

  ServerFiles();
  // Puts another leaf of `authority` in place, and `clients` as the CA of clients.
  void write(const KeyPair& leaf, const KeyPair& clients) const;
  [[nodiscard]] TlsOptions options(ClientCertificate client) const;
  // A client that trusts `authority` and shows a leaf of it.
  [[nodiscard]] ClientTls client_tls() const;
};

// Answers with method, target, query and body size; `/echo` with the body, `/who` with the client's
// name, `/throw` not at all, `/slow` after 300 ms.
void echo(const Request& request, Response& response);

std::unique_ptr<Server> start_plain(const Limits& limits = {}, Handler handler = echo);
std::unique_ptr<Server> start_tls(const TlsOptions& tls, const Limits& limits = {},
                                  Handler handler = echo, ServerOptions options = {});

Client make_client(std::uint16_t port, std::optional<ClientTls> tls = std::nullopt);

// A TCP connection to loopback that says exactly what it is told.
class RawPeer {
 public:
  explicit RawPeer(std::uint16_t port);
  ~RawPeer();
  RawPeer(const RawPeer&) = delete;
  RawPeer& operator=(const RawPeer&) = delete;

  void send(std::string_view bytes) const;
  void finish_sending() const;
  // What comes until the peer closes or `wait` has passed.
  [[nodiscard]] std::string receive_all(milliseconds wait = seconds(5));
  // Until `text` has come; empty when it does not.
  [[nodiscard]] std::string receive_until(std::string_view text, milliseconds wait = seconds(5));
  // Whether the peer has closed; meaningful after receive_all().
  [[nodiscard]] bool closed() const { return closed_; }

 private:
  bool receive_some(std::chrono::steady_clock::time_point end, std::string& into);
  int socket_;
  bool closed_ = false;
};

// One TLS connection made with OpenSSL's own blocking calls.
struct TlsProbe {
  std::string ca_pem;
  std::optional<KeyPair> identity = std::nullopt;
  int max_version = TLS1_3_VERSION;
  std::vector<std::string> protocols = {};  // ALPN; empty: none
  SSL_SESSION* session = nullptr;           // offered for resumption

  struct Outcome {
    bool answered = false;  // a request was answered 200
    std::string answer;
    std::string version;
    std::string protocol;
    std::string error;
    bool resumed = false;
    std::shared_ptr<SSL_SESSION> session;  // of the last ticket
  };
  // Shakes hands and sends GET `target`.
  [[nodiscard]] Outcome run(std::uint16_t port, const std::string& target = "/") const;
};

// A server that accepts `connections` one after the other and sends its pieces to each, with
// `pause` between them, after a request head has come; then closes.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> pieces, milliseconds pause = milliseconds(2),
                          int connections = 1, milliseconds hold = milliseconds(0));
  ~ScriptedServer();
  ScriptedServer(const ScriptedServer&) = delete;
  ScriptedServer& operator=(const ScriptedServer&) = delete;
  [[nodiscard]] std::uint16_t port() const { return port_; }

 private:
  int listener_;
  std::uint16_t port_ = 0;
  std::thread thread_;
};

// Waits for a condition that another thread brings about.
bool eventually(const std::function<bool()>& condition, milliseconds wait = seconds(5));

}  // namespace rankward::net::testing
