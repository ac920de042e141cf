#include "rankward/formats/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rankward::formats {
namespace {

using ::testing::IsEmpty;

constexpr std::string_view kTemplate =
    R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}]}})";

std::string wrapped(std::string_view path) {
  std::string json(kTemplate);
  while (!path.empty()) {
    const std::size_t dot = path.rfind('.');
    const std::size_t start = dot == std::string_view::npos ? 0 : dot + 1;
    json = "{\"replicas\":2,\"" + std::string(path.substr(start)) + "\":" + json + "}";
    path = path.substr(0, start == 0 ? 0 : dot);
  }
  return json;
}

TEST(PodTemplates, are_found_in_pod_and_the_eight_builtin_kinds) {
  struct Case {
    std::string_view api_version;
    std::string_view kind;
    std::string_view path;
  };
  const Case cases[] = {
      {"v1", "Pod", ""},
      {"v1", "PodTemplate", "template"},
      {"v1", "ReplicationController", "spec.template"},
      {"apps/v1", "Deployment", "spec.template"},
      {"apps/v1", "ReplicaSet", "spec.template"},
      {"apps/v1", "StatefulSet", "spec.template"},
      {"apps/v1", "DaemonSet", "spec.template"},
      {"batch/v1", "Job", "spec.template"},
      {"batch/v1", "CronJob", "spec.jobTemplate.spec.template"},
  };
  for (const Case& c : cases) {
    const auto templates = pod_templates(c.api_version, c.kind, wrapped(c.path));
    ASSERT_TRUE(templates) << c.kind << templates.error().to_string();
    ASSERT_EQ(templates->size(), 1U) << c.kind;
    EXPECT_EQ(templates->front().path, c.path);
    EXPECT_EQ(templates->front().pod_template.spec.containers.at(0).name, "c");
    EXPECT_EQ(templates->front().pod_template.metadata.labels.at("a"), "b");
  }
  EXPECT_EQ(workload_kinds().size(), std::size(cases));
}

TEST(PodTemplates, other_kinds_have_none) {
  for (const auto& [api_version, kind] :
       {std::pair{"v1", "ConfigMap"}, {"example.com/v1", "Deployment"}, {"apps/v1", "Pod"}}) {
    const auto templates = pod_templates(api_version, kind, "not even JSON");
    ASSERT_TRUE(templates);
    EXPECT_THAT(*templates, IsEmpty());
  }
}

TEST(PodTemplates, an_object_without_its_template_has_none) {
  for (const std::string_view json : {"{}", R"({"spec":null})", R"({"spec":{"template":null}})"}) {
    const auto templates = pod_templates("apps/v1", "Deployment", json);
    ASSERT_TRUE(templates) << json;
    EXPECT_THAT(*templates, IsEmpty()) << json;
  }
}

TEST(PodTemplates, errors_name_the_field_from_the_root) {
  const auto templates =
      pod_templates("apps/v1", "Deployment", R"({"spec":{"template":{"spec":{"hostPID":1}}}})");
  ASSERT_FALSE(templates);
  EXPECT_EQ(templates.error().field(), "spec.template.spec.hostPID");
}

TEST(PodTemplates, keep_amounts_that_kubernetes_cannot_read) {
  const auto templates = pod_templates(
      "batch/v1", "Job",
      R"({"spec":{"template":{"spec":{"containers":[{"resources":{"limits":{"a.b/c":"0x8"}}}]}}}})");
  ASSERT_TRUE(templates);
  EXPECT_EQ(templates->at(0).pod_template.spec.containers.at(0).resources.unreadable.size(), 1U);
}

}  // namespace
}  // namespace rankward::formats
