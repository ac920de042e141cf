// One HTTP call as the handlers of this server see it.
#pragma once

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankward::net {

// Who the peer is, from its verified certificate.
struct PeerCertificate {
  std::string common_name;  // the last CN of the subject, as Go's x509 chooses; empty if none
  std::vector<std::string> organizations;  // Kubernetes reads these as groups
  std::vector<std::string> dns_names;
  std::vector<std::string> uris;  // SPIFFE ids come here
  std::vector<std::string> emails;
  std::chrono::system_clock::time_point not_after;
};

struct HeaderField {
  std::string_view name;
  std::string_view value;  // outer blanks trimmed
};

// Bytes that may be read (not used) behind Request::body, for parsers that load whole vectors.
inline constexpr std::size_t kBodyPadding = 64;

// Every view points into buffers of the connection and is valid during the handler's call only.
struct Request {
  std::string_view method;
  std::string_view target;  // path as sent, without the query
  std::string_view query;   // without `?`
  std::string_view body;    // at most Limits::max_body_bytes, kBodyPadding readable bytes behind
  std::span<const HeaderField> headers;
  std::string_view remote_address;          // numeric, without the port
  const PeerCertificate* client = nullptr;  // null without TLS or without a client certificate
  std::chrono::steady_clock::time_point received_at;  // when the head was complete
  std::chrono::steady_clock::time_point deadline;     // received_at + Limits::request_timeout

  // Value of the first field of that name in any case; empty where absent.
  [[nodiscard]] std::string_view header(std::string_view name) const;
};

// Made once a connection and reset for each call: what the handler appends to `body` reuses the
// memory of earlier calls.
struct Response {
  int status = 200;  // 200..599
  std::string content_type = "application/json";
  std::string body;
  std::optional<std::chrono::seconds> retry_after;
  // Further fields, such as Cache-Control. Content-Length, Content-Type, Connection, Date and
  // Retry-After are written by the server.
  std::vector<std::pair<std::string, std::string>> headers;
  // Run once the answer has left, or could not: what is logged and counted costs the caller
  // nothing. Nothing of the request may be used any more. Must not throw.
  std::function<void()> after_sent;

  void reset();
};

// Runs on the connection's thread and must not block: other connections of that thread wait.
// Whatever it throws becomes a 500 without detail.
using Handler = std::function<void(const Request&, Response&)>;

// ASCII comparison without case, as field names need it.
[[nodiscard]] bool equal_ignoring_case(std::string_view a, std::string_view b);

}  // namespace rankward::net
