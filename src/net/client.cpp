#include "rankward/net/client.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>
#include <boost/beast/core/flat_buffer.hpp>

#include "client_connection.hpp"
#include "rankward/net/http.hpp"
#include "response_parser.hpp"

namespace rankward::net {
namespace {

constexpr std::size_t kReadBufferBytes = std::size_t{64} << 10;

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

Result<std::string> write_request_head(const ClientOptions& options, std::string_view method,
                                       std::string_view target, const ClientHeaders& headers,
                                       std::size_t body_bytes) {
  const auto is_upper = [](char c) { return c >= 'A' && c <= 'Z'; };
  if (method.empty() || !std::all_of(method.begin(), method.end(), is_upper)) {
    return Error::invalid("must be upper-case letters").at_field("method");
  }
  if (target.empty() || target.front() != '/' || has_control_character(target) ||
      target.find(' ') != std::string_view::npos) {
    return Error::invalid("must be a path without blanks").at_field("target");
  }
  std::string head;
  head.append(method).append(" ").append(target).append(" HTTP/1.1\r\nHost: ");
  const bool ipv6 = options.host.find(':') != std::string::npos;
  head.append(ipv6 ? "[" + options.host + "]" : options.host);
  head.append(":").append(std::to_string(options.port)).append("\r\n");
  for (const auto& [name, value] : headers) {
    if (name.empty() || name.find_first_of(" :") != std::string::npos ||
        has_control_character(name) || has_control_character(value)) {
      return Error::invalid("must be a field name and a value without control characters")
          .at_field("headers");
    }
    head.append(name).append(": ").append(value).append("\r\n");
  }
  if (body_bytes > 0 || method == "POST" || method == "PUT" || method == "PATCH") {
    head.append("Content-Length: ").append(std::to_string(body_bytes)).append("\r\n");
  }
  head.append("\r\n");
  return head;
}

}  // namespace

std::string_view ClientResponse::header(std::string_view name) const {
  for (const auto& [field, value] : headers) {
    if (equal_ignoring_case(field, name)) return value;
  }
  return {};
}

struct Client::Impl {
  explicit Impl(ClientOptions o) : options(std::move(o)) {}

  struct Call {
    std::string head;
    std::string_view body;
    bool head_only;                     // HEAD
    bool repeatable;                    // may be sent again over a new connection
    Clock::time_point end;              // of everything
    std::chrono::milliseconds silence;  // between two reads
    ResponseParser::Sink sink;
  };

  // Runs one call on this thread; the loop ends with the call.
  Result<void> perform(const Call& call);
  Task<Result<void>> attempt(const Call& call);
  // Reads one response. `silent` tells that the peer closed before its first byte.
  Task<Result<void>> receive(const Call& call, bool& silent);

  void allow(Clock::time_point until);
  void watch();
  Error failure(const std::string& cause) const;

