// The Lease: one holder at a time, whatever fails.
#include "rankward/cluster/leader.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "fake_clock.hpp"
#include "fake_writes.hpp"
#include "lease.hpp"
#include "rfc3339.hpp"
#include "watched.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using Try = LeaseCandidate::Try;

const auto kNoon = parse_rfc3339("2026-01-31T12:00:00Z").value();

// One process without its thread.
struct Candidate {
  Candidate(const FakeWriteServer& api, const Clock& clock, std::string identity)
      : server(api.address()),
        credentials(server, clock, {}),
        client(server, credentials),
        candidate(client, clock, options) {
    options.name_space = "own";
    options.identity = std::move(identity);
  }
  Try attempt() { return candidate.attempt(); }
  void release() { candidate.release(client, seconds(5)); }

  ApiServer server;
  LeaderOptions options;
  CredentialSource credentials;
  ApiClient client;
  LeaseCandidate candidate;
};

class LeaseTest : public testing::Test {
 protected:
  FakeWriteServer api_;
  FakeClock clock_{kNoon};
  Candidate a_{api_, clock_, "a"};
  Candidate b_{api_, clock_, "b"};
};

TEST_F(LeaseTest, TheFirstMakesItAndTheOtherWaits) {
  EXPECT_EQ(a_.attempt(), Try::kHeld);
  EXPECT_EQ(b_.attempt(), Try::kOthers);
  const auto lease = api_.lease().value();
  EXPECT_EQ(lease.holder, "a");
  EXPECT_EQ(lease.duration_seconds, 15);
  EXPECT_EQ(lease.acquire_time, "2026-01-31T12:00:00.000000Z");
  EXPECT_EQ(lease.transitions, 0);
}

