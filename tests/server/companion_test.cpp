// POST /mutate: the patch, applied as the API server applies it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "rankward/formats/base64.hpp"
#include "reviews.hpp"

namespace rankward::server {
namespace {

namespace json = boost::json;

const char* const kPod = R"({"metadata":{"name":"p"},"spec":{
  "initContainers":[{"name":"i"}],
  "containers":[
    {"name":"a"},
    {"name":"b","env":[{"name":"A","value":"1"}]},
    {"name":"c","resources":{"limits":{"nvidia.com/gpu":"1"}}},
    {"name":"d","env":[{"name":"NVIDIA_VISIBLE_DEVICES","value":"none"}]}]}})";

// `add` of RFC 6902, the one operation that is used: its last part is a new key, or `-`.
std::string applied(const std::string& object, const std::string& patch) {
  json::value out = json::parse(object);
  const json::value operations = json::parse(patch);
  for (const json::value& operation : operations.as_array()) {
    EXPECT_EQ(operation.at("op"), "add");
    const std::string path(operation.at("path").as_string());
    const auto last = path.rfind('/');
    boost::system::error_code missing;
    json::value* parent = out.find_pointer(path.substr(0, last), missing);
    if (parent == nullptr) {
      ADD_FAILURE() << path;
      continue;
    }
    const std::string key = path.substr(last + 1);
    if (key == "-") {
      parent->as_array().push_back(operation.at("value"));
    } else {
      parent->as_object()[key] = operation.at("value");
    }
  }
  return json::serialize(out);
}

std::string patch_of(const Told& told) {
  return formats::base64_decode(told.patch).value_or("not base64");
}

class CompanionDoor : public testing::Test {
 protected:
  const Webhook webhook_{{}, {.mutate = true}};
};

TEST_F(CompanionDoor, TellsContainersWithoutARequestThatTheySeeNoGpu) {
  const Told told = mutate(webhook_, {.object = kPod});
  EXPECT_TRUE(told.allowed);
  EXPECT_THAT(told.body, testing::HasSubstr(R"("patchType":"JSONPatch")"));
  const json::value after = json::parse(applied(kPod, patch_of(told)));
  const json::value variable = {{"name", "NVIDIA_VISIBLE_DEVICES"}, {"value", "void"}};
  const auto env = [&](const char* list, std::size_t index) {
    const json::object& container = after.at("spec").at(list).at(index).as_object();
    const json::value* found = container.if_contains("env");
    return found == nullptr ? json::array{} : found->as_array();
  };
  EXPECT_EQ(env("initContainers", 0), (json::array{variable}));
  EXPECT_EQ(env("containers", 0), (json::array{variable}));
  EXPECT_EQ(env("containers", 1).size(), 2U);
  EXPECT_EQ(env("containers", 1).at(1), variable);
  EXPECT_EQ(env("containers", 2).size(), 0U);
  EXPECT_EQ(env("containers", 3).size(), 1U);
}

TEST_F(CompanionDoor, HasNothingToAddASecondTime) {
  const std::string once = applied(kPod, patch_of(mutate(webhook_, {.object = kPod})));
  const Told again = mutate(webhook_, {.object = once});
  EXPECT_TRUE(again.allowed);
  EXPECT_EQ(again.patch, "");
  EXPECT_THAT(again.body, testing::Not(testing::HasSubstr("patch")));
}

TEST_F(CompanionDoor, MakesNoFindingOfItsOwn) {
  const std::string once = applied(kPod, patch_of(mutate(webhook_, {.object = kPod})));
  const Told before = validate(webhook_, {.object = kPod});
  const Told after = validate(webhook_, {.object = once});
  EXPECT_TRUE(after.allowed) << after.message;
  EXPECT_EQ(after.warnings, before.warnings);
}

TEST_F(CompanionDoor, TellsAnEphemeralContainerThatIsAdded) {
  const std::string before = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"}]}})";
  const std::string after = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"a"}],
    "ephemeralContainers":[{"name":"debugger"}]}})";
  const Told told = mutate(webhook_, {.operation = "UPDATE",
                                      .object = after,
                                      .old_object = before,
                                      .sub_resource = "ephemeralcontainers"});
  EXPECT_EQ(json::parse(patch_of(told)).at(0).at("path"), "/spec/ephemeralContainers/0/env");
}

TEST_F(CompanionDoor, LeavesEverythingElseAlone) {
  EXPECT_EQ(mutate(webhook_, {.object = kPod, .namespace_ = "kube-system"}).patch, "");
  EXPECT_EQ(mutate(webhook_, {.operation = "UPDATE", .object = kPod, .old_object = kPod}).patch,
            "");
  EXPECT_EQ(mutate(webhook_, {.api_version = "apps/v1",
                              .kind = "Deployment",
                              .object = R"({"metadata":{},"spec":{"template":{"spec":{
                                "containers":[{"name":"a"}]}}}})"})
                .patch,
            "");
  EXPECT_EQ(mutate(webhook_, {.operation = "DELETE", .old_object = kPod}).patch, "");
}

TEST_F(CompanionDoor, LeavesAPodThatItCannotReadToTheFailurePolicy) {
  EXPECT_EQ(mutate(webhook_, {.object = R"({"spec":{"containers":5}})"}).status, 500);
}

}  // namespace
}  // namespace rankward::server
