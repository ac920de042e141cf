// Snapshot and reservations, published as one pair: calls read it without a lock, whoever plans
// replaces it by compare-and-swap.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "rankward/cluster/clock.hpp"
#include "rankward/cluster/snapshot_source.hpp"
#include "rankward/placement/reservations.hpp"

namespace rankward::cluster {

class PlanBoard {
 public:
  // Source and clock outlive the board.
  PlanBoard(const SnapshotSource& source, const Clock& clock,
            placement::ReservationLimits limits = {});
  PlanBoard(const PlanBoard&) = delete;
  PlanBoard& operator=(const PlanBoard&) = delete;

  // Never null; from any thread. A newer Snapshot of the source, and what has expired, is taken in
  // first, so that the view is never older than source.current().
  [[nodiscard]] std::shared_ptr<const placement::ClusterView> view();
  [[nodiscard]] placement::Instant now() const;
  // As the source: whether its Snapshots are the cluster.
  [[nodiscard]] bool ready() const { return source_.ready(); }

  // False where `seen` is not the current view any more: look again and plan again.
  [[nodiscard]] bool replace(const std::shared_ptr<const placement::ClusterView>& seen,
                             std::shared_ptr<const placement::Reservations> next);

  // Reservations that ended before they were whole, since the last call; at most 1,024 are kept.
  [[nodiscard]] std::vector<placement::Ended> take_ended();

 private:
  // view() looks for what has expired this often.
  static constexpr std::int64_t kExpiryMilliseconds = 1000;

  [[nodiscard]] std::shared_ptr<const placement::ClusterView> load() const;
  bool swap(const std::shared_ptr<const placement::ClusterView>& seen,
            std::shared_ptr<const placement::ClusterView> next);

  const SnapshotSource& source_;
  const Clock& clock_;
  const placement::ReservationLimits limits_;
  const std::uint64_t id_;
  std::atomic<std::uint64_t> version_{1};
  std::atomic<std::int64_t> next_expiry_{0};
  mutable std::mutex mutex_;
  std::shared_ptr<const placement::ClusterView> view_;  // under mutex_
  std::vector<placement::Ended> ended_;                 // under mutex_
};

}  // namespace rankward::cluster
