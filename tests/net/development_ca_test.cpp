// certs/make-development-ca.sh, as a user runs it, and its files in a real handshake.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "fixtures.hpp"

namespace rankward::net {
namespace {

namespace fs = std::filesystem;

struct ScriptRun {
  int status;
  std::string output;  // both streams
};

ScriptRun run_script(const std::string& arguments) {
  const std::string command = std::string("sh '") + RANKWARD_SOURCE_DIR +
                              "/certs/make-development-ca.sh' " + arguments + " 2>&1";
  ScriptRun run{-1, {}};
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::array<char, 1024> block;
  while (const std::size_t n = std::fread(block.data(), 1, block.size(), pipe)) {
    run.output.append(block.data(), n);
  }
  run.status = WEXITSTATUS(::pclose(pipe));
  return run;
}

std::string content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

TEST(DevelopmentCa, MakesFilesThatServeMutualTls) {
  const TemporaryFolder folder;
  const ScriptRun run = run_script("--out '" + folder.path("pki") + "'");
  ASSERT_EQ(run.status, 0) << run.output;
  const auto file = [&](const char* name) { return folder.path(std::string("pki/") + name); };

  TlsOptions tls;
  tls.certificate_file = file("server.crt");
  tls.key_file = file("server.key");
  tls.client_ca_file = file("ca.crt");
  auto server = testing::start_tls(tls);
  struct Case {
    const char* leaf;
    const char* common_name;
    const char* server_name;
  };
  for (const auto& [leaf, common_name, server_name] :
       {Case{"scheduler-client", "system:kube-scheduler", "localhost"},
        Case{"apiserver-client", "kube-apiserver", "rankward.rankward-system.svc"},
        Case{"apiserver-client", "kube-apiserver", "127.0.0.1"}}) {
    ClientTls client;
    client.ca_file = file("ca.crt");
    client.certificate_file = file((std::string(leaf) + ".crt").c_str());
    client.key_file = file((std::string(leaf) + ".key").c_str());
    client.server_name = server_name;
    const auto answer = testing::make_client(server->ports()[0], client).request("GET", "/who");
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->body, common_name);
  }
  for (const char* key : {"ca.key", "server.key", "scheduler-client.key", "apiserver-client.key"}) {
    struct stat status {};
    ASSERT_EQ(::stat(file(key).c_str(), &status), 0) << key;
    EXPECT_EQ(status.st_mode & 0777U, 0600U) << key;
  }
}

TEST(DevelopmentCa, KeepsWhatExistsAndRefusesToReplaceIt) {
  const TemporaryFolder folder;
  const std::string out = "--out '" + folder.path("pki") + "' ";
  ASSERT_EQ(run_script(out + "a.example 10.0.0.1 fd00::1").status, 0);
  const std::string before = content(folder.path("pki/server.crt"));

  EXPECT_EQ(run_script(out + "fd00::1 10.0.0.1 a.example").status, 0);
  EXPECT_EQ(content(folder.path("pki/server.crt")), before);

  const ScriptRun other = run_script(out + "b.example");
  EXPECT_EQ(other.status, 1);
  EXPECT_NE(other.output.find("other names"), std::string::npos) << other.output;
  EXPECT_EQ(content(folder.path("pki/server.crt")), before);

  // A leaf that was removed is made again under the same CA.
  const std::string ca = content(folder.path("pki/ca.crt"));
  fs::remove(folder.path("pki/scheduler-client.crt"));
  EXPECT_EQ(run_script(out + "a.example 10.0.0.1 fd00::1").status, 1);  // its key is left
  fs::remove(folder.path("pki/scheduler-client.key"));
  EXPECT_EQ(run_script(out + "a.example 10.0.0.1 fd00::1").status, 0);
  EXPECT_TRUE(fs::exists(folder.path("pki/scheduler-client.key")));
  EXPECT_EQ(content(folder.path("pki/ca.crt")), ca);

  EXPECT_EQ(run_script(out + "--force b.example").status, 0);
  EXPECT_NE(content(folder.path("pki/server.crt")), before);
  EXPECT_NE(content(folder.path("pki/ca.crt")), ca);
  for (const auto& entry : fs::directory_iterator(folder.path("pki"))) {
    EXPECT_FALSE(entry.path().filename().string().starts_with(".")) << entry.path();
  }
}

TEST(DevelopmentCa, RefusesArgumentsThatAreNone) {
  const TemporaryFolder folder;
  const std::string out = "--out '" + folder.path("pki") + "' ";
  for (const char* arguments : {"--frobnicate", "--days 0", "--days x", "--days 99999", "'a,b'",
                                "'a b'", "999.1.1.1", "--out"}) {
    EXPECT_EQ(run_script(out + arguments).status, 1) << arguments;
    EXPECT_FALSE(fs::exists(folder.path("pki/server.crt"))) << arguments;
  }
}

}  // namespace
}  // namespace rankward::net
