// TLS of a listening port.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

namespace rankward::net {

enum class ClientCertificate : std::uint8_t {
  kNone,      // not asked for
  kOptional,  // asked for; one that is given must verify
  kRequired,  // no certificate, no connection
};

enum class TlsVersion : std::uint8_t { k12, k13 };

// Files are PEM. They are read at start and again when their content changes, so that the symlink
// swap by which Kubernetes updates a mounted Secret is seen.
struct TlsOptions {
  std::string certificate_file;  // leaf first, then intermediates
  std::string key_file;          // not encrypted; P-256 keeps handshakes cheap
  std::string client_ca_file;    // needed unless client_certificate is kNone
  ClientCertificate client_certificate = ClientCertificate::kRequired;
  // Kubernetes' own clients (Go) all speak 1.3. 1.2 allows ECDHE with AEAD only.
  TlsVersion minimum_version = TlsVersion::k13;
};

}  // namespace rankward::net
