// All candidates of one call, judged and put in order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rankward/placement/verdict.hpp"

namespace rankward::placement {

class HeldPlaces;

// Predicted time of one all-reduce over the pod and the gang members already bound (placement.md,
// "The physics"), and what sets it. The first rank of a gang of known size is priced as if all
// nodes were like this one; a lone pod that wants RDMA as one of two such pods on two nodes.
struct Prediction {
  topology::Seconds seconds;               // 0 where nothing is sent
  topology::GigabytesPerSecond bandwidth;  // B, phi included; infinite where nothing is sent
  std::string bottleneck;  // "GPU0-mlx5_3 NODE, no GPUDirect"; "one GPU: nothing to send"
  topology::Transport transport = topology::Transport::kUnknown;  // between nodes, if it crosses
  std::uint32_t nodes = 1;  // over how many nodes the gang would stand
  std::uint32_t tier = 0;   // highest fabric tier crossed: 1 the leaf; 0: one node or NVLink clique
  bool topology_known = true;  // false: the worst link of its kind stands in for what nobody said
};

// A node that the pod fits on. Where devices or their holders are not known one by one, the worst
// of the GPU sets that the pod may get.
[[nodiscard]] Prediction predict(const Request& request, NodeIndex node, const Snapshot& snapshot,
                                 const Options& options);

// Predicted times within this factor count as equal (placement.md, objective 2).
inline constexpr double kEqualSeconds = 1.02;

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
  std::vector<std::optional<ReasonCode>> reasons;  // one a candidate, in their order; nothing: fits
  std::vector<Verdict> verdicts;                   // the same with details, for Use::kExplain only
  std::vector<Ranked> fits;                        // best first, as many as were asked for
  std::size_t fitting = 0;                         // how many there are
};

// Greedy towards the members of the same gang that are already bound. Best first: seconds (within
// 2 % of the least counts as equal), lowest tier towards the gang, known before unknown topology
// (policy penalise), nodes that hold the pod by our own count, whole-free nodes left whole, fewest
// devices left over, node name. Deterministic: the order in which candidates are given does not
// change the order of `fits`.
//
// At most `most` of those that fit are told, the best.
//
// Places that gangs other than the pod's own hold are taken: ReservedForGang. A pod whose gang has
// bound ranks stays in their transport class: TransportMismatch.
//
// A pod that asks for no device and is in no gang fits everywhere, best on nodes without
// accelerators: 10 there, 0 elsewhere.
[[nodiscard]] Ranking rank(const Request& request, const kube::PodSpec& spec,
                           const Snapshot& snapshot, std::span<const Candidate> candidates,
                           const Options& options, Use use, const HeldPlaces* held = nullptr,
                           std::size_t most = SIZE_MAX);

}  // namespace rankward::placement
