// A placement that somebody else chose, priced as the planner prices its own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "rankward/placement/ranking.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/placement/snapshot.hpp"
#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

// What one node has of a gang. Each node stands once.
struct Share {
  NodeIndex node;
  std::int32_t pods = 1;
  // The GPUs that these pods have, as bits over topology->gpus. Nothing: any that the device plugin
  // may pick out of what is free there, the worst of them counted.
  std::optional<std::uint64_t> gpus;
};

struct Evaluation {
  Prediction prediction;  // of the whole gang; tier, bottleneck and seconds as predict() says them
  // Ranks on different transports. Such a gang hangs or runs at its slowest rank's pace; the
  // prediction counts the latter.
  bool mixed_transport = false;
};

// The gang whose pods all ask for `request`, on these nodes. No share: nothing is sent.
[[nodiscard]] Evaluation evaluate(const Request& request, std::span<const Share> shares,
                                  const Snapshot& snapshot, const Options& options);

// The GPUs that the device plugin gives a pod of `count` out of the free ones: its best set, the
// first where several tie. Bits over node.topology->gpus; nothing where those are not known or too
// few are free.
[[nodiscard]] std::optional<std::uint64_t> pick_gpus(const NodeState& node, std::uint64_t free,
                                                     std::size_t count);

}  // namespace rankward::placement