TEST_F(LeaseTest, AHolderRenewsAndKeepsTheTimeOfItsStart) {
  a_.attempt();
  clock_.advance(milliseconds(2'345));
  EXPECT_EQ(a_.attempt(), Try::kHeld);
  const auto lease = api_.lease().value();
  EXPECT_EQ(lease.acquire_time, "2026-01-31T12:00:00.000000Z");
  EXPECT_EQ(lease.renew_time, "2026-01-31T12:00:02.345000Z");
  EXPECT_EQ(lease.transitions, 0);
}

TEST_F(LeaseTest, WhoWaitsTakesItFifteenSecondsAfterTheLastChangeThatItSaw) {
  a_.attempt();
  EXPECT_EQ(b_.attempt(), Try::kOthers);
  clock_.advance(seconds(10));
  EXPECT_EQ(a_.attempt(), Try::kHeld);
  EXPECT_EQ(b_.attempt(), Try::kOthers);
  clock_.advance(milliseconds(14'999));
  EXPECT_EQ(b_.attempt(), Try::kOthers);
  clock_.advance(milliseconds(1));
  EXPECT_EQ(b_.attempt(), Try::kHeld);
  EXPECT_EQ(api_.lease()->holder, "b");
  EXPECT_EQ(api_.lease()->transitions, 1);
  EXPECT_EQ(a_.attempt(), Try::kOthers) << "its version is old: refused, not overwritten";
}

TEST_F(LeaseTest, ARecordIsWaitedForInFullHoweverOldItSaysItIs) {
  api_.write_lease({.holder = "z", .duration_seconds = 15, .renew_time = "2020-01-01T00:00:00.0Z"});
  EXPECT_EQ(a_.attempt(), Try::kOthers);
  clock_.advance(milliseconds(14'999));
  EXPECT_EQ(a_.attempt(), Try::kOthers);
  clock_.advance(milliseconds(1));
  EXPECT_EQ(a_.attempt(), Try::kHeld);
}

TEST_F(LeaseTest, ALeaseThatWasGivenBackIsTakenAtOnce) {
  a_.attempt();
  EXPECT_EQ(b_.attempt(), Try::kOthers);
  a_.release();
  EXPECT_EQ(api_.lease()->holder, "");
  EXPECT_EQ(b_.attempt(), Try::kHeld);
  a_.release();
  EXPECT_EQ(api_.lease()->holder, "b") << "what is not held is not given back";
}

TEST_F(LeaseTest, ARenewalThatWasCutOffDoesNotKeepItFromBeingGivenBack) {
  a_.attempt();
  // The API server has written it, but its answer was lost.
  api_.write_lease({.holder = "a", .duration_seconds = 15});
  a_.release();
  EXPECT_EQ(api_.lease()->holder, "");
}

TEST_F(LeaseTest, AnEmptyLeaseOfTheManifestsIsTaken) {
  api_.write_lease({});
  EXPECT_EQ(a_.attempt(), Try::kHeld);
}

TEST_F(LeaseTest, AfterAFailedRenewalTheHolderLooksAndGoesOn) {
  a_.attempt();
  api_.answer_all(500);
  EXPECT_EQ(a_.attempt(), Try::kFailed);
  EXPECT_THAT(a_.candidate.failure(), testing::HasSubstr("500"));
  api_.answer_all(0);
  clock_.advance(seconds(2));
  EXPECT_EQ(a_.attempt(), Try::kHeld);
  EXPECT_EQ(a_.candidate.held_since(), clock_.now());
}

class LeaderTest : public testing::Test {
 protected:
  std::unique_ptr<Leader> start(const std::string& identity) {
    LeaderOptions options;
    options.name_space = "own";
    options.identity = identity;
    options.clock = &clock_;
    options.timing.retry = milliseconds(2);
    options.random = [] { return 0.5; };
    return Leader::start(api_.address(), std::move(options));
  }

  FakeWriteServer api_;
  FakeClock clock_{kNoon};
};

TEST_F(LeaderTest, OneLeadsAndTheOtherFollowsWhenItStops) {
  auto first = start("first");
  ASSERT_TRUE(eventually([&] { return first->leading(); }));
  auto second = start("second");
  ASSERT_TRUE(eventually([&] { return api_.calls().size() > 20; }));
  EXPECT_FALSE(second->leading());
  first->stop();
  EXPECT_FALSE(first->leading());
  EXPECT_TRUE(eventually([&] { return second->leading(); })) << "given back, no wait";
  EXPECT_EQ(second->stats().acquired, 1U);
  EXPECT_EQ(first->stats().lost, 0U);
}

TEST_F(LeaderTest, AHolderThatCannotRenewStopsBeforeAnotherMayBegin) {
  auto first = start("first");
  ASSERT_TRUE(eventually([&] { return first->leading(); }));
  api_.answer_all(503);
  ASSERT_TRUE(eventually([&] { return first->stats().failures > 0; }));
  clock_.advance(milliseconds(9'999));
  EXPECT_TRUE(first->leading());
  clock_.advance(milliseconds(1));
  EXPECT_FALSE(first->leading()) << "at 10 s; the Lease may be taken at 15 s";
  EXPECT_TRUE(eventually([&] { return first->stats().lost == 1; }));
  api_.answer_all(0);
  EXPECT_TRUE(eventually([&] { return first->leading(); }));
}

TEST_F(LeaderTest, AProcessThatSleptDoesNotWriteOnTheStrengthOfAnOldLease) {
  auto first = start("first");
  ASSERT_TRUE(eventually([&] { return first->leading(); }));
  // Stopped for a minute, in which another has taken over.
  api_.write_lease({.holder = "second", .duration_seconds = 15});
  clock_.advance(seconds(60));
  EXPECT_TRUE(eventually([&] { return !first->leading(); }));
}

TEST_F(LeaderTest, TwoIdentitiesOfOneMachineDiffer) {
  EXPECT_NE(start("")->identity(), start("")->identity());
}

}  // namespace
}  // namespace rankward::cluster
