#include "rankward/formats/pod_writes.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>

namespace rankward::formats {
namespace {

using testing::HasSubstr;

TEST(PodWrites, ANominationIsPatchedOverWhatWasSeenAndNothingElse) {
  EXPECT_EQ(nomination_patch("u", "", "n1"),
            R"([{"op":"test","path":"/metadata/uid","value":"u"},)"
            R"({"op":"test","path":"/status/nominatedNodeName","value":null},)"
            R"({"op":"add","path":"/status/nominatedNodeName","value":"n1"}])");
  EXPECT_EQ(nomination_patch("u", "n1", "n2"),
            R"([{"op":"test","path":"/metadata/uid","value":"u"},)"
            R"({"op":"test","path":"/status/nominatedNodeName","value":"n1"},)"
            R"({"op":"add","path":"/status/nominatedNodeName","value":"n2"}])");
  EXPECT_EQ(nomination_patch("u", "n1", ""),
            R"([{"op":"test","path":"/metadata/uid","value":"u"},)"
            R"({"op":"test","path":"/status/nominatedNodeName","value":"n1"},)"
            R"({"op":"remove","path":"/status/nominatedNodeName"}])");
}

TEST(PodWrites, AGateIsTakenAwayOnlyWhereItStands) {
  EXPECT_EQ(gate_patch("u", 1, "rankward.io/gang"),
            R"([{"op":"test","path":"/metadata/uid","value":"u"},)"
            R"({"op":"test","path":"/spec/schedulingGates/1/name","value":"rankward.io/gang"},)"
            R"({"op":"remove","path":"/spec/schedulingGates/1"}])");
}

// metadata.managedFields as kube-apiserver 1.37.2 writes them.
TEST(PodWrites, WhoNominatedIsReadFromTheManagedFields) {
  const auto pod = [](const std::string& manager, const std::string& fields) {
    return R"({"metadata":{"uid":"u","managedFields":[{"manager":"kubectl-create",)"
           R"("operation":"Update","fieldsType":"FieldsV1","fieldsV1":{"f:spec":)"
           R"({"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}}}}},)"
           R"({"manager":")" +
           manager + R"(","operation":"Update","fieldsType":"FieldsV1","fieldsV1":)" + fields +
           R"(,"subresource":"status"}]},"status":{"nominatedNodeName":"n1"}})";
  };
  const std::string nomination = R"({"f:status":{"f:nominatedNodeName":{}}})";
  const auto ours = read_nomination(pod("rankward", nomination)).value();
  EXPECT_EQ(ours.uid, "u");
  EXPECT_EQ(ours.nominated_node, "n1");
  EXPECT_TRUE(ours.nominated_by_us);
  EXPECT_FALSE(read_nomination(pod("kube-scheduler", nomination)).value().nominated_by_us);
  EXPECT_FALSE(
      read_nomination(pod("rankward", R"({"f:status":{"f:phase":{}}})")).value().nominated_by_us);
  EXPECT_FALSE(read_nomination(R"({"metadata":{"uid":"u"}})").value().nominated_by_us);
  EXPECT_FALSE(read_nomination(R"({"metadata":{"managedFields":{}}})"));
}

PodEvent event() {
  return {.name_space = "team",
          .pod = "job-0",
          .uid = "u",
          .reason = "GangPlanned",
          .action = "Planning",
          .note = "why",
          .time = "2026-01-31T12:00:00.000000Z",
          .instance = "cp-1_8d",
          .suffix = "17a"};
}

TEST(PodWrites, AnEventIsAboutItsPodInItsNamespace) {
  const auto json = boost::json::parse(write_event(event()));
  EXPECT_EQ(json.at_pointer("/metadata/name").as_string(), "job-0.17a");
  EXPECT_EQ(json.at_pointer("/metadata/namespace").as_string(), "team");
  EXPECT_EQ(json.at_pointer("/regarding/uid").as_string(), "u");
  EXPECT_EQ(json.at_pointer("/type").as_string(), "Normal");
  EXPECT_EQ(json.at_pointer("/reportingController").as_string(), "rankward.io/rankward");
}

TEST(PodWrites, AnEventKeepsToTheLimitsOfTheAPI) {
  auto large = event();
  large.note = std::string(1023, 'x') + "\xC3\xA4 and more";
  large.pod = std::string(234, 'p') + "." + std::string(18, 'q');
  large.instance = std::string(200, 'i');
  const auto json = boost::json::parse(write_event(large));
  EXPECT_EQ(json.at_pointer("/note").as_string().size(), 1023U) << "no half character";
  const std::string name(json.at_pointer("/metadata/name").as_string());
  EXPECT_LE(name.size(), 253U);
  EXPECT_EQ(name.find(".."), std::string::npos);
  EXPECT_EQ(json.at_pointer("/reportingInstance").as_string().size(), 128U);
}

TEST(PodWrites, TheClaimThatWakesAsksForNoDevice) {
  EXPECT_EQ(write_wake_claim("own", "rankward-wake"),
            R"({"apiVersion":"resource.k8s.io/v1","kind":"ResourceClaim","metadata":)"
            R"({"namespace":"own","name":"rankward-wake"},"spec":{}})");
  EXPECT_EQ(wake_patch("t"), R"({"metadata":{"annotations":{"rankward.io/woken-at":"t"}}})");
}

}  // namespace
}  // namespace rankward::formats
