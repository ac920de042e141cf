#include "fixtures.hpp"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <stdexcept>

namespace rankward::net::testing {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

int connect_to(std::uint16_t port) {
  const int fd = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = loopback(port);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    ::close(fd);
    throw std::runtime_error("connect failed");
  }
  return fd;
}

void send_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t n = ::send(fd, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (n <= 0) return;  // the peer has closed; the test looks at what it got
    bytes.remove_prefix(static_cast<std::size_t>(n));
  }
}

template <class T>
std::shared_ptr<T> owned(T* object, void (*release)(T*)) {
  return {object, release};
}

}  // namespace

KeyPair server_leaf(const KeyPair& authority) {
  LeafOptions leaf;
  leaf.common_name = "rankward";
  leaf.dns_names = {"localhost", "rankward.rankward-system.svc"};
  leaf.ip_addresses = {"127.0.0.1"};
  leaf.server = true;
  return must(issue(authority, leaf));
}

KeyPair client_leaf(const KeyPair& authority, std::string common_name) {
  LeafOptions leaf;
  leaf.common_name = std::move(common_name);
  leaf.client = true;
  return must(issue(authority, leaf));
}

ServerFiles::ServerFiles() {
  write(server_leaf(authority), authority);
}

void ServerFiles::write(const KeyPair& leaf, const KeyPair& clients) const {
  must(write_private_file(folder.path("tls.crt"), leaf.certificate_pem));
  must(write_private_file(folder.path("tls.key"), leaf.key_pem));
  must(write_private_file(folder.path("ca.crt"), clients.certificate_pem));
}

TlsOptions ServerFiles::options(ClientCertificate client) const {
  TlsOptions tls;
  tls.certificate_file = folder.path("tls.crt");
  tls.key_file = folder.path("tls.key");
  tls.client_ca_file = folder.path("ca.crt");
  tls.client_certificate = client;
  return tls;
}

ClientTls ServerFiles::client_tls() const {
  const KeyPair leaf = client_leaf(authority);
  ClientTls tls;
  tls.ca_pem = authority.certificate_pem;
  tls.certificate_pem = leaf.certificate_pem;
  tls.key_pem = leaf.key_pem;
  return tls;
}

void echo(const Request& request, Response& response) {
  if (request.target == "/throw") throw std::runtime_error("on purpose");
  if (request.target == "/slow") std::this_thread::sleep_for(milliseconds(300));
  response.content_type = "text/plain";
  if (request.target == "/echo") {
    response.body.append(request.body);
  } else if (request.target == "/who") {
    response.body = request.client != nullptr ? request.client->common_name : "nobody";
  } else {
    response.body.append(request.method).append(" ").append(request.target);
    if (!request.query.empty()) response.body.append(" ").append(request.query);
    response.body.append(" ").append(std::to_string(request.body.size()));
  }
}

std::unique_ptr<Server> start_plain(const Limits& limits, Handler handler) {
  ListenerOptions options;
  options.name = "plain";
  options.limits = limits;
  return must(Server::start({{options, std::move(handler)}}));
}

std::unique_ptr<Server> start_tls(const TlsOptions& tls, const Limits& limits, Handler handler,
                                  ServerOptions server) {
  ListenerOptions options;
  options.name = "tls";
  options.tls = tls;
  options.limits = limits;
  return must(Server::start({{options, std::move(handler)}}, std::move(server)));
}

Client make_client(std::uint16_t port, std::optional<ClientTls> tls) {
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = port;
  options.tls = std::move(tls);
  return Client(std::move(options));
}

RawPeer::RawPeer(std::uint16_t port) : socket_(connect_to(port)) {}
RawPeer::~RawPeer() {
  ::close(socket_);
}

void RawPeer::send(std::string_view bytes) const {
  send_all(socket_, bytes);
}
void RawPeer::finish_sending() const {
  ::shutdown(socket_, SHUT_WR);
}

bool RawPeer::receive_some(Clock::time_point end, std::string& into) {
  const auto left = std::chrono::duration_cast<milliseconds>(end - Clock::now()).count();
  pollfd state{socket_, POLLIN, 0};
  if (left <= 0 || ::poll(&state, 1, static_cast<int>(left)) <= 0) return false;
  std::array<char, 16384> block;
  const ssize_t n = ::recv(socket_, block.data(), block.size(), 0);
  closed_ = n <= 0;
  if (n > 0) into.append(block.data(), static_cast<std::size_t>(n));
  return !closed_;
}

std::string RawPeer::receive_all(milliseconds wait) {
  std::string all;
  const auto end = Clock::now() + wait;
  while (receive_some(end, all)) {
  }
  return all;
}

std::string RawPeer::receive_until(std::string_view text, milliseconds wait) {
  std::string all;
  const auto end = Clock::now() + wait;
  while (all.find(text) == std::string::npos) {
    if (!receive_some(end, all)) return {};
  }
  return all;
}

