#include "expressions_text.hpp"

#include <algorithm>

namespace rankward::admission::cel {

std::string literal(std::string_view text) {
  const bool plain =
      std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c != 0x7f; });
  const bool backslash = text.find('\\') != std::string_view::npos;
  if (plain && backslash && text.find('"') == std::string_view::npos) {
    return std::string("r\"").append(text).append("\"");
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') out += '\\';
    // Bytes of UTF-8 stand for themselves; \x in a string literal is a code point, not a byte.
    if (byte < 0x20 || byte == 0x7f) {
      out.append("\\x").append(1, kHex[byte >> 4]).append(1, kHex[byte & 0xf]);
    } else {
      out += c;
    }
  }
  return out + "\"";
}

std::string list(std::span<const std::string> texts) {
  std::string out = "[";
  for (const std::string& text : texts) {
    if (out.size() > 1) out += ", ";
    out += literal(text);
  }
  return out + "]";
}

std::string fill(std::string_view pattern,
                 std::initializer_list<std::pair<std::string_view, std::string_view>> values) {
  std::string out;
  while (!pattern.empty()) {
    const std::size_t begin = pattern.find('@');
    out += pattern.substr(0, begin);
    if (begin == std::string_view::npos) break;
    const std::size_t end = pattern.find('@', begin + 1);
    const std::string_view name = pattern.substr(begin + 1, end - begin - 1);
    const auto* const value = std::find_if(values.begin(), values.end(),
                                           [&](const auto& given) { return given.first == name; });
    // A name that nobody gave stays, and no CEL has an @.
    if (value == values.end()) {
      out.append("@").append(name).append("@");
    } else {
      out += value->second;
    }
    pattern.remove_prefix(end + 1);
  }
  return out;
}

std::string escaped(std::string_view text) {
  constexpr std::string_view kSpecial = R"(\^$.|?*+()[]{})";
  std::string out;
  for (const char c : text) {
    if (kSpecial.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string glob_pattern(std::string_view glob, std::string_view any) {
  std::string out;
  while (true) {
    const std::size_t star = glob.find('*');
    out += escaped(glob.substr(0, star));
    if (star == std::string_view::npos) return out;
    out += any;
    glob.remove_prefix(star + 1);
  }
}

std::string alternatives(std::span<const std::string> patterns) {
  std::string out;
  for (const std::string& pattern : patterns) {
    if (!out.empty()) out += '|';
    out += pattern;
  }
  return out;
}

std::string names_pattern(std::span<const std::string> globs) {
  std::vector<std::string> patterns;
  patterns.reserve(globs.size());
  for (const std::string& glob : globs)
    patterns.push_back(glob_pattern(glob, ".*"));
  return patterns.empty() ? std::string() : "^(" + alternatives(patterns) + ")$";
}

std::string matches(std::string_view text, std::string_view pattern) {
  if (pattern.empty()) return "false";
  return std::string(text) + ".matches(" + literal(pattern) + ")";
}

}  // namespace rankward::admission::cel
