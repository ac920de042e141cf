// What goes over the wire, and what the keeper makes of it as a whole.
#include "api_writes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "fake_writes.hpp"
#include "gang_world.hpp"
#include "rankward/cluster/gang_keeper.hpp"
#include "watched.hpp"

namespace rankward::cluster {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using testing::HasSubstr;
using testing::Not;

class ApiWritesTest : public testing::Test {
 protected:
  static std::string pod(const std::string& nominated, const std::string& gates = "") {
    return R"({"metadata":{"uid":"u"},"spec":{"schedulingGates":[)" + gates + R"(]},"status":{)" +
           (nominated.empty() ? "" : R"("nominatedNodeName":")" + nominated + "\"") + "}}";
  }

  FakeWriteServer api_;
  ApiServer server_ = api_.address();
  CredentialSource credentials_{server_, machine_clock(), {}};
  ApiClient client_{server_, credentials_};
  ApiWrites writes_{client_, "own", seconds(5)};
};

TEST_F(ApiWritesTest, ANominationIsSetChangedAndClearedOnlyOverWhatWasSeen) {
  api_.put_pod("team/pods/p", pod(""));
  EXPECT_EQ(writes_.nominate("team/p", "u", "x", "n1").result, WriteResult::kConflict);
  EXPECT_EQ(writes_.nominate("team/p", "another", "", "n1").result, WriteResult::kConflict);
  EXPECT_TRUE(writes_.nominate("team/p", "u", "", "n1").done());
  EXPECT_THAT(api_.pod("team/pods/p"), HasSubstr(R"("nominatedNodeName":"n1")"));
  EXPECT_EQ(writes_.nominate("team/p", "u", "", "n2").result, WriteResult::kConflict);
  EXPECT_TRUE(writes_.nominate("team/p", "u", "n1", "n2").done());
  EXPECT_TRUE(writes_.nominate("team/p", "u", "n2", "").done());
  EXPECT_THAT(api_.pod("team/pods/p"), Not(HasSubstr("nominatedNodeName")));
  const auto call = api_.calls().back();
  EXPECT_EQ(call.method, "PATCH");
  EXPECT_EQ(call.target, "/api/v1/namespaces/team/pods/p/status?fieldManager=rankward");
  EXPECT_EQ(call.content_type, "application/json-patch+json");
  EXPECT_EQ(call.authorization, "Bearer token");
}

TEST_F(ApiWritesTest, OnlyOurGateIsLifted) {
  api_.put_pod("team/pods/p", pod("", R"({"name":"rankward.io/gang"})"));
  EXPECT_TRUE(writes_.lift_gate("team/p", "u").done());
  EXPECT_THAT(api_.pod("team/pods/p"), HasSubstr(R"("schedulingGates":[])"));
  api_.put_pod("team/pods/p", pod("", R"({"name":"other.io/gate"})"));
  EXPECT_EQ(writes_.lift_gate("team/p", "u").result, WriteResult::kConflict);
  EXPECT_THAT(api_.pod("team/pods/p"), HasSubstr("other.io/gate"));
}

TEST_F(ApiWritesTest, EachStatusMeansWhatToDoNext) {
  for (const auto& [status, result] : {std::pair{400, WriteResult::kFailed},
                                       {401, WriteResult::kRefused},
                                       {403, WriteResult::kConflict},
                                       {404, WriteResult::kGone},
                                       {409, WriteResult::kConflict},
                                       {422, WriteResult::kConflict},
                                       {429, WriteResult::kFailed},
                                       {500, WriteResult::kFailed},
                                       {503, WriteResult::kFailed}}) {
    api_.answer_all(status);
    EXPECT_EQ(writes_.nominate("team/p", "u", "", "n").result, result) << status;
  }
}

