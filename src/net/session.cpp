#include "session.hpp"

#include <algorithm>
#include <array>
#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <optional>
#include <type_traits>

#include "http_head.hpp"
#include "openssl.hpp"
#include "request_parser.hpp"

namespace rankward::net {
namespace {

// Reads come in blocks of this size; a request that fits is used where it lies, without a copy.
constexpr std::size_t kReadBufferBytes = std::size_t{64} << 10;
// How long a connection that ends may take to say goodbye.
constexpr std::chrono::milliseconds kLinger{1'000};
// First step of a body buffer; it doubles as bytes really arrive, whatever length was announced.
constexpr std::size_t kFirstBodyBytes = std::size_t{1} << 20;

constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

class InFlight {
 public:
  explicit InFlight(std::atomic<std::uint64_t>& count) : count_(count) {
    count_.fetch_add(1, std::memory_order_relaxed);
  }
  ~InFlight() { count_.fetch_sub(1, std::memory_order_relaxed); }
  InFlight(const InFlight&) = delete;
  InFlight& operator=(const InFlight&) = delete;

 private:
  std::atomic<std::uint64_t>& count_;
};

void count(std::atomic<std::uint64_t>& counter) {
  counter.fetch_add(1, std::memory_order_relaxed);
}

template <class Stream>
class SessionOf final : public Session {
  static constexpr bool kTls = std::is_same_v<Stream, TlsStream>;

 public:
  // The context is kept for as long as streams were made from it.
  SessionOf(Stream stream, std::shared_ptr<TlsContext> context, ListenerState& listener,
            ThreadState& thread, Admission admission)
      : context_(std::move(context)),
        stream_(std::move(stream)),
        listener_(listener),
        limits_(listener.options.limits),
        thread_(thread),
        admission_(admission),
        input_(kReadBufferBytes) {
    count(listener_.counters.connections);
    count(listener_.counters.connections_open);
    input_.reserve(kReadBufferBytes);
    error_code ignored;
    const auto peer = socket().remote_endpoint(ignored);
    if (!ignored) remote_address_ = peer.address().to_string();
  }

  ~SessionOf() override {
    listener_.counters.connections_open.fetch_sub(1, std::memory_order_relaxed);
  }

  Task<void> run() override {
    allow(limits_.handshake_timeout);
    if constexpr (kTls) {
      // Awaited outside of the condition: g++ 12 lays out the frame wrongly otherwise.
      const bool shaken = co_await shake_hands();
      if (!shaken) {
        co_await linger();
        co_return;
      }
    }
    allow(limits_.header_timeout);
    for (bool goes_on = true; goes_on;) {
      goes_on = co_await exchange();
      served_ = true;
      quiet_since_ = Clock::now();
      allow(limits_.idle_timeout);
    }
    co_await say_goodbye();
  }

  void abort() override {
    aborted_ = true;
    error_code ignored;
    socket().close(ignored);
  }

  void stop() override {
    stopping_ = true;
    if (!waiting_) return;
    if (may_leave()) {
      error_code ignored;
      socket().cancel(ignored);
    } else {
      allow(kLinger);
    }
  }

  void sweep(Clock::time_point now) override {
    if (aborted_) return;
    if (now >= deadline_) {
      // The end of a quiet time is how connections normally end.
      if (!waiting_ && !goodbye_) count(listener_.counters.timeouts);
      abort();
    } else if (waiting_ && now - quiet_since_ >= limits_.buffer_retention) {
      if (body_.capacity() > kReadBufferBytes) body_.release();
      if (response_.body.capacity() > kReadBufferBytes) {
        response_.body.clear();
        response_.body.shrink_to_fit();
      }
    }
  }

 private:
  TcpSocket& socket() {
    if constexpr (kTls) {
      return stream_.next_layer();
    } else {
      return stream_;
    }
  }

  void allow(std::chrono::milliseconds time) { deadline_ = Clock::now() + time; }

  [[nodiscard]] std::string_view input() const {
    const auto bytes = input_.cdata();
    return {static_cast<const char*>(bytes.data()), bytes.size()};
  }

  Task<bool> shake_hands() {
    const auto [ec] = co_await stream_.async_handshake(asio::ssl::stream_base::server, kAwait);
    if (ec) {
      report_handshake(ec);
      co_return false;
    }
    SSL* ssl = stream_.native_handle();
    if (X509* certificate = SSL_get0_peer_certificate(ssl)) {
      peer_ = describe(*certificate);
      // A full handshake has checked the dates; a resumed one takes the certificate from its
      // ticket.
      if (SSL_session_reused(ssl) == 1 && peer_->not_after < std::chrono::system_clock::now()) {
        count(listener_.counters.handshake_failures);
        co_return false;
      }
    }
    co_return true;
  }

  void report_handshake(const error_code& ec) {
    // Probes that connect and leave, and our own stop, are no failures.
    if (ec == asio::ssl::error::stream_truncated || ec == asio::error::eof ||
        ec == asio::error::connection_reset || (aborted_ && stopping_)) {
      return;
    }
    count(listener_.counters.handshake_failures);
    const auto now = Clock::now();
    if (!listener_.on_event || now - thread_.last_handshake_event < std::chrono::seconds(1)) return;
    thread_.last_handshake_event = now;
    std::string cause = aborted_ ? "timed out" : ec.message();
    const long verified = SSL_get_verify_result(stream_.native_handle());
    if (!aborted_ && verified != X509_V_OK) {
      cause += std::string(": ") + X509_verify_cert_error_string(verified);
    }
    listener_.on_event({EventLevel::kWarning, listener_.options.name, "TLS handshake refused",
                        remote_address_ + ": " + cause});
  }

  // One request and its answer. False ends the connection.
  Task<bool> exchange() {
    const bool has_head = co_await receive_head();
    if (!has_head) co_return false;
    const InFlight in_flight(listener_.counters.requests_in_flight);
    count(listener_.counters.requests);
    const auto received_at = Clock::now();
    deadline_ = received_at + limits_.request_timeout;
    body_.clear();

    if (admission_ == Admission::kReject) {
      response_.reset();
      response_.status = 503;
      response_.retry_after = std::chrono::seconds(1);
      co_await answer_plainly("too many connections");
      co_return false;
    }
    if (const auto refusal = check_head(head_)) co_return co_await refuse(*refusal);
    RequestParser parser(limits_.max_body_bytes, body_);
    if (const auto refusal = parser.read_head(head_)) co_return co_await refuse(*refusal);

    std::string_view body;
    std::size_t in_place = 0;  // bytes of input_ that the body occupies
    if (parser.expects_continue() && (parser.chunked() || parser.body_length() > input_.size())) {
      const auto [ec, n] = co_await asio::async_write(
          stream_, asio::buffer(kContinue.data(), kContinue.size()), kAwait);
      if (ec) co_return false;
    }
    if (parser.chunked()) {
      std::optional<Refusal> refusal;
      const bool received = co_await receive_chunks(parser, refusal);
      if (!received) co_return false;
      if (refusal) co_return co_await refuse(*refusal);
      body_.reserve(1);
      body = body_.view();
    } else if (parser.body_length() + kBodyPadding <= kReadBufferBytes) {
      in_place = parser.body_length();
      while (input_.size() < in_place) {
        const bool received = co_await receive();
        if (!received) co_return false;
      }
      // May move the bytes, so it comes before the view.
      input_.prepare(std::min(kBodyPadding, kReadBufferBytes - input_.size()));
      body = input().substr(0, in_place);
    } else {
      const bool received = co_await receive_body(parser.body_length());
      if (!received) co_return false;
      body = body_.view();
    }

    const bool persistent = handle(parser, body, received_at);
    input_.consume(in_place);
    // A peer that sent its request slowly gets the whole time again to take the answer.
    allow(limits_.request_timeout);
    const bool sent = co_await send(parser.method() == "HEAD");
    if (response_.after_sent) std::exchange(response_.after_sent, nullptr)();
    co_return sent&& persistent;
  }

  // Fills input_ by at least one byte.
  Task<bool> receive() {
    const auto [ec, n] =
        co_await stream_.async_read_some(input_.prepare(kReadBufferBytes - input_.size()), kAwait);
    input_.commit(n);
    co_return !ec;
  }

  // Whether a waiting connection can end without losing a request: none was announced by a new
  // connection, and none lies unread.
  bool may_leave() {
    error_code ignored;
    return served_ && socket().available(ignored) == 0;
  }

  // Moves the next head to head_, where it stays while the body is read. False when the connection
  // ends instead, or when the answer to a head that is none was given.
  Task<bool> receive_head() {
    HeadScanner scanner;
    waiting_ = input_.size() == 0;
    if (!waiting_) allow(limits_.header_timeout);
    for (;;) {
      const auto state = scanner.scan(input());
      const std::size_t length =
          state == HeadScanner::State::kComplete ? scanner.size() : input_.size();
      std::optional<Refusal> refusal;
      if (state == HeadScanner::State::kBareLineFeed) refusal = {400, "bare LF in the head"};
      if (length > limits_.max_header_bytes) refusal = {431, "request head too large"};
      if (refusal) {
        co_await refuse(*refusal);
        co_return false;
      }
      if (state == HeadScanner::State::kComplete) {
        head_.assign(input().substr(0, length));
        input_.consume(length);
        co_return true;
      }
      if (waiting_ && stopping_) {
        if (may_leave()) co_return false;
        allow(kLinger);
      }
      const bool received = co_await receive();
      const bool first = std::exchange(waiting_, false);
      if (!received) co_return false;
      if (first) allow(limits_.header_timeout);
    }
  }

  Task<bool> receive_chunks(RequestParser& parser, std::optional<Refusal>& refusal) {
    for (;;) {
      input_.consume(parser.read_chunks(input(), refusal));
      if (refusal || parser.is_done()) co_return true;
      // A chunk header or trailer section that never ends.
      if (input_.size() > limits_.max_header_bytes) {
        refusal = Refusal{400, "malformed chunked body"};
        co_return true;
      }
      const bool received = co_await receive();
      if (!received) co_return false;
    }
  }

  // A body too large for input_ goes straight to body_.
  Task<bool> receive_body(std::size_t length) {
    const std::string_view early = input().substr(0, length);
    body_.append(early);
    input_.consume(early.size());
    while (body_.size() < length) {
      if (body_.size() >= body_.capacity() || body_.capacity() == 0) {
        body_.reserve(std::min(length, std::max(kFirstBodyBytes, 2 * body_.capacity())));
      }
      const std::size_t room = std::min(body_.capacity(), length) - body_.size();
      const auto [ec, n] =
          co_await stream_.async_read_some(asio::buffer(body_.data() + body_.size(), room), kAwait);
      body_.commit(n);
      if (ec) co_return false;
    }
    co_return true;
  }

  // Runs the handler and writes the head of its answer. Returns whether the connection goes on.
  bool handle(RequestParser& parser, std::string_view body, Clock::time_point received_at) {
    Request request;
    const std::size_t mark = parser.target().find('?');
    request.method = parser.method();
    request.target = parser.target().substr(0, mark);
    if (mark != std::string_view::npos) request.query = parser.target().substr(mark + 1);
    request.body = body;
    request.headers = parser.fields();
    request.remote_address = remote_address_;
    request.client = peer_ ? &*peer_ : nullptr;
    request.received_at = received_at;
    request.deadline = received_at + limits_.request_timeout;

    response_.reset();
    bool good = true;
    try {
      listener_.handler(request, response_);
    } catch (...) {
      // What was thrown may hold user data; the counter and the status tell that it happened.
      good = false;
      response_.after_sent = nullptr;
    }
    const bool persistent = parser.keep_alive() && !closing();
    const Persistence persistence = !persistent              ? Persistence::kClose
                                    : parser.version() == 10 ? Persistence::kKeepAlive10
                                                             : Persistence::kKeepAlive;
    good = good && write_response_head(response_, persistence, thread_.date, output_);
    if (!good) {
      count(listener_.counters.handler_failures);
      auto after_sent = std::move(response_.after_sent);
      response_.reset();
      response_.after_sent = std::move(after_sent);
      response_.status = 500;
      response_.content_type = "text/plain";
      response_.body = "internal error\n";
      static_cast<void>(write_response_head(response_, persistence, thread_.date, output_));
    }
    return persistent;
  }

  [[nodiscard]] bool closing() const {
    return stopping_ || listener_.draining->load(std::memory_order_relaxed);
  }

  // Head and body in one write.
  Task<bool> send(bool head_only) {
    const bool bodiless = head_only || response_.status == 204 || response_.status == 304;
    const std::array<asio::const_buffer, 2> parts{
        asio::buffer(output_),
        asio::buffer(response_.body.data(), bodiless ? 0 : response_.body.size())};
    const auto [ec, n] = co_await asio::async_write(stream_, parts, kAwait);
    co_return !ec;
  }

  Task<void> answer_plainly(std::string_view why) {
    response_.content_type = "text/plain";
    response_.body.assign(why).append("\n");
    static_cast<void>(write_response_head(response_, Persistence::kClose, thread_.date, output_));
    co_await send(false);
  }

  // Always false: after a refusal nobody knows where the next request begins.
  Task<bool> refuse(Refusal refusal) {
    count(listener_.counters.requests_refused);
    response_.reset();
    response_.status = refusal.status;
    co_await answer_plainly(refusal.why);
    co_return false;
  }

  Task<void> say_goodbye() {
    if (aborted_) co_return;
    goodbye_ = true;
    allow(kLinger);
    if constexpr (kTls) co_await stream_.async_shutdown(kAwait);
    co_await linger();
  }

  // Ends what we send, then reads until the peer has ended too. A close with unread bytes would
  // reset the connection, and the peer could lose the answer or alert that it has not read yet.
  Task<void> linger() {
    if (aborted_) co_return;
    goodbye_ = true;
    allow(kLinger);
    error_code ec;
    socket().shutdown(asio::socket_base::shutdown_send, ec);
    while (!ec && !aborted_) {
      input_.clear();
      const auto [read_error, n] =
          co_await socket().async_read_some(input_.prepare(kReadBufferBytes), kAwait);
      ec = read_error;
    }
  }

  const std::shared_ptr<TlsContext> context_;
  Stream stream_;
  ListenerState& listener_;
  const Limits& limits_;
  ThreadState& thread_;
  const Admission admission_;

  boost::beast::flat_buffer input_;  // bytes not yet used
  std::string head_;                 // of the request in progress
  ByteBuffer body_;                  // of the request in progress where it does not fit input_
  Response response_;
  std::string output_;  // head of the answer
  std::string remote_address_;
  std::optional<PeerCertificate> peer_;

  Clock::time_point deadline_ = Clock::time_point::max();
  Clock::time_point quiet_since_ = Clock::now();
  bool waiting_ = false;   // for the first byte of a request
  bool served_ = false;    // at least one request
  bool stopping_ = false;  // no request after this one
  bool goodbye_ = false;   // the last answer has been given
  bool aborted_ = false;
};

}  // namespace

std::unique_ptr<Session> make_session(TcpSocket socket, ListenerState& listener,
                                      ThreadState& thread, Admission admission) {
  if (listener.tls) {
    std::shared_ptr<TlsContext> context = listener.tls->current();
    TlsStream stream(std::move(socket), context->context);
    return std::make_unique<SessionOf<TlsStream>>(std::move(stream), std::move(context), listener,
                                                  thread, admission);
  }
  return std::make_unique<SessionOf<TcpSocket>>(std::move(socket), nullptr, listener, thread,
                                                admission);
}

}  // namespace rankward::net
