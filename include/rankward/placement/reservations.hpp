// Plans that stand: which places are held for pods that have no node yet.
#pragma once

#include <boost/unordered/unordered_flat_map.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rankward/kube/pod.hpp"
#include "rankward/placement/ranking.hpp"
#include "rankward/placement/request.hpp"
#include "rankward/placement/snapshot.hpp"

namespace rankward::placement {

// Milliseconds on a monotonic clock that the caller reads; its origin does not matter.
struct Instant {
  std::int64_t milliseconds = 0;
  friend auto operator<=>(Instant, Instant) = default;
};

// A place for one rank. Slot i of a part is rank i's, where ranks are known.
struct Slot {
  std::string node;
  std::string uid;     // the pod it was given to; "": nobody yet
  bool asked = false;  // that pod was told of it in a call, so the scheduler may have taken it
  bool seen = false;   // the watch has shown that pod
  bool bound = false;  // the watch shows that pod on its node
  std::optional<std::int32_t> rank = std::nullopt;  // of the pod that was told of it, if it has one
};

// All pods of a gang, or those of one role.
struct ReservedPart {
  std::string role;
  std::shared_ptr<const Request> request;  // of one of its pods that ask for most GPUs
  std::vector<Slot> slots;
  Prediction prediction;
};

struct Reservation {
  std::string gang_key;
  std::vector<ReservedPart> parts;  // largest first, as they were planned
  Instant made{};
  Instant touched{};              // by the last call of one of its pods; slides the limit
  std::uint64_t snapshot = 0;     // on which it was planned
  std::uint64_t plan_number = 0;  // 1 for the first plan of this reservation, +1 for each new one
  bool seen = false;              // the watch has shown the gang

  [[nodiscard]] const ReservedPart* part(std::string_view role) const;
  [[nodiscard]] bool whole() const;  // every slot is bound
};

struct ReservationLimits {
  std::int64_t sliding_milliseconds = 60'000;  // since the gang's last call
  std::int64_t hard_milliseconds = 600'000;    // since the plan was made
};

// A watch that works shows a binding within milliseconds; a pod that was not bound after all holds
// the rest of its gang up for so long.
inline constexpr std::int64_t kUnseenRankMilliseconds = 5'000;

// A pod of a gang that was placed by itself: on which of the nodes it was offered, only the watch
// tells.
struct LetGo {
  std::string uid;
  Instant at{};
};

// What a gang without a plan was told. Kept so that no plan is made beside a rank whose node is not
// known yet, and that nobody waits for ever for its owner's word.
struct Unplanned {
  std::string gang_key;
  Instant since{};           // its first call
  Instant touched{};         // its last change
  std::vector<LetGo> ranks;  // not seen bound yet
};

// Places that a gang holds on one node and that no pod stands on yet.
struct Held {
  std::string_view gang_key;  // lives as long as the ClusterView
  const Request* request = nullptr;
  std::int32_t pods = 0;
};

// Immutable: every change is a new value that shares what stayed the same.
class Reservations {
 public:
  using Map = std::map<std::string, std::shared_ptr<const Reservation>, std::less<>>;
  using UnplannedMap = std::map<std::string, std::shared_ptr<const Unplanned>, std::less<>>;

  Reservations() = default;
  explicit Reservations(Map map, UnplannedMap unplanned = {})
      : map_(std::move(map)), unplanned_(std::move(unplanned)) {}

  [[nodiscard]] const Reservation* find(std::string_view gang_key) const;
  [[nodiscard]] const Map& all() const { return map_; }
  [[nodiscard]] bool empty() const { return map_.empty(); }
  [[nodiscard]] const Unplanned* find_unplanned(std::string_view gang_key) const;
  [[nodiscard]] const UnplannedMap& all_unplanned() const { return unplanned_; }
  // Nothing that time could change.
  [[nodiscard]] bool at_rest() const { return map_.empty() && unplanned_.empty(); }

  // Puts or replaces.
  [[nodiscard]] Reservations with(std::shared_ptr<const Reservation> reservation) const;
  [[nodiscard]] Reservations with(std::shared_ptr<const Unplanned> unplanned) const;
  [[nodiscard]] Reservations without(std::string_view gang_key) const;

 private:
  Map map_;
  UnplannedMap unplanned_;
};

// Open slots by node of one Snapshot, so that a call need not look names up.
class HeldPlaces {
 public:
  HeldPlaces() = default;
  // Slots on nodes that the snapshot does not have are left out. Both outlive this.
  HeldPlaces(const Reservations& reservations, const Snapshot& snapshot);

  [[nodiscard]] bool empty() const { return by_node_.empty(); }
  // By gang key; empty for most nodes.
  [[nodiscard]] std::span<const Held> on(NodeIndex node) const;

 private:
  boost::unordered_flat_map<std::uint32_t, std::vector<Held>> by_node_;
};

// What others than this gang hold on a node of one resource. 0 where nobody holds anything.
[[nodiscard]] std::int64_t held_by_others(std::span<const Held> held, std::string_view gang_key,
                                          std::string_view resource);

// Snapshot and reservations as one pair, so that no call sees a place as free that was given away.
struct ClusterView {
  std::shared_ptr<const Snapshot> snapshot;
  std::shared_ptr<const Reservations> reservations;
  HeldPlaces held;
};

[[nodiscard]] std::shared_ptr<const ClusterView> make_view(
    std::shared_ptr<const Snapshot> snapshot, std::shared_ptr<const Reservations> reservations);

// A reservation that ended before all of its slots were bound.
struct Ended {
  std::shared_ptr<const Reservation> reservation;
  enum class Why : std::uint8_t { kExpired, kGangGone } why = Why::kExpired;
};

// What a newer Snapshot and the time make of the reservations: slots whose pods the watch shows
// bound, slots of pods that are gone given back, whole gangs and those over their limits dropped;
// of gangs without a plan, ranks that are seen bound or were not in time.
// `ended` takes those that were dropped before they were whole.
[[nodiscard]] std::shared_ptr<const ClusterView> advance(const ClusterView& view,
                                                         std::shared_ptr<const Snapshot> snapshot,
                                                         Instant now,
                                                         const ReservationLimits& limits,
                                                         std::vector<Ended>* ended = nullptr);

}  // namespace rankward::placement
