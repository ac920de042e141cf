// OpenSSL's objects with owners, and its error queue as text.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/net/http.hpp"
#include "rankward/result.hpp"

namespace rankward::net {

template <auto release>
struct Releaser {
  template <class T>
  void operator()(T* object) const {
    release(object);
  }
};

using BioPtr = std::unique_ptr<BIO, Releaser<BIO_free_all>>;
using PkeyPtr = std::unique_ptr<EVP_PKEY, Releaser<EVP_PKEY_free>>;
using X509Ptr = std::unique_ptr<X509, Releaser<X509_free>>;
using ExtensionPtr = std::unique_ptr<X509_EXTENSION, Releaser<X509_EXTENSION_free>>;
using GeneralNamesPtr = std::unique_ptr<GENERAL_NAMES, Releaser<GENERAL_NAMES_free>>;
using SslContextPtr = std::unique_ptr<SSL_CTX, Releaser<SSL_CTX_free>>;

// Empties the thread's error queue: the texts of its entries, joined.
std::string drain_openssl_errors();

// Every certificate of a PEM text, in order. kInvalid where there is none or one does not parse.
Result<std::vector<X509Ptr>> parse_certificates(std::string_view pem);
Result<PkeyPtr> parse_private_key(std::string_view pem);

std::chrono::system_clock::time_point not_after(const X509& certificate);
PeerCertificate describe(const X509& certificate);

// Puts the chain (leaf first) and its key into a context; refuses a key that is not the leaf's.
Result<void> use_identity(SSL_CTX& context, const std::vector<X509Ptr>& chain, EVP_PKEY& key);

// Trusts exactly these. One that is no root is an anchor too, as for Go's x509.
Result<void> trust(SSL_CTX& context, const std::vector<X509Ptr>& authorities);

// A whole file of at most 1 MiB; the error names it.
Result<std::string> read_small_file(const std::string& path);

}  // namespace rankward::net
