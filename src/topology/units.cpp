#include "rankward/topology/units.hpp"

#include <cstdio>

namespace rankward::topology {

std::string to_string(Bytes bytes) {
  char text[64];
  const double count = static_cast<double>(bytes.count);
  std::snprintf(text, sizeof text, "%.2f GiB (%.2f GB)", count / static_cast<double>(kGibibyte),
                count / 1e9);
  return text;
}

}  // namespace rankward::topology
