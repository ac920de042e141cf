#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <mutex>

#include "fixtures.hpp"

namespace rankward::net {
namespace {

namespace fs = std::filesystem;
using testing::client_leaf;
using testing::eventually;
using testing::make_client;
using testing::milliseconds;
using testing::must;
using testing::seconds;
using testing::server_leaf;
using testing::ServerFiles;
using testing::start_tls;

// Events of a server, as text.
class Events {
 public:
  ServerOptions options(milliseconds interval) {
    ServerOptions options;
    options.reload_interval = interval;
    options.on_event = [this](const Event& event) {
      const std::lock_guard lock(mutex_);
      texts_.push_back(std::string(event.message) + ": " + event.error);
    };
    return options;
  }
  std::size_t count(std::string_view part) {
    const std::lock_guard lock(mutex_);
    std::size_t n = 0;
    for (const std::string& text : texts_)
      n += text.find(part) != std::string::npos ? 1 : 0;
    return n;
  }

 private:
  std::mutex mutex_;
  std::vector<std::string> texts_;
};

TEST(Reload, UnderLoadLosesNoCall) {
  const ServerFiles files;
  Events events;
  auto server = start_tls(files.options(ClientCertificate::kRequired), {}, testing::echo,
                          events.options(milliseconds(5)));
  std::atomic<bool> done = false;
  std::atomic<int> calls = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 4; ++i) {
    clients.emplace_back([&, keeps = i % 2 == 0] {
      auto client = std::make_unique<Client>(ClientOptions{
          .host = "127.0.0.1", .port = server->ports()[0], .tls = files.client_tls()});
      while (!done) {
        const auto answer = client->request("POST", "/echo", {}, "ping");
        ++calls;
        if (!answer || answer->body != "ping") ++failures;
        if (!keeps) {
          client = std::make_unique<Client>(ClientOptions{
              .host = "127.0.0.1", .port = server->ports()[0], .tls = files.client_tls()});
        }
      }
    });
  }
  // Files are replaced one after the other, so certificate and key do not belong together for a
  // moment each time, as in a rotation by hand.
  for (std::size_t i = 1; i <= 20; ++i) {
    const int before = calls;
    files.write(server_leaf(files.authority), files.authority);
    EXPECT_TRUE(eventually([&] { return events.count("Certificates reloaded") >= i; }));
    EXPECT_TRUE(eventually([&] { return calls > before + 10; }));
  }
  done = true;
  for (std::thread& client : clients)
    client.join();
  EXPECT_EQ(failures, 0);
  EXPECT_EQ(server->stats()[0].handshake_failures, 0U);
  EXPECT_GE(events.count("Certificates reloaded"), 20U);
}

TEST(Reload, SeesTheSymlinkSwapOfAMountedSecret) {
  const ServerFiles files;
  const auto write_version = [&](const std::string& version, seconds validity) {
    LeafOptions leaf;
    leaf.ip_addresses = {"127.0.0.1"};
    leaf.server = true;
    leaf.validity = validity;
    const KeyPair pair = must(issue(files.authority, leaf));
    fs::create_directory(files.folder.path(version));
    must(write_private_file(files.folder.path(version + "/tls.crt"), pair.certificate_pem));
    must(write_private_file(files.folder.path(version + "/tls.key"), pair.key_pem));
  };
  // The kubelet's layout: tls.crt -> ..data/tls.crt, ..data -> a folder with the time in its name.
  write_version("..2024_1", std::chrono::hours(1));
  fs::create_directory_symlink("..2024_1", files.folder.path("..data"));
  for (const char* name : {"tls.crt", "tls.key"}) {
    fs::remove(files.folder.path(name));
    fs::create_symlink(std::string("..data/") + name, files.folder.path(name));
  }
  Events events;
  auto server = start_tls(files.options(ClientCertificate::kRequired), {}, testing::echo,
                          events.options(milliseconds(10)));
  const auto first = server->certificates_not_after()[0];
  write_version("..2024_2", std::chrono::hours(48));
  fs::create_directory_symlink("..2024_2", files.folder.path("..data_tmp"));
  fs::rename(files.folder.path("..data_tmp"), files.folder.path("..data"));
  EXPECT_TRUE(eventually([&] { return events.count("Certificates reloaded") == 1; }));
  ASSERT_TRUE(first && server->certificates_not_after()[0]);
  EXPECT_GT(*server->certificates_not_after()[0] - *first, std::chrono::hours(46));
  EXPECT_TRUE(make_client(server->ports()[0], files.client_tls()).request("GET", "/"));
}

TEST(Reload, KeepsTheOldFilesWhenTheNewOnesAreBad) {
  struct Case {
    const char* name;
    std::function<void(const ServerFiles&)> spoil;
    const char* message;
  };
  const std::vector<Case> cases = {
      {"certificate of another key",
       [](const ServerFiles& files) {
         must(write_private_file(files.folder.path("tls.crt"),
                                 server_leaf(files.authority).certificate_pem));
       },
       "does not belong to the certificate"},
      {"cut certificate",
       [](const ServerFiles& files) {
         const std::string pem = server_leaf(files.authority).certificate_pem;
         must(write_private_file(files.folder.path("tls.crt"), pem.substr(0, pem.size() / 2)));
       },
       "tls.crt"},
      {"empty key",
       [](const ServerFiles& files) { must(write_private_file(files.folder.path("tls.key"), "")); },
       "tls.key"},
      {"absent key", [](const ServerFiles& files) { fs::remove(files.folder.path("tls.key")); },
       "No such file"},
      {"empty CA",
       [](const ServerFiles& files) { must(write_private_file(files.folder.path("ca.crt"), "")); },
       "ca.crt"},
  };
  for (const Case& c : cases) {
    SCOPED_TRACE(c.name);
    const ServerFiles files;
    Events events;
    auto server = start_tls(files.options(ClientCertificate::kRequired), {}, testing::echo,
                            events.options(milliseconds(5)));
    c.spoil(files);
    EXPECT_TRUE(eventually([&] { return events.count("the old ones stay in use") >= 1; }));
    EXPECT_TRUE(make_client(server->ports()[0], files.client_tls()).request("GET", "/"));
    const auto reloaded = server->reload();
    ASSERT_FALSE(reloaded);
    EXPECT_NE(reloaded.error().to_string().find(c.message), std::string::npos)
        << reloaded.error().to_string();
    std::this_thread::sleep_for(milliseconds(50));
    EXPECT_EQ(events.count("the old ones stay in use"), 1U);  // not once an interval

    files.write(server_leaf(files.authority), files.authority);
    EXPECT_TRUE(server->reload());
    EXPECT_TRUE(make_client(server->ports()[0], files.client_tls()).request("GET", "/"));
  }
}

TEST(Reload, TurnsToANewClientCaForNewConnectionsOnly) {
  const ServerFiles files;
  auto server = start_tls(files.options(ClientCertificate::kRequired));
  Client kept = make_client(server->ports()[0], files.client_tls());
  ASSERT_TRUE(kept.request("GET", "/who"));

  const KeyPair next = must(make_authority("next"));
  files.write(server_leaf(files.authority), next);
  ASSERT_TRUE(server->reload());
  EXPECT_TRUE(kept.request("GET", "/who"));
  EXPECT_FALSE(make_client(server->ports()[0], files.client_tls()).request("GET", "/"));
  const KeyPair leaf = client_leaf(next, "next");
  ClientTls tls = files.client_tls();
  tls.certificate_pem = leaf.certificate_pem;
  tls.key_pem = leaf.key_pem;
  const auto answer = make_client(server->ports()[0], tls).request("GET", "/who");
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->body, "next");
}

TEST(Reload, AcceptsBothAuthoritiesOfABundle) {
  const ServerFiles files;
  const KeyPair next = must(make_authority("next"));
  KeyPair bundle;
  bundle.certificate_pem = files.authority.certificate_pem + next.certificate_pem;
  files.write(server_leaf(files.authority), bundle);
  auto server = start_tls(files.options(ClientCertificate::kRequired));
  for (const KeyPair& authority : {files.authority, next}) {
    const KeyPair leaf = client_leaf(authority);
    ClientTls tls = files.client_tls();
    tls.certificate_pem = leaf.certificate_pem;
    tls.key_pem = leaf.key_pem;
    EXPECT_TRUE(make_client(server->ports()[0], tls).request("GET", "/"));
  }
}

}  // namespace
}  // namespace rankward::net
