#include "gates.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rankward::cluster {
namespace {

using placement::GangStanding;
using placement::Instant;

constexpr std::int64_t kMaxHold = 60'000;

struct Case {
  const char* name;
  GangStanding standing;
  bool all_exist;
  bool nominated;
  GateStep at_once;
  GateStep after_the_hold;
};

class GateHoldTest : public testing::TestWithParam<Case> {};

TEST_P(GateHoldTest, Decides) {
  const Case& test = GetParam();
  GateHold hold;
  const auto decide = [&](std::int64_t at) {
    return hold.decide(test.standing, test.all_exist, test.nominated, Instant{at}, kMaxHold);
  };
  EXPECT_EQ(decide(1'000), test.at_once);
  EXPECT_EQ(decide(1'000 + kMaxHold - 1), test.at_once);
  EXPECT_EQ(decide(1'000 + kMaxHold), test.after_the_hold);
}

using enum GateStep;
INSTANTIATE_TEST_SUITE_P(
    Standings, GateHoldTest,
    testing::Values(
        Case{"Planned", GangStanding::kPlanned, true, true, kLiftPlanned, kLiftPlanned},
        Case{"PlannedNotYetNominated", GangStanding::kPlanned, true, false, kHold, kLiftPlanned},
        Case{"PlannedWithARankMissing", GangStanding::kPlanned, false, true, kHold, kHold},
        Case{"Refused", GangStanding::kRefused, true, true, kHold, kLiftUnplanned},
        Case{"SizeNotKnown", GangStanding::kNotPlannable, true, true, kHold, kLiftUnplanned},
        Case{"Incomplete", GangStanding::kIncomplete, false, true, kHold, kHold},
        Case{"Waiting", GangStanding::kWaiting, true, true, kHold, kHold},
        Case{"GatedByOthers", GangStanding::kGatedByOthers, true, true, kHold, kHold},
        Case{"Pinned", GangStanding::kPinned, true, true, kLiftUnplanned, kLiftUnplanned},
        Case{"Whole", GangStanding::kWhole, true, true, kLiftUnplanned, kLiftUnplanned}),
    [](const auto& test) { return std::string(test.param.name); });

TEST(GateHold, TheHoldBeginsAnewWhenARankGoesAway) {
  GateHold hold;
  const auto decide = [&](GangStanding standing, std::int64_t at) {
    return hold.decide(standing, standing != GangStanding::kIncomplete, true, Instant{at},
                       kMaxHold);
  };
  EXPECT_EQ(decide(GangStanding::kRefused, 0), GateStep::kHold);
  EXPECT_EQ(decide(GangStanding::kIncomplete, 50'000), GateStep::kHold);
  EXPECT_EQ(decide(GangStanding::kRefused, 55'000), GateStep::kHold);
  EXPECT_EQ(decide(GangStanding::kRefused, 114'999), GateStep::kHold);
  EXPECT_EQ(decide(GangStanding::kRefused, 115'000), GateStep::kLiftUnplanned);
}

TEST(GateHold, ALiftedGateIsNotLiftedAgainBeforeTheWatchHadTimeToShowIt) {
  GateHold hold;
  EXPECT_FALSE(hold.awaits_echo("uid", {1'000}));
  hold.lifted("uid", {1'000});
  EXPECT_TRUE(hold.awaits_echo("uid", {2'999}));
  EXPECT_FALSE(hold.awaits_echo("uid", {3'000}));
}

}  // namespace
}  // namespace rankward::cluster
