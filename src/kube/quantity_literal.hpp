// The spelling of a quantity, taken apart the way Kubernetes does it.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace rankward::kube {

struct QuantityLiteral {
  bool negative = false;
  // Some digit was written, be it a zero.
  bool has_digit = false;
  std::string_view whole;     // digits before the point, without leading zeros
  std::string_view fraction;  // digits after the point
  std::string_view suffix;    // not checked
};

enum class SuffixFamily : std::uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };

struct QuantitySuffix {
  SuffixFamily family = SuffixFamily::kDecimalSI;
  std::int32_t exponent = 0;  // of 2 for kBinarySI, else of 10
};

// Nothing where no reading of the suffix could make sense of the text.
[[nodiscard]] std::optional<QuantityLiteral> split_quantity(std::string_view text);

[[nodiscard]] std::optional<QuantitySuffix> read_suffix(std::string_view suffix);

// "" for exponents without a name. Of 10 and of 2.
[[nodiscard]] std::string_view decimal_suffix(std::int32_t exponent);
[[nodiscard]] std::string_view binary_suffix(std::int32_t exponent);

}  // namespace rankward::kube
