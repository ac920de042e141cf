// What the links of one node give to a collective, for the GPUs that pods will get there.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <memory>
#include <optional>

#include "device_pick.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/topology/bandwidth.hpp"

namespace rankward::placement {

struct NodeLinks {
  topology::Bottleneck intra;  // among the GPUs
  topology::Bottleneck inter;  // from them to other nodes
};

// The pod gets GPUs as a whole, so that which ones it gets can be foretold.
[[nodiscard]] bool only_whole_gpus(const Request& request, const topology::NodeTopology& topology);

// Somebody has said what links the node has.
[[nodiscard]] bool is_reported(const topology::NodeTopology& topology);

// b_inter inside an NVLink clique, GB/s; `otherwise` where the product has no such links.
[[nodiscard]] double clique_bandwidth(const topology::NodeTopology& topology, double otherwise);

// What decides about the links of a node, so that equal nodes are worked out once.
struct LinkQuestion {
  const topology::NodeTopology* machine = nullptr;  // outlives the memo
  topology::Transport transport = topology::Transport::kSocket;
  bool crosses = false;  // other nodes take part, so the way to the NICs counts
  bool whole_gpus = true;
  std::uint64_t held = 0;             // GPUs that members of the gang have already
  std::optional<std::uint64_t> free;  // those to choose from; nothing: not known
  std::uint32_t count = 0;            // to be chosen

  friend bool operator==(const LinkQuestion&, const LinkQuestion&) = default;
};

// Remembers answers for one ranking. Not thread-safe.
class LinkMemo {
 public:
  // The worst of the picks that may come out: least of b_intra and, where others take part,
  // b_inter.
  const NodeLinks& links(const LinkQuestion& question);

 private:
  struct Hash {
    std::size_t operator()(const LinkQuestion& question) const;
  };

  boost::unordered_flat_map<LinkQuestion, std::unique_ptr<NodeLinks>, Hash> known_;
};

}  // namespace rankward::placement
