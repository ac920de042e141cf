#include "rankward/cluster/plan_board.hpp"

#include <algorithm>
#include <utility>

namespace rankward::cluster {
namespace {

constexpr std::size_t kMostEnded = 1024;

std::uint64_t next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

// What this thread took last, as in SnapshotHolder.
struct Taken {
  std::uint64_t board = 0;
  std::uint64_t version = 0;
  std::weak_ptr<const placement::ClusterView> view;
};
thread_local Taken taken;

}  // namespace

PlanBoard::PlanBoard(const SnapshotSource& source, const Clock& clock,
                     placement::ReservationLimits limits)
    : source_(source),
      clock_(clock),
      limits_(limits),
      id_(next_id()),
      view_(placement::make_view(source.current(),
                                 std::make_shared<const placement::Reservations>())) {}

placement::Instant PlanBoard::now() const {
  using std::chrono::duration_cast;
  using std::chrono::milliseconds;
  return {duration_cast<milliseconds>(clock_.now().time_since_epoch()).count()};
}

std::shared_ptr<const placement::ClusterView> PlanBoard::load() const {
  if (taken.board == id_ && taken.version == version_.load(std::memory_order_acquire)) {
    if (auto view = taken.view.lock()) return view;
  }
  const std::lock_guard lock(mutex_);
  taken = {id_, version_.load(std::memory_order_relaxed), view_};
  return view_;
}

bool PlanBoard::swap(const std::shared_ptr<const placement::ClusterView>& seen,
                     std::shared_ptr<const placement::ClusterView> next) {
  const std::lock_guard lock(mutex_);
  if (view_ != seen) return false;
  // The old view ends outside the lock: `seen` still has it.
  view_ = std::move(next);
  version_.fetch_add(1, std::memory_order_release);
  return true;
}

std::shared_ptr<const placement::ClusterView> PlanBoard::view() {
  while (true) {
    auto seen = load();
    auto snapshot = source_.current();
    const auto time = now();
    auto expiry = next_expiry_.load(std::memory_order_relaxed);
    // An older Snapshot than the view's: another thread was quicker.
    const bool newer = snapshot->number() > seen->snapshot->number();
    const bool due = !seen->reservations->at_rest() && time.milliseconds >= expiry;
    if (!newer && !due) return seen;
    if (!newer) snapshot = seen->snapshot;
    std::vector<placement::Ended> ended;
    auto next = placement::advance(*seen, std::move(snapshot), time, limits_, &ended);
    next_expiry_.store(time.milliseconds + kExpiryMilliseconds, std::memory_order_relaxed);
    if (!newer && next->reservations == seen->reservations) return seen;
    if (!swap(seen, next)) continue;
    if (!ended.empty()) {
      const std::lock_guard lock(mutex_);
      for (auto& each : ended) {
        if (ended_.size() < kMostEnded) ended_.push_back(std::move(each));
      }
    }
    return next;
  }
}

bool PlanBoard::replace(const std::shared_ptr<const placement::ClusterView>& seen,
                        std::shared_ptr<const placement::Reservations> next) {
  return swap(seen, placement::make_view(seen->snapshot, std::move(next)));
}

std::vector<placement::Ended> PlanBoard::take_ended() {
  const std::lock_guard lock(mutex_);
  return std::exchange(ended_, {});
}

}  // namespace rankward::cluster
