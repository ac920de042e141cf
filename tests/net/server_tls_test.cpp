#include <gtest/gtest.h>

#include "fixtures.hpp"

namespace rankward::net {
namespace {

using testing::client_leaf;
using testing::eventually;
using testing::make_client;
using testing::must;
using testing::seconds;
using testing::server_leaf;
using testing::ServerFiles;
using testing::start_tls;
using testing::TlsProbe;

TEST(ServerTls, DemandsAsksOrIgnoresClientCertificates) {
  const ServerFiles files;
  const KeyPair stranger = must(make_authority("stranger"));
  LeafOptions expired;
  expired.common_name = "expired";
  expired.client = true;
  expired.not_before = std::chrono::system_clock::now() - std::chrono::hours(2);
  expired.validity = std::chrono::hours(1);
  LeafOptions future = expired;
  future.not_before = std::chrono::system_clock::now() + std::chrono::hours(1);

  struct Case {
    const char* name;
    std::optional<KeyPair> identity;
    std::string with_none, with_optional, with_required;  // who /who sees; empty: no answer
    std::string alert;                                    // that the client gets instead
  };
  const std::vector<Case> cases = {
      {"none", std::nullopt, "nobody", "nobody", "", "certificate required"},
      {"good", client_leaf(files.authority, "good"), "nobody", "good", "good", ""},
      {"of another authority", client_leaf(stranger), "nobody", "", "", "unknown ca"},
      {"expired", must(issue(files.authority, expired)), "nobody", "", "", "certificate expired"},
      {"not yet valid", must(issue(files.authority, future)), "nobody", "", "", "bad certificate"},
      {"for servers only", server_leaf(files.authority), "nobody", "", "", "certificate"},
  };
  struct Mode {
    ClientCertificate client;
    std::string Case::*expected;
  };
  for (const auto& [client, expected] :
       {Mode{ClientCertificate::kNone, &Case::with_none},
        Mode{ClientCertificate::kOptional, &Case::with_optional},
        Mode{ClientCertificate::kRequired, &Case::with_required}}) {
    auto server = start_tls(files.options(client));
    std::uint64_t refused = 0;
    for (const Case& c : cases) {
      SCOPED_TRACE(std::string(c.name) + ", mode " + std::to_string(static_cast<int>(client)));
      const auto outcome =
          TlsProbe{files.authority.certificate_pem, c.identity}.run(server->ports()[0], "/who");
      const std::string& who = c.*expected;
      EXPECT_EQ(outcome.answered, !who.empty()) << outcome.error;
      if (!who.empty()) {
        EXPECT_TRUE(outcome.answer.ends_with("\r\n" + who)) << outcome.answer;
      }
      if (who.empty()) {
        ++refused;
        EXPECT_NE(outcome.error.find(c.alert), std::string::npos) << outcome.error;
      }
    }
    EXPECT_TRUE(eventually([&] { return server->stats()[0].handshake_failures == refused; }));
  }
}

TEST(ServerTls, TellsTheHandlerWhoTheClientIs) {
  const ServerFiles files;
  std::optional<PeerCertificate> seen;
  auto server = start_tls(files.options(ClientCertificate::kRequired), {},
                          [&seen](const Request& request, Response&) { seen = *request.client; });
  LeafOptions leaf;
  leaf.common_name = "system:kube-scheduler";
  leaf.organizations = {"system:masters", "second"};
  leaf.dns_names = {"a.example", "b.example"};
  leaf.uris = {"spiffe://example/ns/kube-system"};
  leaf.emails = {"ops@example.com"};
  leaf.client = true;
  const KeyPair identity = must(issue(files.authority, leaf));
  ClientTls tls = files.client_tls();
  tls.certificate_pem = identity.certificate_pem;
  tls.key_pem = identity.key_pem;
  ASSERT_TRUE(make_client(server->ports()[0], tls).request("GET", "/"));
  server->stop(seconds(5));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->common_name, "system:kube-scheduler");
  EXPECT_EQ(seen->organizations, leaf.organizations);
  EXPECT_EQ(seen->dns_names, leaf.dns_names);
  EXPECT_EQ(seen->uris, leaf.uris);
  EXPECT_EQ(seen->emails, leaf.emails);
  const auto end = leaf.not_before + leaf.validity;
  EXPECT_LT(std::chrono::abs(seen->not_after - end), seconds(2));
}

TEST(ServerTls, SpeaksTls12OnlyWhereAllowed) {
  const ServerFiles files;
  TlsOptions tls = files.options(ClientCertificate::kNone);
  const TlsProbe old{files.authority.certificate_pem, std::nullopt, TLS1_2_VERSION};
  const TlsProbe older{files.authority.certificate_pem, std::nullopt, TLS1_1_VERSION};
  const TlsProbe current{files.authority.certificate_pem};

  auto strict = start_tls(tls);
  EXPECT_FALSE(old.run(strict->ports()[0]).answered);
  EXPECT_EQ(current.run(strict->ports()[0]).version, "TLSv1.3");

  tls.minimum_version = TlsVersion::k12;
  auto lenient = start_tls(tls);
  EXPECT_EQ(old.run(lenient->ports()[0]).version, "TLSv1.2");
  EXPECT_EQ(current.run(lenient->ports()[0]).version, "TLSv1.3");
  EXPECT_FALSE(older.run(lenient->ports()[0]).answered);
}

TEST(ServerTls, ChoosesHttp11ByAlpnAndRefusesClientsWithoutIt) {
  const ServerFiles files;
  auto server = start_tls(files.options(ClientCertificate::kNone));
  struct Case {
    std::vector<std::string> offered;
    bool answered;
    std::string chosen;
  };
  for (const auto& [offered, answered, chosen] :
       {Case{{}, true, ""}, Case{{"http/1.1"}, true, "http/1.1"},
        Case{{"h2", "http/1.1"}, true, "http/1.1"}, Case{{"h2"}, false, ""},
        Case{{"http/1.0", "h3"}, false, ""}}) {
    const auto outcome =
        TlsProbe{files.authority.certificate_pem, std::nullopt, TLS1_3_VERSION, offered}.run(
            server->ports()[0]);
    EXPECT_EQ(outcome.answered, answered) << outcome.error;
    EXPECT_EQ(outcome.protocol, chosen);
    if (!answered) {
      EXPECT_NE(outcome.error.find("no application protocol"), std::string::npos);
    }
  }
}

TEST(ServerTls, ResumesSessionsUntilTheClientCaChanges) {
  for (const int version : {TLS1_3_VERSION, TLS1_2_VERSION}) {
    const ServerFiles files;
    TlsOptions tls = files.options(ClientCertificate::kRequired);
    tls.minimum_version = TlsVersion::k12;
    auto server = start_tls(tls);
    TlsProbe probe{files.authority.certificate_pem, client_leaf(files.authority), version};
    const auto first = probe.run(server->ports()[0], "/who");
    ASSERT_TRUE(first.answered) << first.error;
    ASSERT_TRUE(first.session);
    EXPECT_FALSE(first.resumed);

    probe.session = first.session.get();
    const auto second = probe.run(server->ports()[0], "/who");
    EXPECT_TRUE(second.resumed);
    EXPECT_TRUE(second.answer.ends_with("system:kube-scheduler")) << second.answer;

    files.write(server_leaf(files.authority), must(make_authority("another")));
    ASSERT_TRUE(server->reload());
    const auto third = probe.run(server->ports()[0], "/who");
    EXPECT_FALSE(third.resumed);
    EXPECT_FALSE(third.answered);
  }
}

TEST(ServerTls, ServesManyRequestsOnOneConnection) {
  const ServerFiles files;
  auto server = start_tls(files.options(ClientCertificate::kRequired));
  Client client = make_client(server->ports()[0], files.client_tls());
  for (int i = 0; i < 2'000; ++i) {
    const auto answer = client.request("POST", "/echo", {}, std::to_string(i));
    ASSERT_TRUE(answer) << answer.error().to_string();
    ASSERT_EQ(answer->body, std::to_string(i));
  }
  EXPECT_EQ(server->stats()[0].connections, 1U);
  EXPECT_EQ(server->stats()[0].requests, 2'000U);
}

TEST(ServerTls, CarriesLargeBodiesBothWays) {
  const ServerFiles files;
  auto server = start_tls(files.options(ClientCertificate::kRequired));
  Client client = make_client(server->ports()[0], files.client_tls());
  const std::string body(std::size_t{5} << 20, 'x');
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.request("POST", "/echo", {}, body);
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_TRUE(answer->body == body);
  }
}

TEST(ServerTls, SurvivesPlainTextAndSilenceAtTheDoor) {
  const ServerFiles files;
  Limits limits;
  limits.handshake_timeout = std::chrono::milliseconds(1'000);
  std::atomic<int> events{0};
  ServerOptions options;
  options.on_event = [&events](const Event& event) {
    if (event.level == EventLevel::kWarning) ++events;
  };
  auto server =
      start_tls(files.options(ClientCertificate::kRequired), limits, testing::echo, options);
  testing::RawPeer plain(server->ports()[0]);
  plain.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  static_cast<void>(plain.receive_all());
  EXPECT_TRUE(plain.closed());
  testing::RawPeer silent(server->ports()[0]);
  EXPECT_EQ(silent.receive_all(seconds(4)), "");
  EXPECT_TRUE(silent.closed());
  EXPECT_TRUE(eventually([&] { return server->stats()[0].handshake_failures == 2; }));
  // A probe that connects and leaves is no failure.
  { const testing::RawPeer probe(server->ports()[0]); }
  EXPECT_TRUE(eventually([&] { return server->stats()[0].connections_open == 0; }));
  EXPECT_EQ(server->stats()[0].handshake_failures, 2U);
  EXPECT_GE(events, 1);
  EXPECT_TRUE(make_client(server->ports()[0], files.client_tls()).request("GET", "/"));
}

TEST(ServerTls, RefusesToStartOnFilesThatDoNotFit) {
  const ServerFiles files;
  const KeyPair other = server_leaf(files.authority);
  const std::string garbage = files.folder.path("garbage");
  must(write_private_file(garbage, "not PEM"));
  must(write_private_file(files.folder.path("other.key"), other.key_pem));
  struct Case {
    std::string TlsOptions::*file;
    std::string value;
    const char* message;
  };
  for (const auto& [file, value, message] :
       {Case{&TlsOptions::certificate_file, files.folder.path("absent"), "No such file"},
        Case{&TlsOptions::certificate_file, garbage, "holds no PEM certificate"},
        Case{&TlsOptions::key_file, garbage, "not an unencrypted PEM private key"},
        Case{&TlsOptions::key_file, files.folder.path("other.key"), "does not belong"},
        Case{&TlsOptions::client_ca_file, garbage, "holds no PEM certificate"},
        Case{&TlsOptions::client_ca_file, "", "cannot be read"}}) {
    TlsOptions tls = files.options(ClientCertificate::kRequired);
    tls.*file = value;
    ListenerOptions options;
    options.tls = tls;
    const auto server = Server::start({{options, testing::echo}});
    ASSERT_FALSE(server) << message;
    EXPECT_NE(server.error().to_string().find(message), std::string::npos)
        << server.error().to_string();
  }
}

}  // namespace
}  // namespace rankward::net
