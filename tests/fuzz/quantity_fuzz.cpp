// Quantity: never a crash or long work; what it prints reads back as the same amount, unless it is
// above the largest suffix; comparison is one order.
#include "fuzz_input.hpp"
#include "rankward/kube/quantity.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using rankward::fuzz::check;
  using rankward::kube::Quantity;
  const std::string_view text = rankward::fuzz::text_of(data, size);
  const auto amount = Quantity::parse(text.substr(0, size / 2));
  const auto other = Quantity::parse(text.substr(size / 2));
  if (!amount) return 0;
  const auto again = Quantity::parse(amount->to_string());
  check(again.has_value());
  check(amount->value_overflows() || *again == *amount);
  check(amount->sign() == 0 ? amount->is_zero() : !amount->is_zero());
  if (!other) return 0;
  check((*amount < *other) == (*other > *amount));
  Quantity sum = *amount;
  sum += *other;
  (void)sum.value();
  (void)sum.milli_value();
  return 0;
}
