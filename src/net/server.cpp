#include "rankward/net/server.hpp"

#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <cstring>

#include "worker.hpp"

namespace rankward::net {
namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{32} << 10;
constexpr unsigned kMaxThreads = 256;

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

enum class Sharing : bool { kAlone, kShared };

Result<Descriptor> bind_socket(const asio::ip::tcp::endpoint& endpoint, Sharing sharing) {
  const auto failed = [&endpoint](const char* what) {
    return Error::unavailable(endpoint.address().to_string() + " port " +
                              std::to_string(endpoint.port()) + " " + what + ": " +
                              std::strerror(errno));
  };
  Descriptor socket(::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return failed("has no socket");
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (sharing == Sharing::kShared) {
    ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
  }
  if (::bind(socket.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0) {
    return failed("cannot be bound");
  }
  return socket;
}

std::uint16_t port_of(const Descriptor& socket) {
  asio::ip::tcp::endpoint endpoint;
  auto size = static_cast<socklen_t>(endpoint.capacity());
  ::getsockname(socket.get(), endpoint.data(), &size);
  return endpoint.port();
}

// One listening socket a thread, all of one port; `endpoint` gets the port that was chosen.
Result<std::vector<Descriptor>> listen_on(asio::ip::tcp::endpoint& endpoint, unsigned threads) {
  const Sharing sharing = threads > 1 ? Sharing::kShared : Sharing::kAlone;
  if (sharing == Sharing::kShared && endpoint.port() != 0) {
    // A second server started by mistake could share the port with us and take half of the calls;
    // a socket that does not share finds that out.
    if (auto probe = bind_socket(endpoint, Sharing::kAlone); !probe) return probe.error();
  }
  std::vector<Descriptor> sockets;
  for (unsigned i = 0; i < threads; ++i) {
    auto socket = bind_socket(endpoint, sharing);
    if (!socket) return socket.error();
    endpoint.port(port_of(*socket));
    sockets.push_back(std::move(*socket));
  }
  for (const Descriptor& socket : sockets) {
    if (::listen(socket.get(), SOMAXCONN) != 0) {
      return Error::unavailable(std::string("cannot listen: ") + std::strerror(errno));
    }
  }
  return sockets;
}

Result<void> check(const Listener& listener) {
  const ListenerOptions& options = listener.options;
  const Limits& limits = options.limits;
  if (!listener.handler) return Error::invalid("must be set").at_field("handler");
  if (options.threads < 1 || options.threads > kMaxThreads) {
    return Error::invalid("must be 1 to 256").at_field("threads");
  }
  if (limits.max_header_bytes < 256 || limits.max_header_bytes > kMaxHeaderBytes) {
    return Error::invalid("must be 256 to 32768 bytes").at_field("limits.max_header_bytes");
  }
  if (limits.max_connections < 1) {
    return Error::invalid("must be at least 1").at_field("limits.max_connections");
  }
  return {};
}

}  // namespace

struct Server::Impl {
  std::atomic<bool> draining{false};
  std::vector<std::unique_ptr<ListenerState>> listeners;
  std::vector<std::uint16_t> ports;
  std::vector<std::unique_ptr<Worker>> workers;
  std::unique_ptr<TlsReloader> reloader;  // last: it uses the listeners

  Result<void> add(Listener listener, const ServerOptions& options);
  bool stop(std::chrono::milliseconds grace);
};

Result<void> Server::Impl::add(Listener listener, const ServerOptions& options) {
  if (auto checked = check(listener); !checked) return checked.error();
  auto state = std::make_unique<ListenerState>();
  state->options = std::move(listener.options);
  state->handler = std::move(listener.handler);
  state->draining = &draining;
  state->on_event = options.on_event;

  error_code ec;
  const auto address = asio::ip::make_address(state->options.address, ec);
  if (ec) return Error::invalid("must be a numeric IPv4 or IPv6 address").at_field("address");
  if (state->options.tls) {
    auto source = TlsSource::open(state->options.name, *state->options.tls);
    if (!source) return source.error();
    state->tls = std::move(*source);
  }
  asio::ip::tcp::endpoint endpoint(address, state->options.port);
  auto sockets = listen_on(endpoint, state->options.threads);
  if (!sockets) return sockets.error();
  ports.push_back(endpoint.port());
  for (Descriptor& socket : *sockets) {
    workers.push_back(std::make_unique<Worker>(*state, socket.get(), address.is_v6()));
    socket.release();
  }
  listeners.push_back(std::move(state));
  return {};
}

bool Server::Impl::stop(std::chrono::milliseconds grace) {
  draining.store(true, std::memory_order_relaxed);
  const auto end = Clock::now() + grace;
  for (auto& worker : workers)
    worker->stop();
  bool clean = true;
  for (auto& worker : workers)
    clean = worker->join(end) && clean;
  reloader.reset();
  return clean;
}

Server::Server(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Server::~Server() {
  impl_->stop(std::chrono::milliseconds(0));
}

Result<std::unique_ptr<Server>> Server::start(std::vector<Listener> listeners,
                                              ServerOptions options) {
  auto impl = std::make_unique<Impl>();
  try {
    for (std::size_t i = 0; i < listeners.size(); ++i) {
      if (auto added = impl->add(std::move(listeners[i]), options); !added) {
        return Error(added.error()).under("listeners[" + std::to_string(i) + "]");
      }
    }
    std::vector<TlsSource*> sources;
    for (const auto& listener : impl->listeners) {
      if (listener->tls) sources.push_back(listener->tls.get());
    }
    if (!sources.empty()) {
      impl->reloader = std::make_unique<TlsReloader>(std::move(sources), options.reload_interval,
                                                     options.on_event);
    }
    for (auto& worker : impl->workers)
      worker->start();
  } catch (const std::exception& failure) {
    return Error::unavailable(std::string("server cannot be started: ") + failure.what());
  }
  return std::unique_ptr<Server>(new Server(std::move(impl)));
}

std::vector<std::uint16_t> Server::ports() const {
  return impl_->ports;
}

std::vector<ListenerStats> Server::stats() const {
  std::vector<ListenerStats> all;
  for (const auto& listener : impl_->listeners) {
    const ListenerCounters& c = listener->counters;
    const auto read = [](const std::atomic<std::uint64_t>& counter) {
      return counter.load(std::memory_order_relaxed);
    };
    all.push_back({read(c.connections_open), read(c.requests_in_flight), read(c.connections),
                   read(c.connections_rejected), read(c.handshake_failures), read(c.requests),
                   read(c.requests_refused), read(c.handler_failures), read(c.timeouts)});
  }
  return all;
}

std::vector<std::optional<std::chrono::system_clock::time_point>> Server::certificates_not_after()
    const {
  std::vector<std::optional<std::chrono::system_clock::time_point>> all;
  for (const auto& listener : impl_->listeners) {
    all.emplace_back();
    if (listener->tls) all.back() = listener->tls->current()->not_after;
  }
  return all;
}

void Server::set_draining(bool draining) {
  impl_->draining.store(draining, std::memory_order_relaxed);
}

bool Server::stop(std::chrono::milliseconds grace) {
  return impl_->stop(grace);
}

Result<void> Server::reload() {
  if (!impl_->reloader) return {};
  return impl_->reloader->reload();
}

}  // namespace rankward::net
