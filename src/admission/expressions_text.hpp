// Pieces of CEL.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rankward::admission::cel {

// A string literal that CEL reads as `text`; raw where that keeps it readable.
[[nodiscard]] std::string literal(std::string_view text);
// `["a", "b"]`.
[[nodiscard]] std::string list(std::span<const std::string> texts);

// `pattern` with each `@NAME@` replaced; names that are not given stay.
[[nodiscard]] std::string fill(
    std::string_view pattern,
    std::initializer_list<std::pair<std::string_view, std::string_view>> values);

// What stands for itself in a regular expression of RE2 or ECMAScript.
[[nodiscard]] std::string escaped(std::string_view text);
// A glob as a regular expression: `*` becomes `any`, ".*" or "[^/]*".
[[nodiscard]] std::string glob_pattern(std::string_view glob, std::string_view any);
// `a|b|c`.
[[nodiscard]] std::string alternatives(std::span<const std::string> patterns);
// `^(a|b)$` of globs over whole names.
[[nodiscard]] std::string names_pattern(std::span<const std::string> globs);

// `TEXT.matches(PATTERN)`, or false where no pattern could match.
[[nodiscard]] std::string matches(std::string_view text, std::string_view pattern);

}  // namespace rankward::admission::cel
