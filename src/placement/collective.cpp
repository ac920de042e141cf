#include "collective.hpp"

#include <algorithm>

namespace rankward::placement {

namespace {

// NCCL tuning.cc, ring, simple; the same figure stands in topology::constants() as step-network.
constexpr double kNetworkStep = 14e-6;

}  // namespace

topology::Seconds time_of(const Collective& collective) {
  const auto gpus = static_cast<double>(std::max<std::int64_t>(1, collective.gpus));
  const auto nodes = static_cast<double>(std::max<std::int64_t>(1, collective.nodes));
  if (gpus < 2) return {0};
  const double bytes = 2 * (gpus - 1) / gpus * static_cast<double>(collective.message.count);
  const double sending = bytes / (collective.slowest.value * 1e9);
  const double between = 2 * (nodes - 1) * kNetworkStep;
  const double within = 2 * std::max(0.0, gpus - nodes) * collective.step.value;
  return {sending + between + within};
}

}  // namespace rankward::placement
