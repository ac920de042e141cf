#include "server_url.hpp"

#include <charconv>
#include <utility>

namespace rankward::cluster {
namespace {

Error malformed() {
  return Error::invalid(
      "must be a URL such as https://10.0.0.1:6443, without user, query or "
      "fragment");
}

bool starts_with_ignoring_case(std::string_view text, std::string_view lower) {
  if (text.size() < lower.size()) return false;
  for (std::size_t i = 0; i < lower.size(); ++i) {
    const char c = text[i];
    if ((c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c) != lower[i]) return false;
  }
  return true;
}

}  // namespace

Result<void> parse_server_url(std::string_view url, ApiServer& server) {
  server.tls = false;
  if (starts_with_ignoring_case(url, "https://")) {
    server.tls = true;
    url.remove_prefix(8);
  } else if (starts_with_ignoring_case(url, "http://")) {
    url.remove_prefix(7);
  } else if (url.find("://") != std::string_view::npos) {
    return malformed();
  }
  for (const char c : url) {
    if (c <= ' ' || c == '?' || c == '#' || c == '@' || c == '\\' || c == 0x7f) return malformed();
  }
  const auto slash = url.find('/');
  auto authority = url.substr(0, slash);
  auto path = slash == std::string_view::npos ? std::string_view() : url.substr(slash);
  while (!path.empty() && path.back() == '/')
    path.remove_suffix(1);
  server.base_path = path;

  std::string_view port;
  bool has_port = false;
  if (authority.starts_with('[')) {
    const auto end = authority.find(']');
    if (end == std::string_view::npos) return malformed();
    server.host = authority.substr(1, end - 1);
    authority.remove_prefix(end + 1);
    if (!authority.empty() && authority.front() != ':') return malformed();
    has_port = !authority.empty();
    if (has_port) port = authority.substr(1);
  } else {
    const auto colon = authority.find(':');
    server.host = authority.substr(0, colon);
    has_port = colon != std::string_view::npos;
    if (has_port) port = authority.substr(colon + 1);
  }
  if (server.host.empty()) return malformed();
  server.port = server.tls ? 443 : 80;
  if (!has_port) return {};
  const auto [end, failure] = std::from_chars(port.data(), port.data() + port.size(), server.port);
  if (failure != std::errc() || end != port.data() + port.size() || server.port == 0) {
    return Error::invalid("must have a port between 1 and 65535");
  }
  return {};
}

std::string server_url(const ApiServer& server) {
  const bool brackets = server.host.find(':') != std::string::npos;
  return std::string(server.tls ? "https://" : "http://") + (brackets ? "[" : "") + server.host +
         (brackets ? "]" : "") + ":" + std::to_string(server.port) + server.base_path;
}

}  // namespace rankward::cluster
