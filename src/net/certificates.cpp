#include "rankward/net/certificates.hpp"

#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "openssl.hpp"

namespace rankward::net {
namespace {

using std::chrono::system_clock;

Error openssl_error(std::string_view what) {
  return {ErrorKind::kInternal, std::string(what) + ": " + drain_openssl_errors()};
}

std::string text_of(const BioPtr& bio) {
  char* data = nullptr;
  const long length = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<std::size_t>(length)};
}

bool add_name(X509_NAME* name, const char* field, std::string_view value) {
  return X509_NAME_add_entry_by_txt(name, field, MBSTRING_UTF8,
                                    reinterpret_cast<const unsigned char*>(value.data()),
                                    static_cast<int>(value.size()), -1, 0) == 1;
}

bool add_extension(X509& certificate, X509V3_CTX& context, int nid, const char* value) {
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, nid, value));
  return extension && X509_add_ext(&certificate, extension.get(), -1) == 1;
}

bool add_general_name(GENERAL_NAMES& names, int type, const std::string& value) {
  GENERAL_NAME* name = a2i_GENERAL_NAME(nullptr, nullptr, nullptr, type, value.c_str(), 0);
  if (name == nullptr) return false;
  if (sk_GENERAL_NAME_push(&names, name) > 0) return true;
  GENERAL_NAME_free(name);
  return false;
}

Result<GeneralNamesPtr> alternative_names(const LeafOptions& leaf) {
  GeneralNamesPtr names(sk_GENERAL_NAME_new_null());
  struct Group {
    int type;
    const char* field;
    const std::vector<std::string>& values;
  };
  for (const auto& [type, field, values] :
       {Group{GEN_DNS, "dns_names", leaf.dns_names},
        Group{GEN_IPADD, "ip_addresses", leaf.ip_addresses}, Group{GEN_URI, "uris", leaf.uris},
        Group{GEN_EMAIL, "emails", leaf.emails}}) {
    for (const std::string& value : values) {
      if (value.empty() || !add_general_name(*names, type, value)) {
        ERR_clear_error();
        return Error::invalid("\"" + value + "\" is not a subject alternative name of this kind")
            .at_field(field);
      }
    }
  }
  return names;
}

// Version, random serial of 127 bits, validity and key: what every certificate has.
Result<X509Ptr> blank(EVP_PKEY& key, system_clock::time_point from, std::chrono::seconds validity) {
  X509Ptr certificate(X509_new());
  std::array<unsigned char, 16> serial{};
  if (!certificate || RAND_bytes(serial.data(), static_cast<int>(serial.size())) != 1) {
    return openssl_error("certificate");
  }
  serial[0] = static_cast<unsigned char>((serial[0] & 0x7f) | 0x40);
  ASN1_INTEGER* number = X509_get_serialNumber(certificate.get());
  const bool ok =
      X509_set_version(certificate.get(), X509_VERSION_3) == 1 &&
      ASN1_STRING_set(number, serial.data(), static_cast<int>(serial.size())) == 1 &&
      ASN1_TIME_set(X509_getm_notBefore(certificate.get()), system_clock::to_time_t(from)) &&
      ASN1_TIME_set(X509_getm_notAfter(certificate.get()),
                    system_clock::to_time_t(from + validity)) &&
      X509_set_pubkey(certificate.get(), &key) == 1;
  if (!ok) return openssl_error("certificate");
  return certificate;
}

Result<KeyPair> to_pem(X509& certificate, EVP_PKEY& key) {
  const BioPtr certificate_bio(BIO_new(BIO_s_mem()));
  const BioPtr key_bio(BIO_new(BIO_s_secmem()));
  if (PEM_write_bio_X509(certificate_bio.get(), &certificate) != 1 ||
      PEM_write_bio_PKCS8PrivateKey(key_bio.get(), &key, nullptr, nullptr, 0, nullptr, nullptr) !=
          1) {
    return openssl_error("PEM");
  }
  return KeyPair{text_of(certificate_bio), text_of(key_bio)};
}

}  // namespace

