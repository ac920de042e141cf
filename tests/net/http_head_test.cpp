#include "http_head.hpp"

#include <gtest/gtest.h>

namespace rankward::net {
namespace {

TEST(HeadScanner, FindsTheEndHoweverTheBytesAreCut) {
  const std::string bytes = "GET / HTTP/1.1\r\nHost: a\r\n\r\nbody";
  for (std::size_t cut = 0; cut < bytes.size(); ++cut) {
    HeadScanner scanner;
    const auto early = scanner.scan(std::string_view(bytes).substr(0, cut));
    EXPECT_EQ(early, cut < bytes.size() - 4 ? HeadScanner::State::kNeedMore
                                            : HeadScanner::State::kComplete)
        << cut;
    if (early == HeadScanner::State::kNeedMore) {
      EXPECT_EQ(scanner.scan(bytes), HeadScanner::State::kComplete) << cut;
    }
    EXPECT_EQ(scanner.size(), bytes.size() - 4) << cut;
  }
}

TEST(HeadScanner, SeesABareLineFeedBeforeTheHeadIsComplete) {
  HeadScanner scanner;
  EXPECT_EQ(scanner.scan("GET / HTTP/1.1\r\nHost: a\n"), HeadScanner::State::kBareLineFeed);
}

TEST(ResponseHead, HoldsWhatTheHandlerSetAndWhatTheServerOwes) {
  Response response;
  response.status = 503;
  response.body = "wait";
  response.retry_after = std::chrono::seconds(1);
  response.headers = {{"Cache-Control", "no-store"}};
  std::string out = "old";
  ASSERT_TRUE(
      write_response_head(response, Persistence::kClose, "Sun, 06 Nov 1994 08:49:37 GMT", out));
  EXPECT_EQ(out,
            "HTTP/1.1 503 Service Unavailable\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Content-Type: application/json\r\nContent-Length: 4\r\nRetry-After: 1\r\n"
            "Cache-Control: no-store\r\nConnection: close\r\n\r\n");
}

TEST(ResponseHead, IsRefusedWhereAFieldCouldEndItEarly) {
  const std::string split = "a\r\nSet-Cookie: x";
  for (int i = 0; i < 5; ++i) {
    Response response;
    if (i == 0) response.content_type = split;
    if (i == 1) response.headers = {{"X", split}};
    if (i == 2) response.headers = {{split, "x"}};
    if (i == 3) response.status = 99;
    if (i == 4) response.status = 600;
    std::string out;
    EXPECT_FALSE(write_response_head(response, Persistence::kKeepAlive, "", out)) << i;
  }
}

}  // namespace
}  // namespace rankward::net