  const ClientOptions options;
  asio::io_context io{1};
  ClientConnection connection{io};
  Timer timer{io.get_executor()};
  boost::beast::flat_buffer input{kReadBufferBytes};
  Clock::time_point deadline;
  bool running = false;
  bool timed_out = false;
  std::atomic<bool> cancelled{false};
};

Error Client::Impl::failure(const std::string& cause) const {
  const std::string text = cancelled ? "cancelled" : timed_out ? "no answer in time" : cause;
  return Error::unavailable(text).in(options.host + ":" + std::to_string(options.port));
}

void Client::Impl::allow(Clock::time_point until) {
  const bool earlier = until < deadline;
  deadline = until;
  if (earlier) timer.cancel();  // watch() sets it again
}

// One wait for many deadlines: it looks at `deadline` when it wakes.
void Client::Impl::watch() {
  timer.expires_at(deadline);
  timer.async_wait([this](const error_code&) {
    if (!running) return;
    if (Clock::now() < deadline) return watch();
    timed_out = true;
    connection.abort();
  });
}

Result<void> Client::Impl::perform(const Call& call) {
  if (cancelled) return failure("cancelled");
  io.restart();
  timed_out = false;
  running = true;
  deadline = call.end;
  Result<void> outcome;
  try {
    watch();
    asio::co_spawn(io, attempt(call), [&](const std::exception_ptr& thrown, Result<void> result) {
      outcome = thrown ? Result<void>(Error(ErrorKind::kInternal, "the call ended unexpectedly"))
                       : std::move(result);
      running = false;
      timer.cancel();
    });
    io.run();
  } catch (const std::exception& thrown) {
    running = false;
    outcome = Error(ErrorKind::kInternal, thrown.what());
  }
  // After a failure nobody knows what the peer will still send.
  if (!outcome) connection.close();
  return outcome;
}

Task<Result<void>> Client::Impl::attempt(const Call& call) {
  for (bool again = call.repeatable;; again = false) {
    if (cancelled) co_return failure("cancelled");
    if (connection.is_open() && connection.is_stale()) connection.close();
    const bool kept = connection.is_open();
    if (!kept) {
      allow(std::min(call.end, Clock::now() + options.connect_timeout));
      auto opened = co_await connection.open(options);
      if (!opened) {
        if (cancelled || timed_out) co_return failure("");
        co_return opened;
      }
    }
    input.clear();
    allow(std::min(call.end, Clock::now() + call.silence));
    bool silent = true;
    Result<void> outcome;
    const auto [ec, n] = co_await connection.write(call.head, call.body);
    if (ec) {
      outcome = failure("request not sent: " + ec.message());
    } else {
      outcome = co_await receive(call, silent);
    }
    if (outcome || !(again && kept && silent) || cancelled || timed_out) co_return outcome;
    connection.close();
  }
}

Task<Result<void>> Client::Impl::receive(const Call& call, bool& silent) {
  std::optional<ResponseParser> parser;
  parser.emplace(call.sink, call.head_only);
  while (!parser->is_done()) {
    error_code ec;
    if (input.size() > 0) {
      input.consume(parser->put(input.data(), ec));
      if (parser->stopped()) {
        connection.close();
        co_return Result<void>();
      }
      if (ec && ec != boost::beast::http::error::need_more) {
        co_return failure("malformed response: " + ec.message());
      }
      if (parser->is_done() && parser->informational()) {
        parser.emplace(call.sink, call.head_only);
        continue;
      }
      if (!ec && input.size() > 0) continue;
      if (parser->is_done()) break;
    }
    allow(std::min(call.end, Clock::now() + call.silence));
    const auto [read_error, n] =
        co_await connection.read_some(input.prepare(kReadBufferBytes - input.size()));
    input.commit(n);
    if (n > 0) silent = false;
    // Over TLS only a close_notify is an end; a cut connection is `stream truncated`.
    if (read_error == asio::error::eof && parser->got_some() && parser->is_header_done()) {
      parser->put_eof(ec);
      if (ec) co_return failure("connection closed within the response");
    } else if (read_error) {
      co_return failure(silent ? "connection closed without a response: " + read_error.message()
                               : "connection failed within the response: " + read_error.message());
    }
  }
  if (!parser->keep_alive() || input.size() > 0) connection.close();
  co_return Result<void>();
}

Client::Client(ClientOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Client::~Client() = default;

Result<ClientResponse> Client::request(std::string_view method, std::string_view target,
                                       const ClientHeaders& headers, std::string_view body,
                                       std::chrono::milliseconds timeout) {
  auto head = write_request_head(impl_->options, method, target, headers, body.size());
  if (!head) return head.error();
  ClientResponse response;
  bool too_large = false;
  const std::size_t limit = impl_->options.max_body_bytes;
  const auto on_head = [&](const ClientResponse& received) {
    response = received;
    return true;
  };
  const auto on_bytes = [&](std::string_view bytes) {
    too_large = bytes.size() > limit - response.body.size();
    if (!too_large) response.body.append(bytes);
    return !too_large;
  };
  const auto outcome = impl_->perform({std::move(*head),
                                       body,
                                       method == "HEAD",
                                       method == "GET" || method == "HEAD",
                                       Clock::now() + timeout,
                                       timeout,
                                       {on_head, on_bytes}});
  if (!outcome) return outcome.error();
  if (too_large) {
    return Error(ErrorKind::kTooLarge, "response body is over " + std::to_string(limit) + " bytes");
  }
  return response;
}

Result<void> Client::stream(std::string_view method, std::string_view target,
                            const ClientHeaders& headers, const OnHead& on_head,
                            const OnChunk& on_chunk, std::chrono::milliseconds read_timeout) {
  auto head = write_request_head(impl_->options, method, target, headers, 0);
  if (!head) return head.error();
  return impl_->perform({std::move(*head),
                         {},
                         method == "HEAD",
                         method == "GET" || method == "HEAD",
                         Clock::time_point::max(),
                         read_timeout,
                         {on_head, on_chunk}});
}

void Client::cancel() {
  impl_->cancelled = true;
  asio::post(impl_->io, [impl = impl_.get()] {
    if (impl->cancelled) impl->connection.abort();
  });
}

void Client::resume() {
  impl_->cancelled = false;
}

bool Client::cancelled() const {
  return impl_->cancelled;
}

}  // namespace rankward::net
