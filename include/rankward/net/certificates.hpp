// Throwaway certificates for the demo, tests and `generate certs`: X.509 v3 with P-256 keys.
#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <vector>

#include "rankward/result.hpp"

namespace rankward::net {

struct KeyPair {
  std::string certificate_pem;
  std::string key_pem;  // PKCS#8, not encrypted
};

struct LeafOptions {
  std::string common_name;
  std::vector<std::string> organizations;
  std::vector<std::string> dns_names;
  std::vector<std::string> ip_addresses;  // numeric
  std::vector<std::string> uris;
  std::vector<std::string> emails;
  bool server = false;  // extended key usage; at least one of the two
  bool client = false;
  // One minute of tolerance for clocks that differ.
  std::chrono::system_clock::time_point not_before =
      std::chrono::system_clock::now() - std::chrono::minutes(1);
  std::chrono::seconds validity = std::chrono::hours(24);
};

Result<KeyPair> make_authority(std::string_view common_name,
                               std::chrono::seconds validity = std::chrono::hours(24));

// kInvalid when the authority is not a certificate with its key or a name is malformed.
Result<KeyPair> issue(const KeyPair& authority, const LeafOptions& leaf);

// Writes beside the target with mode 0600, then renames: readers see the old or the new content.
Result<void> write_private_file(const std::string& path, std::string_view content);

}  // namespace rankward::net
