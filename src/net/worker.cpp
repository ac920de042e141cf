#include "worker.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <ctime>

namespace rankward::net {
namespace {

// Deadlines are late by at most one tick; short limits (tests) get short ticks.
std::chrono::milliseconds tick_of(const Limits& limits) {
  const auto shortest =
      std::min({limits.header_timeout, limits.handshake_timeout, limits.idle_timeout,
                limits.request_timeout, limits.buffer_retention});
  return std::clamp(shortest / 4, std::chrono::milliseconds(10), std::chrono::milliseconds(250));
}

// Over the limit this many more connections live long enough to be answered 503.
std::size_t reject_room(const Limits& limits) {
  return limits.max_connections / 8 + 16;
}

}  // namespace

Worker::Worker(ListenerState& listener, int listening_socket, bool ipv6)
    : listener_(listener), acceptor_(io_.get_executor()), sweep_timer_(io_.get_executor()) {
  acceptor_.assign(ipv6 ? asio::ip::tcp::v6() : asio::ip::tcp::v4(), listening_socket);
  acceptor_.non_blocking(true);
  update_date();
}

Worker::~Worker() {
  if (thread_.joinable()) {
    abort();
    thread_.join();
  }
}

void Worker::start() {
  const auto finished = [this](std::exception_ptr failure) {
    if (failure) report("Accepting stopped by an unexpected failure", "internal");
  };
  asio::co_spawn(io_, accept(), finished);
  asio::co_spawn(io_, sweep(), finished);
  thread_ = std::thread([this] {
    io_.run();
    finished_.store(true, std::memory_order_release);
  });
}

void Worker::stop() {
  asio::post(io_, [this] {
    if (std::exchange(stopping_, true)) return;
    // Connections that the kernel has accepted for us would be reset by the close.
    for (;;) {
      error_code ec;
      TcpSocket socket(io_.get_executor());
      acceptor_.accept(socket, ec);
      if (ec) break;
      admit(std::move(socket));
    }
    error_code ignored;
    acceptor_.close(ignored);
    for (Session& session : sessions_)
      session.stop();
    sweep_timer_.cancel();
  });
}

void Worker::abort() {
  stop();
  asio::post(io_, [this] {
    for (Session& session : sessions_)
      session.abort();
  });
}

bool Worker::join(Clock::time_point end) {
  while (!finished_.load(std::memory_order_acquire) && Clock::now() < end) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  const bool in_time = finished_.load(std::memory_order_acquire);
  if (!in_time) abort();
  if (thread_.joinable()) thread_.join();
  return in_time;
}

Task<void> Worker::accept() {
  bool reported = false;
  while (!stopping_) {
    auto [ec, socket] = co_await acceptor_.async_accept(kAwait);
    if (!ec) {
      reported = false;
      admit(std::move(socket));
      continue;
    }
    if (stopping_) co_return;
    if (ec == asio::error::connection_aborted) continue;
    // Out of descriptors or memory: what is open goes on, and we try again.
    if (!std::exchange(reported, true)) report("Connections cannot be accepted", ec.message());
    Timer pause(io_.get_executor(), std::chrono::milliseconds(100));
    co_await pause.async_wait(kAwait);
  }
}

void Worker::admit(TcpSocket socket) {
  const Limits& limits = listener_.options.limits;
  const std::uint64_t open = listener_.counters.connections_open.load(std::memory_order_relaxed);
  Admission admission = Admission::kServe;
  if (open >= limits.max_connections) {
    listener_.counters.connections_rejected.fetch_add(1, std::memory_order_relaxed);
    if (open >= limits.max_connections + reject_room(limits)) return;
    admission = Admission::kReject;
  }
  error_code ignored;
  socket.set_option(asio::ip::tcp::no_delay(true), ignored);
  try {
    std::unique_ptr<Session> session =
        make_session(std::move(socket), listener_, state_, admission);
    sessions_.push_back(*session);
    if (stopping_) session->stop();
    // The coroutine's frame owns the session.
    const auto serve = [](std::unique_ptr<Session> owned) -> Task<void> { co_await owned->run(); };
    asio::co_spawn(io_, serve(std::move(session)), [this](std::exception_ptr failure) {
      if (failure) report("Connection ended by an unexpected failure", "out of memory or internal");
    });
  } catch (const std::exception& failure) {
    report("Connection cannot be served", failure.what());
  }
}

Task<void> Worker::sweep() {
  const auto tick = tick_of(listener_.options.limits);
  while (!stopping_ || !sessions_.empty()) {
    sweep_timer_.expires_after(tick);
    co_await sweep_timer_.async_wait(kAwait);
    update_date();
    const auto now = Clock::now();
    for (Session& session : sessions_)
      session.sweep(now);
  }
}

void Worker::report(std::string_view message, const std::string& error) {
  if (listener_.on_event) {
    listener_.on_event({EventLevel::kError, listener_.options.name, message, error});
  }
}

void Worker::update_date() {
  const std::time_t now = std::time(nullptr);
  if (now == std::exchange(date_second_, now)) return;
  static constexpr std::array<const char*, 7> kDays{"Sun", "Mon", "Tue", "Wed",
                                                    "Thu", "Fri", "Sat"};
  static constexpr std::array<const char*, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm fields{};
  gmtime_r(&now, &fields);
  std::array<char, 64> text{};
  // Not strftime: the names must not follow the locale.
  std::snprintf(text.data(), text.size(), "%s, %02d %s %04d %02d:%02d:%02d GMT",
                kDays[static_cast<std::size_t>(fields.tm_wday)], fields.tm_mday,
                kMonths[static_cast<std::size_t>(fields.tm_mon)], fields.tm_year + 1900,
                fields.tm_hour, fields.tm_min, fields.tm_sec);
  state_.date = text.data();
}

}  // namespace rankward::net
