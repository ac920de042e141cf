// predict(), with what is worked out once for all candidates of a call.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <deque>
#include <optional>
#include <utility>

#include "gang_view.hpp"
#include "node_links.hpp"
#include "rankward/placement/ranking.hpp"

namespace rankward::placement {

// How many pods of this request the node can host by what is free on it, at least 1: whoever asks
// has found room for one.
[[nodiscard]] std::int64_t hosts_pods(const Request& request, const NodeState& node);

class Predictor {
 public:
  // All three outlive the Predictor.
  Predictor(const Request& request, const Snapshot& snapshot, const Options& options);

  // `tier`: the highest that the whole gang will have to cross if it goes there, where the caller
  // knows that from the other candidates; else what the bound members say. The answer is one object
  // for nodes of one shape and lives as long as the Predictor.
  [[nodiscard]] const Prediction& on(NodeIndex index, std::optional<std::uint32_t> tier = {});
  // A name without a node: the worst link of each kind.
  [[nodiscard]] const Prediction& on_unknown_node();

  [[nodiscard]] const GangView& gang() const { return gang_; }

 private:
  // The gang as it would stand with the pod on the node.
  struct Stand {
    std::int64_t gpus = 1;              // G
    std::int64_t nodes = 1;             // h
    std::uint32_t here = 1;             // GPUs to be chosen on this node
    std::uint32_t tier = 0;             // meaningless where nodes is 1
    const GangNode* members = nullptr;  // already here
  };
  // The slowest of the nodes that members stand on, over NICs and inside one clique.
  struct Others {
    double intra = 0;
    double network = 0;
    double clique = 0;
    double step = 0;
    std::string intra_link;
    std::string network_link;
    bool known = true;
  };

  [[nodiscard]] Stand stand(const NodeState& node, const GangNode* members,
                            std::uint32_t tier) const;
  [[nodiscard]] Prediction work_out(const NodeState& node, const GangNode* members,
                                    std::uint32_t tier);
  [[nodiscard]] Prediction price(const NodeState& node, const Stand& stand, const Others* others);
  [[nodiscard]] Others others_than(const GangNode* here);
  [[nodiscard]] const NodeLinks& links(const NodeState& node, const GangNode* members,
                                       std::uint32_t count, bool crosses,
                                       topology::Transport transport);

  const Request& request_;
  const std::int64_t request_gpus_;
  const Snapshot& snapshot_;
  const Options& options_;
  GangView gang_;
  LinkMemo memo_;
  std::optional<Others> all_others_;  // of every bound member's node
  std::deque<Prediction> made_;
  // Of nodes without members, by shape and tier.
  using Key = std::pair<const NodeShape*, std::uint32_t>;
  boost::unordered_flat_map<Key, const Prediction*> known_;
  Key last_key_{};  // neighbours are mostly the same
  const Prediction* last_ = nullptr;
  const Prediction* unknown_node_ = nullptr;
};

}  // namespace rankward::placement
