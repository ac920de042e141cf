// Which values of a ConfigMap are ours, and what they say.
#include "rankward/formats/stored_configuration.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

#include "rankward/formats/base64.hpp"

namespace rankward::formats {
namespace {

using ::testing::HasSubstr;

const std::string kHead = "apiVersion: config.rankward.io/v1alpha1\nkind: RankwardConfiguration\n";

std::string config_map(const std::string& text, const char* map = "data",
                       const char* key = "rankward.yaml") {
  return boost::json::serialize(boost::json::object{
      {"metadata", boost::json::object{{"name", "c"}}}, {map, boost::json::object{{key, text}}}});
}

TEST(StoredConfiguration, IsFoundByItsKindWhateverItsKey) {
  const auto found = read_stored_configurations(
      config_map(kHead + "admission:\n  excludedNamespaces: [a]\n", "data", "other.txt"));
  ASSERT_TRUE(found) << found.error().to_string();
  ASSERT_EQ(found->size(), 1U);
  EXPECT_EQ(found->front().field, "data[\"other.txt\"]");
  ASSERT_TRUE(found->front().configuration);
  EXPECT_EQ(found->front().configuration->admission.excluded_namespaces,
            std::vector<std::string>{"a"});
}

TEST(StoredConfiguration, IsFoundInBinaryDataAndBehindEscapes) {
  const auto binary =
      read_stored_configurations(config_map(base64_encode(kHead), "binaryData")).value();
  ASSERT_EQ(binary.size(), 1U);
  EXPECT_EQ(binary.front().field, "binaryData[\"rankward.yaml\"]");
  const auto escaped = read_stored_configurations(config_map(
      "apiVersion: config.rankward.io/v1alpha1\n\"k\\x69nd\": \"\\x52ankwardConfiguration\"\n"));
  ASSERT_EQ(escaped->size(), 1U);
  EXPECT_TRUE(escaped->front().configuration);
}

TEST(StoredConfiguration, ThatCannotBeReadSaysWhyAndWhere) {
  const std::pair<std::string, const char*> broken[] = {
      {kHead + "admission:\n  exemption: []\n", "exemption"},
      {kHead + "admission: [\n", "is not YAML"},
      {"kind: RankwardConfiguration\n", "apiVersion"}};
  for (const auto& [text, words] : broken) {
    const auto found = read_stored_configurations(config_map(text));
    ASSERT_EQ(found->size(), 1U) << text;
    ASSERT_FALSE(found->front().configuration) << text;
    EXPECT_THAT(found->front().configuration.error().to_string(),
                testing::AllOf(HasSubstr("data[\"rankward.yaml\"]"), HasSubstr(words)));
  }
}

TEST(StoredConfiguration, IsNoOtherText) {
  for (const char* text : {"", "plain words", "kind: KubeSchedulerConfiguration", "- a\n- b",
                           "kind: [RankwardConfiguration]", "{", "about: RankwardConfiguration"})
    EXPECT_TRUE(read_stored_configurations(config_map(text))->empty()) << text;
  EXPECT_TRUE(read_stored_configurations(config_map("%%%", "binaryData"))->empty());
  EXPECT_TRUE(read_stored_configurations(R"({"metadata": {}})")->empty());
  EXPECT_FALSE(read_stored_configurations(R"({"data": []})"));
}

}  // namespace
}  // namespace rankward::formats
