// Time, numbers and ends: timeouts, the limit of connections, draining and stopping.
#include <gtest/gtest.h>

#include <future>

#include "fixtures.hpp"

namespace rankward::net {
namespace {

using testing::echo;
using testing::eventually;
using testing::make_client;
using testing::milliseconds;
using testing::RawPeer;
using testing::seconds;
using testing::ServerFiles;
using testing::start_plain;
using testing::start_tls;
using Clock = std::chrono::steady_clock;

Limits short_limits() {
  Limits limits;
  limits.header_timeout = milliseconds(150);
  limits.idle_timeout = milliseconds(300);
  limits.request_timeout = milliseconds(200);
  return limits;
}

TEST(ServerTime, CutsAHeadThatDripsIn) {
  auto server = start_plain(short_limits());
  RawPeer peer(server->ports()[0]);
  const auto start = Clock::now();
  std::thread dripper([&peer] {
    for (const char c : std::string("GET / HTTP/1.1\r\nHost: a\r\nX: ") + std::string(120, 'a')) {
      peer.send(std::string(1, c));
      std::this_thread::sleep_for(milliseconds(20));
    }
  });
  EXPECT_EQ(peer.receive_all(seconds(10)), "");
  EXPECT_TRUE(peer.closed());
  EXPECT_LT(Clock::now() - start, seconds(2));
  dripper.join();
  EXPECT_EQ(server->stats()[0].timeouts, 1U);
}

TEST(ServerTime, CutsABodyThatDoesNotCome) {
  auto server = start_plain(short_limits());
  for (const char* framing :
       {"Content-Length: 10", "Transfer-Encoding: chunked", "Content-Length: 1000000"}) {
    RawPeer peer(server->ports()[0]);
    peer.send(std::string("POST / HTTP/1.1\r\nHost: a\r\n") + framing + "\r\n\r\n1");
    EXPECT_EQ(peer.receive_all(seconds(3)), "") << framing;
    EXPECT_TRUE(peer.closed()) << framing;
  }
  EXPECT_EQ(server->stats()[0].timeouts, 3U);
  EXPECT_TRUE(eventually([&] { return server->stats()[0].requests_in_flight == 0; }));
}

TEST(ServerTime, CutsAnAnswerThatIsNotTaken) {
  auto server = start_plain(short_limits(), [](const Request&, Response& response) {
    response.body.assign(std::size_t{64} << 20, 'x');
  });
  RawPeer peer(server->ports()[0]);
  peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return server->stats()[0].timeouts == 1; }));
  EXPECT_TRUE(eventually([&] { return server->stats()[0].connections_open == 0; }));
}

TEST(ServerTime, ClosesQuietConnectionsAfterTheIdleTime) {
  auto server = start_plain(short_limits());
  RawPeer peer(server->ports()[0]);
  peer.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_FALSE(peer.receive_until("GET / 0").empty());
  const auto start = Clock::now();
  EXPECT_EQ(peer.receive_all(seconds(3)), "");
  EXPECT_TRUE(peer.closed());
  EXPECT_GT(Clock::now() - start, milliseconds(200));
  EXPECT_EQ(server->stats()[0].timeouts, 0U);
}

TEST(ServerTime, ReleasesLargeBuffersOfQuietConnectionsAndGoesOn) {
  Limits limits;
  limits.buffer_retention = milliseconds(20);
  auto server = start_plain(limits);
  Client client = make_client(server->ports()[0]);
  const std::string body(std::size_t{2} << 20, 'x');
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.request("POST", "/echo", {}, body);
    ASSERT_TRUE(answer);
    EXPECT_TRUE(answer->body == body);
    std::this_thread::sleep_for(milliseconds(80));
  }
  EXPECT_EQ(server->stats()[0].connections, 1U);
}

