#include "rankward/kube/quantity.hpp"

#include <algorithm>
#include <array>
#include <boost/multiprecision/cpp_int.hpp>
#include <charconv>
#include <limits>
#include <utility>

#include "quantity_literal.hpp"

namespace rankward::kube {
namespace {

using boost::multiprecision::cpp_int;
__extension__ typedef __int128 Int128;

constexpr std::int64_t kMaxInt64 = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMinInt64 = std::numeric_limits<std::int64_t>::min();
// The finest step that Kubernetes keeps, as a power of 10.
constexpr std::int64_t kNano = -9;
// Every number of so many digits fits int64.
constexpr std::int64_t kShortDigits = 18;
constexpr std::int64_t kMaxSumDigits = 16384;

constexpr std::array<std::int64_t, 19> kPowersOf10 = [] {
  std::array<std::int64_t, 19> out{1};
  for (std::size_t i = 1; i < out.size(); ++i)
    out[i] = out[i - 1] * 10;
  return out;
}();

// Up to 10^18.
Int128 power_of_10(std::int64_t exponent) {
  return kPowersOf10[static_cast<std::size_t>(exponent)];
}

cpp_int wide_power_of_10(std::int64_t exponent) {
  return boost::multiprecision::pow(cpp_int(10), static_cast<unsigned>(exponent));
}

std::int64_t decimal_length(std::int64_t digits) {
  std::int64_t length = 0;
  for (; digits != 0; digits /= 10)
    ++length;
  return length;
}

template <class Integer>
std::optional<std::int64_t> narrow(const Integer& value) {
  if (value < kMinInt64 || value > kMaxInt64) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

// The quotient, rounded away from zero.
template <class Integer>
Integer divide_up(const Integer& value, const Integer& divisor) {
  Integer quotient = value / divisor;
  if (quotient * divisor != value) quotient += value < 0 ? -1 : 1;
  return quotient;
}

// Go's int32, which wraps.
std::int32_t wrapped(std::int64_t value) {
  return static_cast<std::int32_t>(value);
}

}  // namespace

struct Quantity::Wide {
  cpp_int value;
  std::int64_t length = 0;  // decimal digits
};

Quantity::Quantity(std::int64_t value) : Quantity(of(value, 0, Format::kDecimalSI)) {}

Quantity Quantity::of(std::int64_t digits, std::int64_t exponent, Format format) {
  Quantity out;
  out.format_ = format;
  if (digits == 0) return out;
  for (; digits % 10 == 0; digits /= 10)
    ++exponent;
  out.digits_ = digits;
  out.exponent_ = exponent;
  return out;
}

Quantity Quantity::of(Wide digits, std::int64_t exponent, Format format) {
  const std::string text = digits.value.str();
  const std::size_t last = text.find_last_not_of('0');
  if (last == std::string::npos) return of(0, 0, format);
  const auto zeros = static_cast<std::int64_t>(text.size() - 1 - last);
  if (zeros > 0) digits.value /= wide_power_of_10(zeros);
  exponent += zeros;
  if (const auto narrowed = narrow(digits.value)) return of(*narrowed, exponent, format);
  digits.length = static_cast<std::int64_t>(last + 1) - (text.front() == '-' ? 1 : 0);
  Quantity out;
  out.format_ = format;
  out.exponent_ = exponent;
  out.wide_ = std::make_shared<const Wide>(std::move(digits));
  return out;
}

Quantity::Wide Quantity::wide_digits() const {
  return wide_ ? *wide_ : Wide{cpp_int(digits_), decimal_length(digits_)};
}

Result<Quantity> Quantity::parse(std::string_view text) {
  if (text.size() > kMaxQuantityLength) {
    return Error(ErrorKind::kTooLarge, "must be a quantity of at most " +
                                           std::to_string(kMaxQuantityLength) + " characters");
  }
  const auto refusal = [] {
    return Error::invalid(
        "must be a quantity: digits with an optional sign and point, then one of n u m k M G T P "
        "E, Ki Mi Gi Ti Pi Ei, or an exponent such as e3");
  };
  const auto literal = split_quantity(text);
  if (!literal) return refusal();
  const auto suffix = read_suffix(literal->suffix);
  if (!suffix) return refusal();

  // Kubernetes reads short numbers into an int64 and the rest into a big decimal. Which of the two
  // takes a literal can be seen: only the big decimal demands a digit, rounds and caps.
  const bool binary = suffix->family == SuffixFamily::kBinarySI;
  const auto fraction_length = static_cast<std::int64_t>(literal->fraction.size());
  const auto length =
      std::max<std::int64_t>(static_cast<std::int64_t>(literal->whole.size()), 1) + fraction_length;
  const std::int32_t short_exponent = binary ? 0 : wrapped(suffix->exponent - fraction_length);
  const bool is_short = binary ? fraction_length == 0 && length + suffix->exponent * 3 / 10 <= 14
                               : length <= kShortDigits && short_exponent >= kNano;
  if (!is_short && !literal->has_digit) return refusal();

  Format format = Format::kDecimalSI;
  if (binary) format = Format::kBinarySI;
  if (suffix->family == SuffixFamily::kDecimalExponent) format = Format::kDecimalExponent;
  std::string digits(literal->whole);
  digits += literal->fraction;
  digits.erase(0, digits.find_first_not_of('0'));
  if (digits.empty()) return of(0, 0, format);
  if (is_short) {
    std::int64_t value = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (binary) value <<= suffix->exponent;
    return of(literal->negative ? -value : value, short_exponent, format);
  }

  std::int64_t exponent = (binary ? 0 : std::int64_t{suffix->exponent}) - fraction_length;
  Wide wide;
  if (!binary && exponent + static_cast<std::int64_t>(digits.size()) <= kNano) {
    // At most one nano: no need to write out an exponent of any length.
    wide.value = 1;
    exponent = kNano;
  } else {
    wide.value = cpp_int(digits);
    if (binary) wide.value <<= suffix->exponent;
    if (exponent < kNano) {
      wide.value = divide_up(wide.value, wide_power_of_10(kNano - exponent));
      exponent = kNano;
    }
  }
  if (binary) {
    // Nothing but a fraction makes this exponent negative, and none makes it positive.
    const cpp_int unit = wide_power_of_10(-exponent);
    if (wide.value < unit) format = Format::kDecimalSI;
    wide.value = std::min<cpp_int>(wide.value, unit * kMaxInt64);
  }
  if (literal->negative) wide.value = -wide.value;
  return of(std::move(wide), exponent, format);
}

std::int64_t Quantity::order() const {
  return (wide_ ? wide_->length : decimal_length(digits_)) + exponent_;
}

std::optional<std::int64_t> Quantity::scaled(int shift) const {
  if (is_zero()) return 0;
  const std::int64_t size = order() + shift;
  if (size <= 0) return sign();
  if (size > 19) return std::nullopt;
  const std::int64_t exponent = exponent_ + shift;
  if (wide_) {
    // Its digits alone pass int64, so they only fit with a fraction.
    if (exponent >= 0) return std::nullopt;
    return narrow(divide_up(wide_->value, wide_power_of_10(-exponent)));
  }
  if (exponent >= 0) return narrow<Int128>(digits_ * power_of_10(exponent));
  return narrow(divide_up<Int128>(digits_, power_of_10(-exponent)));
}

std::int64_t Quantity::value() const {
  return scaled(0).value_or(sign() < 0 ? kMinInt64 : kMaxInt64);
}
std::int64_t Quantity::milli_value() const {
  return scaled(3).value_or(sign() < 0 ? kMinInt64 : kMaxInt64);
}
bool Quantity::value_overflows() const {
  return !scaled(0);
}
bool Quantity::milli_value_overflows() const {
  return !scaled(3);
}

bool Quantity::is_zero() const {
  return !wide_ && digits_ == 0;
}

int Quantity::sign() const {
  if (wide_) return wide_->value.sign();
  return digits_ > 0 ? 1 : digits_ < 0 ? -1 : 0;
}

std::string Quantity::decimal_form(Format format) const {
  std::string out = wide_ ? wide_->value.str() : std::to_string(digits_);
  // Down to a multiple of three.
  const std::int32_t zeros = (wrapped(exponent_) % 3 + 3) % 3;
  out.append(static_cast<std::size_t>(zeros), '0');
  const std::int32_t exponent = wrapped(exponent_ - zeros);
  if (format == Format::kDecimalSI) {
    out += decimal_suffix(exponent);
  } else if (exponent != 0) {
    out += "e" + std::to_string(exponent);
  }
  return out;
}

std::string Quantity::to_string() const {
  if (is_zero()) return "0";
  if (format_ != Format::kBinarySI) return decimal_form(format_);
  // Fractions and what is below 1Ki stay decimal, so that nothing is lost. So does a sum that no
  // binary suffix makes readable, where Kubernetes would print every digit.
  if (exponent_ < 0 || order() > kMaxSumDigits) return decimal_form(Format::kDecimalSI);
  cpp_int magnitude = abs(wide_digits().value) * wide_power_of_10(exponent_);
  if (magnitude < 1024) return decimal_form(Format::kDecimalSI);
  const auto steps = static_cast<std::int32_t>(boost::multiprecision::lsb(magnitude) / 10);
  magnitude >>= 10 * steps;
  return (sign() < 0 ? "-" : "") + magnitude.str() + std::string(binary_suffix(10 * steps));
}

std::strong_ordering operator<=>(const Quantity& a, const Quantity& b) {
  const int sign = a.sign();
  if (sign != b.sign()) return sign <=> b.sign();
  if (sign == 0) return std::strong_ordering::equal;
  if (const auto by_order = a.order() <=> b.order(); by_order != 0) {
    return sign > 0 ? by_order : 0 <=> by_order;
  }
  // Of one order, so the exponents differ by no more than the lengths do.
  const std::int64_t low = std::min(a.exponent_, b.exponent_);
  if (!a.wide_ && !b.wide_) {
    const Int128 left = a.digits_ * power_of_10(a.exponent_ - low);
    const Int128 right = b.digits_ * power_of_10(b.exponent_ - low);
    return left <=> right;
  }
  const cpp_int left = a.wide_digits().value * wide_power_of_10(a.exponent_ - low);
  const cpp_int right = b.wide_digits().value * wide_power_of_10(b.exponent_ - low);
  return left.compare(right) <=> 0;
}

Quantity& Quantity::operator+=(const Quantity& other) {
  if (is_zero()) return *this = other;
  if (other.is_zero()) return *this;
  const std::int64_t low = std::min(exponent_, other.exponent_);
  const std::int64_t high = std::max(exponent_, other.exponent_);
  if (!wide_ && !other.wide_ && high - low <= 18) {
    const Int128 sum =
        digits_ * power_of_10(exponent_ - low) + other.digits_ * power_of_10(other.exponent_ - low);
    if (const auto narrowed = narrow(sum)) return *this = of(*narrowed, low, format_);
  }
  if (std::max(order(), other.order()) - low > kMaxSumDigits) {
    const Format format = format_;
    if (order() < other.order()) *this = other;
    format_ = format;
    return *this;
  }
  Wide sum;
  sum.value = wide_digits().value * wide_power_of_10(exponent_ - low) +
              other.wide_digits().value * wide_power_of_10(other.exponent_ - low);
  return *this = of(std::move(sum), low, format_);
}

}  // namespace rankward::kube