Result<KeyPair> make_authority(std::string_view common_name, std::chrono::seconds validity) {
  ERR_clear_error();
  const PkeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return openssl_error("key");
  auto made = blank(*key, system_clock::now() - std::chrono::minutes(1), validity);
  if (!made) return made.error();
  X509& certificate = **made;
  X509_NAME* subject = X509_get_subject_name(&certificate);
  if (common_name.empty() || !add_name(subject, "CN", common_name)) {
    ERR_clear_error();
    return Error::invalid("must have 1 to 64 characters").at_field("common_name");
  }
  X509_set_issuer_name(&certificate, subject);
  X509V3_CTX context;
  X509V3_set_ctx(&context, &certificate, &certificate, nullptr, nullptr, 0);
  if (!add_extension(certificate, context, NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !add_extension(certificate, context, NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !add_extension(certificate, context, NID_subject_key_identifier, "hash") ||
      X509_sign(&certificate, key.get(), EVP_sha256()) == 0) {
    return openssl_error("authority");
  }
  return to_pem(certificate, *key);
}

Result<KeyPair> issue(const KeyPair& authority, const LeafOptions& leaf) {
  if (!leaf.server && !leaf.client) {
    return Error::invalid("must be for servers, clients or both").at_field("usage");
  }
  auto issuers = parse_certificates(authority.certificate_pem);
  if (!issuers) return Error(issuers.error()).at_field("authority.certificate_pem");
  auto issuer_key = parse_private_key(authority.key_pem);
  if (!issuer_key) return Error(issuer_key.error()).at_field("authority.key_pem");
  X509& issuer = *issuers->front();
  if (X509_check_private_key(&issuer, issuer_key->get()) != 1) {
    ERR_clear_error();
    return Error::invalid("does not belong to the certificate").at_field("authority.key_pem");
  }
  auto names = alternative_names(leaf);
  if (!names) return names.error();

  ERR_clear_error();
  const PkeyPtr key(EVP_EC_gen("P-256"));
  if (!key) return openssl_error("key");
  auto made = blank(*key, leaf.not_before, leaf.validity);
  if (!made) return made.error();
  X509& certificate = **made;
  X509_NAME* subject = X509_get_subject_name(&certificate);
  for (const std::string& organization : leaf.organizations) {
    if (!add_name(subject, "O", organization)) return openssl_error("organizations");
  }
  if (!leaf.common_name.empty() && !add_name(subject, "CN", leaf.common_name)) {
    ERR_clear_error();
    return Error::invalid("must have at most 64 characters").at_field("common_name");
  }
  X509_set_issuer_name(&certificate, X509_get_subject_name(&issuer));
  X509V3_CTX context;
  X509V3_set_ctx(&context, &issuer, &certificate, nullptr, nullptr, 0);
  const std::string usage = std::string(leaf.server ? "serverAuth" : "") +
                            (leaf.server && leaf.client ? "," : "") +
                            (leaf.client ? "clientAuth" : "");
  bool ok = add_extension(certificate, context, NID_basic_constraints, "critical,CA:FALSE") &&
            add_extension(certificate, context, NID_key_usage, "critical,digitalSignature") &&
            add_extension(certificate, context, NID_ext_key_usage, usage.c_str()) &&
            add_extension(certificate, context, NID_subject_key_identifier, "hash") &&
            add_extension(certificate, context, NID_authority_key_identifier, "keyid:always");
  if (ok && sk_GENERAL_NAME_num(names->get()) > 0) {
    ok = X509_add1_ext_i2d(&certificate, NID_subject_alt_name, names->get(), 0, 0) == 1;
  }
  if (!ok || X509_sign(&certificate, issuer_key->get(), EVP_sha256()) == 0) {
    return openssl_error("leaf");
  }
  return to_pem(certificate, *key);
}

Result<void> write_private_file(const std::string& path, std::string_view content) {
  const auto failed = [&path](const char* what, int cause) {
    return Error::unavailable(std::string(what) + ": " + std::strerror(cause)).in(path);
  };
  std::string temporary = path + ".XXXXXX";
  const int file = mkostemp(temporary.data(), O_CLOEXEC);  // mode 0600 by definition
  if (file < 0) return failed("cannot be created", errno);
  int cause = 0;
  while (!content.empty() && cause == 0) {
    const ssize_t n = ::write(file, content.data(), content.size());
    if (n >= 0) {
      content.remove_prefix(static_cast<std::size_t>(n));
    } else if (errno != EINTR) {
      cause = errno;
    }
  }
  if (cause == 0 && ::fsync(file) != 0) cause = errno;
  if (::close(file) != 0 && cause == 0) cause = errno;
  if (cause == 0 && ::rename(temporary.c_str(), path.c_str()) != 0) cause = errno;
  if (cause != 0) {
    ::unlink(temporary.c_str());
    return failed("cannot be written", cause);
  }
  return {};
}

}  // namespace rankward::net
