// Reads one quantity a line and says what Rankward makes of it, for comparison with Kubernetes'
// own code: `error`, or the canonical form, value(), milli_value() ("overflow" outside int64) and
// the order towards the previous valid line, separated by tabs. With --sum, a fifth column holds
// the canonical form of this quantity added to the previous one.
#include <iostream>
#include <string>
#include <string_view>

#include "rankward/kube/quantity.hpp"

int main(int argc, char** argv) {
  using rankward::kube::Quantity;
  const bool with_sum = argc > 1 && std::string_view(argv[1]) == "--sum";
  std::ios::sync_with_stdio(false);
  Quantity previous;
  bool first = true;
  for (std::string line; std::getline(std::cin, line);) {
    const auto quantity = Quantity::parse(line);
    if (!quantity) {
      std::cout << "error\n";
      continue;
    }
    const auto order = first ? std::strong_ordering::equal : *quantity <=> previous;
    std::cout << quantity->to_string() << '\t'
              << (quantity->value_overflows() ? "overflow" : std::to_string(quantity->value()))
              << '\t'
              << (quantity->milli_value_overflows() ? "overflow"
                                                    : std::to_string(quantity->milli_value()))
              << '\t'
              << (order < 0   ? -1
                  : order > 0 ? 1
                              : 0);
    if (with_sum) {
      Quantity sum = *quantity;
      sum += previous;
      std::cout << '\t' << sum.to_string();
    }
    std::cout << '\n';
    previous = *quantity;
    first = false;
  }
  return 0;
}
