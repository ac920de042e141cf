#include "http_head.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace rankward::net {
namespace {

constexpr std::size_t kMaxFields = 128;

bool has_control_character(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t'))
    text.remove_suffix(1);
  return text;
}

bool bodiless(int status) {
  return status == 204 || status == 304;
}

void append_number(std::string& out, std::uint64_t value) {
  std::array<char, 20> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  out.append(digits.data(), end);
}

void append_field(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

HeadScanner::State HeadScanner::scan(std::string_view bytes) {
  for (;;) {
    const std::size_t feed = bytes.find('\n', scanned_);
    if (feed == std::string_view::npos) {
      scanned_ = bytes.size();
      return State::kNeedMore;
    }
    if (feed == 0 || bytes[feed - 1] != '\r') return State::kBareLineFeed;
    const bool empty_line = feed - 1 == line_start_;
    scanned_ = line_start_ = feed + 1;
    if (empty_line) {
      size_ = feed + 1;
      return State::kComplete;
    }
  }
}

std::optional<Refusal> check_head(std::string_view head) {
  std::size_t lines = 0;
  std::size_t hosts = 0;
  std::size_t lengths = 0;
  std::size_t codings = 0;
  while (head != "\r\n") {
    const std::size_t end = head.find("\r\n");
    const std::string_view line = head.substr(0, end);
    head.remove_prefix(end + 2);
    if (line.find('\r') != std::string_view::npos) return Refusal{400, "bare CR in the head"};
    if (line.empty()) return Refusal{400, "empty line before the request line"};
    if (lines++ == 0) continue;
    if (lines > kMaxFields + 1) return Refusal{431, "more than 128 header fields"};
    if (line.front() == ' ' || line.front() == '\t') return Refusal{400, "folded header line"};
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) return Refusal{400, "header line without a colon"};
    const std::string_view name = line.substr(0, colon);
    if (equal_ignoring_case(name, "host") && ++hosts > 1) return Refusal{400, "repeated Host"};
    if (equal_ignoring_case(name, "content-length")) {
      if (++lengths > 1) return Refusal{400, "repeated Content-Length"};
      const std::string_view value = trim(line.substr(colon + 1));
      if (value.empty() || value.find_first_not_of("0123456789") != std::string_view::npos) {
        return Refusal{400, "Content-Length must be one decimal number"};
      }
    }
    if (equal_ignoring_case(name, "transfer-encoding")) {
      if (++codings > 1) return Refusal{400, "repeated Transfer-Encoding"};
      if (!equal_ignoring_case(trim(line.substr(colon + 1)), "chunked")) {
        return Refusal{501, "Transfer-Encoding must be chunked"};
      }
    }
  }
  if (lines == 0) return Refusal{400, "empty line before the request line"};
  if (lengths > 0 && codings > 0) {
    return Refusal{400, "Content-Length together with Transfer-Encoding"};
  }
  return std::nullopt;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 204:
      return "No Content";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 413:
      return "Content Too Large";
    case 415:
      return "Unsupported Media Type";
    case 417:
      return "Expectation Failed";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "Status";
  }
}

bool write_response_head(const Response& response, Persistence persistence, std::string_view date,
                         std::string& out) {
  if (response.status < 200 || response.status > 599) return false;
  if (has_control_character(response.content_type)) return false;
  out.assign("HTTP/1.1 ");
  append_number(out, static_cast<std::uint64_t>(response.status));
  out.append(" ").append(reason_phrase(response.status)).append("\r\n");
  append_field(out, "Date", date);
  if (!bodiless(response.status)) {
    if (!response.content_type.empty()) append_field(out, "Content-Type", response.content_type);
    out.append("Content-Length: ");
    append_number(out, response.body.size());
    out.append("\r\n");
  }
  if (response.retry_after) {
    out.append("Retry-After: ");
    append_number(
        out, static_cast<std::uint64_t>(std::max<std::int64_t>(0, response.retry_after->count())));
    out.append("\r\n");
  }
  for (const auto& [name, value] : response.headers) {
    if (name.empty() || has_control_character(name) || has_control_character(value) ||
        name.find_first_of(" :") != std::string::npos) {
      return false;
    }
    append_field(out, name, value);
  }
  if (persistence == Persistence::kClose) append_field(out, "Connection", "close");
  if (persistence == Persistence::kKeepAlive10) append_field(out, "Connection", "keep-alive");
  out.append("\r\n");
  return true;
}

}  // namespace rankward::net
