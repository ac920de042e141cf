// From TlsOptions to a context that handshakes are made with.
#pragma once

#include <array>
#include <boost/asio/ssl/context.hpp>
#include <chrono>
#include <memory>
#include <string>

#include "rankward/net/tls.hpp"
#include "rankward/result.hpp"

namespace rankward::net {

// The files' contents at one moment. The key is wiped when this is destroyed.
struct TlsMaterial {
  std::string certificate_pem;
  std::string key_pem;
  std::string client_ca_pem;

  TlsMaterial() = default;
  TlsMaterial(TlsMaterial&&) = default;
  TlsMaterial& operator=(TlsMaterial&&) = default;
  ~TlsMaterial();
};

using Fingerprint = std::array<unsigned char, 32>;

struct TlsContext {
  boost::asio::ssl::context context;
  std::chrono::system_clock::time_point not_after;  // of the leaf
};

Result<TlsMaterial> read_material(const TlsOptions& options);
Fingerprint fingerprint(const TlsMaterial& material);

// Refuses a certificate that does not parse, a key that is not its own, and a client CA file
// without certificates. Does not look at dates: an expired certificate is served and reported by
// metric.
Result<std::shared_ptr<TlsContext>> make_server_context(const TlsOptions& options,
                                                        const TlsMaterial& material);

}  // namespace rankward::net
