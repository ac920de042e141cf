// Objects that are broken, partly missing, deep or large.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>

#include "rankward/formats/judged_object.hpp"

namespace rankward::formats {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::string repeated(std::size_t times, std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < times; ++i) {
    if (i > 0) out += ',';
    out += text;
  }
  return out;
}

struct Kind {
  std::string_view api_version;
  std::string_view kind;
};

constexpr Kind kKinds[] = {
    {"v1", "Pod"},
    {"apps/v1", "Deployment"},
    {"jobset.x-k8s.io/v1alpha2", "JobSet"},
    {"kubeflow.org/v1", "PyTorchJob"},
    {"trainer.kubeflow.org/v1alpha1", "TrainJob"},
    {"ray.io/v1", "RayCluster"},
    {"batch.volcano.sh/v1alpha1", "Job"},
    {"argoproj.io/v1alpha1", "Workflow"},
    {"argoproj.io/v1alpha1", "CronWorkflow"},
    {"serving.knative.dev/v1", "Revision"},
    {"serving.kserve.io/v1beta1", "InferenceService"},
    {"serving.kserve.io/v1alpha1", "ServingRuntime"},
    {"sparkoperator.k8s.io/v1beta2", "SparkApplication"},
    {"workload.codeflare.dev/v1beta2", "AppWrapper"},
    {"v1", "PersistentVolume"},
    {"example.com/v1", "Unknown"},
};

TEST(JudgedObjectBounds, every_part_may_be_null_or_missing) {
  const std::string_view parts[] = {
      R"({})",
      R"({"metadata":null,"spec":null,"status":null})",
      R"({"spec":{}})",
      R"({"spec":{"template":null,"templates":null,"tasks":null,"components":null,"driver":null}})",
      R"({"spec":{"replicatedJobs":[null,{},{"template":null}],"tasks":[null,{}]}})",
      R"({"spec":{"pytorchReplicaSpecs":{"Worker":null,"Master":{"template":{"spec":null}}}}})",
      R"({"spec":{"templates":[null,{},{"container":null,"steps":[null,[null,{"inline":null}]]}]}})",
      R"({"spec":{"components":[null,{},{"template":null},{"template":{}}]}})",
      R"({"spec":{"driver":{"template":null,"gpu":null,"envVars":null},"executor":{}}})",
      R"({"spec":{"predictor":null,"transformer":{"model":null}}})",
      R"({"spec":{"containers":null,"volumes":null}})",
  };
  for (const Kind& kind : kKinds) {
    for (const std::string_view json : parts) {
      const auto object = read_judged_object(kind.api_version, kind.kind, json);
      EXPECT_TRUE(object) << kind.kind << " " << json << ": " << object.error().to_string();
    }
  }
}

TEST(JudgedObjectBounds, broken_text_is_refused_with_its_byte) {
  const std::string_view broken[] = {
      "",
      " ",
      "null",
      "[]",
      "7",
      "{",
      "{\"spec\"",
      "{\"spec\":",
      "{\"spec\":{}",
      "{\"spec\":{}}x",
      "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"a}]}}}}",
      "{\"metadata\":{\"name\":\"\xFF\"}}",
      "{\"a\":\"\x01\"}",
      "{\"spec\":{},\"spec\":}",
  };
  for (const Kind& kind : kKinds) {
    for (const std::string_view json : broken) {
      const auto object = read_judged_object(kind.api_version, kind.kind, json);
      ASSERT_FALSE(object) << kind.kind << " " << json;
      EXPECT_TRUE(object.error().offset().has_value()) << kind.kind << " " << json;
      EXPECT_LE(*object.error().offset(), json.size());
    }
  }
}

