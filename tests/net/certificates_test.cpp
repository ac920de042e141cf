#include "rankward/net/certificates.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <sstream>

#include "fixtures.hpp"

namespace rankward::net {
namespace {

using testing::must;

TEST(Certificates, RefusesWhatIsNoName) {
  const KeyPair authority = must(make_authority("ca"));
  struct Case {
    LeafOptions leaf;
    const char* field;
  };
  LeafOptions no_usage;
  no_usage.common_name = "x";
  LeafOptions bad_ip;
  bad_ip.server = true;
  bad_ip.ip_addresses = {"127.0.0.256"};
  LeafOptions empty_dns;
  empty_dns.server = true;
  empty_dns.dns_names = {""};
  LeafOptions long_name;
  long_name.client = true;
  long_name.common_name = std::string(65, 'x');  // X.520 ub-common-name is 64
  for (const auto& [leaf, field] : {Case{no_usage, "usage"}, Case{bad_ip, "ip_addresses"},
                                    Case{empty_dns, "dns_names"}, Case{long_name, "common_name"}}) {
    const auto issued = issue(authority, leaf);
    ASSERT_FALSE(issued) << field;
    EXPECT_EQ(issued.error().kind(), ErrorKind::kInvalid);
    EXPECT_EQ(issued.error().field(), field);
  }
}

TEST(Certificates, RefusesAnAuthorityWhoseKeyIsAnothers) {
  KeyPair authority = must(make_authority("ca"));
  authority.key_pem = must(make_authority("other")).key_pem;
  LeafOptions leaf;
  leaf.client = true;
  const auto issued = issue(authority, leaf);
  ASSERT_FALSE(issued);
  EXPECT_EQ(issued.error().field(), "authority.key_pem");
}

TEST(Certificates, PrivateFilesAreReadByTheirOwnerOnlyAndReplacedWhole) {
  const TemporaryFolder folder;
  const std::string path = folder.path("tls.key");
  must(write_private_file(path, "first"));
  must(write_private_file(path, "second"));
  struct stat status {};
  ASSERT_EQ(::stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  EXPECT_EQ(content.str(), "second");
  EXPECT_FALSE(write_private_file(folder.path("no/such/folder"), "x"));
}

}  // namespace
}  // namespace rankward::net
