// The bytes of JSON strings, for the reader and the writer alike.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace rankward::formats {

// Length of the leading run of printable ASCII that stands in a JSON string as itself: no quote, no
// backslash, no control character, nothing above 0x7E.
inline std::size_t plain_prefix(std::string_view text) {
  std::size_t i = 0;
  if constexpr (std::endian::native == std::endian::little) {
    constexpr std::uint64_t kOnes = 0x0101010101010101U;
    constexpr std::uint64_t kHighs = 0x8080808080808080U;
    // Marks zero bytes; a byte above a marked one may be marked wrongly, the lowest mark never is.
    const auto zero_bytes = [](std::uint64_t word) { return (word - kOnes) & ~word & kHighs; };
    for (; i + 8 <= text.size(); i += 8) {
      std::uint64_t word = 0;
      std::memcpy(&word, text.data() + i, 8);
      const std::uint64_t control = (word - kOnes * 0x20) & ~word & kHighs;
      const std::uint64_t marks = (word & kHighs) | control | zero_bytes(word ^ (kOnes * '"')) |
                                  zero_bytes(word ^ (kOnes * '\\')) |
                                  zero_bytes(word ^ (kOnes * 0x7F));
      if (marks != 0) return i + static_cast<std::size_t>(std::countr_zero(marks)) / 8;
    }
  }
  while (i < text.size()) {
    const auto c = static_cast<unsigned char>(text[i]);
    if (c < 0x20 || c >= 0x7F || c == '"' || c == '\\') break;
    ++i;
  }
  return i;
}

// Length of the well-formed UTF-8 sequence at the start of `text`, 0 where there is none (Unicode
// 15, table 3-7).
std::size_t utf8_sequence(std::string_view text);

// What stands in for bytes that are not UTF-8: U+FFFD.
inline constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

}  // namespace rankward::formats