TEST(JudgedObjectBounds, errors_name_the_field_from_the_root) {
  struct Case {
    Kind kind;
    std::string_view json;
    std::string_view field;
    std::string_view at;  // the text at the error's byte
  };
  const Case cases[] = {
      {{"jobset.x-k8s.io/v1", "JobSet"},
       R"({"spec":{"replicatedJobs":[{},{"template":{"spec":{"template":{"spec":{"hostPID":1}}}}}]}})",
       "spec.replicatedJobs[1].template.spec.template.spec.hostPID",
       "1}"},
      {{"argoproj.io/v1alpha1", "Workflow"},
       R"({"spec":{"templates":[{"container":{"env":[{"name":7}]}}]}})",
       "spec.templates[0].container.env[0].name",
       "7}"},
      {{"argoproj.io/v1alpha1", "Workflow"},
       R"({"spec":{"volumes":{},"templates":[]}})",
       "spec.volumes",
       "{}"},
      {{"serving.kserve.io/v1beta1", "InferenceService"},
       R"({"spec":{"predictor":{"model":{"env":{}}}}})",
       "spec.predictor.model.env",
       "{}"},
      {{"workload.codeflare.dev/v1beta2", "AppWrapper"},
       R"({"spec":{"components":[{"template":{"apiVersion":"v1","kind":"Pod","spec":[]}}]}})",
       "spec.components[0].template.spec",
       "[]"},
      {{"sparkoperator.k8s.io/v1beta2", "SparkApplication"},
       R"({"spec":{"driver":{"envVars":{"A":{}}}}})",
       "spec.driver.envVars.A",
       "{}"},
      {{"kubeflow.org/v1", "PyTorchJob"},
       R"({"spec":{"pytorchReplicaSpecs":{"Worker":{},"Worker":{}}}})",
       "spec.pytorchReplicaSpecs.Worker",
       "{}"},
      {{"apps/v1", "Deployment"},
       R"({"spec":{"template":{}},"spec":{"template":{}}})",
       "spec",
       "{\"template\""},
  };
  for (const Case& c : cases) {
    const auto object = read_judged_object(c.kind.api_version, c.kind.kind, c.json);
    ASSERT_FALSE(object) << c.json;
    EXPECT_EQ(object.error().field(), c.field);
    ASSERT_TRUE(object.error().offset()) << c.json;
    EXPECT_EQ(c.json.substr(*object.error().offset(), c.at.size()), c.at) << c.json;
  }
}

TEST(JudgedObjectBounds, depth_is_that_of_the_whole_object) {
  const auto nested = [](std::size_t depth) {
    std::string json = R"({"containers":[{"name":"a"}]})";
    for (std::size_t i = 0; i < depth; ++i)
      json = R"({"spec":)" + json + "}";
    return json;
  };
  // The pod spec takes three levels of its own.
  const auto deepest = pod_templates("example.com/v1", "Unknown", nested(kMaxJsonDepth - 3));
  ASSERT_TRUE(deepest) << deepest.error().to_string();
  EXPECT_EQ(deepest->size(), 1U);
  const auto deeper = pod_templates("example.com/v1", "Unknown", nested(kMaxJsonDepth - 2));
  ASSERT_FALSE(deeper);
  EXPECT_THAT(deeper.error().message(), HasSubstr("64 levels"));

  std::string wrapper = R"({"apiVersion":"v1","kind":"Pod","spec":{"containers":[{"name":"a"}]}})";
  std::string path;
  for (int i = 0; i < 15; ++i) {
    wrapper = R"({"apiVersion":"workload.codeflare.dev/v1beta2","kind":"AppWrapper","spec":)"
              R"({"components":[{"template":)" +
              wrapper + "}]}}";
    path += (i == 0 ? "" : ".") + std::string("spec.components[0].template");
  }
  const auto wrapped = pod_templates("workload.codeflare.dev/v1beta2", "AppWrapper", wrapper);
  ASSERT_TRUE(wrapped) << wrapped.error().to_string();
  ASSERT_EQ(wrapped->size(), 1U);
  EXPECT_EQ(wrapped->front().path, path);
}

