// The client's one connection: plain or TLS.
#pragma once

#include <optional>
#include <string>
#include <tuple>

#include "rankward/net/client.hpp"
#include "transport.hpp"

namespace rankward::net {

class ClientConnection {
 public:
  explicit ClientConnection(asio::io_context& io) : io_(io), resolver_(io.get_executor()) {}

  // Resolves, connects and shakes hands. Does nothing about time: abort() ends it.
  Task<Result<void>> open(const ClientOptions& options);
  // Ends whatever is in progress; operations then fail.
  void abort();
  void close();

  [[nodiscard]] bool is_open() const { return tls_ || plain_; }
  // The peer has closed, or sent what nobody asked for.
  [[nodiscard]] bool is_stale();

  using Outcome = std::tuple<error_code, std::size_t>;
  Task<Outcome> read_some(asio::mutable_buffer buffer);
  Task<Outcome> write(std::string_view head, std::string_view body);

 private:
  using Resolver = asio::ip::basic_resolver<asio::ip::tcp, Executor>;

  Task<Result<TcpSocket>> connect(const ClientOptions& options);
  Task<Result<void>> shake_hands(TcpSocket socket, const ClientOptions& options);

  asio::io_context& io_;
  Resolver resolver_;
  TcpSocket* connecting_ = nullptr;  // the socket of a connect in progress
  bool aborted_ = false;             // since open() began
  std::optional<TcpSocket> plain_;
  std::optional<TlsStream> tls_;
};

}  // namespace rankward::net
