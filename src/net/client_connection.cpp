#include "client_connection.hpp"

#include <netinet/tcp.h>
#include <poll.h>

#include <array>
#include <boost/asio/write.hpp>

#include "openssl.hpp"

namespace rankward::net {
namespace {

using asio::ip::tcp;

void set_option(TcpSocket& socket, int level, int name, int value) {
  // A kernel without the option has longer timeouts; reads are bounded in any case.
  static_cast<void>(::setsockopt(socket.native_handle(), level, name, &value, sizeof value));
}

// Finds a dead peer: silent connections are probed after 15 s and given up 15 s later.
void tune(TcpSocket& socket, const ClientOptions& options) {
  set_option(socket, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(socket, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(socket, IPPROTO_TCP, TCP_KEEPIDLE, 15);
  set_option(socket, IPPROTO_TCP, TCP_KEEPINTVL, 5);
  set_option(socket, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(options.user_timeout.count()));
}

// The text, or the file's content; empty where neither is given.
Result<std::string> pem_of(const std::string& text, const std::string& file) {
  if (!text.empty() || file.empty()) return text;
  return read_small_file(file);
}

Result<void> load_identity(SSL_CTX& context, const ClientTls& tls) {
  auto certificate = pem_of(tls.certificate_pem, tls.certificate_file);
  if (!certificate) return certificate.error();
  if (certificate->empty()) return {};
  auto key = pem_of(tls.key_pem, tls.key_file);
  if (!key) return key.error();
  auto chain = parse_certificates(*certificate);
  if (!chain) return Error(chain.error()).in(tls.certificate_file).at_field("client certificate");
  auto parsed = parse_private_key(*key);
  OPENSSL_cleanse(key->data(), key->size());
  if (!parsed) return Error(parsed.error()).in(tls.key_file).at_field("client key");
  return use_identity(context, *chain, **parsed);
}

Result<asio::ssl::context> make_client_context(const ClientTls& tls) {
  auto pem = pem_of(tls.ca_pem, tls.ca_file);
  if (!pem) return pem.error();
  auto authorities = parse_certificates(*pem);
  if (!authorities) return Error(authorities.error()).in(tls.ca_file).at_field("tls.ca");
  SslContextPtr context(SSL_CTX_new(TLS_client_method()));
  if (!context) return Error(ErrorKind::kInternal, drain_openssl_errors());
  SSL_CTX_set_min_proto_version(context.get(), TLS1_2_VERSION);
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  // The API server speaks h2 to whoever offers it.
  constexpr std::array<unsigned char, 9> kHttp11{8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
  SSL_CTX_set_alpn_protos(context.get(), kHttp11.data(), kHttp11.size());
  if (auto trusted = trust(*context, *authorities); !trusted) return trusted.error();
  if (auto loaded = load_identity(*context, tls); !loaded) return loaded.error();
  return asio::ssl::context(context.release());
}

// Whom the certificate must name.
bool expect_peer(SSL& ssl, const std::string& name) {
  error_code not_numeric;
  asio::ip::make_address(name, not_numeric);
  if (!not_numeric) {
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(&ssl), name.c_str()) == 1;
  }
  SSL_set_hostflags(&ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  return SSL_set1_host(&ssl, name.c_str()) == 1 &&
         SSL_set_tlsext_host_name(&ssl, name.c_str()) == 1;
}

Error unavailable(const ClientOptions& options, const std::string& cause) {
  return Error::unavailable(cause).in(options.host + ":" + std::to_string(options.port));
}

}  // namespace

Task<Result<TcpSocket>> ClientConnection::connect(const ClientOptions& options) {
  std::vector<tcp::endpoint> endpoints;
  error_code not_numeric;
  const auto address = asio::ip::make_address(options.host, not_numeric);
  if (!not_numeric) {
    endpoints.emplace_back(address, options.port);
  } else {
    auto [ec, found] = co_await resolver_.async_resolve(
        options.host, std::to_string(options.port),
        tcp::resolver::numeric_service | tcp::resolver::address_configured, kAwait);
    if (ec) co_return unavailable(options, "name not resolved: " + ec.message());
    for (const auto& entry : found)
      endpoints.push_back(entry.endpoint());
  }
  error_code last = asio::error::not_found;
  for (const tcp::endpoint& endpoint : endpoints) {
    if (aborted_) break;
    if (!options.tls && !endpoint.address().is_loopback()) {
      co_return Error::invalid("plain HTTP is for loopback addresses only").at_field("tls");
    }
    TcpSocket socket(io_.get_executor());
    connecting_ = &socket;
    const auto [ec] = co_await socket.async_connect(endpoint, kAwait);
    connecting_ = nullptr;
    if (!ec && !aborted_) {
      tune(socket, options);
      co_return socket;
    }
    last = ec;
  }
  co_return unavailable(options, "not connected: " + last.message());
}

Task<Result<void>> ClientConnection::shake_hands(TcpSocket socket, const ClientOptions& options) {
  auto context = make_client_context(*options.tls);
  if (!context) co_return context.error();
  // The stream keeps what it needs of the context alive.
  tls_.emplace(std::move(socket), *context);
  const std::string& name =
      options.tls->server_name.empty() ? options.host : options.tls->server_name;
  SSL& ssl = *tls_->native_handle();
  if (!expect_peer(ssl, name)) {
    co_return Error::invalid("must be a DNS name or an IP address").at_field("tls.server_name");
  }
  const auto [ec] = co_await tls_->async_handshake(asio::ssl::stream_base::client, kAwait);
  if (!ec) co_return Result<void>();
  std::string cause = "TLS handshake failed: " + ec.message();
  if (const long verified = SSL_get_verify_result(&ssl); verified != X509_V_OK) {
    cause += std::string(": ") + X509_verify_cert_error_string(verified);
  }
  co_return unavailable(options, cause);
}

Task<Result<void>> ClientConnection::open(const ClientOptions& options) {
  close();
  aborted_ = false;
  auto socket = co_await connect(options);
  if (!socket) co_return socket.error();
  if (!options.tls) {
    plain_.emplace(std::move(*socket));
    co_return Result<void>();
  }
  auto shaken = co_await shake_hands(std::move(*socket), options);
  if (!shaken) close();
  co_return shaken;
}

void ClientConnection::abort() {
  error_code ignored;
  aborted_ = true;
  resolver_.cancel();
  if (connecting_ != nullptr) connecting_->close(ignored);
  if (plain_) plain_->close(ignored);
  if (tls_) tls_->next_layer().close(ignored);
}

void ClientConnection::close() {
  plain_.reset();
  tls_.reset();
}

bool ClientConnection::is_stale() {
  TcpSocket& socket = tls_ ? tls_->next_layer() : *plain_;
  if (!socket.is_open()) return true;
  pollfd state{socket.native_handle(), POLLIN | POLLRDHUP, 0};
  if (::poll(&state, 1, 0) <= 0) return false;
  // Over TLS, bytes may be session tickets; a close shows as RDHUP all the same.
  return (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0 || !tls_;
}

Task<ClientConnection::Outcome> ClientConnection::read_some(asio::mutable_buffer buffer) {
  if (tls_) co_return co_await tls_->async_read_some(buffer, kAwait);
  co_return co_await plain_->async_read_some(buffer, kAwait);
}

Task<ClientConnection::Outcome> ClientConnection::write(std::string_view head,
                                                        std::string_view body) {
  const std::array<asio::const_buffer, 2> parts{asio::buffer(head.data(), head.size()),
                                                asio::buffer(body.data(), body.size())};
  if (tls_) co_return co_await asio::async_write(*tls_, parts, kAwait);
  co_return co_await asio::async_write(*plain_, parts, kAwait);
}

}  // namespace rankward::net
