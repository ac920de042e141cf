#include "rankward/formats/base64.hpp"

#include <cstdint>

namespace rankward::formats {
namespace {

constexpr std::string_view kAlphabet =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string base64_encode(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const auto here = bytes.substr(i, 3);
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < here.size() ? static_cast<unsigned char>(here[k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += k <= here.size() ? kAlphabet[group >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return out;
}

std::optional<std::string> base64_decode(std::string_view text) {
  std::string out;
  out.reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t digits = 0;   // in the current group of four, padding included
  std::size_t padding = 0;  // '=' seen, which only the last group may have
  for (const char c : text) {
    if (c == '\n' || c == '\r') continue;
    if (padding > 0 && digits == 0) return std::nullopt;
    if (c == '=') {
      if (digits < 2) return std::nullopt;
      ++padding;
      group <<= 6;
    } else {
      const auto value = kAlphabet.find(c);
      if (value == std::string_view::npos || padding > 0) return std::nullopt;
      group = group << 6 | static_cast<std::uint32_t>(value);
    }
    if (++digits < 4) continue;
    for (std::size_t k = 0; k < 3 - padding; ++k) {
      out += static_cast<char>(group >> (16 - 8 * k) & 255U);
    }
    group = 0;
    digits = 0;
  }
  if (digits != 0) return std::nullopt;
  return out;
}

}  // namespace rankward::formats