TlsProbe::Outcome TlsProbe::run(std::uint16_t port, const std::string& target) const {
  Outcome outcome;
  ERR_clear_error();
  const auto context = owned(SSL_CTX_new(TLS_client_method()), SSL_CTX_free);
  SSL_CTX_set_max_proto_version(context.get(), max_version);
  SSL_CTX_set_session_cache_mode(context.get(),
                                 SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL_STORE);
  SSL_CTX_set_app_data(context.get(), &outcome);
  SSL_CTX_sess_set_new_cb(context.get(), [](SSL* ssl, SSL_SESSION* ticket) {
    auto* out = static_cast<Outcome*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(ssl)));
    out->session = owned(ticket, SSL_SESSION_free);
    return 1;
  });
  const auto parse = [](const std::string& pem, auto read, auto release) {
    const auto bio = owned(BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())), BIO_free_all);
    return owned(read(bio.get(), nullptr, nullptr, nullptr), release);
  };
  X509_STORE_add_cert(SSL_CTX_get_cert_store(context.get()),
                      parse(ca_pem, PEM_read_bio_X509, X509_free).get());
  SSL_CTX_set_verify(context.get(), SSL_VERIFY_PEER, nullptr);
  if (identity) {
    SSL_CTX_use_certificate(context.get(),
                            parse(identity->certificate_pem, PEM_read_bio_X509, X509_free).get());
    SSL_CTX_use_PrivateKey(context.get(),
                           parse(identity->key_pem, PEM_read_bio_PrivateKey, EVP_PKEY_free).get());
  }
  const auto ssl = owned(SSL_new(context.get()), SSL_free);
  std::string offer;
  for (const std::string& protocol : protocols) {
    offer += static_cast<char>(protocol.size());
    offer += protocol;
  }
  if (!offer.empty()) {
    SSL_set_alpn_protos(ssl.get(), reinterpret_cast<const unsigned char*>(offer.data()),
                        static_cast<unsigned>(offer.size()));
  }
  if (session != nullptr) SSL_set_session(ssl.get(), session);

  const int fd = connect_to(port);
  const std::shared_ptr<void> closer(nullptr, [fd](void*) { ::close(fd); });
  const timeval limit{5, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  SSL_set_fd(ssl.get(), fd);
  const auto fail = [&outcome] {
    std::array<char, 256> text{};
    ERR_error_string_n(ERR_get_error(), text.data(), text.size());
    outcome.error = text.data();
    return outcome;
  };
  if (SSL_connect(ssl.get()) != 1) return fail();
  outcome.version = SSL_get_version(ssl.get());
  outcome.resumed = SSL_session_reused(ssl.get()) == 1;
  const unsigned char* chosen = nullptr;
  unsigned length = 0;
  SSL_get0_alpn_selected(ssl.get(), &chosen, &length);
  outcome.protocol.assign(reinterpret_cast<const char*>(chosen), length);

  // In TLS 1.3 a refused client certificate shows only at the first read.
  const std::string request = "GET " + target + " HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n";
  std::array<char, 4096> block;
  if (SSL_write(ssl.get(), request.data(), static_cast<int>(request.size())) <= 0) return fail();
  int n = 0;
  while ((n = SSL_read(ssl.get(), block.data(), block.size())) > 0) {
    outcome.answer.append(block.data(), static_cast<std::size_t>(n));
  }
  if (outcome.answer.empty()) return fail();
  outcome.answered = outcome.answer.starts_with("HTTP/1.1 200");
  SSL_shutdown(ssl.get());
  return outcome;
}

ScriptedServer::ScriptedServer(std::vector<std::string> pieces, milliseconds pause, int connections,
                               milliseconds hold)
    : listener_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
  sockaddr_in address = loopback(0);
  ::bind(listener_, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  ::listen(listener_, 16);
  socklen_t size = sizeof address;
  ::getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size);
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([=, this, script = std::move(pieces)] {
    for (int i = 0; i < connections; ++i) {
      const int fd = ::accept(listener_, nullptr, nullptr);
      if (fd < 0) return;
      std::string head;
      std::array<char, 4096> block;
      ssize_t n = 0;
      while (head.find("\r\n\r\n") == std::string::npos &&
             (n = ::recv(fd, block.data(), block.size(), 0)) > 0) {
        head.append(block.data(), static_cast<std::size_t>(n));
      }
      for (const std::string& piece : script) {
        send_all(fd, piece);
        std::this_thread::sleep_for(pause);
      }
      // Silence until the client leaves or the time is up.
      pollfd state{fd, POLLIN | POLLRDHUP, 0};
      if (hold.count() > 0) ::poll(&state, 1, static_cast<int>(hold.count()));
      ::close(fd);
    }
  });
}

ScriptedServer::~ScriptedServer() {
  ::shutdown(listener_, SHUT_RDWR);
  thread_.join();
  ::close(listener_);
}

bool eventually(const std::function<bool()>& condition, milliseconds wait) {
  const auto end = Clock::now() + wait;
  while (!condition()) {
    if (Clock::now() > end) return false;
    std::this_thread::sleep_for(milliseconds(2));
  }
  return true;
}

}  // namespace rankward::net::testing
