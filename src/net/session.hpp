// One connection from its handshake to its end.
#pragma once

#include <atomic>
#include <boost/intrusive/list.hpp>
#include <memory>
#include <string>

#include "rankward/net/server.hpp"
#include "tls_reloader.hpp"
#include "transport.hpp"

namespace rankward::net {

struct ListenerCounters {
  std::atomic<std::uint64_t> connections_open{0};
  std::atomic<std::uint64_t> requests_in_flight{0};
  std::atomic<std::uint64_t> connections{0};
  std::atomic<std::uint64_t> connections_rejected{0};
  std::atomic<std::uint64_t> handshake_failures{0};
  std::atomic<std::uint64_t> requests{0};
  std::atomic<std::uint64_t> requests_refused{0};
  std::atomic<std::uint64_t> handler_failures{0};
  std::atomic<std::uint64_t> timeouts{0};
};

// What the connections of one listener share. `draining` belongs to the server.
struct ListenerState {
  ListenerOptions options;
  Handler handler;
  std::unique_ptr<TlsSource> tls;  // null for plain HTTP
  const std::atomic<bool>* draining = nullptr;
  std::function<void(const Event&)> on_event;
  ListenerCounters counters;
};

// What the connections of one thread share.
struct ThreadState {
  std::string date;  // now, as IMF-fixdate; made once a sweep
  Clock::time_point last_handshake_event{};
};

// A worker holds its sessions in a list and sweeps it for deadlines: one timer a thread instead of
// one an operation. All members are used on the worker's thread only.
class Session : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual ~Session() = default;

  virtual Task<void> run() = 0;
  // Cuts the connection; run() then comes to its end.
  virtual void abort() = 0;
  // Ends a connection that waits for a request; any other ends after its answer.
  virtual void stop() = 0;
  // Closes what is past its deadline and frees large buffers of what is quiet.
  virtual void sweep(Clock::time_point now) = 0;
};

enum class Admission : std::uint8_t {
  kServe,
  kReject,  // over the limit: the first request is answered 503
};

std::unique_ptr<Session> make_session(TcpSocket socket, ListenerState& listener,
                                      ThreadState& thread, Admission admission);

}  // namespace rankward::net
