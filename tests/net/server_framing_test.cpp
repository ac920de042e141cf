// Requests as raw bytes: what is read, what is refused, and whether the connection goes on.
#include <gtest/gtest.h>

#include "fixtures.hpp"

namespace rankward::net {
namespace {

using testing::milliseconds;
using testing::RawPeer;
using testing::start_plain;

struct Exchange {
  const char* name;
  std::string bytes;
  std::string status_line;  // the answer begins with it
  std::string contains;     // and contains this
  bool closes;
};

Limits small_limits() {
  Limits limits;
  limits.max_body_bytes = 1'000;
  limits.max_header_bytes = 512;
  return limits;
}

std::string head(const std::string& fields) {
  return "POST /p HTTP/1.1\r\nHost: a\r\n" + fields + "\r\n";
}

std::vector<Exchange> exchanges() {
  const std::string big(600, 'x');
  return {
      {"get", "GET /a?b=c HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 200 OK", "GET /a b=c 0", false},
      {"post", head("Content-Length: 3\r\n") + "abc", "HTTP/1.1 200", "POST /p 3", false},
      {"length zero", head("Content-Length: 0\r\n"), "HTTP/1.1 200", "POST /p 0", false},
      {"close asked", "GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n", "HTTP/1.1 200",
       "Connection: close\r\n", true},
      {"1.0", "GET / HTTP/1.0\r\n\r\n", "HTTP/1.1 200", "Connection: close\r\n", true},
      {"1.0 kept", "GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "HTTP/1.1 200",
       "Connection: keep-alive\r\n", false},
      {"chunked", head("Transfer-Encoding: chunked\r\n") + "3\r\nabc\r\n2;x=y\r\nde\r\n0\r\n\r\n",
       "HTTP/1.1 200", "POST /p 5", false},
      {"chunked with trailer",
       head("Transfer-Encoding: Chunked\r\n") + "1\r\na\r\n0\r\nX-Sum: 1\r\n\r\n", "HTTP/1.1 200",
       "POST /p 1", false},
      {"many chunks at the limit",
       head("Transfer-Encoding: chunked\r\n") + "1f4\r\n" + std::string(500, 'a') + "\r\n1f4\r\n" +
           std::string(500, 'b') + "\r\n0\r\n\r\n",
       "HTTP/1.1 200", "POST /p 1000", false},
      {"body at the limit", head("Content-Length: 1000\r\n") + std::string(1000, 'x'),
       "HTTP/1.1 200", "POST /p 1000", false},

      {"body over the limit, not sent", head("Content-Length: 1001\r\n"), "HTTP/1.1 413",
       "body too large", true},
      {"length over 64 bits", head("Content-Length: 99999999999999999999999\r\n"), "HTTP/1.1 413",
       "", true},
      {"chunks over the limit",
       head("Transfer-Encoding: chunked\r\n") + "3e9\r\n" + std::string(1001, 'x'), "HTTP/1.1 413",
       "", true},
      {"chunk sizes that add up over the limit",
       head("Transfer-Encoding: chunked\r\n") + "258\r\n" + big + "\r\n258\r\n" + big,
       "HTTP/1.1 413", "", true},
      {"expectation refused before the body",
       head("Expect: 100-continue\r\nContent-Length: 5000\r\n"), "HTTP/1.1 413", "", true},
      {"head over the limit", "GET / HTTP/1.1\r\nHost: a\r\nX: " + big + "\r\n\r\n", "HTTP/1.1 431",
       "", true},
      {"head over the limit, unfinished", "GET /" + big, "HTTP/1.1 431", "", true},

      {"length and coding", head("Content-Length: 3\r\nTransfer-Encoding: chunked\r\n") + "abc",
       "HTTP/1.1 400", "Content-Length together with Transfer-Encoding", true},
      {"coding and length", head("Transfer-Encoding: chunked\r\nContent-Length: 3\r\n") + "abc",
       "HTTP/1.1 400", "together", true},
      {"equal lengths", head("Content-Length: 3\r\nContent-Length: 3\r\n") + "abc", "HTTP/1.1 400",
       "repeated Content-Length", true},
      {"different lengths", head("Content-Length: 3\r\ncontent-length: 4\r\n") + "abc",
       "HTTP/1.1 400", "repeated Content-Length", true},
      {"list of lengths", head("Content-Length: 3, 3\r\n") + "abc", "HTTP/1.1 400", "", true},
      {"signed length", head("Content-Length: +3\r\n") + "abc", "HTTP/1.1 400", "", true},
      {"negative length", head("Content-Length: -1\r\n"), "HTTP/1.1 400", "", true},
      {"hexadecimal length", head("Content-Length: 0x3\r\n") + "abc", "HTTP/1.1 400", "", true},
      {"empty length", head("Content-Length:\r\n"), "HTTP/1.1 400", "", true},
      {"other coding", head("Transfer-Encoding: gzip, chunked\r\n"), "HTTP/1.1 501", "", true},
      {"repeated coding", head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n"),
       "HTTP/1.1 400", "repeated Transfer-Encoding", true},
      {"hidden coding", head("Transfer-Encoding : chunked\r\n"), "HTTP/1.1 400", "", true},
      {"coding in 1.0", "POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", "HTTP/1.1 400", "",
       true},
      {"folded line", "GET / HTTP/1.1\r\nHost: a\r\nX: a\r\n b\r\n\r\n", "HTTP/1.1 400",
       "folded header line", true},
      {"folded first line", "GET / HTTP/1.1\r\n Host: a\r\n\r\n", "HTTP/1.1 400", "folded", true},
      {"bare LF", "GET / HTTP/1.1\nHost: a\n\n", "HTTP/1.1 400", "bare LF", true},
      {"one bare LF", "GET / HTTP/1.1\r\nHost: a\r\nX: b\n\r\n", "HTTP/1.1 400", "bare LF", true},
      {"bare CR", "GET / HTTP/1.1\r\nHost: a\r\nX: b\rc\r\n\r\n", "HTTP/1.1 400", "bare CR", true},
      {"NUL in a value", "GET / HTTP/1.1\r\nHost: a\r\nX: b" + std::string(1, 0) + "c\r\n\r\n",
       "HTTP/1.1 400", "", true},
      {"bare LF after a chunk size", head("Transfer-Encoding: chunked\r\n") + "3\nabc\r\n0\r\n\r\n",
       "HTTP/1.1 400", "", true},
      {"chunk longer than its size",
       head("Transfer-Encoding: chunked\r\n") + "2\r\nabc\r\n0\r\n\r\n", "HTTP/1.1 400", "", true},
      {"chunk size that is none", head("Transfer-Encoding: chunked\r\n") + "-1\r\nabc\r\n",
       "HTTP/1.1 400", "", true},
      {"chunk extension without end",
       head("Transfer-Encoding: chunked\r\n") + "1;x=" + std::string(2000, 'y'), "HTTP/1.1 400", "",
       true},
      {"no Host", "GET / HTTP/1.1\r\n\r\n", "HTTP/1.1 400", "Host", true},
      {"two Hosts", "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", "HTTP/1.1 400", "Host", true},
      {"no path", "GET http://a/ HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400", "path", true},
      {"other expectation", head("Expect: 200-ok\r\nContent-Length: 1\r\n") + "a", "HTTP/1.1 417",
       "", true},
      {"version 2.0", "GET / HTTP/2.0\r\nHost: a\r\n\r\n", "HTTP/1.1 505", "", true},
      {"not HTTP", "\x16\x03\x01\x02\r\n\r\n", "HTTP/1.1 400", "", true},
      {"empty line first", "\r\nGET / HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 400", "", true},
      {"handler that throws", "GET /throw HTTP/1.1\r\nHost: a\r\n\r\n", "HTTP/1.1 500",
       "internal error", false},
  };
}

TEST(ServerFraming, AnswersEachRequestAsItsBytesDeserve) {
  auto server = start_plain(small_limits());
  const std::string next = "GET /next HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  for (const Exchange& exchange : exchanges()) {
    SCOPED_TRACE(exchange.name);
    RawPeer peer(server->ports()[0]);
    peer.send(exchange.bytes);
    // Sent behind what is refused, it must never be taken for a request.
    const std::string first = exchange.closes ? std::string() : peer.receive_until("\r\n\r\n");
    peer.send(next);
    const std::string answer = first + peer.receive_all();
    EXPECT_TRUE(answer.starts_with(exchange.status_line)) << answer;
    EXPECT_NE(answer.find(exchange.contains), std::string::npos) << answer;
    EXPECT_EQ(answer.find("/next") == std::string::npos, exchange.closes) << answer;
    EXPECT_TRUE(peer.closed());
  }
  const ListenerStats stats = server->stats()[0];
  EXPECT_EQ(stats.handler_failures, 1U);
  EXPECT_GT(stats.requests_refused, 30U);
}

TEST(ServerFraming, ReadsRequestsHoweverTheyAreCut) {
  auto server = start_plain(small_limits());
  const std::string bytes = head("Transfer-Encoding: chunked\r\n") +
                            "3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n" +
                            head("Content-Length: 4\r\nConnection: close\r\n") + "wxyz";
  for (const std::size_t size : {1U, 2U, 3U, 7U, 50U}) {
    RawPeer peer(server->ports()[0]);
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      peer.send(std::string_view(bytes).substr(at, size));
      if (size > 3) std::this_thread::sleep_for(milliseconds(1));
    }
    const std::string answers = peer.receive_all();
    EXPECT_NE(answers.find("POST /p 7"), std::string::npos) << size << answers;
    EXPECT_NE(answers.find("POST /p 4"), std::string::npos) << size << answers;
  }
}