// The messages are those of a real kube-apiserver.
TEST_F(ApiWritesTest, A403OfTheAuthorizerIsAboutAllPodsAndAnyOtherAboutThisOne) {
  const std::string pod_is_forbidden = R"({"kind":"Status","message":"pods \"p\" is forbidden: )";
  for (const auto& [message, result] :
       {std::pair{pod_is_forbidden +
                      R"(User \"rankward\" cannot patch resource \"pods/status\" in API group )"
                      R"(\"\" in the namespace \"team\""})",
                  WriteResult::kRefused},
        {R"({"message":"admission webhook \"w.example.com\" denied the request: no"})",
         WriteResult::kConflict},
        {pod_is_forbidden + R"(exceeded quota: compute"})", WriteResult::kConflict},
        {pod_is_forbidden + R"(unable to update, namespace team is being terminated"})",
         WriteResult::kConflict}}) {
    api_.answer_all(403, message);
    EXPECT_EQ(writes_.nominate("team/p", "u", "", "n").result, result) << message;
  }
}

TEST_F(ApiWritesTest, A401IsTriedOnceMoreWithAFreshCredential) {
  api_.put_pod("team/pods/p", pod(""));
  api_.answer_next(401);
  EXPECT_TRUE(writes_.nominate("team/p", "u", "", "n1").done());
  EXPECT_EQ(api_.calls().size(), 2U);
  EXPECT_EQ(api_.calls()[0].body, api_.calls()[1].body);
}

TEST_F(ApiWritesTest, WhatIsNoNameNeverBecomesAPath) {
  for (const char* name : {"team", "team/", "/p", "team/../x", "team/a/b", "team/p?x=1", "../p",
                           "team/p#", "team/p q"}) {
    EXPECT_EQ(pod_path(name), "") << name;
    EXPECT_EQ(writes_.nominate(name, "u", "", "n").result, WriteResult::kGone) << name;
  }
  EXPECT_TRUE(api_.calls().empty());
  EXPECT_EQ(pod_path("team/p.0-a"), "/api/v1/namespaces/team/pods/p.0-a");
}

TEST_F(ApiWritesTest, WakingChangesTheClaimAndMakesItWhereItIsMissing) {
  EXPECT_TRUE(writes_.wake("now").done());
  ASSERT_EQ(api_.calls().size(), 1U);
  EXPECT_EQ(api_.calls()[0].target,
            "/apis/resource.k8s.io/v1/namespaces/own/resourceclaims/rankward-wake"
            "?fieldManager=rankward");
  EXPECT_EQ(api_.calls()[0].content_type, "application/merge-patch+json");
  api_.answer_next(404);
  EXPECT_TRUE(writes_.wake("later").done());
  EXPECT_EQ(api_.calls().back().method, "POST");
  EXPECT_THAT(api_.calls().back().body, HasSubstr(R"("kind":"ResourceClaim")"));
}

TEST_F(ApiWritesTest, TheKeeperAsAWholeNominatesAndLiftsThenGivesTheLeaseBack) {
  GangWorld world;
  world.put_gang("job", 2, {std::string(placement::kGangGate)});
  world.publish();
  for (const char* name : {"job-0", "job-1"}) {
    auto json = pod("", R"({"name":"rankward.io/gang"})");
    json.replace(json.find("\"u\""), 3, "\"uid-" + std::string(name) + "\"");
    api_.put_pod("team-a/pods/" + std::string(name), std::move(json));
  }
  PlanBoard board(world, machine_clock());
  GangKeeperOptions options;
  options.name_space = "own";
  options.leader.timing.retry = milliseconds(5);
  GangKeeper keeper(server_, board, std::move(options));
  EXPECT_FALSE(keeper.leading());
  keeper.start();
  EXPECT_TRUE(eventually([&] {
    keeper.notify();
    return keeper.stats().gates_lifted_planned == 2;
  }));
  EXPECT_TRUE(keeper.leading());
  EXPECT_THAT(api_.pod("team-a/pods/job-0"), HasSubstr(R"("nominatedNodeName":"a0")"));
  EXPECT_THAT(api_.pod("team-a/pods/job-1"), HasSubstr(R"("nominatedNodeName":"a1")"));
  EXPECT_THAT(api_.pod("team-a/pods/job-1"), Not(HasSubstr("rankward.io/gang")));
  EXPECT_TRUE(eventually([&] { return keeper.stats().events >= 1; }));
  keeper.stop();
  EXPECT_EQ(api_.lease()->holder, "");
  EXPECT_FALSE(keeper.leading());
}

}  // namespace
}  // namespace rankward::cluster
