// Rules for the head of a message that are stricter than the parser's, and the head of an answer.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rankward/net/http.hpp"

namespace rankward::net {

// A request that is answered without a handler.
struct Refusal {
  int status;
  std::string_view why;  // the body of the answer
};

// Finds the end of a head in bytes that arrive piece by piece.
class HeadScanner {
 public:
  enum class State : std::uint8_t { kNeedMore, kComplete, kBareLineFeed };
  // `bytes` is everything received so far. kComplete: size() is the length of the head with its
  // empty line.
  State scan(std::string_view bytes);
  [[nodiscard]] std::size_t size() const { return size_; }
  void reset() { *this = {}; }

 private:
  std::size_t scanned_ = 0;     // bytes already looked at
  std::size_t line_start_ = 0;  // where the line in progress begins
  std::size_t size_ = 0;
};

// Framing that two parsers could read in two ways (RFC 9112 sections 5.2, 6.1, 6.3 and 11.2):
// folded lines, bare CR, Content-Length with Transfer-Encoding or repeated, codings besides
// chunked, repeated Host. `head` ends with its empty line.
std::optional<Refusal> check_head(std::string_view head);

std::string_view reason_phrase(int status);

enum class Persistence : std::uint8_t { kClose, kKeepAlive, kKeepAlive10 };

// Replaces `out` by status line and fields for `response`; `date` is an IMF-fixdate. False when a
// field of the response holds a control character or the status is out of range.
[[nodiscard]] bool write_response_head(const Response& response, Persistence persistence,
                                       std::string_view date, std::string& out);

}  // namespace rankward::net
