#include "openssl.hpp"

#include <openssl/err.h>
#include <openssl/pem.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <ctime>

namespace rankward::net {
namespace {

constexpr std::size_t kMaxFileBytes = std::size_t{1} << 20;

BioPtr memory_bio(std::string_view bytes) {
  return BioPtr(BIO_new_mem_buf(bytes.data(), static_cast<int>(bytes.size())));
}

// A key that asks for a password is an error, never a prompt on the terminal.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*user*/) {
  return -1;
}

// Empty for strings with an embedded NUL, which older verifiers cut short.
std::string to_utf8(const ASN1_STRING* value) {
  unsigned char* utf8 = nullptr;
  const int length = ASN1_STRING_to_UTF8(&utf8, value);
  if (length < 0) return {};
  std::string text(reinterpret_cast<const char*>(utf8), static_cast<std::size_t>(length));
  OPENSSL_free(utf8);
  return text.find('\0') == std::string::npos ? text : std::string();
}

std::vector<std::string> subject_values(const X509& certificate, int nid) {
  std::vector<std::string> values;
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  for (int at = -1; (at = X509_NAME_get_index_by_NID(subject, nid, at)) >= 0;) {
    values.push_back(to_utf8(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))));
  }
  return values;
}

}  // namespace

std::string drain_openssl_errors() {
  std::string text;
  while (const unsigned long code = ERR_get_error()) {
    if (!text.empty()) text += "; ";
    if (const char* reason = ERR_reason_error_string(code)) {
      text += reason;
    } else {
      std::array<char, 160> buffer{};
      ERR_error_string_n(code, buffer.data(), buffer.size());
      text += buffer.data();
    }
  }
  return text.empty() ? "unknown OpenSSL error" : text;
}

Result<std::vector<X509Ptr>> parse_certificates(std::string_view pem) {
  ERR_clear_error();
  const BioPtr bio = memory_bio(pem);
  std::vector<X509Ptr> certificates;
  while (X509* certificate = PEM_read_bio_X509(bio.get(), nullptr, no_password, nullptr)) {
    certificates.emplace_back(certificate);
  }
  const unsigned long last = ERR_peek_last_error();
  const bool at_end =
      ERR_GET_LIB(last) == ERR_LIB_PEM && ERR_GET_REASON(last) == PEM_R_NO_START_LINE;
  if (!at_end) return Error::invalid("is not a PEM certificate: " + drain_openssl_errors());
  ERR_clear_error();
  if (certificates.empty()) return Error::invalid("holds no PEM certificate");
  return certificates;
}

Result<PkeyPtr> parse_private_key(std::string_view pem) {
  ERR_clear_error();
  const BioPtr bio = memory_bio(pem);
  PkeyPtr key(PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr));
  if (!key) {
    return Error::invalid("is not an unencrypted PEM private key: " + drain_openssl_errors());
  }
  return key;
}

std::chrono::system_clock::time_point not_after(const X509& certificate) {
  std::tm fields{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(&certificate), &fields) != 1) return {};
  return std::chrono::system_clock::from_time_t(timegm(&fields));
}

PeerCertificate describe(const X509& certificate) {
  PeerCertificate peer;
  const auto common_names = subject_values(certificate, NID_commonName);
  if (!common_names.empty()) peer.common_name = common_names.back();
  peer.organizations = subject_values(certificate, NID_organizationName);
  peer.not_after = not_after(certificate);
  const GeneralNamesPtr names(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    std::vector<std::string>* list = name->type == GEN_DNS     ? &peer.dns_names
                                     : name->type == GEN_URI   ? &peer.uris
                                     : name->type == GEN_EMAIL ? &peer.emails
                                                               : nullptr;
    if (list == nullptr) continue;
    if (std::string text = to_utf8(name->d.ia5); !text.empty()) list->push_back(std::move(text));
  }
  return peer;
}

Result<void> use_identity(SSL_CTX& context, const std::vector<X509Ptr>& chain, EVP_PKEY& key) {
  ERR_clear_error();
  // The chain is what the file holds: the trusted authorities are not sent along.
  SSL_CTX_set_mode(&context, SSL_MODE_NO_AUTO_CHAIN);
  if (SSL_CTX_use_certificate(&context, chain.front().get()) != 1) {
    return Error::invalid("certificate is not usable: " + drain_openssl_errors());
  }
  for (std::size_t i = 1; i < chain.size(); ++i) {
    if (SSL_CTX_add1_chain_cert(&context, chain[i].get()) != 1) {
      return Error::invalid("certificate chain is not usable: " + drain_openssl_errors());
    }
  }
  if (X509_check_private_key(chain.front().get(), &key) != 1) {
    ERR_clear_error();
    return Error::invalid("key does not belong to the certificate");
  }
  if (SSL_CTX_use_PrivateKey(&context, &key) != 1) {
    return Error::invalid("key is not usable: " + drain_openssl_errors());
  }
  return {};
}

Result<void> trust(SSL_CTX& context, const std::vector<X509Ptr>& authorities) {
  ERR_clear_error();
  X509_STORE* store = SSL_CTX_get_cert_store(&context);
  for (const X509Ptr& authority : authorities) {
    if (X509_STORE_add_cert(store, authority.get()) != 1) {
      return Error::invalid("authority is not usable: " + drain_openssl_errors());
    }
  }
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return {};
}

Result<std::string> read_small_file(const std::string& path) {
  const std::unique_ptr<std::FILE, Releaser<std::fclose>> file(std::fopen(path.c_str(), "rbe"));
  const auto failed = [&path](int cause) {
    return Error::unavailable(std::string("cannot be read: ") + std::strerror(cause)).in(path);
  };
  if (!file) return failed(errno);
  std::string content;
  std::array<char, 8192> block;
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), file.get())) {
    content.append(block.data(), n);
    if (content.size() > kMaxFileBytes) {
      return Error(ErrorKind::kTooLarge, "is larger than 1 MiB").in(path);
    }
  }
  if (std::ferror(file.get()) != 0) return failed(errno);
  return content;
}

}  // namespace rankward::net
