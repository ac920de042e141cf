// Kubernetes' resource.Quantity, as the API server reads, compares and prints it.
// Source: k8s.io/apimachinery/pkg/api/resource (quantity.go, suffix.go, amount.go).
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rankward/result.hpp"

namespace rankward::kube {

// An exact decimal number with the suffix family in which it was written. A plain value: copy it.
class Quantity {
 public:
  // Zero.
  Quantity() = default;
  explicit Quantity(std::int64_t value);

  // Accepts [+-] digits[.digits] and a suffix of n u m "" k M G T P E, Ki Mi Gi Ti Pi Ei, or e/E
  // with a signed exponent. Rounds up to nano, caps binary values at 2^63-1, as Kubernetes does.
  // kInvalid on anything else; an exponent of any length is read without work proportional to it.
  static Result<Quantity> parse(std::string_view text);

  // The value in whole units, rounded up. Outside int64: the nearest bound.
  [[nodiscard]] std::int64_t value() const;
  // The value in thousandths, rounded up. Outside int64: the nearest bound.
  [[nodiscard]] std::int64_t milli_value() const;
  // Whether value() or milli_value() had to be cut to a bound.
  [[nodiscard]] bool value_overflows() const;
  [[nodiscard]] bool milli_value_overflows() const;

  [[nodiscard]] bool is_zero() const;
  // -1, 0 or 1.
  [[nodiscard]] int sign() const;
  // Kubernetes' canonical form: no fraction, largest suffix that keeps precision ("1500m", "2Gi").
  [[nodiscard]] std::string to_string() const;

  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b);
  friend bool operator==(const Quantity& a, const Quantity& b) { return (a <=> b) == 0; }
  // Exact where both fit 128 bits of nano units, else the nearest bound.
  Quantity& operator+=(const Quantity& other);

 private:
  enum class Format : std::uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };
  // value = digits_ * 10^exponent_; digits_ has no trailing zeros unless it is 0.
  __extension__ typedef __int128 Digits;
  Digits digits_ = 0;
  std::int64_t exponent_ = 0;
  Format format_ = Format::kDecimalSI;
};

}  // namespace rankward::kube
