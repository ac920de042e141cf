// Kubernetes' resource.Quantity, as the API server reads, compares and prints it.
// Source: k8s.io/apimachinery/pkg/api/resource (quantity.go, suffix.go, amount.go), 0.37.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "rankward/result.hpp"

namespace rankward::kube {

// Kubernetes sets no limit; this one bounds the work that one literal can ask for.
inline constexpr std::size_t kMaxQuantityLength = 4096;  // bytes

// An exact decimal number with the suffix family in which it was written. A plain value: copy it.
// Copying allocates nothing; only numbers whose significant digits exceed int64 hold memory of
// their own, which copies share.
class Quantity {
 public:
  // Zero.
  Quantity() = default;
  explicit Quantity(std::int64_t value);

  // Accepts [+-] digits[.digits] and a suffix of n u m "" k M G T P E, Ki Mi Gi Ti Pi Ei, or e/E
  // with a signed exponent. Rounds away from zero to nano, caps binary values at 2^63-1, as
  // Kubernetes does. Its oddities are kept, since the API server accepts what it accepts: no digits
  // at all is zero ("+", ".", "Ki"), and an exponent counts modulo 2^32. Blanks around the literal
  // are the reader's business. kInvalid on anything else, kTooLarge over kMaxQuantityLength; an
  // exponent of any size is read without work proportional to it.
  static Result<Quantity> parse(std::string_view text);

  // The value in whole units, rounded away from zero. Outside int64: the nearest bound.
  // (Go's Value() documents the same, but returns something else for some negative numbers.)
  [[nodiscard]] std::int64_t value() const;
  // The value in thousandths, rounded away from zero. Outside int64: the nearest bound.
  [[nodiscard]] std::int64_t milli_value() const;
  // Whether value() or milli_value() had to be cut to a bound.
  [[nodiscard]] bool value_overflows() const;
  [[nodiscard]] bool milli_value_overflows() const;

  [[nodiscard]] bool is_zero() const;
  // -1, 0 or 1.
  [[nodiscard]] int sign() const;
  // Kubernetes' canonical form: no fraction, largest suffix that keeps precision ("1500m", "2Gi").
  // Like Kubernetes' own it has no suffix above E: 1000E prints as "1". (The API server echoes some
  // literals instead of printing the form: "5." and "+8" stay as written.)
  [[nodiscard]] std::string to_string() const;

  friend std::strong_ordering operator<=>(const Quantity& a, const Quantity& b);
  friend bool operator==(const Quantity& a, const Quantity& b) { return (a <=> b) == 0; }
  // Exact where the sum has at most 16,384 digits; beyond that the larger operand stands for it.
  // Zero takes the other's suffix family.
  Quantity& operator+=(const Quantity& other);

 private:
  enum class Format : std::uint8_t { kDecimalSI, kBinarySI, kDecimalExponent };
  struct Wide;

  static Quantity of(std::int64_t digits, std::int64_t exponent, Format format);
  static Quantity of(Wide digits, std::int64_t exponent, Format format);
  [[nodiscard]] Wide wide_digits() const;
  // |value| < 10^order() and, unless it is zero, |value| >= 10^(order() - 1).
  [[nodiscard]] std::int64_t order() const;
  // The value times 10^shift, rounded away from zero; nothing outside int64.
  [[nodiscard]] std::optional<std::int64_t> scaled(int shift) const;
  [[nodiscard]] std::string decimal_form(Format format) const;

  // value = digits * 10^exponent_, where digits are *wide_ if set, else digits_. The digits have no
  // trailing zeros unless they are 0.
  std::int64_t digits_ = 0;
  std::int64_t exponent_ = 0;
  std::shared_ptr<const Wide> wide_;
  Format format_ = Format::kDecimalSI;
};

}  // namespace rankward::kube
