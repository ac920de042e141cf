#include "ring.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>

namespace rankward::topology {
namespace {

std::vector<double> random_links(std::mt19937& random, std::size_t n, int values) {
  std::vector<double> links(n * n, 1e9);
  std::uniform_int_distribution<int> value(1, values);
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b)
      links[a * n + b] = links[b * n + a] = value(random);
  }
  return links;
}

double slowest(const std::vector<double>& links, std::size_t n,
               const std::vector<std::uint32_t>& order) {
  double least = 1e9;
  for (std::size_t i = 0; i < n; ++i) {
    least = std::min(least, links[order[i] * n + order[(i + 1) % n]]);
  }
  return least;
}

double best_by_trying_all(const std::vector<double>& links, std::size_t n) {
  std::vector<std::uint32_t> order(n);
  std::iota(order.begin(), order.end(), 0u);
  double best = 0;
  do {
    best = std::max(best, slowest(links, n, order));
  } while (std::next_permutation(order.begin() + 1, order.end()));
  return best;
}

void expect_is_ring(const Ring& ring, const std::vector<double>& links, std::size_t n) {
  std::vector<std::uint32_t> sorted = ring.order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::uint32_t> all(n);
  std::iota(all.begin(), all.end(), 0u);
  ASSERT_EQ(sorted, all);
  EXPECT_EQ(slowest(links, n, ring.order), ring.bandwidth);
}

TEST(BestRing, EqualsTryingEveryOrder) {
  std::mt19937 random(20261201);
  for (int i = 0; i < 4000; ++i) {
    const std::size_t n = 2 + i % 6;
    const auto links = random_links(random, n, 1 + i % 9);
    const Ring ring = best_ring(links, n);
    ASSERT_EQ(ring.bandwidth, best_by_trying_all(links, n)) << "case " << i << ", n " << n;
    expect_is_ring(ring, links, n);
  }
}

TEST(BestRing, NeverGrowsWhenALinkGetsSlower) {
  std::mt19937 random(7);
  for (int i = 0; i < 2000; ++i) {
    const std::size_t n = 2 + i % 7;
    auto links = random_links(random, n, 8);
    const double before = best_ring(links, n).bandwidth;
    const std::size_t a = random() % n;
    const std::size_t b = (a + 1 + random() % (n - 1)) % n;
    links[a * n + b] = links[b * n + a] = links[a * n + b] / 2;
    ASSERT_LE(best_ring(links, n).bandwidth, before) << "case " << i;
  }
}

TEST(BestRing, IsUnboundedForOneGpu) {
  const Ring ring = best_ring(std::vector<double>{1}, 1);
  EXPECT_GT(ring.bandwidth, 1e300);
  EXPECT_TRUE(ring.order.empty());
}

TEST(BestRing, IsExactForSixteen) {
  // A ring of fast links hidden under a shuffle of 16 GPUs.
  constexpr std::size_t kN = 16;
  std::mt19937 random(3);
  std::vector<std::uint32_t> order(kN);
  std::iota(order.begin(), order.end(), 0u);
  std::shuffle(order.begin(), order.end(), random);
  std::vector<double> links(kN * kN, 1);
  for (std::size_t i = 0; i < kN; ++i) {
    const std::uint32_t a = order[i];
    const std::uint32_t b = order[(i + 1) % kN];
    links[a * kN + b] = links[b * kN + a] = 9;
  }
  EXPECT_EQ(best_ring(links, kN).bandwidth, 9);
  links[order[4] * kN + order[5]] = links[order[5] * kN + order[4]] = 2;
  EXPECT_EQ(best_ring(links, kN).bandwidth, 2);
}

TEST(BestRing, IsARingAboveSixteenToo) {
  std::mt19937 random(5);
  for (const std::size_t n : {17u, 20u, 32u}) {
    const auto links = random_links(random, n, 5);
    expect_is_ring(best_ring(links, n), links, n);
  }
}

}  // namespace
}  // namespace rankward::topology
