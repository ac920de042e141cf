// HTTP/1.1 client for one server, blocking for its caller: used to list and watch, and in tests.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankward/result.hpp"

namespace rankward::net {

// Each of the three may come as a file or as PEM text; text wins. Files are read again for every
// new connection, so rotated credentials are used from the next connection on.
struct ClientTls {
  std::string ca_file;
  std::string ca_pem;  // every certificate in it is trusted, and nothing else is
  std::string certificate_file;
  std::string certificate_pem;
  std::string key_file;
  std::string key_pem;
  std::string server_name;  // checked against the certificate and sent as SNI; empty: the host
};

struct ClientOptions {
  std::string host;  // name or numeric address
  std::uint16_t port = 443;
  // Absent: plain HTTP, which is refused unless the address is loopback.
  std::optional<ClientTls> tls;
  std::chrono::milliseconds connect_timeout{10'000};  // name, TCP and TLS together
  // Response bodies of request(). A list of 5,000 Nodes is some 60 MB.
  std::size_t max_body_bytes = std::size_t{1} << 30;
  // How long sent bytes may stay unacknowledged (TCP_USER_TIMEOUT) before the connection is dead.
  std::chrono::milliseconds user_timeout{30'000};
};

using ClientHeaders = std::vector<std::pair<std::string, std::string>>;

struct ClientResponse {
  int status = 0;
  ClientHeaders headers;
  std::string body;

  // First field of that name in any case; empty where absent.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

// One call at a time, from one thread at a time; only cancel() and cancelled() may be called from
// elsewhere. The connection is kept for the next call where the server allows it.
class Client {
 public:
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // Any status is a response; an Error means that none came (kUnavailable), that the request is not
  // one (kInvalid) or that the body is over max_body_bytes (kTooLarge). GET and HEAD are sent again
  // once when a kept connection turns out to be closed; other methods never are.
  Result<ClientResponse> request(std::string_view method, std::string_view target,
                                 const ClientHeaders& headers = {}, std::string_view body = {},
                                 std::chrono::milliseconds timeout = std::chrono::seconds(30));

  // Called with status and fields before the body; false ends the call.
  using OnHead = std::function<bool(const ClientResponse&)>;
  // Called with bytes of the body as they come, cut anywhere; false ends the call.
  using OnChunk = std::function<bool(std::string_view)>;

  // A response of any length and duration, as a watch is. `read_timeout` bounds the silence between
  // two reads. Success: the body came to its end, or a callback returned false.
  Result<void> stream(std::string_view method, std::string_view target,
                      const ClientHeaders& headers, const OnHead& on_head, const OnChunk& on_chunk,
                      std::chrono::milliseconds read_timeout = std::chrono::seconds(60));

  // Ends the running call with kUnavailable and refuses later ones until resume(): a call that is
  // about to start is not missed. A name look-up in progress ends only with the system's resolver.
  void cancel();
  void resume();
  [[nodiscard]] bool cancelled() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankward::net
