// Which nomination each waiting rank should carry, which one is ours, and what to do about the
// difference. Decides only; the writes are the keeper's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "rankward/placement/gang.hpp"
#include "rankward/placement/reservations.hpp"

namespace rankward::cluster {

// Names of nodes, one for each pending member of the gang in its order: the slot that is the pod's,
// else its rank's, else one where it is nominated already, else the next open one. "" where the
// reservation has none left. Members that are being deleted get none.
[[nodiscard]] std::vector<std::string> nodes_of_members(const placement::GangState& gang,
                                                        const placement::Reservation& reservation);

struct NominationTiming {
  std::int64_t least_renewal = 200;  // milliseconds, as all of these
  std::int64_t longest_renewal = 30'000;
  // So long is what was written taken for what stands, until the watch shows it.
  std::int64_t echo = 2'000;
  // After a write that met something else than expected.
  std::int64_t after_conflict = 500;
  // A pod that kept its nomination so long after a renewal starts again with the least wait.
  std::int64_t calm = 60'000;
};

enum class NominationStep : std::uint8_t {
  kStands,   // nothing to do
  kWait,     // not yet
  kForeign,  // another's value: left alone
  kAsk,      // nobody here knows whose it is: the pod's managed fields do
  kSet,
  kRenew,  // set again: a failed attempt has cleared it
  kChange,
  kClear,
};

class Nominations {
 public:
  explicit Nominations(NominationTiming timing = {}) : timing_(timing) {}

  struct Decision {
    NominationStep step = NominationStep::kStands;
    std::string seen;  // what the write expects to find
  };
  // `wanted` is "" where the pod should carry none of ours.
  [[nodiscard]] Decision decide(const placement::PendingMember& member, const std::string& wanted,
                                placement::Instant now);

  // What became of it: now it carries `node`, "" for none.
  void written(const std::string& uid, const std::string& node, placement::Instant now);
  void conflicted(const std::string& uid, placement::Instant now);
  void answered(const std::string& uid, const std::string& value, bool ours);

  // Begin of a look over all gangs; what decide() has not met by its end is of pods that wait no
  // more, and is forgotten.
  void begin_look() { ++look_; }
  void end_look();
  [[nodiscard]] std::size_t size() const { return pods_.size(); }

 private:
  struct Entry {
    std::string ours;                    // written by us or adopted; "": none
    std::optional<std::string> foreign;  // known to be another's
    bool echoed = false;                 // the watch has shown `ours`
    std::int64_t written_at = 0;         // 0: never
    std::int64_t not_before = 0;
    std::int64_t wait = 0;  // before a renewal; 0: there was none
    std::int64_t renew_at = 0;
    std::uint64_t look = 0;
  };

  const NominationTiming timing_;
  std::unordered_map<std::string, Entry> pods_;  // by UID
  std::uint64_t look_ = 0;
};

}  // namespace rankward::cluster
