#include "rankward/formats/judged_object.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankward::formats {
namespace {

using ::testing::IsEmpty;

TEST(JudgedObject, a_pod_is_its_own_subject) {
  const auto object = read_judged_object(
      "v1", "Pod", R"({"metadata":{"name":"a"},"spec":{"containers":[{"name":"c"}]}})");
  ASSERT_TRUE(object) << object.error().to_string();
  EXPECT_TRUE(object->is_pod());
  const auto subjects = object->subjects("team-a");
  ASSERT_EQ(subjects.size(), 1U);
  EXPECT_EQ(subjects[0].path_prefix, "");
  EXPECT_EQ(subjects[0].workload_kind, "");
  EXPECT_EQ(subjects[0].object_metadata, nullptr);
  EXPECT_EQ(subjects[0].metadata.name, "a");
  EXPECT_EQ(subjects[0].namespace_, "team-a");
}

TEST(JudgedObject, a_workload_lends_its_metadata_to_its_subjects) {
  const admission::ClusterFacts facts;
  const auto object = read_judged_object(
      "apps/v1", "Deployment",
      R"({"spec":{"template":{"spec":{"containers":[{"name":"c"}]}}},"metadata":{"name":"web"}})");
  ASSERT_TRUE(object) << object.error().to_string();
  EXPECT_FALSE(object->is_pod());
  const auto subjects = object->subjects("team-a", &facts);
  ASSERT_EQ(subjects.size(), 1U);
  EXPECT_EQ(subjects[0].path_prefix, "spec.template");
  EXPECT_EQ(subjects[0].workload_kind, "Deployment");
  ASSERT_EQ(subjects[0].object_metadata, &object->metadata);
  EXPECT_EQ(subjects[0].object_metadata->name, "web");
  EXPECT_EQ(subjects[0].cluster, &facts);
}

TEST(JudgedObject, a_volume_has_no_subjects) {
  const auto object =
      read_judged_object("v1", "PersistentVolume",
                         R"({"metadata":{"name":"scratch"},"spec":{"hostPath":{"path":"/dev"}}})");
  ASSERT_TRUE(object) << object.error().to_string();
  EXPECT_EQ(object->metadata.name, "scratch");
  ASSERT_TRUE(object->volume.has_value());
  EXPECT_EQ(object->volume->host_path->path, "/dev");
  EXPECT_THAT(object->subjects("default"), IsEmpty());
}

TEST(JudgedObject, errors_name_the_field_from_the_root) {
  const auto deployment = read_judged_object("apps/v1", "Deployment",
                                             R"({"spec":{"template":{"spec":{"hostPID":1}}}})");
  ASSERT_FALSE(deployment);
  EXPECT_EQ(deployment.error().field(), "spec.template.spec.hostPID");
  const auto volume =
      read_judged_object("v1", "PersistentVolume", R"({"spec":{"hostPath":{"path":7}}})");
  ASSERT_FALSE(volume);
  EXPECT_EQ(volume.error().field(), "spec.hostPath.path");
  EXPECT_FALSE(read_judged_object("v1", "Secret", "not JSON"));
}

}  // namespace
}  // namespace rankward::formats
