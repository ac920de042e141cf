#include "rankward/formats/lease.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankward::formats {
namespace {

TEST(Lease, IsReadAsTheAPIServerWritesIt) {
  const auto lease = read_lease(
      R"({"kind":"Lease","apiVersion":"coordination.k8s.io/v1","metadata":{"name":"rankward",)"
      R"("namespace":"rankward-system","uid":"1","resourceVersion":"714","managedFields":[]},)"
      R"("spec":{"holderIdentity":"cp-1_8d","leaseDurationSeconds":15,)"
      R"("acquireTime":"2026-01-31T12:00:00.000000Z","renewTime":"2026-01-31T12:00:02.000000Z",)"
      R"("leaseTransitions":3}})");
  ASSERT_TRUE(lease);
  EXPECT_EQ(*lease, (Lease{.resource_version = "714",
                           .holder = "cp-1_8d",
                           .duration_seconds = 15,
                           .acquire_time = "2026-01-31T12:00:00.000000Z",
                           .renew_time = "2026-01-31T12:00:02.000000Z",
                           .transitions = 3}));
}

TEST(Lease, WithoutASpecHasNoHolder) {
  EXPECT_EQ(read_lease(R"({"metadata":{"resourceVersion":"1"},"spec":{}})").value(),
            Lease{.resource_version = "1"});
  EXPECT_EQ(read_lease(R"({"metadata":{"resourceVersion":"1"}})").value().holder, "");
}

TEST(Lease, ThatIsNoneIsRefusedWithTheField) {
  for (const auto& [text, field] :
       {std::pair{R"([])", ""},
        {R"({"spec":{"leaseDurationSeconds":"15"}})", "spec.leaseDurationSeconds"},
        {R"({"spec":{"leaseTransitions":99999999999}})", "spec.leaseTransitions"},
        {R"({"spec":{"holderIdentity":7}})", "spec.holderIdentity"},
        {R"({"spec":)", "spec"}}) {
    const auto lease = read_lease(text);
    ASSERT_FALSE(lease) << text;
    EXPECT_EQ(lease.error().field(), field) << text;
  }
}

TEST(Lease, IsReadBackAsItWasWritten) {
  const Lease lease{.resource_version = "9",
                    .holder = "a \"quoted\" host_1",
                    .duration_seconds = 15,
                    .acquire_time = "2026-01-31T12:00:00.000000Z",
                    .renew_time = "2026-01-31T12:00:00.000001Z",
                    .transitions = 2};
  EXPECT_EQ(read_lease(write_lease("own", "rankward", lease)).value(), lease);
}

TEST(Lease, LeavesOutWhatIsNotGivenSinceTheAPIServerRefusesEmptyTimes) {
  const auto text = write_lease("own", "rankward", {.holder = "a", .duration_seconds = 1});
  EXPECT_EQ(text.find("Time"), std::string::npos);
  EXPECT_EQ(text.find("resourceVersion"), std::string::npos);
}

}  // namespace
}  // namespace rankward::formats
