// Words for messages: what a user wrote, made safe to print; names with `*` in them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rankward::admission {

inline constexpr std::size_t kPrintedLength = 64;

// `text` in double quotes, printable ASCII only: other bytes as \xNN, so that no two different
// values look alike and no control character reaches a terminal. Cut to `limit` bytes.
[[nodiscard]] std::string in_quotes(std::string_view text, std::size_t limit = kPrintedLength);

// `*` in the pattern stands for any characters, none too; everything else for itself.
[[nodiscard]] bool matches_glob(std::string_view pattern, std::string_view text);

// The same by segments between slashes: `*` does not stand for a slash.
[[nodiscard]] bool matches_segments(std::string_view pattern, std::string_view text);

}  // namespace rankward::admission
