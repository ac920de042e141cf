#include "rankward/net/client.hpp"

#include <gtest/gtest.h>

#include <future>

#include "fixtures.hpp"

namespace rankward::net {
namespace {

using testing::make_client;
using testing::milliseconds;
using testing::must;
using testing::ScriptedServer;
using testing::seconds;
using testing::ServerFiles;
using testing::start_plain;
using testing::start_tls;
using Clock = std::chrono::steady_clock;

std::vector<std::string> cut(const std::string& bytes, std::size_t size) {
  std::vector<std::string> pieces;
  for (std::size_t at = 0; at < bytes.size(); at += size)
    pieces.push_back(bytes.substr(at, size));
  return pieces;
}

TEST(ClientStream, GivesTheSameBytesHoweverChunksAreCut) {
  const std::string watch =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: application/json\r\n\r\n"
      "a\r\n{\"type\":\"A\r\n8\r\nDDED\"}\n{\r\n1\r\n}\r\n1;ext=1\r\n\n\r\n0\r\nX-Trailer: "
      "1\r\n\r\n";
  for (const std::size_t size : {1U, 2U, 3U, 5U, 11U, 1000U}) {
    const ScriptedServer server(cut(watch, size), milliseconds(size < 5 ? 0 : 1));
    Client client = make_client(server.port());
    std::string body;
    int status = 0;
    const auto outcome = client.stream(
        "GET", "/watch", {},
        [&status](const ClientResponse& head) {
          status = head.status;
          return head.header("content-type") == "application/json";
        },
        [&body](std::string_view bytes) {
          body.append(bytes);
          return true;
        });
    ASSERT_TRUE(outcome) << size << outcome.error().to_string();
    EXPECT_EQ(status, 200);
    EXPECT_EQ(body, "{\"type\":\"ADDED\"}\n{}\n") << size;
  }
}

TEST(ClientStream, ReadsBodiesThatEndWithTheConnectionAndSkipsInterimAnswers) {
  const ScriptedServer server(
      cut("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\n\r\nuntil the end", 9));
  const auto answer = make_client(server.port()).request("GET", "/");
  ASSERT_TRUE(answer) << answer.error().to_string();
  EXPECT_EQ(answer->status, 200);
  EXPECT_EQ(answer->body, "until the end");
}

TEST(ClientStream, ReportsABodyThatIsCutShort) {
  for (const char* bytes : {"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
                            "HTTP/1.1 200 OK\r\nX", "", "garbage\r\n\r\n",
                            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n"}) {
    const ScriptedServer server({bytes});
    const auto answer = make_client(server.port()).request("GET", "/");
    ASSERT_FALSE(answer) << bytes;
    EXPECT_EQ(answer.error().kind(), ErrorKind::kUnavailable) << bytes;
  }
}

TEST(ClientStream, EndsWhereACallbackSaysSo) {
  const std::string endless =
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n3\r\ndef\r\n";
  for (const bool at_head : {true, false}) {
    const ScriptedServer server({endless}, milliseconds(0), 1, seconds(10));
    Client client = make_client(server.port());
    int chunks = 0;
    const auto start = Clock::now();
    EXPECT_TRUE(client.stream(
        "GET", "/", {}, [&](const ClientResponse&) { return !at_head; },
        [&chunks](std::string_view) {
          ++chunks;
          return false;
        }));
    EXPECT_EQ(chunks, at_head ? 0 : 1);
    EXPECT_LT(Clock::now() - start, seconds(3));
  }
}

TEST(ClientStream, GivesUpAfterSilence) {
  const ScriptedServer server({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n"},
                              milliseconds(0), 1, seconds(10));
  Client client = make_client(server.port());
  const auto start = Clock::now();
  const auto outcome = client.stream(
      "GET", "/", {}, [](const ClientResponse&) { return true; },
      [](std::string_view) { return true; }, milliseconds(100));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().to_string().find("no answer in time"), std::string::npos);
  EXPECT_LT(Clock::now() - start, seconds(3));
}

TEST(ClientCancel, EndsACallPromptlyAndLaterOnesUntilResumed) {
  const ScriptedServer server({"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"},
                              milliseconds(0), 2, seconds(20));
  Client client = make_client(server.port());
  std::promise<void> streaming;
  auto call = std::async(std::launch::async, [&] {
    return client.stream(
        "GET", "/", {},
        [&](const ClientResponse&) {
          streaming.set_value();
          return true;
        },
        [](std::string_view) { return true; });
  });
  streaming.get_future().wait();
  const auto start = Clock::now();
  client.cancel();
  const auto outcome = call.get();
  EXPECT_LT(Clock::now() - start, seconds(10));
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().to_string().find("cancelled"), std::string::npos);
  EXPECT_TRUE(client.cancelled());
  EXPECT_FALSE(client.request("GET", "/"));

  client.resume();
  EXPECT_TRUE(client.stream(
      "GET", "/", {}, [](const ClientResponse&) { return false; },
      [](std::string_view) { return true; }));
}

TEST(ClientCancel, MayComeAtAnyMomentOfAnyCall) {
  const ServerFiles files;
  auto server = start_tls(files.options(ClientCertificate::kRequired));
  for (int i = 0; i < 60; ++i) {
    Client client = make_client(server->ports()[0], files.client_tls());
    std::thread canceller([&client, i] {
      std::this_thread::sleep_for(std::chrono::microseconds(i * 100));
      client.cancel();
    });
    const auto start = Clock::now();
    for (;;) {
      const auto answer = client.request("POST", "/echo", {}, "x");
      if (!answer) break;
      ASSERT_EQ(answer->body, "x");
    }
    EXPECT_LT(Clock::now() - start, seconds(5));
    canceller.join();
  }
}

TEST(Client, TrustsOnlyItsCaAndTheNameInTheCertificate) {
  const ServerFiles files;
  auto server = start_tls(files.options(ClientCertificate::kOptional));
  const KeyPair stranger = must(make_authority("stranger"));
  LeafOptions for_clients;
  for_clients.client = true;
  struct Case {
    const char* name;
    std::function<void(ClientOptions&)> change;
    const char* error;  // null: must succeed
  };
  for (const auto& [name, change, error] :
       {Case{"address in the certificate", [](ClientOptions&) {}, nullptr},
        Case{"name in the certificate", [](ClientOptions& o) { o.host = "localhost"; }, nullptr},
        Case{"name given apart",
             [](ClientOptions& o) { o.tls->server_name = "rankward.rankward-system.svc"; },
             nullptr},
        Case{"other name", [](ClientOptions& o) { o.tls->server_name = "other.svc"; },
             "hostname mismatch"},
        Case{"other address", [](ClientOptions& o) { o.tls->server_name = "127.0.0.2"; },
             "IP address mismatch"},
        Case{"other CA", [&](ClientOptions& o) { o.tls->ca_pem = stranger.certificate_pem; },
             "unable to get local issuer"},
        Case{"no CA", [](ClientOptions& o) { o.tls->ca_pem.clear(); }, "holds no PEM certificate"},
        Case{"key of another", [&](ClientOptions& o) { o.tls->key_pem = stranger.key_pem; },
             "does not belong"}}) {
    ClientOptions options;
    options.host = "127.0.0.1";
    options.port = server->ports()[0];
    options.tls = files.client_tls();
    change(options);
    const auto answer = Client(options).request("GET", "/");
    EXPECT_EQ(answer.has_value(), error == nullptr) << name;
    if (!answer && error != nullptr) {
      EXPECT_NE(answer.error().to_string().find(error), std::string::npos)
          << name << ": " << answer.error().to_string();
    }
  }
}

TEST(Client, ReadsItsFilesAgainForANewConnection) {
  const ServerFiles files;
  auto server = start_tls(files.options(ClientCertificate::kRequired));
  const auto put = [&](const std::string& name) {
    const KeyPair leaf = testing::client_leaf(files.authority, name);
    must(write_private_file(files.folder.path("client.crt"), leaf.certificate_pem));
    must(write_private_file(files.folder.path("client.key"), leaf.key_pem));
  };
  put("first");
  ClientTls tls;
  tls.ca_file = files.folder.path("ca.crt");
  tls.certificate_file = files.folder.path("client.crt");
  tls.key_file = files.folder.path("client.key");
  Client client = make_client(server->ports()[0], tls);
  EXPECT_EQ(client.request("GET", "/who")->body, "first");
  put("second");
  EXPECT_EQ(client.request("GET", "/who")->body, "first");  // the connection is kept
  EXPECT_EQ(client.request("GET", "/who", {{"Connection", "close"}})->body, "first");
  EXPECT_EQ(client.request("GET", "/who")->body, "second");
}

TEST(Client, SpeaksPlainHttpToLoopbackOnly) {
  ClientOptions options;
  options.host = "192.0.2.1";  // TEST-NET-1: refused before anything is sent
  options.port = 80;
  const auto answer = Client(options).request("GET", "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::kInvalid);
  EXPECT_EQ(answer.error().field(), "tls");
}

TEST(Client, RefusesRequestsThatAreNone) {
  auto server = start_plain();
  Client client = make_client(server->ports()[0]);
  EXPECT_EQ(client.request("GE T", "/").error().field(), "method");
  EXPECT_EQ(client.request("GET", "a").error().field(), "target");
  EXPECT_EQ(client.request("GET", "/a b").error().field(), "target");
  EXPECT_EQ(client.request("GET", "/", {{"X", "a\r\nY: b"}}).error().field(), "headers");
  EXPECT_EQ(client.request("GET", "/", {{"X:", "a"}}).error().field(), "headers");
  EXPECT_EQ(server->stats()[0].connections, 0U);
}

TEST(Client, BoundsTheBodyItKeeps) {
  const ScriptedServer server({"HTTP/1.1 200 OK\r\nContent-Length: 11\r\n\r\nhello world"});
  ClientOptions options;
  options.host = "127.0.0.1";
  options.port = server.port();
  options.max_body_bytes = 10;
  const auto answer = Client(options).request("GET", "/");
  ASSERT_FALSE(answer);
  EXPECT_EQ(answer.error().kind(), ErrorKind::kTooLarge);
}

TEST(Client, GivesUpInTimeAndGoesOn) {
  auto server = start_plain();
  Client client = make_client(server->ports()[0]);
  ASSERT_TRUE(client.request("GET", "/"));
  const auto late = client.request("GET", "/slow", {}, {}, milliseconds(50));
  ASSERT_FALSE(late);
  EXPECT_NE(late.error().to_string().find("no answer in time"), std::string::npos);
  // The late answer must not be taken for that of the next call.
  const auto next = client.request("GET", "/next");
  ASSERT_TRUE(next);
  EXPECT_EQ(next->body, "GET /next 0");
}

TEST(Client, ConnectsAgainWhenAKeptConnectionWasClosed) {
  const std::string answer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
  const ScriptedServer server({answer}, milliseconds(0), 3);
  Client client = make_client(server.port());
  for (int i = 0; i < 3; ++i) {
    const auto got = client.request(i == 1 ? "POST" : "GET", "/");
    ASSERT_TRUE(got) << got.error().to_string();
    EXPECT_EQ(got->body, "ok");
    std::this_thread::sleep_for(milliseconds(20));
  }
  EXPECT_FALSE(client.request("GET", "/", {}, {}, milliseconds(200)));
}

TEST(Client, AnswersHeadAndEmptyStatusesWithoutABody) {
  auto server = start_plain({}, [](const Request& request, Response& response) {
    response.status = request.target == "/none" ? 204 : 200;
    response.body = "body";
  });
  Client client = make_client(server->ports()[0]);
  EXPECT_EQ(client.request("HEAD", "/")->header("content-length"), "4");
  EXPECT_EQ(client.request("HEAD", "/")->body, "");
  EXPECT_EQ(client.request("GET", "/none")->body, "");
  EXPECT_EQ(client.request("GET", "/")->body, "body");
  EXPECT_EQ(server->stats()[0].connections, 1U);
}

}  // namespace
}  // namespace rankward::net
