// The topology annotation: never a crash; what is read can be printed, and what is printed reads
// the same.
#include "fuzz_input.hpp"
#include "rankward/formats/topology_annotation.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace formats = rankward::formats;
  using rankward::fuzz::check;
  const auto topology = formats::read_topology(rankward::fuzz::text_of(data, size));
  if (!topology) return 0;
  const auto printed = formats::print_topology(*topology);
  if (!printed) return 0;
  const auto again = formats::read_topology(*printed);
  check(again.has_value());
  const auto printed_again = formats::print_topology(*again);
  check(printed_again.has_value() && *printed_again == *printed);
  return 0;
}