TEST(ServerAfter, RunsWhatTheHandlerLeftOnceTheAnswerIsOut) {
  std::atomic<int> ran = 0;
  auto server = start_plain(short_limits(), [&ran](const Request& request, Response& response) {
    response.after_sent = [&ran] { ++ran; };
    if (request.target == "/throw") throw std::runtime_error("on purpose");
    if (request.target == "/split") response.headers = {{"X", "a\r\nb"}};
    if (request.target == "/large") response.body.assign(std::size_t{64} << 20, 'x');
  });
  Client client = make_client(server->ports()[0]);
  ASSERT_TRUE(client.request("GET", "/"));
  EXPECT_TRUE(eventually([&] { return ran == 1; }));
  EXPECT_EQ(client.request("GET", "/throw")->status, 500);  // never decided, nothing to record
  EXPECT_EQ(client.request("GET", "/split")->status, 500);
  EXPECT_TRUE(eventually([&] { return ran == 2; }));
  RawPeer never_reads(server->ports()[0]);
  never_reads.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n");
  EXPECT_TRUE(eventually([&] { return ran == 3; }));
}

TEST(ServerNumbers, AnswersOneConnectionTooManyWith503) {
  const ServerFiles files;
  Limits limits;
  limits.max_connections = 3;
  for (const bool tls : {false, true}) {
    auto server =
        tls ? start_tls(files.options(ClientCertificate::kRequired), limits) : start_plain(limits);
    const auto identity = tls ? std::optional(files.client_tls()) : std::nullopt;
    std::vector<std::unique_ptr<Client>> kept;
    for (int i = 0; i < 3; ++i) {
      ClientOptions options;
      options.host = "127.0.0.1";
      options.port = server->ports()[0];
      options.tls = identity;
      kept.push_back(std::make_unique<Client>(options));
      ASSERT_TRUE(kept.back()->request("GET", "/"));
    }
    const auto answer = make_client(server->ports()[0], identity).request("POST", "/", {}, "body");
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->status, 503);
    EXPECT_EQ(answer->header("retry-after"), "1");
    EXPECT_EQ(answer->header("connection"), "close");
    EXPECT_EQ(server->stats()[0].connections_rejected, 1U);
    // Those inside are not disturbed, and a place that becomes free is given away.
    EXPECT_EQ(kept.front()->request("GET", "/")->status, 200);
    kept.pop_back();
    EXPECT_TRUE(eventually([&] {
      const auto again = make_client(server->ports()[0], identity).request("GET", "/");
      return again && again->status == 200;
    }));
  }
}

TEST(ServerNumbers, SharesOnePortAmongThreadsAndRefusesASecondServer) {
  ListenerOptions options;
  options.threads = 3;
  auto server = testing::must(Server::start({{options, echo}}));
  std::vector<std::future<int>> calls;
  for (int i = 0; i < 12; ++i) {
    calls.push_back(std::async(std::launch::async, [port = server->ports()[0]] {
      Client client = make_client(port);
      int good = 0;
      for (int k = 0; k < 20; ++k) {
        const auto answer = client.request("GET", "/");
        good += answer && answer->status == 200 ? 1 : 0;
      }
      return good;
    }));
  }
  for (auto& call : calls)
    EXPECT_EQ(call.get(), 20);
  options.port = server->ports()[0];
  for (const unsigned threads : {1U, 2U}) {
    options.threads = threads;
    const auto second = Server::start({{options, echo}});
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().kind(), ErrorKind::kUnavailable);
  }
}

TEST(ServerStart, NamesWhatIsWrongWithAListener) {
  struct Case {
    std::function<void(Listener&)> change;
    const char* field;
  };
  for (const auto& [change, field] :
       {Case{[](Listener& l) { l.options.address = "localhost"; }, "listeners[0].address"},
        Case{[](Listener& l) { l.options.threads = 0; }, "listeners[0].threads"},
        Case{[](Listener& l) { l.options.limits.max_connections = 0; },
             "listeners[0].limits.max_connections"},
        Case{[](Listener& l) { l.options.limits.max_header_bytes = 100; },
             "listeners[0].limits.max_header_bytes"},
        Case{[](Listener& l) { l.handler = nullptr; }, "listeners[0].handler"}}) {
    Listener listener{{}, echo};
    change(listener);
    std::vector<Listener> listeners;
    listeners.push_back(std::move(listener));
    const auto server = Server::start(std::move(listeners));
    ASSERT_FALSE(server) << field;
    EXPECT_EQ(server.error().field(), field);
  }
}

