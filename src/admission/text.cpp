#include "text.hpp"

namespace rankward::admission {

std::string in_quotes(std::string_view text, std::size_t limit) {
  constexpr std::string_view kHex = "0123456789abcdef";
  const std::string_view kept = text.substr(0, limit);
  std::string out = "\"";
  for (const char c : kept) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte > 0x7e) {
      out += "\\x";
      out += kHex[byte >> 4];
      out += kHex[byte & 0xf];
    } else {
      out += c;
    }
  }
  if (kept.size() < text.size()) out += "...";
  out += '"';
  return out;
}

bool matches_glob(std::string_view pattern, std::string_view text) {
  std::size_t p = 0;
  std::size_t t = 0;
  std::size_t star = std::string_view::npos;
  std::size_t resume = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      resume = t;
    } else if (p < pattern.size() && pattern[p] == text[t]) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++resume;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*')
    ++p;
  return p == pattern.size();
}

bool matches_segments(std::string_view pattern, std::string_view text) {
  while (true) {
    const std::size_t end = pattern.find('/');
    const std::size_t text_end = text.find('/');
    if (!matches_glob(pattern.substr(0, end), text.substr(0, text_end))) return false;
    const bool last = end == std::string_view::npos;
    if (last != (text_end == std::string_view::npos)) return false;
    if (last) return true;
    pattern.remove_prefix(end + 1);
    text.remove_prefix(text_end + 1);
  }
}

}  // namespace rankward::admission
