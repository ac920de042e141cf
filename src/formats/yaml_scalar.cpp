// The rules of go-yaml v2's resolve.go, which is YAML 1.1 without base 60.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "document_tree.hpp"

namespace rankward::formats {
namespace {

using Kind = PlainScalar::Kind;

struct Word {
  std::string_view lower;
  Kind kind;
  std::string_view json;
};

constexpr Word kWords[] = {
    {"y", Kind::kBoolean, "true"},      {"yes", Kind::kBoolean, "true"},
    {"true", Kind::kBoolean, "true"},   {"on", Kind::kBoolean, "true"},
    {"n", Kind::kBoolean, "false"},     {"no", Kind::kBoolean, "false"},
    {"false", Kind::kBoolean, "false"}, {"off", Kind::kBoolean, "false"},
    {"null", Kind::kNull, "null"},      {"~", Kind::kNull, "null"},
    {"", Kind::kNull, "null"},          {".inf", Kind::kNotANumber, ""},
    {"+.inf", Kind::kNotANumber, ""},   {"-.inf", Kind::kNotANumber, ""},
};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_upper(char c) {
  return c >= 'A' && c <= 'Z';
}
char lower(char c) {
  return is_upper(c) ? static_cast<char>(c - 'A' + 'a') : c;
}

// Words count in three spellings: yes, Yes, YES.
bool spelt_as_a_word(std::string_view text) {
  const std::size_t letters = std::min(text.find_first_not_of("+-."), text.size());
  const std::string_view word = text.substr(letters);
  if (word.empty()) return true;
  const std::string_view rest = word.substr(1);
  if (std::none_of(rest.begin(), rest.end(), is_upper)) return true;
  return is_upper(word.front()) && std::none_of(rest.begin(), rest.end(), is_lower);
}

const Word* find_word(std::string_view text) {
  if (!spelt_as_a_word(text)) return nullptr;
  for (const Word& word : kWords) {
    if (std::equal(text.begin(), text.end(), word.lower.begin(), word.lower.end(),
                   [](char a, char b) { return lower(a) == b; })) {
      return &word;
    }
  }
  return nullptr;
}

// strconv.ParseInt(text, 0, 64), then ParseUint: 0x, 0o, 0b, and 0 before octal digits. More than
// 64 bits stay as they are, if they are decimal.
std::optional<std::string> integer(std::string_view text) {
  std::string_view digits = text;
  bool negative = false;
  if (!digits.empty() && (digits.front() == '+' || digits.front() == '-')) {
    negative = digits.front() == '-';
    digits.remove_prefix(1);
  }
  int base = 10;
  if (digits.size() > 1 && digits.front() == '0') {
    const char mark = lower(digits[1]);
    base = mark == 'x' ? 16 : mark == 'b' ? 2 : 8;
    digits.remove_prefix(mark == 'x' || mark == 'b' || mark == 'o' ? 2 : 1);
  }
  if (digits.empty() || digits.front() == '-') return {};
  std::uint64_t value = 0;
  const auto [last, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (last != digits.data() + digits.size()) return {};
  constexpr std::uint64_t kMinMagnitude = std::uint64_t{1} << 63U;
  if (error == std::errc::result_out_of_range || (negative && value > kMinMagnitude)) {
    if (base != 10) return {};
    return (negative ? "-" : "") + std::string(digits);
  }
  if (error != std::errc()) return {};
  return (negative && value != 0 ? "-" : "") + std::to_string(value);
}

// [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)?
bool has_the_form_of_a_float(std::string_view text) {
  std::size_t i = 0;
  const auto digits = [&] {
    const std::size_t from = i;
    while (i < text.size() && is_digit(text[i]))
      ++i;
    return i - from;
  };
  const auto take = [&](std::string_view any) {
    if (i >= text.size() || any.find(text[i]) == std::string_view::npos) return false;
    ++i;
    return true;
  };
  take("+-");
  const std::size_t whole = digits();
  if (take(".")) {
    if (digits() == 0 && whole == 0) return false;
  } else if (whole == 0) {
    return false;
  }
  if (take("eE")) {
    take("+-");
    if (digits() == 0) return false;
  }
  return i == text.size();
}

std::optional<std::string> floating(std::string_view text) {
  if (!has_the_form_of_a_float(text)) return {};
  if (text.front() == '+') text.remove_prefix(1);
  double value = 0;
  const auto [last, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (last != text.data() + text.size()) return {};
  if (error != std::errc()) {
    // Too small is 0 to Go, too large is no number.
    if (text.find_first_of("eE") == std::string_view::npos ||
        text[text.find_first_of("eE") + 1] != '-') {
      return {};
    }
    value = 0;
  }
  char buffer[32];
  const auto [end, written] = std::to_chars(buffer, buffer + sizeof buffer, value);
  if (written != std::errc()) return {};
  return std::string(buffer, end);
}

}  // namespace

PlainScalar resolve_plain_scalar(std::string_view text) {
  if (const Word* word = find_word(text)) return {word->kind, std::string(word->json)};
  if (text == ".nan" || text == ".NaN" || text == ".NAN") return {Kind::kNotANumber, {}};
  const char first = text.front();
  if (!is_digit(first) && first != '+' && first != '-' && first != '.') return {};
  std::string plain(text);
  if (first != '.') std::erase(plain, '_');
  if (auto number = integer(plain)) return {Kind::kNumber, *std::move(number)};
  if (auto number = floating(plain)) return {Kind::kNumber, *std::move(number)};
  return {};
}

}  // namespace rankward::formats
