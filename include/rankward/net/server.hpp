// HTTP and HTTPS server: HTTP/1.0 and 1.1, keep-alive, mutual TLS, bounded in size and time.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/net/http.hpp"
#include "rankward/net/tls.hpp"
#include "rankward/result.hpp"

namespace rankward::net {

// Bounds of one port. Larger values admit more and let a hostile peer hold more.
struct Limits {
  // 8 MiB: an AdmissionReview on UPDATE carries two objects of at most 3 MiB each. More: 413.
  std::size_t max_body_bytes = std::size_t{8} << 20;
  // Request line and fields together. More: 431. At most 32 KiB.
  std::size_t max_header_bytes = std::size_t{8} << 10;
  // From the first byte of a head to its end; for the first request, from the handshake's end.
  std::chrono::milliseconds header_timeout{5'000};
  std::chrono::milliseconds handshake_timeout{10'000};
  // Between two requests. Above the 90 s after which Go's client drops an idle connection, so that
  // the client closes first and no call is lost to a race.
  std::chrono::milliseconds idle_timeout{120'000};
  // From the end of the head to the end of the body, and again for the answer to be taken.
  std::chrono::milliseconds request_timeout{30'000};
  // Open connections of the port. One more is answered 503 with `Retry-After: 1` and closed.
  std::size_t max_connections = 1'024;
  // Body buffers above 64 KiB are given back when a connection has been quiet for this long.
  std::chrono::milliseconds buffer_retention{10'000};
};

struct ListenerOptions {
  std::string name;                   // for events, e.g. "extender"
  std::string address = "127.0.0.1";  // numeric, IPv4 or IPv6
  std::uint16_t port = 0;             // 0: the system chooses
  std::optional<TlsOptions> tls;      // absent: plain HTTP
  Limits limits;
  // Each thread has its own event loop and its own accepting socket (SO_REUSEPORT): 1.5 times less
  // CPU a call than one loop shared by strands. The kernel spreads connections, not calls.
  unsigned threads = 1;
};

struct Listener {
  ListenerOptions options;
  Handler handler;
};

enum class EventLevel : std::uint8_t { kInfo, kWarning, kError };

// Something an operator wants in the log. Texts are written here; `error` has the cause.
struct Event {
  EventLevel level;
  std::string_view listener;
  std::string_view message;
  std::string error;
};

struct ServerOptions {
  // How often certificate files are read again.
  std::chrono::milliseconds reload_interval{10'000};
  // Called from any thread of the server; must be thread-safe and quick. Refused handshakes are
  // reported at most once a second a thread.
  std::function<void(const Event&)> on_event;
};

// Counters of one port since start; the first two are what is now.
struct ListenerStats {
  std::uint64_t connections_open = 0;
  std::uint64_t requests_in_flight = 0;
  std::uint64_t connections = 0;
  std::uint64_t connections_rejected = 0;  // over max_connections
  std::uint64_t handshake_failures = 0;
  std::uint64_t requests = 0;          // complete heads
  std::uint64_t requests_refused = 0;  // answered 4xx or 5xx before any handler was called
  std::uint64_t handler_failures = 0;  // handlers that threw, each answered 500
  std::uint64_t timeouts = 0;          // connections closed because a limit of time passed
};

// stop() and reload() come from one thread; the rest may be called from any.
class Server {
 public:
  // Binds every port and starts the threads, or starts nothing and says what failed.
  static Result<std::unique_ptr<Server>> start(std::vector<Listener> listeners,
                                               ServerOptions options = {});
  // Stops without grace.
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // In the order of the listeners.
  [[nodiscard]] std::vector<std::uint16_t> ports() const;
  [[nodiscard]] std::vector<ListenerStats> stats() const;
  // When the certificate in use ends, by listener; empty for plain HTTP.
  [[nodiscard]] std::vector<std::optional<std::chrono::system_clock::time_point>>
  certificates_not_after() const;

  // While draining each answer carries `Connection: close`; new connections are still served. Call
  // it some seconds before stop() so that clients have moved away by then.
  void set_draining(bool draining);

  // Accepts what is queued, then no more; closes idle connections; lets calls in flight finish, and
  // cuts what is left after `grace`. Returns whether nothing had to be cut. A handler that is
  // running is waited for in any case. Not to be called from a handler.
  bool stop(std::chrono::milliseconds grace);

  // Reads the certificate files now (SIGHUP). New handshakes use what is good; for a bad set the
  // old one stays in use, and the first failure is returned.
  Result<void> reload();

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rankward::net
