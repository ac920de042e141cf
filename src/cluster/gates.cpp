#include "gates.hpp"

namespace rankward::cluster {
namespace {

constexpr std::int64_t kEcho = 2'000;

}  // namespace

GateStep GateHold::decide(placement::GangStanding standing, bool all_exist, bool nominated,
                          placement::Instant now, std::int64_t max_hold) {
  using placement::GangStanding;
  if (!all_exist || standing == GangStanding::kIncomplete || standing == GangStanding::kWaiting ||
      standing == GangStanding::kGatedByOthers) {
    since_.reset();
    return GateStep::kHold;
  }
  if (!since_) since_ = now.milliseconds;
  switch (standing) {
    case GangStanding::kPlanned:
      // Its places are held without nominations too: one that can never be written, since a policy
      // of the cluster denies it, must not keep the gang for ever.
      return nominated || now.milliseconds >= *since_ + max_hold ? GateStep::kLiftPlanned
                                                                 : GateStep::kHold;
    case GangStanding::kPinned:
    case GangStanding::kWhole:
      return GateStep::kLiftUnplanned;
    default:
      return now.milliseconds >= *since_ + max_hold ? GateStep::kLiftUnplanned : GateStep::kHold;
  }
}

bool GateHold::awaits_echo(const std::string& uid, placement::Instant now) const {
  const auto found = lifted_.find(uid);
  return found != lifted_.end() && now.milliseconds < found->second + kEcho;
}

}  // namespace rankward::cluster