TEST(JudgedObjectBounds, too_many_templates_are_refused_not_left_out) {
  const std::string_view pod = R"({"template":{"spec":{"containers":[{"name":"a"}]}}})";
  const auto job = [&](std::size_t tasks) {
    return R"({"spec":{"tasks":[)" + repeated(tasks, pod) + "]}}";
  };
  const auto most = pod_templates("batch.volcano.sh/v1alpha1", "Job", job(kMaxTemplates));
  ASSERT_TRUE(most) << most.error().to_string();
  EXPECT_EQ(most->size(), kMaxTemplates);
  for (const auto& [api_version, kind] :
       {std::pair{"batch.volcano.sh/v1alpha1", "Job"}, {"example.com/v1", "Unknown"}}) {
    const auto more = pod_templates(api_version, kind, job(kMaxTemplates + 1));
    ASSERT_FALSE(more) << kind;
    EXPECT_EQ(more.error().kind(), ErrorKind::kTooLarge);
    EXPECT_THAT(more.error().message(), HasSubstr("at most 1024 pod templates"));
  }
}

TEST(JudgedObjectBounds, what_templates_share_is_not_written_out_without_end) {
  const std::string selector = R"({"a":")" + std::string(100'000, 'x') + R"("})";
  const auto workflow = [&](std::size_t templates) {
    return R"({"spec":{"templates":[)" + repeated(templates, R"({"container":{"image":"a"}})") +
           R"(],"nodeSelector":)" + selector + "}}";
  };
  EXPECT_TRUE(pod_templates("argoproj.io/v1alpha1", "Workflow", workflow(100)));
  const auto large = pod_templates("argoproj.io/v1alpha1", "Workflow", workflow(1000));
  ASSERT_FALSE(large);
  EXPECT_EQ(large.error().kind(), ErrorKind::kTooLarge);

  const auto set = [](std::size_t containers, std::size_t mounts) {
    return R"({"spec":{"templates":[{"containerSet":{"containers":[)" +
           repeated(containers, R"({"name":"a"})") + R"(],"volumeMounts":[)" +
           repeated(mounts, R"({"name":"v","mountPath":"/v"})") + "]}}]}}";
  };
  EXPECT_TRUE(pod_templates("argoproj.io/v1alpha1", "Workflow", set(64, 64)));
  EXPECT_FALSE(pod_templates("argoproj.io/v1alpha1", "Workflow", set(64, 65)));
}

// What the API server sends at most, in the shapes that cost most.
TEST(JudgedObjectBounds, a_large_object_is_read_within_a_webhooks_patience) {
  const std::string env = repeated(26'000, R"({"name":"A","value":"some text"})");
  const std::string containers = R"("containers":[{"name":"a","env":[)" + env + "]}]";
  std::string nested = "{" + containers + "}";
  for (int i = 0; i < 19; ++i)
    nested = R"({"containers":[{"name":"a","x":)" + nested + "}]}";
  const std::pair<Kind, std::string> large[] = {
      {{"apps/v1", "Deployment"}, R"({"spec":{"template":{"spec":{)" + containers + "}}}}"},
      {{"ray.io/v1", "RayCluster"},
       R"({"spec":{"headGroupSpec":{"template":{"spec":{)" + containers + "}}}}}"},
      {{"example.com/v1", "Unknown"}, R"({"spec":{"a":[{)" + containers + "}]}}"},
      {{"example.com/v1", "Unknown"}, R"({"spec":)" + nested + "}"},
      {{"example.com/v1", "Unknown"}, R"({"spec":{"a":[)" + repeated(250'000, "{}") + "]}}"},
      {{"argoproj.io/v1alpha1", "Workflow"},
       R"({"spec":{"templates":[{"container":{"env":[)" + env + "]}}]}}"},
  };
  for (const auto& [kind, json] : large) {
    ASSERT_GT(json.size(), 700'000U);
    const auto start = std::chrono::steady_clock::now();
    const auto object = read_judged_object(kind.api_version, kind.kind, json);
    const auto took = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(object) << object.error().to_string();
    EXPECT_LT(took, std::chrono::seconds(2)) << kind.kind;
  }
}

TEST(JudgedObjectBounds, another_groups_pod_is_no_pod) {
  const auto object =
      read_judged_object("example.com/v1", "Pod", R"({"spec":{"containers":[{"name":"a"}]}})");
  ASSERT_TRUE(object);
  EXPECT_FALSE(object->is_pod());
  EXPECT_EQ(object->subjects("default").at(0).workload_kind, "example.com/v1 Pod");
}

}  // namespace
}  // namespace rankward::formats
