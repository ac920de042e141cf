#include "rankward/formats/workload.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <sstream>

namespace rankward::formats {
namespace {

using ::testing::IsEmpty;

constexpr std::string_view kTemplate =
    R"({"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c"}]}})";

// The template at the end of a path; lists get an empty item in front, maps the key "Worker".
std::string wrapped(std::string_view pattern, std::string json = std::string(kTemplate)) {
  while (!pattern.empty()) {
    const std::size_t dot = pattern.rfind('.');
    std::string_view name = pattern.substr(dot == std::string_view::npos ? 0 : dot + 1);
    pattern = pattern.substr(0, dot == std::string_view::npos ? 0 : dot);
    if (name.ends_with("[]")) json = "[{}," + json + "]";
    if (name.ends_with("{}")) json = R"({"Worker":)" + json + "}";
    name = name.substr(0, name.find_first_of("[{"));
    json = R"({"other":2,")" + std::string(name) + "\":" + json + R"(,"more":[]})";
  }
  return json;
}

std::string path_of(std::string_view pattern) {
  std::string path(pattern);
  for (std::size_t at = path.find("[]"); at != std::string::npos; at = path.find("[]"))
    path.replace(at, 2, "[1]");
  for (std::size_t at = path.find("{}"); at != std::string::npos; at = path.find("{}"))
    path.replace(at, 2, ".Worker");
  return path;
}

std::string api_version_of(const WorkloadKind& kind) {
  return kind.group.empty() ? "v1" : std::string(kind.group) + "/v1anything";
}

TEST(PodTemplates, are_found_at_every_place_of_the_table) {
  for (const WorkloadKind& row : workload_kinds()) {
    if (row.shape != TemplateShape::kTemplate && row.shape != TemplateShape::kPatch) continue;
    SCOPED_TRACE(std::string(row.kind) + " " + std::string(row.template_path));
    const auto templates = pod_templates(api_version_of(row), row.kind, wrapped(row.template_path));
    ASSERT_TRUE(templates) << templates.error().to_string();
    // Seldon's components have no other fields than these, so an empty one is a template too.
    ASSERT_FALSE(templates->empty());
    const TemplateAt& found = templates->back();
    EXPECT_EQ(found.path, path_of(row.template_path));
    EXPECT_EQ(found.pod_template.spec.containers.at(0).name, "c");
    EXPECT_EQ(found.pod_template.metadata.labels.at("a"), "b");
    EXPECT_TRUE(found.placed.empty());
    if (row.template_path.find("{}") != std::string_view::npos) {
      EXPECT_EQ(found.role, "Worker");
    }
    if (!row.role.empty()) {
      EXPECT_EQ(found.role, row.role);
    }
  }
}

TEST(PodTemplates, the_table_has_pod_and_the_eight_builtin_kinds) {
  const std::pair<std::string_view, std::string_view> builtin[] = {{"v1", "Pod"},
                                                                   {"v1", "PodTemplate"},
                                                                   {"v1", "ReplicationController"},
                                                                   {"apps/v1", "DaemonSet"},
                                                                   {"apps/v1", "Deployment"},
                                                                   {"apps/v1", "ReplicaSet"},
                                                                   {"apps/v1", "StatefulSet"},
                                                                   {"batch/v1", "Job"},
                                                                   {"batch/v1", "CronJob"}};
  for (const auto& [api_version, kind] : builtin) {
    const auto row = std::find_if(
        workload_kinds().begin(), workload_kinds().end(), [&, name = kind](const auto& known) {
          return known.kind == name &&
                 (known.group.empty() || known.group == "apps" || known.group == "batch");
        });
    ASSERT_NE(row, workload_kinds().end()) << kind;
    const auto templates = pod_templates(api_version, kind, wrapped(row->template_path));
    ASSERT_TRUE(templates) << kind;
    EXPECT_EQ(templates->size(), 1U) << kind;
  }
}

// Paths that leave the same value must want the same of it, or the walk would follow only one.
TEST(PodTemplates, no_two_places_of_a_kind_disagree) {
  for (const WorkloadKind& a : workload_kinds()) {
    for (const WorkloadKind& b : workload_kinds()) {
      if (a.group != b.group || a.kind != b.kind || &a == &b) continue;
      EXPECT_NE(a.template_path, b.template_path) << a.kind;
      std::size_t same = 0;
      while (same < std::min(a.template_path.size(), b.template_path.size()) &&
             a.template_path[same] == b.template_path[same])
        ++same;
      const auto bracket = [same](std::string_view path) {
        return same < path.size() && (path[same] == '[' || path[same] == '{');
      };
      if (bracket(a.template_path) || bracket(b.template_path)) {
        const char before = a.template_path[same - 1];
        EXPECT_FALSE(bracket(a.template_path) && bracket(b.template_path) && before != '.')
            << a.template_path << " " << b.template_path;
      }
    }
    for (const std::string_view beside : {a.role_path, a.counts[0], a.counts[1], a.at_most}) {
      if (beside.empty()) continue;
      // The object that holds it lies on the way to the template.
      const std::string_view holder = beside.substr(0, beside.rfind('.'));
      EXPECT_TRUE(a.template_path.starts_with(std::string(holder) + ".")) << beside;
    }
  }
}

TEST(PodTemplates, the_documentation_names_every_kind) {
  std::ifstream file(std::string(RANKWARD_SOURCE_DIR) + "/docs/workloads.md");
  std::ostringstream page;
  page << file.rdbuf();
  for (const WorkloadKind& row : workload_kinds()) {
    bool named = false;
    std::istringstream lines(page.str());
    for (std::string line; std::getline(lines, line);) {
      const auto group =
          line.find(row.group.empty() ? "| core" : "`" + std::string(row.group) + "`");
      const auto kind = line.find(" " + std::string(row.kind) + (row.kind == "Pod" ? "," : ""));
      named = named || (group != std::string::npos && kind != std::string::npos);
    }
    EXPECT_TRUE(named) << row.group << " " << row.kind;
  }
}

TEST(PodTemplates, builtin_kinds_without_pods_have_none) {
  const std::string json = wrapped("spec.template");
  for (const auto& [api_version, kind] : {std::pair{"v1", "ConfigMap"},
                                          {"v1", "Node"},
                                          {"apps/v1", "ControllerRevision"},
                                          {"apiextensions.k8s.io/v1", "CustomResourceDefinition"},
                                          {"policy/v1", "Pod"}}) {
    const auto templates = pod_templates(api_version, kind, json);
    ASSERT_TRUE(templates);
    EXPECT_THAT(*templates, IsEmpty()) << kind;
    EXPECT_FALSE(pod_templates(api_version, kind, "not even JSON"));
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
