#include "tls_context.hpp"

#include <openssl/crypto.h>
#include <openssl/sha.h>

#include <string_view>

#include "openssl.hpp"

namespace rankward::net {
namespace {

// One hour: a resumed session skips the check of the client's certificate against the CA, so it
// must not outlive a revocation by much. Reloads end all sessions, since ticket keys are made anew
// with each context.
constexpr long kSessionSeconds = 3'600;

// Mozilla's "intermediate" list without the CBC and static RSA suites; TLS 1.3 has its own.
constexpr const char* kCiphers12 =
    "ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:ECDHE-ECDSA-AES256-GCM-SHA384:"
    "ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305";

// Go's clients offer h2 and http/1.1. A client that offers ALPN without http/1.1 is refused with
// no_application_protocol (RFC 7301 section 3.2).
int choose_protocol(SSL* /*ssl*/, const unsigned char** out, unsigned char* out_length,
                    const unsigned char* offered, unsigned int offered_length, void* /*user*/) {
  constexpr std::string_view kHttp11 = "http/1.1";
  std::string_view rest(reinterpret_cast<const char*>(offered), offered_length);
  while (!rest.empty()) {
    const auto length = static_cast<unsigned char>(rest.front());
    const std::string_view name = rest.substr(1, length);
    if (name == kHttp11) {
      *out = reinterpret_cast<const unsigned char*>(name.data());
      *out_length = length;
      return SSL_TLSEXT_ERR_OK;
    }
    if (rest.size() < 1U + length) break;
    rest.remove_prefix(1U + length);
  }
  return SSL_TLSEXT_ERR_ALERT_FATAL;
}

Result<void> demand_clients(SSL_CTX& context, const TlsOptions& options,
                            const TlsMaterial& material) {
  auto authorities = parse_certificates(material.client_ca_pem);
  if (!authorities) return Error(authorities.error()).in(options.client_ca_file);
  if (auto trusted = trust(context, *authorities); !trusted) {
    return Error(trusted.error()).in(options.client_ca_file);
  }
  // Tells clients that hold several certificates which one is wanted.
  for (const X509Ptr& authority : *authorities) {
    if (SSL_CTX_add_client_CA(&context, authority.get()) != 1) {
      return Error::invalid(drain_openssl_errors()).in(options.client_ca_file);
    }
  }
  const bool required = options.client_certificate == ClientCertificate::kRequired;
  SSL_CTX_set_verify(&context, SSL_VERIFY_PEER | (required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0),
                     nullptr);
  return {};
}

}  // namespace

TlsMaterial::~TlsMaterial() {
  OPENSSL_cleanse(key_pem.data(), key_pem.size());
}

Result<TlsMaterial> read_material(const TlsOptions& options) {
  TlsMaterial material;
  auto certificate = read_small_file(options.certificate_file);
  if (!certificate) return certificate.error();
  material.certificate_pem = std::move(*certificate);
  auto key = read_small_file(options.key_file);
  if (!key) return key.error();
  material.key_pem = std::move(*key);
  if (options.client_certificate != ClientCertificate::kNone) {
    auto authorities = read_small_file(options.client_ca_file);
    if (!authorities) return authorities.error();
    material.client_ca_pem = std::move(*authorities);
  }
  return material;
}

Fingerprint fingerprint(const TlsMaterial& material) {
  // Hashes of the parts, hashed: bytes cannot move from one part to the next unseen.
  std::array<unsigned char, 3 * SHA256_DIGEST_LENGTH> parts{};
  unsigned char* at = parts.data();
  for (const std::string* part :
       {&material.certificate_pem, &material.key_pem, &material.client_ca_pem}) {
    SHA256(reinterpret_cast<const unsigned char*>(part->data()), part->size(), at);
    at += SHA256_DIGEST_LENGTH;
  }
  Fingerprint all{};
  SHA256(parts.data(), parts.size(), all.data());
  return all;
}

Result<std::shared_ptr<TlsContext>> make_server_context(const TlsOptions& options,
                                                        const TlsMaterial& material) {
  auto chain = parse_certificates(material.certificate_pem);
  if (!chain) return Error(chain.error()).in(options.certificate_file);
  auto key = parse_private_key(material.key_pem);
  if (!key) return Error(key.error()).in(options.key_file);

  SslContextPtr context(SSL_CTX_new(TLS_server_method()));
  if (!context) return Error(ErrorKind::kInternal, drain_openssl_errors());
  SSL_CTX_set_min_proto_version(
      context.get(), options.minimum_version == TlsVersion::k12 ? TLS1_2_VERSION : TLS1_3_VERSION);
  SSL_CTX_set_options(context.get(), SSL_OP_NO_COMPRESSION | SSL_OP_NO_RENEGOTIATION |
                                         SSL_OP_CIPHER_SERVER_PREFERENCE |
                                         SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_cipher_list(context.get(), kCiphers12);
  SSL_CTX_set1_groups_list(context.get(), "X25519:P-256:P-384");
  SSL_CTX_set_alpn_select_cb(context.get(), choose_protocol, nullptr);
  SSL_CTX_set_timeout(context.get(), kSessionSeconds);
  // Sessions live in tickets; a cache in memory would only serve TLS 1.2 without tickets.
  SSL_CTX_set_session_cache_mode(context.get(), SSL_SESS_CACHE_OFF);
  const Fingerprint identity = fingerprint(material);
  SSL_CTX_set_session_id_context(context.get(), identity.data(), identity.size());

  if (auto used = use_identity(*context, *chain, **key); !used) {
    return Error(used.error()).in(options.certificate_file);
  }
  if (options.client_certificate != ClientCertificate::kNone) {
    if (auto demanded = demand_clients(*context, options, material); !demanded) {
      return demanded.error();
    }
  }
  return std::make_shared<TlsContext>(
      TlsContext{boost::asio::ssl::context(context.release()), not_after(*chain->front())});
}

}  // namespace rankward::net
