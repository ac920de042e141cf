// The small parts: backoff, lines, base64, times, URLs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <vector>

#include "api_failure.hpp"
#include "backoff.hpp"
#include "line_splitter.hpp"
#include "rankward/formats/base64.hpp"
#include "rfc3339.hpp"
#include "server_url.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::system_clock;
using testing::ElementsAre;

TEST(Backoff, doubles_its_bound_up_to_the_longest_and_never_waits_less_than_the_least) {
  Backoff backoff(milliseconds(800), milliseconds(30'000));
  std::vector<std::int64_t> longest;
  for (int i = 0; i < 7; ++i)
    longest.push_back(backoff.next(1.0).count());
  EXPECT_THAT(longest, ElementsAre(1600, 3200, 6400, 12800, 25600, 30000, 30000));
  EXPECT_EQ(backoff.next(0.0), milliseconds(800));
  backoff.reset();
  EXPECT_EQ(backoff.next(0.5), milliseconds(1200));
}

std::vector<std::string> split(const std::vector<std::string>& pieces, LineSplitter& splitter) {
  std::vector<std::string> lines;
  for (const auto& piece : pieces) {
    EXPECT_EQ(splitter.feed(piece,
                            [&](std::string_view line) {
                              lines.emplace_back(line);
                              return true;
                            }),
              LineSplitter::Outcome::kMore);
  }
  return lines;
}

TEST(LineSplitter, gives_the_same_lines_wherever_the_stream_is_cut) {
  const std::string stream = "first\nsecond\n\n\r\nthird\nrest";
  for (std::size_t a = 0; a <= stream.size(); ++a) {
    for (std::size_t b = a; b <= stream.size(); ++b) {
      LineSplitter splitter(64);
      EXPECT_THAT(split({stream.substr(0, a), stream.substr(a, b - a), stream.substr(b)}, splitter),
                  ElementsAre("first", "second", "third"))
          << a << " " << b;
      EXPECT_FALSE(splitter.at_line_start());
    }
  }
}

TEST(LineSplitter, refuses_a_line_over_its_limit_whole_or_in_pieces) {
  const auto any = [](std::string_view) { return true; };
  LineSplitter whole(4);
  EXPECT_EQ(whole.feed("1234\n", any), LineSplitter::Outcome::kMore);
  EXPECT_EQ(whole.feed("12345\n", any), LineSplitter::Outcome::kTooLong);
  LineSplitter pieces(4);
  EXPECT_EQ(pieces.feed("123", any), LineSplitter::Outcome::kMore);
  EXPECT_EQ(pieces.feed("45", any), LineSplitter::Outcome::kTooLong);
}

TEST(LineSplitter, stops_when_it_is_told_to) {
  LineSplitter splitter(64);
  int lines = 0;
  EXPECT_EQ(splitter.feed("a\nb\nc\n", [&](std::string_view) { return ++lines < 2; }),
            LineSplitter::Outcome::kStopped);
  EXPECT_EQ(lines, 2);
}

TEST(Base64, follows_the_vectors_of_rfc_4648) {
  const std::pair<std::string, std::string> cases[] = {
      {"", ""},
      {"f", "Zg=="},
      {"fo", "Zm8="},
      {"foo", "Zm9v"},
      {"foob", "Zm9vYg=="},
      {"fooba", "Zm9vYmE="},
      {"foobar", "Zm9vYmFy"},
      {"\xff\xfe", "//4="},
  };
  for (const auto& [bytes, text] : cases) {
    EXPECT_EQ(formats::base64_encode(bytes), text);
    EXPECT_EQ(formats::base64_decode(text), bytes) << text;
  }
  EXPECT_EQ(formats::base64_decode("Zm9v\nYmFy\r\n"), "foobar");
  for (const auto* wrong : {"Zg", "Zg=", "Z===", "=", "Zm9v=", "Zg==Zg==", "Zm9*", "Zg=a"}) {
    EXPECT_EQ(formats::base64_decode(wrong), std::nullopt) << wrong;
  }
}

TEST(Rfc3339, reads_what_kubernetes_and_plugins_write) {
  const auto at = [](std::int64_t nanoseconds) {
    return system_clock::time_point(std::chrono::nanoseconds(nanoseconds));
  };
  // Figures from `date -u -d ... +%s%N`.
  EXPECT_EQ(parse_rfc3339("2026-01-31T12:00:00Z"), at(1769860800000000000));
  EXPECT_EQ(parse_rfc3339("2026-01-31T14:00:00+02:00"), at(1769860800000000000));
  EXPECT_EQ(parse_rfc3339("2026-01-31T12:00:00.250000Z"), at(1769860800250000000));
  EXPECT_EQ(parse_rfc3339("2024-02-29t23:59:59.123456789z"), at(1709251199123456789));
  EXPECT_EQ(parse_rfc3339("1970-01-01T00:00:00-00:30"), at(1800000000000));
  for (const auto* wrong :
       {"", "2026-01-31", "2026-02-30T00:00:00Z", "2026-01-31T24:00:00Z", "2026-01-31T12:00:00",
        "2026-01-31T12:00:00.Z", "2026-01-31T12:00:00Zx", "2026-01-31 12:00:00Z",
        "9999-01-01T00:00:00Z", "2026-01-31T12:00:00+2:00"}) {
    EXPECT_EQ(parse_rfc3339(wrong), std::nullopt) << wrong;
  }
}

TEST(ServerUrl, takes_a_url_apart_as_client_go_does) {
  struct Case {
    std::string url;
    bool tls;
    std::string host;
    int port;
    std::string base_path;
  };
  const Case cases[] = {
      {"https://10.0.0.1:6443", true, "10.0.0.1", 6443, ""},
      {"https://api.example.com", true, "api.example.com", 443, ""},
      {"HTTPS://api.example.com/", true, "api.example.com", 443, ""},
      {"https://rancher.example.com/k8s/clusters/c-1/", true, "rancher.example.com", 443,
       "/k8s/clusters/c-1"},
      {"https://[fd00::1]:6443", true, "fd00::1", 6443, ""},
      {"https://[fd00::1]", true, "fd00::1", 443, ""},
      {"http://127.0.0.1:8001", false, "127.0.0.1", 8001, ""},
      {"localhost:8080", false, "localhost", 8080, ""},
  };
  for (const auto& expected : cases) {
    ApiServer server;
    ASSERT_TRUE(parse_server_url(expected.url, server)) << expected.url;
    EXPECT_EQ(server.tls, expected.tls) << expected.url;
    EXPECT_EQ(server.host, expected.host) << expected.url;
    EXPECT_EQ(server.port, expected.port) << expected.url;
    EXPECT_EQ(server.base_path, expected.base_path) << expected.url;
  }
  for (const auto* wrong : {"", "https://", "ftp://host", "https://host:0", "https://host:65536",
                            "https://host:", "https://user@host", "https://host?x", "https://[::1",
                            "https://[::1]x", "https://a b"}) {
    ApiServer server;
    EXPECT_FALSE(parse_server_url(wrong, server)) << wrong;
  }
}

TEST(ApiFailure, takes_the_message_of_a_status_and_the_seconds_of_retry_after) {
  net::ClientResponse response;
  response.status = 429;
  response.headers = {{"retry-after", "7"}};
  response.body = R"({"kind":"Status","message":"too many requests","code":429})";
  const auto failure = api_failure(response);
  EXPECT_EQ(failure.what, "HTTP status 429: too many requests");
  EXPECT_EQ(failure.retry_after, std::chrono::seconds(7));
  EXPECT_FALSE(failure.is_gone());

  response.headers = {{"Retry-After", "Fri, 31 Jan 2026 12:00:00 GMT"}};
  response.body = "<html>bad gateway</html>";
  response.status = 410;
  EXPECT_EQ(api_failure(response).what, "HTTP status 410");
  EXPECT_EQ(api_failure(response).retry_after, std::nullopt);
  EXPECT_TRUE(api_failure(response).is_gone());
}

}  // namespace
}  // namespace rankward::cluster
