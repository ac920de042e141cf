// Percent-encoding of RFC 3986, section 2.1.
#pragma once

#include <string>
#include <string_view>

namespace rankward::net {

// Letters, digits and "-._~": what stands for itself in every part of a URI.
[[nodiscard]] constexpr bool is_unreserved(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
         c == '.' || c == '_' || c == '~';
}

// Each byte as %XX but those of which `is_plain(char)` holds.
template <class IsPlain>
[[nodiscard]] std::string percent_encoded(std::string_view text, IsPlain is_plain) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string out;
  for (const char c : text) {
    if (is_plain(c)) {
      out += c;
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    out += '%';
    out += kHex[byte >> 4];
    out += kHex[byte & 15];
  }
  return out;
}

[[nodiscard]] inline std::string percent_encoded(std::string_view text) {
  return percent_encoded(text, is_unreserved);
}

}  // namespace rankward::net
