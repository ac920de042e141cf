// Pod specs in kinds that nobody described to us, and what only looks like one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankward/formats/judged_object.hpp"

namespace rankward::formats {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> paths_in(std::string_view json, std::string_view kind = "Cluster") {
  const auto templates = pod_templates("example.com/v1", kind, json);
  if (!templates) {
    ADD_FAILURE() << templates.error().to_string();
    return {};
  }
  std::vector<std::string> out;
  for (const TemplateAt& at : *templates) {
    // The place that findings get: of the spec itself, else below the path.
    out.push_back(at.placed.empty() ? at.path + ".spec" : at.placed.front().in_object);
  }
  return out;
}

TEST(PodSearch, finds_templates_and_bare_specs_wherever_they_are) {
  EXPECT_THAT(paths_in(R"({"spec":{"template":{"spec":{"containers":[{"name":"a"}]}}}})"),
              ElementsAre("spec.template.spec"));
  EXPECT_THAT(paths_in(R"({"spec":{"groups":[{},{"podSpec":{"containers":[{"image":"a"}]}}]}})"),
              ElementsAre("spec.groups[1].podSpec"));
  EXPECT_THAT(paths_in(R"({"spec":{"pods":{"a.b/c":{"spec":{"containers":[{"name":"a"}]}}}}})"),
              ElementsAre("spec.pods[\"a.b/c\"].spec"));
  EXPECT_THAT(paths_in(R"({"spec":{"matrix":[[{"containers":[{"name":"a"}]}]]}})"),
              ElementsAre("spec.matrix[0][0]"));
}

TEST(PodSearch, reads_the_metadata_beside_a_spec) {
  const auto templates = pod_templates("example.com/v1", "Cluster", R"({"spec":{"worker":{
      "spec":{"containers":[{"name":"a"}]},
      "metadata":{"annotations":{"k":"v"},"deletionTimestamp":"2026-01-01T00:00:00Z"}}}})");
  ASSERT_TRUE(templates);
  ASSERT_EQ(templates->size(), 1U);
  EXPECT_EQ(templates->front().path, "spec.worker");
  EXPECT_EQ(templates->front().pod_template.metadata.annotations.at("k"), "v");
  // Nothing that a user writes into a template takes it out of judgement.
  EXPECT_FALSE(templates->front().pod_template.metadata.deleting);
}

TEST(PodSearch, an_object_whose_own_spec_is_a_pods_is_found_at_its_root) {
  const auto templates = pod_templates(
      "example.com/v1", "FancyPod",
      R"({"spec":{"containers":[{"name":"a"}]},"metadata":{"annotations":{"k":"v"}}})");
  ASSERT_TRUE(templates);
  ASSERT_EQ(templates->size(), 1U);
  EXPECT_EQ(templates->front().path, "");
  EXPECT_TRUE(templates->front().placed.empty());
}

TEST(PodSearch, finds_specs_inside_of_specs) {
  EXPECT_THAT(paths_in(R"({"spec":{"containers":[{"name":"extra"}],
                            "job":{"template":{"spec":{"containers":[{"name":"a"}]}}}}})"),
              ElementsAre("spec.job.template.spec", ".spec"));
}

TEST(PodSearch, init_containers_alone_are_a_pod_spec) {
  EXPECT_THAT(paths_in(R"({"spec":{"override":{"initContainers":[{"name":"a"}]}}})"),
              ElementsAre("spec.override"));
}

TEST(PodSearch, looks_beside_the_paths_of_the_table) {
  const auto templates = pod_templates("ray.io/v1", "RayCluster", R"({"spec":{
      "headGroupSpec":{"template":{"spec":{"containers":[{"name":"a"}]}}},
      "gateway":{"pod":{"spec":{"containers":[{"name":"b"}]}}}}})");
  ASSERT_TRUE(templates);
  ASSERT_EQ(templates->size(), 2U);
  EXPECT_EQ(templates->at(1).path, "spec.gateway.pod");
  // The first alpha of MPIJob had one template for all.
  const auto old = pod_templates("kubeflow.org/v1alpha1", "MPIJob",
                                 R"({"spec":{"template":{"spec":{"containers":[{"name":"a"}]}}}})");
  ASSERT_TRUE(old);
  ASSERT_EQ(old->size(), 1U);
  EXPECT_EQ(old->front().path, "spec.template");
}

TEST(PodSearch, another_version_may_keep_something_else_at_a_path) {
  const auto templates = pod_templates(
      "ray.io/v9", "RayCluster",
      R"({"spec":{"workerGroupSpecs":{"gpu":{"spec":{"containers":[{"name":"a"}]}}}}})");
  ASSERT_TRUE(templates) << templates.error().to_string();
  ASSERT_EQ(templates->size(), 1U);
  EXPECT_EQ(templates->front().path, "spec.workerGroupSpecs.gpu");
}

TEST(PodSearch, what_only_looks_like_a_pod_spec_is_none) {
  const std::string_view none[] = {
      // the schema of a CRD, in whatever object it is kept
      R"({"spec":{"schema":{"properties":{"containers":{"type":"array","items":{"type":"object"}}}}}})",
      R"({"spec":{"containers":["a","b"]}})",
      R"({"spec":{"containers":[]}})",
      R"({"spec":{"containers":null}})",
      R"({"spec":{"containers":{"name":"a"}}})",
      R"({"spec":{"containers":[{"name":"a"},"b"]}})",
      R"({"spec":{"containers":[{"port":1}]}})",
      R"({"spec":{"containers":[{"name":1}]}})",
      // not a pod's: Go's reader of its types would refuse these
      R"({"spec":{"containers":[{"name":"blobs","env":"production"}]}})",
      R"({"spec":{"containers":[{"name":"a"}],"volumes":"all"}})",
      R"({"status":{"pod":{"spec":{"containers":[{"name":"a"}]}}}})",
      R"({"metadata":{"annotations":{"last":"{\"spec\":{\"containers\":[{\"name\":\"a\"}]}}"}}})",
      R"({})",
  };
  for (const std::string_view json : none)
    EXPECT_THAT(paths_in(json), IsEmpty()) << json;
}

TEST(PodSearch, does_not_look_into_kinds_of_the_api_server) {
  const std::string_view json =
      R"({"data":{"spec":{"containers":[{"name":"a"}]}},"status":{"containers":[{"name":"a"}]}})";
  for (const auto& [api_version, kind] :
       {std::pair{"v1", "ConfigMap"},
        {"v1", "Node"},
        {"v1", "Pod"},
        {"apiextensions.k8s.io/v1", "CustomResourceDefinition"}}) {
    const auto templates = pod_templates(api_version, kind, json);
    ASSERT_TRUE(templates) << kind;
    for (const TemplateAt& at : *templates)
      EXPECT_THAT(at.pod_template.spec.containers, IsEmpty()) << kind;
  }
}

TEST(PodSearch, unreadable_amounts_are_kept) {
  const auto templates = pod_templates(
      "example.com/v1", "Cluster",
      R"({"spec":{"pod":{"containers":[{"name":"a","resources":{"limits":{"a.b/c":"many"}}}]}}})");
  ASSERT_TRUE(templates);
  ASSERT_EQ(templates->size(), 1U);
  EXPECT_EQ(templates->front().pod_template.spec.containers[0].resources.unreadable.size(), 1U);
}

}  // namespace
}  // namespace rankward::formats
