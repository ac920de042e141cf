// What a node gives to a collective, by the number of a gang's pods on it.
#pragma once

#include <algorithm>
#include <array>
#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "node_links.hpp"
#include "rankward/placement/request.hpp"

namespace rankward::placement {

// The links of so many pods, GB/s and seconds. Of the sets of GPUs that the device plugin may pick,
// the worst.
struct ShareLinks {
  double intra = 0;
  double network = 0;  // to other nodes over NICs
  double clique = 0;   // to other nodes of one NVLink clique
  double step = 0;     // one ring step inside the node

  // What the pods contribute to B where the gang crosses this tier.
  [[nodiscard]] double bandwidth(std::uint32_t tier, double phi) const {
    return std::min(intra, tier == 0 ? clique : phi * network);
  }
  friend auto operator<=>(const ShareLinks&, const ShareLinks&) = default;
};

// Everything that decides about the links of a node. Equal machines with the same GPUs free share
// one table.
struct ShareKey {
  const topology::NodeTopology* machine = nullptr;
  topology::Transport transport = topology::Transport::kSocket;
  std::optional<std::uint64_t> free;  // GPUs to choose from; nothing: not known
  std::uint64_t held = 0;             // by ranks that stand
  std::int32_t extra = 0;             // ranks that stand, but nobody knows on which GPUs

  friend bool operator==(const ShareKey&, const ShareKey&) = default;
};

class ShareTables;

class ShareTable {
 public:
  // [q]: q new pods beside the ranks that stand, 0 included.
  [[nodiscard]] const std::vector<ShareLinks>& crossing() const { return crossing_; }
  [[nodiscard]] bool known() const { return known_; }

 private:
  friend class ShareTables;
  ShareKey key_;
  bool known_ = false;
  std::vector<ShareLinks> crossing_;
  std::map<std::int32_t, ShareLinks> alone_;
  std::map<std::int32_t, std::uint32_t> gpus_;
};

// The tables of one plan. Not thread-safe.
class ShareTables {
 public:
  // The request outlives the tables.
  explicit ShareTables(const Request& request) : request_(request) {}
  ShareTables(const ShareTables&) = delete;
  ShareTables& operator=(const ShareTables&) = delete;

  // Filled up to `most` pods at least. Valid as long as the tables.
  ShareTable* table(const ShareKey& key, std::int32_t most);
  // The gang on this node alone: no NIC takes part, so the worst pick is another one.
  const ShareLinks& alone(ShareTable& table, std::int32_t pods);
  // Stands for the set of GPU indexes that so many pods get: equal numbers, equal sets.
  std::uint32_t gpus(ShareTable& table, std::int32_t pods);
  // For the name of the slowest link.
  const NodeLinks& links(const ShareTable& table, std::int32_t pods, bool crosses);

 private:
  struct Hash {
    std::size_t operator()(const ShareKey& key) const;
  };
  // Links of sets of GPUs of one machine, by the bits of the set. Picks of different free masks
  // overlap widely.
  struct OfSets {
    const topology::NodeTopology* machine = nullptr;
    topology::Transport transport = topology::Transport::kSocket;
    boost::unordered_flat_map<std::uint64_t, ShareLinks> known;
  };

  [[nodiscard]] LinkQuestion question(const ShareKey& key, std::int32_t pods, bool crosses) const;
  [[nodiscard]] ShareLinks share(const ShareKey& key, std::int32_t pods, bool crosses);
  [[nodiscard]] ShareLinks worst_pick(const LinkQuestion& question);
  [[nodiscard]] const ShareLinks& of_set(OfSets& sets, std::uint64_t bits);

  const Request& request_;
  LinkMemo memo_;
  boost::unordered_flat_map<ShareKey, std::unique_ptr<ShareTable>, Hash> tables_;
  std::vector<std::unique_ptr<OfSets>> sets_;
  std::map<std::vector<std::uint64_t>, std::uint32_t> gpu_names_;
};

}  // namespace rankward::placement
