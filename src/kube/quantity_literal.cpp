#include "quantity_literal.hpp"

#include <array>
#include <charconv>
#include <cstddef>

namespace rankward::kube {
namespace {

struct NamedSuffix {
  std::string_view name;
  std::int32_t exponent;
};

constexpr std::array<NamedSuffix, 10> kDecimalSuffixes = {{{"n", -9},
                                                           {"u", -6},
                                                           {"m", -3},
                                                           {"", 0},
                                                           {"k", 3},
                                                           {"M", 6},
                                                           {"G", 9},
                                                           {"T", 12},
                                                           {"P", 15},
                                                           {"E", 18}}};
constexpr std::array<NamedSuffix, 6> kBinarySuffixes = {
    {{"Ki", 10}, {"Mi", 20}, {"Gi", 30}, {"Ti", 40}, {"Pi", 50}, {"Ei", 60}}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

std::size_t skip_digits(std::string_view text, std::size_t at) {
  while (at < text.size() && is_digit(text[at]))
    ++at;
  return at;
}

// strconv.ParseInt: an optional sign and digits, within int64.
std::optional<std::int64_t> parse_int(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

template <class Suffixes>
std::string_view name_of(const Suffixes& suffixes, std::int32_t exponent) {
  for (const NamedSuffix& suffix : suffixes) {
    if (suffix.exponent == exponent) return suffix.name;
  }
  return {};
}

}  // namespace

std::optional<QuantityLiteral> split_quantity(std::string_view text) {
  if (text.empty()) return std::nullopt;
  QuantityLiteral out;
  std::size_t at = 0;
  if (text[0] == '+' || text[0] == '-') {
    out.negative = text[0] == '-';
    ++at;
  }
  const std::size_t first = at;
  while (at < text.size() && text[at] == '0')
    ++at;
  const std::size_t whole_end = skip_digits(text, at);
  out.whole = text.substr(at, whole_end - at);
  out.has_digit = whole_end > first;
  at = whole_end;
  if (at < text.size() && text[at] == '.') {
    const std::size_t fraction_end = skip_digits(text, at + 1);
    out.fraction = text.substr(at + 1, fraction_end - at - 1);
    out.has_digit = out.has_digit || !out.fraction.empty();
    at = fraction_end;
  }
  // A lone sign, like zeros alone, is zero in every reading.
  if (at == text.size() && out.whole.empty() && out.fraction.empty() && at == first) {
    out.has_digit = true;
  }
  out.suffix = text.substr(at);
  return out;
}

std::optional<QuantitySuffix> read_suffix(std::string_view suffix) {
  for (const auto& [name, exponent] : kDecimalSuffixes) {
    if (suffix == name) return QuantitySuffix{SuffixFamily::kDecimalSI, exponent};
  }
  for (const auto& [name, exponent] : kBinarySuffixes) {
    if (suffix == name) return QuantitySuffix{SuffixFamily::kBinarySI, exponent};
  }
  if (suffix.size() < 2 || (suffix[0] != 'e' && suffix[0] != 'E')) return std::nullopt;
  const auto exponent = parse_int(suffix.substr(1));
  if (!exponent) return std::nullopt;
  // Kubernetes narrows the exponent without a check: 1e4294967296 is 1.
  return QuantitySuffix{SuffixFamily::kDecimalExponent, static_cast<std::int32_t>(*exponent)};
}

std::string_view decimal_suffix(std::int32_t exponent) {
  return name_of(kDecimalSuffixes, exponent);
}
std::string_view binary_suffix(std::int32_t exponent) {
  return name_of(kBinarySuffixes, exponent);
}

}  // namespace rankward::kube
