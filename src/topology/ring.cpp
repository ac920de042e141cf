#include "ring.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <limits>

namespace rankward::topology {

namespace {

// A cycle through all n vertices that uses only links of at least `least`; empty where there is
// none. Held and Karp's table without costs: reach[s] has bit v where a path from vertex 0 through
// exactly the vertices of s ends at v. Vertex v is bit v-1, since vertex 0 is in every path.
std::vector<std::uint32_t> cycle_at_least(std::span<const double> links, std::size_t n,
                                          double least) {
  if (n < 2) return {};
  std::array<std::uint32_t, kExactRing> next{};  // neighbours of each vertex, as bits
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = 1; b < n; ++b) {
      if (a != b && links[a * n + b] >= least) next[a] |= 1u << (b - 1);
    }
  }
  const std::uint32_t all = (1u << (n - 1)) - 1;
  std::vector<std::uint16_t> reach(std::size_t{all} + 1, 0);
  for (std::uint32_t v = 1; v < n; ++v) {
    if (next[0] & (1u << (v - 1))) reach[1u << (v - 1)] = static_cast<std::uint16_t>(1u << (v - 1));
  }
  for (std::uint32_t set = 1; set < all; ++set) {
    if (reach[set] == 0) continue;
    for (std::uint32_t left = all & ~set; left != 0; left &= left - 1) {
      const auto v = static_cast<std::uint32_t>(std::countr_zero(left)) + 1;
      const std::uint32_t bit = 1u << (v - 1);
      if (reach[set] & next[v]) reach[set | bit] |= static_cast<std::uint16_t>(bit);
    }
  }
  std::uint32_t ends = reach[all] & next[0];
  if (ends == 0) return {};
  std::vector<std::uint32_t> order(n, 0);
  std::uint32_t set = all;
  for (std::size_t place = n - 1; place > 0; --place) {
    const auto v = static_cast<std::uint32_t>(std::countr_zero(ends)) + 1;
    order[place] = v;
    set &= ~(1u << (v - 1));
    ends = reach[set] & next[v];
  }
  return order;
}

double slowest(std::span<const double> links, std::size_t n, std::span<const std::uint32_t> order) {
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < order.size(); ++i) {
    least = std::min(least, links[order[i] * n + order[(i + 1) % order.size()]]);
  }
  return least;
}

// From each start always to the fastest neighbour not yet visited; the best of these rings.
Ring greedy_ring(std::span<const double> links, std::size_t n) {
  Ring best;
  for (std::uint32_t start = 0; start < n; ++start) {
    std::vector<bool> visited(n, false);
    std::vector<std::uint32_t> order{start};
    visited[start] = true;
    while (order.size() < n) {
      std::size_t chosen = n;
      for (std::size_t v = 0; v < n; ++v) {
        if (visited[v]) continue;
        if (chosen == n || links[order.back() * n + v] > links[order.back() * n + chosen]) {
          chosen = v;
        }
      }
      visited[chosen] = true;
      order.push_back(static_cast<std::uint32_t>(chosen));
    }
    const double bandwidth = slowest(links, n, order);
    if (best.order.empty() || bandwidth > best.bandwidth) best = {bandwidth, std::move(order)};
  }
  return best;
}

}  // namespace

Ring best_ring(std::span<const double> links, std::size_t n) {
  if (n < 2) return {std::numeric_limits<double>::infinity(), {}};
  if (n == 2) return {links[1], {0, 1}};
  if (n > kExactRing) return greedy_ring(links, n);
  std::vector<double> steps;
  for (std::size_t a = 0; a < n; ++a) {
    for (std::size_t b = a + 1; b < n; ++b)
      steps.push_back(links[a * n + b]);
  }
  std::sort(steps.begin(), steps.end());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  // A ring at the slowest step always exists, so the binary search has a floor.
  std::size_t low = 0;
  std::size_t high = steps.size();
  std::vector<std::uint32_t> order;
  while (high - low > 1) {
    const std::size_t middle = low + (high - low) / 2;
    auto found = cycle_at_least(links, n, steps[middle]);
    if (found.empty()) {
      high = middle;
    } else {
      low = middle;
      order = std::move(found);
    }
  }
  if (order.empty()) order = cycle_at_least(links, n, steps[low]);
  return {steps[low], std::move(order)};
}

}  // namespace rankward::topology
