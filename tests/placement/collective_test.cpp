#include "collective.hpp"

#include <gtest/gtest.h>

#include <limits>

#include "fabric_tier.hpp"

namespace rankward::placement {
namespace {

constexpr topology::Bytes kOneGiB{topology::kGibibyte};
constexpr topology::Seconds kNvLinkStep{3.4e-6};

// placement.md: seven pods of one GPU, one 50 GB/s NIC a GPU, shares 3+2+2 against 3+3+1.
//   2 * 6/7 * 2^30 / 100e9 = 18.407 ms, 2 * 2 * 14 us = 56 us, 2 * 4 * 3.4 us = 27.2 us
//   2 * 6/7 * 2^30 /  50e9 = 36.814 ms
TEST(Collective, PricesUnevenSharesAsTheSpecificationDoes) {
  EXPECT_NEAR(time_of({kOneGiB, 7, 3, {100}, kNvLinkStep}).value, 18.4902e-3, 1e-7);
  EXPECT_NEAR(time_of({kOneGiB, 7, 3, {50}, kNvLinkStep}).value, 36.8972e-3, 1e-7);
}

// 2 * 7/8 * 2^30 / 370.8e9 = 5.0676 ms, 2 * 7 * 3.4 us = 47.6 us.
TEST(Collective, PricesOneNvSwitchNode) {
  EXPECT_NEAR(time_of({kOneGiB, 8, 1, {370.8}, kNvLinkStep}).value, 5.1152e-3, 1e-7);
}

TEST(Collective, OfOneGpuTakesNoTime) {
  const double unlimited = std::numeric_limits<double>::infinity();
  EXPECT_EQ(time_of({kOneGiB, 1, 1, {unlimited}, {0}}).value, 0);
  EXPECT_EQ(time_of({kOneGiB, 0, 0, {0}, {0}}).value, 0);
}

topology::FabricPosition at(std::vector<std::string> domains, std::string clique = "") {
  topology::FabricPosition fabric;
  fabric.domains = std::move(domains);
  fabric.clique = std::move(clique);
  return fabric;
}

TEST(CommonTier, IsTheLowestDomainThatBothHangIn) {
  const Options options;
  const auto a = at({"leaf-1", "spine-1", "core-1"});
  EXPECT_EQ(common_tier(a, at({"leaf-1", "spine-1", "core-1"}), options), 1U);
  EXPECT_EQ(common_tier(a, at({"leaf-2", "spine-1", "core-1"}), options), 2U);
  EXPECT_EQ(common_tier(a, at({"leaf-2", "spine-2", "core-1"}), options), 3U);
  EXPECT_EQ(common_tier(a, at({"leaf-2", "spine-2", "core-2"}), options), 4U);
  EXPECT_EQ(common_tier(a, at({"leaf-1", "spine-2", "core-1"}), options), 3U)
      << "leaf names repeat from spine to spine";
  EXPECT_EQ(common_tier(a, at({"leaf-1", "", "core-1"}), options), 1U) << "a gap says nothing";
  EXPECT_EQ(common_tier(at({"l1", "s1"}), at({"l2", "s2"}), options), 3U);
}

TEST(CommonTier, IsTheTopWhereNothingIsKnown) {
  const Options options;
  EXPECT_EQ(common_tier(at({}), at({}), options), 3U);
  EXPECT_EQ(common_tier(at({"leaf-1", "spine-1"}), at({}), options), 3U);
}

TEST(CommonTier, OfOneNvLinkCliqueIsBelowTheLeaf) {
  const Options options;
  EXPECT_EQ(common_tier(at({"l1"}, "u.1"), at({"l2"}, "u.1"), options), 0U);
  EXPECT_EQ(common_tier(at({"l1"}, "u.1"), at({"l1"}, "u.2"), options), 1U);
  EXPECT_EQ(common_tier(at({"l1"}), at({"l1"}), options), 1U);
}

TEST(FactorOf, IsOneInACliqueAndAtALeafAndTheLastAboveAll) {
  const Options options;
  EXPECT_EQ(factor_of(0, options), 1.0);
  EXPECT_EQ(factor_of(1, options), 1.0);
  EXPECT_EQ(factor_of(2, options), 0.9);
  EXPECT_EQ(factor_of(3, options), 0.83);
  EXPECT_EQ(factor_of(9, options), 0.83);
  Options none;
  none.phi.clear();
  EXPECT_EQ(factor_of(3, none), 1.0);
}

}  // namespace
}  // namespace rankward::placement