TEST(ServerStop, FinishesWhatIsInFlightAndSaysClose) {
  const ServerFiles files;
  for (const bool tls : {false, true}) {
    auto server = tls ? start_tls(files.options(ClientCertificate::kRequired)) : start_plain();
    const auto identity = tls ? std::optional(files.client_tls()) : std::nullopt;
    const std::uint16_t port = server->ports()[0];
    Client idle = make_client(port, identity);
    ASSERT_TRUE(idle.request("GET", "/"));
    auto slow = std::async(std::launch::async,
                           [&] { return make_client(port, identity).request("GET", "/slow"); });
    ASSERT_TRUE(eventually([&] { return server->stats()[0].requests == 2; }));
    EXPECT_TRUE(server->stop(seconds(5)));
    const auto answer = slow.get();
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->status, 200);
    EXPECT_EQ(answer->header("connection"), "close");
    EXPECT_EQ(server->stats()[0].connections_open, 0U);
    EXPECT_FALSE(make_client(port, identity).request("GET", "/"));
  }
}

TEST(ServerStop, SaysCloseWhileDrainingAndStillServes) {
  auto server = start_plain();
  Client client = make_client(server->ports()[0]);
  EXPECT_EQ(client.request("GET", "/")->header("connection"), "");
  server->set_draining(true);
  for (int i = 0; i < 3; ++i) {
    const auto answer = client.request("POST", "/", {}, "x");
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->header("connection"), "close");
  }
  server->set_draining(false);
  EXPECT_EQ(client.request("GET", "/")->header("connection"), "");
}

TEST(ServerStop, CutsWhatOutlastsTheGrace) {
  auto server = start_plain();
  RawPeer peer(server->ports()[0]);
  peer.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 10\r\n\r\n");
  ASSERT_TRUE(eventually([&] { return server->stats()[0].requests_in_flight == 1; }));
  const auto start = Clock::now();
  EXPECT_FALSE(server->stop(milliseconds(100)));
  EXPECT_LT(Clock::now() - start, seconds(2));
  EXPECT_EQ(peer.receive_all(), "");
}

TEST(ServerStop, LosesNoCallOfClientsThatHeedClose) {
  // Draining first, as a replica does before it goes: each call must be answered by either server.
  const ServerFiles files;
  auto first = start_tls(files.options(ClientCertificate::kRequired));
  auto second = start_tls(files.options(ClientCertificate::kRequired));
  std::atomic<std::uint16_t> port = first->ports()[0];
  std::atomic<bool> done = false;
  std::atomic<int> calls = 0;
  std::atomic<int> failures = 0;
  std::vector<std::thread> clients;
  for (int i = 0; i < 3; ++i) {
    clients.emplace_back([&] {
      std::uint16_t used = port;
      auto client = std::make_unique<Client>(
          ClientOptions{.host = "127.0.0.1", .port = used, .tls = files.client_tls()});
      while (!done) {
        const auto answer = client->request("POST", "/", {}, "x");
        ++calls;
        if (!answer || answer->status != 200) ++failures;
        if (used != port && (!answer || answer->header("connection") == "close")) {
          used = port;
          client = std::make_unique<Client>(
              ClientOptions{.host = "127.0.0.1", .port = used, .tls = files.client_tls()});
        }
      }
    });
  }
  ASSERT_TRUE(eventually([&] { return calls > 100; }));
  port = second->ports()[0];
  first->set_draining(true);
  ASSERT_TRUE(eventually([&] { return second->stats()[0].requests > 100; }));
  ASSERT_TRUE(eventually([&] { return second->stats()[0].connections == 3; }));
  EXPECT_TRUE(first->stop(seconds(5)));
  const int before = calls;
  ASSERT_TRUE(eventually([&] { return calls > before + 100; }));
  done = true;
  for (std::thread& client : clients)
    client.join();
  EXPECT_EQ(failures, 0);
}

}  // namespace
}  // namespace rankward::net
