// All candidates of one call, judged and put in order.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

// Predicted time of one all-reduce over the pod and the gang members already bound (placement.md,
// "The physics"), and what sets it.
struct Prediction {
  topology::Seconds seconds;
  topology::GigabytesPerSecond bandwidth;
  std::string bottleneck;  // "GPU0-mlx5_3 NODE, no GPUDirect"; "one GPU: nothing to send"
  topology::Transport transport = topology::Transport::kUnknown;
  std::uint32_t nodes = 1;  // over how many nodes the gang would stand
  std::uint32_t tier = 0;   // highest fabric tier crossed, 0: none
  bool topology_known = true;
};

[[nodiscard]] Prediction predict(const Request& request, NodeIndex node, const Snapshot& snapshot,
                                 const Options& options);

struct Candidate {
  std::string_view name;           // as the caller wrote it; outlives the Ranking
  std::optional<NodeIndex> index;  // nothing: the name is not in the snapshot
};

struct Ranked {
  std::uint32_t candidate = 0;  // index into the candidates that were given
  Prediction prediction;
  int score = 0;  // 0..10: round(10 * T_best / T)
};

struct Ranking {
  std::vector<Verdict> verdicts;  // one a candidate, in their order
  std::vector<Ranked> fits;       // best first, ties by node name: the same input, the same order
};

// Greedy towards the members of the same gang that are already bound. Deterministic: the order in
// which candidates are given does not change the order of `fits`.
[[nodiscard]] Ranking rank(const Request& request, const kube::PodSpec& spec,
                           const Snapshot& snapshot, std::span<const Candidate> candidates,
                           const Options& options, Use use);

}  // namespace rankward::placement
