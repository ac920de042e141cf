// The patch of the mutating companion, as the API server reads it.
#include "rankward/formats/mutation.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "rankward/formats/base64.hpp"

namespace rankward::formats {
namespace {

namespace json = boost::json;

TEST(VoidPatch, AddsTheVariableAndTheListWhereThereIsNone) {
  const std::vector<admission::VoidAddition> additions = {{"containers", 0, true},
                                                          {"initContainers", 12, false}};
  EXPECT_EQ(json::parse(void_patch(additions)), json::parse(R"([
    {"op": "add", "path": "/spec/containers/0/env",
     "value": [{"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}]},
    {"op": "add", "path": "/spec/initContainers/12/env/-",
     "value": {"name": "NVIDIA_VISIBLE_DEVICES", "value": "void"}}])"));
}

TEST(VoidPatch, EscapesWhatAPointerWouldSplit) {
  std::string out = "/";
  append_pointer_token(out, "a/b~c~1");
  EXPECT_EQ(out, "/a~1b~0c~01");
}

TEST(MutationResponse, CarriesThePatchInBase64AndNothingWhereThereIsNone) {
  std::string out;
  write_mutation_response("u-1", "[]", out);
  const json::value response = json::parse(out).at("response");
  EXPECT_EQ(response.at("uid"), "u-1");
  EXPECT_EQ(response.at("allowed"), true);
  EXPECT_EQ(response.at("patchType"), "JSONPatch");
  EXPECT_EQ(base64_decode(std::string(response.at("patch").as_string())), "[]");

  out.clear();
  write_mutation_response("u-2", "", out);
  const json::value bare = json::parse(out);
  EXPECT_EQ(bare, json::parse(R"({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview",
                                  "response": {"uid": "u-2", "allowed": true}})"));
}

}  // namespace
}  // namespace rankward::formats
