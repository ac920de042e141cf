#include "rankward/formats/volume.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankward::formats {
namespace {

TEST(PersistentVolume, host_path_with_its_claim) {
  const auto volume = read_persistent_volume(R"({
    "apiVersion":"v1","kind":"PersistentVolume",
    "metadata":{"name":"scratch","labels":{"a":"b"},"deletionTimestamp":"2026-01-01T00:00:00Z"},
    "spec":{"capacity":{"storage":"1Ti"},"accessModes":["ReadWriteMany"],"volumeMode":"Filesystem",
            "hostPath":{"path":"//dev/./nvidia0","type":"CharDevice"},
            "claimRef":{"kind":"PersistentVolumeClaim","namespace":"team-a","name":"data"}},
    "status":{"phase":"Bound"}})");
  ASSERT_TRUE(volume) << volume.error().to_string();
  EXPECT_EQ(volume->metadata.name, "scratch");
  EXPECT_TRUE(volume->metadata.deleting);
  ASSERT_TRUE(volume->host_path.has_value());
  EXPECT_EQ(volume->host_path->path, "//dev/./nvidia0");
  EXPECT_EQ(volume->host_path->type, "CharDevice");
  EXPECT_FALSE(volume->local_path.has_value());
  EXPECT_FALSE(volume->block);
  EXPECT_EQ(volume->claim_namespace, "team-a");
  EXPECT_EQ(volume->claim_name, "data");
}

TEST(PersistentVolume, local_block_device) {
  const auto volume = read_persistent_volume(
      R"({"metadata":{"name":"a"},"spec":{"local":{"path":"/dev/nvme0n1"},"volumeMode":"Block"}})");
  ASSERT_TRUE(volume) << volume.error().to_string();
  EXPECT_EQ(volume->local_path, "/dev/nvme0n1");
  EXPECT_TRUE(volume->block);
  EXPECT_FALSE(volume->host_path.has_value());
  EXPECT_EQ(volume->claim_name, "");
}

TEST(PersistentVolume, every_part_may_be_null_or_missing) {
  for (const std::string_view json :
       {R"({})", R"({"metadata":null,"spec":null})",
        R"({"spec":{"hostPath":null,"local":null,"volumeMode":null,"claimRef":null}})",
        R"({"spec":{"nfs":{"server":"a","path":"/dev"},"csi":{"driver":"a"}}})"}) {
    const auto volume = read_persistent_volume(json);
    ASSERT_TRUE(volume) << json << volume.error().to_string();
    EXPECT_FALSE(volume->host_path.has_value()) << json;
    EXPECT_FALSE(volume->local_path.has_value()) << json;
    EXPECT_FALSE(volume->block) << json;
  }
  // A source without its path is a source all the same.
  const auto empty = read_persistent_volume(R"({"spec":{"local":{}}})");
  ASSERT_TRUE(empty);
  EXPECT_EQ(empty->local_path, "");
}

TEST(PersistentVolume, errors_name_the_field) {
  const std::pair<std::string_view, std::string_view> wrong[] = {
      {R"({"spec":{"hostPath":"/dev"}})", "spec.hostPath"},
      {R"({"spec":{"hostPath":{"path":7}}})", "spec.hostPath.path"},
      {R"({"spec":{"local":{"path":["/dev"]}}})", "spec.local.path"},
      {R"({"spec":{"volumeMode":true}})", "spec.volumeMode"},
      {R"({"spec":{"claimRef":{"name":{}}}})", "spec.claimRef.name"},
      {R"({"spec":{"hostPath":{},"hostPath":{}}})", "spec.hostPath"},
      {R"({"spec":{},"spec":{}})", "spec"},
      {R"({"metadata":[]})", "metadata"},
  };
  for (const auto& [json, field] : wrong) {
    const auto volume = read_persistent_volume(json);
    ASSERT_FALSE(volume) << json;
    EXPECT_EQ(volume.error().field(), field) << json;
    EXPECT_TRUE(volume.error().offset().has_value()) << json;
  }
  for (const std::string_view json : {"", "[]", "{", "{}x"})
    EXPECT_FALSE(read_persistent_volume(json)) << json;
}

}  // namespace
}  // namespace rankward::formats
