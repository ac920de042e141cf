#include "rankward/topology/units.hpp"

#include <gtest/gtest.h>

namespace rankward::topology {
namespace {

TEST(Bytes, ShowBinaryAndDecimalSizes) {
  const struct {
    std::int64_t mebibytes;
    const char* text;
  } cases[] = {
      {9984, "9.75 GiB (10.47 GB)"},    // 1g.10gb of an H100
      {16384, "16.00 GiB (17.18 GB)"},  // 1g.18gb of an H200
      {81559, "79.65 GiB (85.52 GB)"},
      {0, "0.00 GiB (0.00 GB)"},
  };
  for (const auto& c : cases)
    EXPECT_EQ(to_string(Bytes{c.mebibytes * kMebibyte}), c.text);
}

TEST(Bytes, CompareByCount) {
  EXPECT_LT(Bytes{10'000'000'000}, Bytes{10 * kGibibyte});
  EXPECT_EQ(Bytes{1024 * kMebibyte}, Bytes{kGibibyte});
}

}  // namespace
}  // namespace rankward::topology
