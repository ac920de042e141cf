// Golden values: k8s.io/apimachinery v0.37.2 (ParseQuantity, CanonicalizeBytes, Value, MilliValue)
// and verdicts of kube-apiserver 1.37.2. The comparison of millions of generated spellings is
// tests/controlplane's, by way of quantity_probe.
#include "rankward/kube/quantity.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace rankward::kube {
namespace {

constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();

Quantity quantity(std::string_view text) {
  const auto parsed = Quantity::parse(text);
  EXPECT_TRUE(parsed) << text;
  return parsed ? *parsed : Quantity();
}

struct Spelling {
  std::string text;
  std::string canonical;
  std::int64_t value;
  std::int64_t milli;
};

class ReadableQuantity : public testing::TestWithParam<Spelling> {};

TEST_P(ReadableQuantity, PrintsAndCountsAsInKubernetes) {
  const Spelling& want = GetParam();
  const Quantity got = quantity(want.text);
  EXPECT_EQ(got.to_string(), want.canonical) << want.text;
  EXPECT_EQ(got.value(), want.value) << want.text;
  EXPECT_EQ(got.milli_value(), want.milli) << want.text;
  EXPECT_EQ(quantity(got.to_string()), got) << want.text;
}

INSTANTIATE_TEST_SUITE_P(
    Spellings, ReadableQuantity,
    testing::Values(
        Spelling{"8", "8", 8, 8000}, Spelling{"8.0", "8", 8, 8000}, Spelling{"5.", "5", 5, 5000},
        Spelling{"+8", "8", 8, 8000}, Spelling{"8000m", "8", 8, 8000},
        Spelling{"8k", "8k", 8000, 8000000}, Spelling{"1e1", "10", 10, 10000},
        Spelling{"1e3", "1e3", 1000, 1000000}, Spelling{"1E3", "1e3", 1000, 1000000},
        Spelling{"1e0", "1", 1, 1000}, Spelling{"10e-1", "1", 1, 1000},
        Spelling{"1000", "1k", 1000, 1000000}, Spelling{"1500", "1500", 1500, 1500000},
        Spelling{".5", "500m", 1, 500}, Spelling{"1500m", "1500m", 2, 1500},
        Spelling{"0.9999", "999900u", 1, 1000}, Spelling{"999999999n", "999999999n", 1, 1000},
        Spelling{"1u", "1u", 1, 1}, Spelling{"0.1n", "1n", 1, 1},
        Spelling{"1.0000000001", "1000000001n", 2, 1001}, Spelling{"-1500m", "-1500m", -2, -1500},
        Spelling{"-0.0000000001", "-1n", -1, -1}, Spelling{"0.5Ki", "512", 512, 512000},
        Spelling{"2Ki", "2Ki", 2048, 2048000}, Spelling{"1.1Ki", "1126400m", 1127, 1126400},
        Spelling{"1024Ki", "1Mi", 1048576, 1048576000},
        Spelling{"1023Ki", "1023Ki", 1047552, 1047552000}, Spelling{"0.0001Ki", "102400u", 1, 103},
        Spelling{"1Pi", "1Pi", 1125899906842624, 1125899906842624000},
        Spelling{"1.123456789Gi", "1206302541806043136n", 1206302542, 1206302541807},
        Spelling{"1e-1000000", "1e-9", 1, 1}));

TEST(Quantity, NoDigitsOrOnlyZerosAreZero) {
  for (const char* text : {"0", "-0", "00", "+", "-", ".", "+.", "k", "m", "Ki", "Ti", ".Ki", "e3",
                           "0e99", "0.000", "0Ei", "0e2147483647"}) {
    EXPECT_TRUE(quantity(text).is_zero()) << text;
    EXPECT_EQ(quantity(text).to_string(), "0") << text;
    EXPECT_EQ(quantity(text).sign(), 0) << text;
  }
}

TEST(Quantity, RefusesWhatKubernetesRefuses) {
  const std::vector<std::string> refused = {
      "", "K", "mi", "ki", "i", "1e", "1e+", "1ee3", "1e3.5", "1e--3", "1e+-3", "0x8", "8_0", "1,5",
      "1 Gi", " 1", "1 ", "1.2.3", "..1", "--1", "+-1", "1-", "1GiB", "1B", "NaN", "1m1", "1kk",
      "1Zi", "\xd9\xa3", "\xff", "1e9223372036854775808",
      // Too small or too large a step for the short form, and the long one wants a digit.
      "Pi", "Ei", ".Ei", "e-10", ".e-10", std::string("1\0", 2)};
  for (const std::string& text : refused) {
    const auto parsed = Quantity::parse(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind(), ErrorKind::kInvalid) << text;
    EXPECT_NE(parsed.error().message().find("must be a quantity"), std::string::npos);
  }
}

TEST(Quantity, TakesLiteralsUpToItsLimitOnly) {
  const std::string longest(kMaxQuantityLength, '9');
  EXPECT_EQ(quantity(longest).to_string(), longest);
  const auto parsed = Quantity::parse(longest + "9");
  ASSERT_FALSE(parsed);
  EXPECT_EQ(parsed.error().kind(), ErrorKind::kTooLarge);
}

TEST(Quantity, OverflowIsToldAndCutToTheNearestBound) {
  for (const char* text : {"9223372036854775808", "1e1000000", "10E", "99999999999999999999.5"}) {
    EXPECT_TRUE(quantity(text).value_overflows()) << text;
    EXPECT_EQ(quantity(text).value(), kMax) << text;
    EXPECT_EQ(quantity("-" + std::string(text)).value(), kMin) << text;
  }
  EXPECT_FALSE(quantity("9223372036854775807").value_overflows());
  EXPECT_TRUE(quantity("9223372036854775807").milli_value_overflows());
  EXPECT_FALSE(quantity("9223372036854775.807").milli_value_overflows());
  EXPECT_EQ(quantity("9223372036854775.807").milli_value(), kMax);
  EXPECT_TRUE(quantity("9223372036854775.808").milli_value_overflows());
  EXPECT_FALSE(quantity("-9223372036854775808").value_overflows());
  EXPECT_EQ(Quantity(kMin).to_string(), "-9223372036854775808");
  EXPECT_EQ(Quantity(kMin).value(), kMin);
}

TEST(Quantity, BinaryValuesAreCappedAtTheLargestInt64) {
  for (const char* text : {"8Ei", "16Ei", "99999999999999999999Ki"}) {
    EXPECT_EQ(quantity(text).to_string(), "9223372036854775807") << text;
  }
  EXPECT_EQ(quantity("-9Ei").value(), -kMax);
  EXPECT_EQ(quantity("7Ei").to_string(), "7Ei");
  // Decimal values are not.
  EXPECT_EQ(quantity("10E").to_string(), "10E");
}

TEST(Quantity, ExponentsOfAnySizeAreReadAsKubernetesDoes) {
  EXPECT_EQ(quantity("1e1000000").to_string(), "10e999999");
  // Narrowed to int32 without a check.
  EXPECT_EQ(quantity("1e4294967296").to_string(), "1");
  EXPECT_EQ(quantity("1e4294967299"), Quantity(1000));
  EXPECT_EQ(quantity("1e1000000000000").to_string(), "1e-9");
  EXPECT_EQ(quantity("10e2147483647").to_string(), "10e2147483647");
  EXPECT_EQ(quantity("1e00000000000000000000000003").to_string(), "1e3");
}

TEST(Quantity, HasNoSuffixAboveExa) {
  EXPECT_EQ(quantity("1000E").to_string(), "1");
  EXPECT_EQ(quantity("1e21").to_string(), "1e21");
}

TEST(Quantity, OrdersByValueAcrossSpellings) {
  // Ascending; "=" marks the same value as the one before.
  const std::vector<std::string> ascending = {"-1e1000000",
                                              "-9Ei",
                                              "-1Gi",
                                              "-1.5",
                                              "-1",
                                              "-1n",
                                              "0",
                                              "=-0",
                                              "1n",
                                              "1u",
                                              "1m",
                                              "0.5",
                                              "1",
                                              "=1000m",
                                              "=1e0",
                                              "1.5",
                                              "1000",
                                              "=1k",
                                              "1Ki",
                                              "=1024",
                                              "999999",
                                              "1M",
                                              "1Mi",
                                              "1G",
                                              "1Gi",
                                              "9223372036854775807",
                                              "=8Ei",
                                              "9223372036854775808",
                                              "12345678901234567890.123456788",
                                              "12345678901234567890.123456789",
                                              "1e40",
                                              "10000000000000000000000000000000000000001",
                                              "1e1000000",
                                              "1e1000001"};
  std::vector<std::pair<Quantity, int>> ranked;
  int rank = 0;
  for (const std::string& text : ascending) {
    const bool same = text[0] == '=';
    if (!same) ++rank;
    ranked.emplace_back(quantity(same ? text.substr(1) : text), rank);
  }
  for (const auto& [a, rank_a] : ranked) {
    for (const auto& [b, rank_b] : ranked) {
      EXPECT_EQ(a <=> b, rank_a <=> rank_b) << a.to_string() << " and " << b.to_string();
    }
  }
}

TEST(Quantity, SumsAreExactAndKeepTheFirstSuffixFamily) {
  struct Sum {
    const char *a, *b, *sum;
  };
  for (const Sum& c :
       {Sum{"1", "1", "2"}, Sum{"1500m", "500m", "2"}, Sum{"1Gi", "1G", "2073741824"},
        Sum{"1Gi", "1Gi", "2Gi"}, Sum{"0", "1Gi", "1Gi"}, Sum{"1Gi", "0", "1Gi"},
        Sum{"1", "-1", "0"}, Sum{"1e3", "1e3", "2e3"},
        Sum{"1n", "1E", "1000000000000000000000000001n"},
        Sum{"9223372036854775807", "1", "9223372036854775808"}, Sum{"4Ei", "4Ei", "8Ei"},
        Sum{"10000000000000000000000000000000000000000", "1",
            "10000000000000000000000000000000000000001"}}) {
    Quantity sum = quantity(c.a);
    sum += quantity(c.b);
    EXPECT_EQ(sum.to_string(), c.sum) << c.a << " + " << c.b;
  }
}

TEST(Quantity, BeyondTheDigitsItKeepsTheLargerOperandStandsForTheSum) {
  Quantity sum = quantity("1");
  sum += quantity("1e1000000");
  EXPECT_EQ(sum, quantity("1e1000000"));
  sum += quantity("1");
  EXPECT_EQ(sum, quantity("1e1000000"));
}

TEST(Quantity, IsSmallAndCopiesShareLongDigits) {
  static_assert(sizeof(Quantity) <= 48);
  const Quantity wide = quantity("12345678901234567890123456789012345678901");
  const Quantity copy = wide;
  EXPECT_EQ(copy, wide);
  EXPECT_EQ(copy.to_string(), "12345678901234567890123456789012345678901");
}

}  // namespace
}  // namespace rankward::kube
