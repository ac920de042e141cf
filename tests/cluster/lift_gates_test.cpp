#include "rankward/cluster/lift_gates.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "fake_writes.hpp"

namespace rankward::cluster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class LiftGatesTest : public testing::Test {
 protected:
  void put(const std::string& name, const std::string& gang, int rank, const std::string& gates) {
    api_.put_pod("team/pods/" + name, R"({"metadata":{"namespace":"team","name":")" + name +
                                          R"(","uid":"u-)" + name +
                                          R"(","annotations":{"rankward.io/gang":")" + gang +
                                          R"(","rankward.io/rank":")" + std::to_string(rank) +
                                          R"("}},"spec":{"schedulingGates":[)" + gates + "]}}");
  }
  std::vector<std::string> names(const std::vector<LiftedGate>& lifted) {
    std::vector<std::string> out;
    for (const auto& each : lifted)
      out.push_back(each.pod);
    return out;
  }
  Result<std::vector<LiftedGate>> lift(const std::vector<std::string>& what, bool dry_run = false) {
    return lift_gates(api_.address(), "team", what, dry_run);
  }

  const std::string ours_ = R"({"name":"rankward.io/gang"})";
  const std::string others_ = R"({"name":"other.io/gate"})";
  FakeWriteServer api_;
};

TEST_F(LiftGatesTest, AGangIsLetGoInRankOrderAndOthersStay) {
  put("z", "job", 0, ours_);
  put("a", "job", 1, ours_);
  put("b", "else", 0, ours_);
  EXPECT_THAT(names(lift({"job"}).value()), ElementsAre("z", "a"));
  EXPECT_THAT(api_.pod("team/pods/z"), Not(HasSubstr("rankward.io/gang\"}")));
  EXPECT_THAT(api_.pod("team/pods/a"), HasSubstr(R"("schedulingGates":[])"));
  EXPECT_THAT(api_.pod("team/pods/b"), HasSubstr(ours_));
}

TEST_F(LiftGatesTest, OnlyOurGateIsTakenWhereverItStands) {
  put("p", "job", 0, others_ + "," + ours_);
  const auto lifted = lift({"p"}).value();
  EXPECT_TRUE(lifted.front().gated);
  EXPECT_FALSE(lifted.front().error);
  EXPECT_THAT(lifted.front().other_gates, ElementsAre("other.io/gate"));
  EXPECT_THAT(api_.pod("team/pods/p"),
              HasSubstr(R"("schedulingGates":[{"name":"other.io/gate"}])"));
}

TEST_F(LiftGatesTest, ADryRunWritesNothing) {
  put("p", "job", 0, ours_);
  EXPECT_TRUE(lift({"job", "p"}, true).value().front().gated);
  EXPECT_THAT(api_.pod("team/pods/p"), HasSubstr(ours_));
  for (const auto& call : api_.calls())
    EXPECT_EQ(call.method, "GET");
}

TEST_F(LiftGatesTest, ANameOfNobodyLiftsNothing) {
  put("p", "job", 0, ours_);
  const auto lifted = lift({"p", "nobody"});
  ASSERT_FALSE(lifted);
  EXPECT_EQ(lifted.error().kind(), ErrorKind::kNotFound);
  EXPECT_THAT(lifted.error().message(), HasSubstr("nobody"));
  EXPECT_THAT(api_.pod("team/pods/p"), HasSubstr(ours_));
}

TEST_F(LiftGatesTest, WhatGoesWrongIsSaid) {
  put("p", "job", 0, "");
  EXPECT_FALSE(lift({"p"}).value().front().gated);
  EXPECT_EQ(lift_gates(api_.address(), "no/space", {"p"}, false).error().kind(),
            ErrorKind::kInvalid);
  api_.answer_all(403);
  EXPECT_EQ(lift({"p"}).error().kind(), ErrorKind::kUnavailable);
}

}  // namespace
}  // namespace rankward::cluster