TEST(ServerFraming, AnswersPipelinedRequestsInOrder) {
  auto server = start_plain();
  RawPeer peer(server->ports()[0]);
  std::string bytes;
  for (int i = 0; i < 500; ++i) {
    bytes += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: a\r\nContent-Length: 300\r\n\r\n" +
             std::string(300, 'x');
  }
  peer.send(bytes + "GET /end HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answers = peer.receive_all();
  std::size_t at = 0;
  for (int i = 0; i < 500; ++i) {
    const std::string expected = "POST /" + std::to_string(i) + " 300";
    at = answers.find(expected, at);
    ASSERT_NE(at, std::string::npos) << expected;
  }
  EXPECT_NE(answers.find("GET /end", at), std::string::npos);
}

TEST(ServerFraming, InvitesABodyThatWaitsForIt) {
  auto server = start_plain();
  RawPeer peer(server->ports()[0]);
  peer.send(
      "POST /echo HTTP/1.1\r\nHost: a\r\nExpect: 100-continue\r\nContent-Length: 5\r\n"
      "Connection: close\r\n\r\n");
  EXPECT_EQ(peer.receive_until("\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
  peer.send("hello");
  EXPECT_TRUE(peer.receive_all().ends_with("\r\n\r\nhello"));
}

TEST(ServerFraming, AnswersHeadWithoutTheBodyButWithItsLength) {
  auto server = start_plain();
  RawPeer peer(server->ports()[0]);
  peer.send("HEAD /abc HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n");
  const std::string answer = peer.receive_all();
  EXPECT_NE(answer.find("Content-Length: 11\r\n"), std::string::npos) << answer;
  EXPECT_TRUE(answer.ends_with("\r\n\r\n")) << answer;
}

TEST(ServerFraming, EchoesBodiesOfEverySizeAroundItsBuffers) {
  Limits limits;
  limits.max_body_bytes = std::size_t{16} << 20;
  auto server = start_plain(limits);
  Client client = testing::make_client(server->ports()[0]);
  const std::size_t block = 64 << 10;
  for (const std::size_t size :
       {std::size_t{0}, std::size_t{1}, block - 200, block - 65, block - 64, block - 63, block,
        block + 1, (std::size_t{1} << 20) + 1, std::size_t{9} << 20, std::size_t{100}}) {
    std::string body(size, 'x');
    for (std::size_t i = 0; i < size; i += 97)
      body[i] = static_cast<char>('a' + i % 26);
    const auto answer = client.request("POST", "/echo", {}, body);
    ASSERT_TRUE(answer) << answer.error().to_string();
    EXPECT_EQ(answer->status, 200);
    EXPECT_TRUE(answer->body == body) << size;
  }
  EXPECT_EQ(server->stats()[0].connections, 1U);
}

TEST(ServerFraming, LeavesReadableBytesBehindEveryBody) {
  const auto touch = [](const Request& request, Response& response) {
    // Under AddressSanitizer this is the test; elsewhere it must at least not fault.
    unsigned sum = 0;
    const volatile char* end = request.body.data() + request.body.size();
    for (std::size_t i = 0; i < kBodyPadding; ++i)
      sum += static_cast<unsigned char>(end[i]) & 1U;
    response.body = sum <= kBodyPadding ? "ok" : "no";
  };
  auto server = start_plain({}, touch);
  Client client = testing::make_client(server->ports()[0]);
  for (const std::size_t size : {std::size_t{1}, std::size_t{65'300}, std::size_t{65'471},
                                 std::size_t{65'472}, std::size_t{65'473}, std::size_t{2} << 20}) {
    const auto answer = client.request("POST", "/", {}, std::string(size, 'x'));
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->body, "ok");
  }
  RawPeer peer(server->ports()[0]);
  peer.send(
      "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
      "0\r\n\r\n");
  EXPECT_TRUE(peer.receive_all().ends_with("ok"));
}

TEST(ServerFraming, GivesTheHandlerFieldsInAnyCase) {
  auto server = start_plain({}, [](const Request& request, Response& response) {
    response.body.append(request.header("x-TOKEN")).append("|").append(request.header("absent"));
  });
  Client client = testing::make_client(server->ports()[0]);
  const auto answer = client.request("GET", "/", {{"X-Token", "  a b "}});
  ASSERT_TRUE(answer);
  EXPECT_EQ(answer->body, "a b|");
}

}  // namespace
}  // namespace rankward::net
