// Reviews of every kind of object, as bytes in and bytes out.
#include "webhook.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rankward/formats/review.hpp"
#include "reviews.hpp"

namespace rankward::server {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Reaches a GPU by its device node.
const std::string kSpec =
    R"({"containers":[{"name":"c"}],"volumes":[{"name":"v","hostPath":{"path":"/dev/nvidia0"}}]})";
const std::string kHonestSpec = R"({"containers":[{"name":"c"}]})";

std::string pod(const std::string& spec, const std::string& metadata = R"("name":"p")") {
  return R"({"apiVersion":"v1","kind":"Pod","metadata":{)" + metadata + R"(},"spec":)" + spec + "}";
}

std::string with_template(const std::string& api_version, const std::string& kind,
                          const std::string& before, const std::string& spec,
                          const std::string& after) {
  return R"({"apiVersion":")" + api_version + R"(","kind":")" + kind +
         R"(","metadata":{"name":"x"},)" + before + R"({"metadata":{},"spec":)" + spec + "}" +
         after + "}";
}

std::string deployment(const std::string& spec) {
  return with_template("apps/v1", "Deployment", R"("spec":{"template":)", spec, "}");
}

admission::Policy policy_of(admission::PolicyOptions options) {
  return admission::Policy::make(std::move(options)).value();
}

TEST(Webhook, DeniesAPodWithMessageCausesAndAudit) {
  const Told told = validate(Webhook({}), {.object = pod(kSpec)});
  EXPECT_FALSE(told.allowed);
  EXPECT_THAT(told.message, AllOf(HasSubstr("[HP-01]"), HasSubstr("Fix:")));
  EXPECT_THAT(told.causes, ElementsAre("spec.volumes[0].hostPath.path: HP-01"));
  EXPECT_EQ(told.audit.at("decision"), "deny");
  EXPECT_EQ(told.audit.at("mode"), "enforce");
  EXPECT_EQ(told.audit.at("rules"), "HP-01");
  EXPECT_EQ(told.answer.decision.rules, "HP-01");
  EXPECT_FALSE(told.answer.decision.allowed);
}

TEST(Webhook, WarnsOfWhatMakesSuchPodsAndDeniesItWhereConfigured) {
  struct Case {
    const char* api_version;
    const char* kind;
    const char* before;
    const char* after;
    const char* path;
  };
  const Case cases[] = {
      {"apps/v1", "Deployment", R"("spec":{"template":)", "}", "spec.template"},
      {"v1", "PodTemplate", R"("template":)", "", "template"},
      {"batch/v1", "CronJob", R"("spec":{"jobTemplate":{"spec":{"template":)", "}}}",
       "spec.jobTemplate.spec.template"},
      {"jobset.x-k8s.io/v1alpha2", "JobSet",
       R"("spec":{"replicatedJobs":[{"name":"w","template":{"spec":{"template":)", "}}}]}",
       "spec.replicatedJobs[0].template.spec.template"},
      {"kubeflow.org/v1", "PyTorchJob",
       R"("spec":{"pytorchReplicaSpecs":{"Worker":{"replicas":2,"template":)", "}}}",
       "spec.pytorchReplicaSpecs.Worker.template"},
      {"example.com/v1", "Trainer", R"("spec":{"inner":{"template":)", "}}", "spec.inner.template"},
  };
  admission::PolicyOptions strict;
  strict.workloads = "deny";
  for (const Case& each : cases) {
    const Asked asked{
        .api_version = each.api_version,
        .kind = each.kind,
        .object = with_template(each.api_version, each.kind, each.before, kSpec, each.after)};
    const Told warned = validate(Webhook({}), asked);
    EXPECT_TRUE(warned.allowed) << each.kind;
    EXPECT_THAT(warned.all_warnings(), HasSubstr("[HP-01]")) << each.kind;
    EXPECT_EQ(warned.audit.at("rules"), "HP-01") << each.kind;
    const Told denied = validate(Webhook(policy_of(strict)), asked);
    EXPECT_FALSE(denied.allowed) << each.kind;
    EXPECT_THAT(denied.causes,
                Contains(std::string(each.path) + ".spec.volumes[0].hostPath.path: HP-01"))
        << each.kind;
  }
}

TEST(Webhook, LetsPassWhatHasNoPods) {
  const Told told =
      validate(Webhook({}),
               {.kind = "Secret", .object = R"({"metadata":{"name":"s"},"data":{"a":"Yg=="}})"});
  EXPECT_TRUE(told.allowed);
  EXPECT_THAT(told.warnings, IsEmpty());
}

TEST(Webhook, DeniesPersistentVolumesThatLeadToDevices) {
  const auto volume = [](const char* path) {
    return std::string(
               R"({"metadata":{"name":"pv"},"spec":{"volumeMode":"Block","local":{"path":")") +
           path + "\"}}}";
  };
  const Asked asked{.kind = "PersistentVolume", .object = volume("/dev/nvidia0"), .namespace_ = ""};
  const Told denied = validate(Webhook({}), asked);
  EXPECT_FALSE(denied.allowed);
  EXPECT_THAT(denied.message, HasSubstr("[HP-06]"));
  Asked update = asked;
  update.operation = "UPDATE";
  update.old_object = asked.object;
  EXPECT_TRUE(validate(Webhook({}), update).allowed) << "stood already";
  update.old_object = volume("/data");
  EXPECT_FALSE(validate(Webhook({}), update).allowed);
  EXPECT_TRUE(validate(Webhook({}), {.kind = "PersistentVolume",
                                     .operation = "DELETE",
                                     .old_object = asked.object,
                                     .namespace_ = ""})
                  .allowed);
}

TEST(Webhook, JudgesOnlyWhatAnUpdateBringsIn) {
  const auto update = [](const std::string& before, const std::string& after) {
    return validate(Webhook({}), {.operation = "UPDATE", .object = after, .old_object = before});
  };
  EXPECT_TRUE(update(pod(kSpec), pod(kSpec, R"("name":"p","labels":{"a":"b"})")).allowed);
  EXPECT_FALSE(update(pod(kHonestSpec), pod(kSpec)).allowed);
  EXPECT_TRUE(update(pod(kHonestSpec),
                     pod(kSpec, R"("name":"p","deletionTimestamp":"2026-01-01T00:00:00Z")"))
                  .allowed);
  const Told told = validate(Webhook({}), {.api_version = "apps/v1",
                                           .kind = "Deployment",
                                           .operation = "UPDATE",
                                           .object = deployment(kSpec),
                                           .old_object = deployment(kSpec)});
  EXPECT_THAT(told.warnings, IsEmpty());
}

TEST(Webhook, JudgesTheEphemeralContainersThatAreAdded) {
  const auto with = [](const std::string& ephemeral) {
    return pod(R"({"containers":[{"name":"c"}],"ephemeralContainers":[)" + ephemeral + "]}");
  };
  const std::string all = R"({"name":"d","env":[{"name":"NVIDIA_VISIBLE_DEVICES","value":"all"}]})";
  const Asked asked{.operation = "UPDATE",
                    .object = with(all),
                    .old_object = with(""),
                    .sub_resource = "ephemeralcontainers"};
  EXPECT_THAT(validate(Webhook({}), asked).message, HasSubstr("[ENV-01] ephemeralContainers[0]"));
  Asked again = asked;
  again.old_object = asked.object;
  EXPECT_TRUE(validate(Webhook({}), again).allowed);
}

TEST(Webhook, SeesWhatAClaimLeadsToAsSoonAsItIsKnown) {
  cluster::Latest<admission::ClusterFacts> facts;
  const Webhook webhook({}, {.facts = &facts});
  const Asked asked{
      .object = pod(R"({"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"1"}}}],)"
                    R"("volumes":[{"name":"v","persistentVolumeClaim":{"claimName":"data"}}]})")};
  EXPECT_THAT(validate(webhook, asked).body, testing::Not(HasSubstr("HP-06")));
  auto known = std::make_shared<admission::ClusterFacts>();
  kube::PersistentVolume volume;
  volume.metadata.name = "pv-1";
  volume.host_path = kube::HostPathVolume{"/dev/nvidia0", ""};
  known->claimed_volumes.emplace("team-a/data", volume);
  facts.store(known);
  EXPECT_THAT(validate(webhook, asked).body, HasSubstr("[HP-06]"));
  facts.store(nullptr);
  EXPECT_THAT(validate(webhook, asked).body, testing::Not(HasSubstr("HP-06")));
}

TEST(Webhook, SaysWhichExemptionCovered) {
  admission::PolicyOptions options;
  options.exemptions = {{{"team-a"}, {"default"}, {}, {"HP-01"}, "why", 4'000'000'000}};
  const Told told = validate(Webhook(policy_of(options)), {.object = pod(kSpec)});
  EXPECT_TRUE(told.allowed);
  EXPECT_EQ(told.audit.at("exempted-by"), "exemptions[0]:HP-01");
  EXPECT_THAT(told.answer.exempted_by, ElementsAre("exemptions[0]"));
  EXPECT_EQ(told.answer.decision.exempted_by, "exemptions[0]");
}

TEST(Webhook, AnswersAnObjectOfAMegabyteWithinTheLimits) {
  std::string containers;
  for (int i = 0; i < 500; ++i) {
    containers += (i == 0 ? "" : ",") + (R"({"name":"c)" + std::to_string(i)) +
                  R"(","env":[{"name":"NVIDIA_VISIBLE_DEVICES","value":"all"},)" +
                  R"({"name":"FILLER","value":")" + std::string(2'000, 'x') +
                  R"("}],"securityContext":{"privileged":true}})";
  }
  const std::string object =
      pod(R"({"runtimeClassName":"nvidia","containers":[)" + containers + "]}");
  ASSERT_GT(object.size(), std::size_t{1} << 20);
  const Told told = validate(Webhook({}), {.object = object});
  EXPECT_FALSE(told.allowed);
  EXPECT_LE(told.message.size(), admission::kMessageLength);
  EXPECT_THAT(told.message, HasSubstr("more finding"));
  EXPECT_THAT(told.causes, SizeIs(admission::kMaxCauses));
  std::size_t total = 0;
  for (const std::string& warning : told.warnings) {
    EXPECT_LE(warning.size(), formats::kMaxWarningLength);
    total += warning.size();
  }
  EXPECT_LE(total, formats::kMaxWarningsLength);
  for (const auto& [key, value] : told.audit) {
    EXPECT_LE(key.size(), 63U);
    EXPECT_LE(value.as_string().size(), 1'024U);
  }
  EXPECT_LT(told.body.size(), 64U << 10);
  EXPECT_THAT(told.body, testing::Not(HasSubstr("xxxxxxxx"))) << "values of other variables";

  const Told warned =
      validate(Webhook({}), {.api_version = "apps/v1",
                             .kind = "Deployment",
                             .object = deployment(R"({"containers":[)" + containers + "]}")});
  EXPECT_TRUE(warned.allowed);
  EXPECT_THAT(warned.warnings, testing::Not(IsEmpty()));
  EXPECT_LE(warned.all_warnings().size(), formats::kMaxWarningsLength + warned.warnings.size());
}

TEST(Webhook, LeavesAPodThatItCannotReadToTheFailurePolicy) {
  for (const char* spec : {R"({"containers":{}})", R"({"containers":[{"env":"x"}]})"}) {
    const Told told = validate(Webhook({}), {.object = pod(spec)});
    EXPECT_EQ(told.status, 500) << spec;
    EXPECT_EQ(told.answer.outcome, Outcome::kError);
    EXPECT_THAT(told.body, HasSubstr("spec.containers"));
  }
  EXPECT_EQ(validate(Webhook({}), {.api_version = "apps/v1",
                                   .kind = "Deployment",
                                   .object = deployment(R"({"containers":5})")})
                .status,
            500);
}

TEST(Webhook, AdmitsACustomResourceThatItCannotReadAndSaysSo) {
  const auto job = [](const std::string& spec) {
    return with_template("kubeflow.org/v1", "PyTorchJob",
                         R"("spec":{"pytorchReplicaSpecs":{"Worker":{"template":)", spec, "}}}");
  };
  Asked asked{
      .api_version = "kubeflow.org/v1", .kind = "PyTorchJob", .object = job(R"({"containers":5})")};
  const Told told = validate(Webhook({}), asked);
  EXPECT_EQ(told.status, 200);
  EXPECT_TRUE(told.allowed);
  EXPECT_EQ(told.answer.outcome, Outcome::kError);
  EXPECT_THAT(std::string(told.audit.at("error").as_string()), HasSubstr("containers"));
  EXPECT_THAT(told.all_warnings(), HasSubstr("cannot judge this object"));

  asked.operation = "UPDATE";
  asked.old_object = asked.object;
  asked.object = job(kSpec);
  EXPECT_THAT(validate(Webhook({}), asked).all_warnings(), HasSubstr("[HP-01]"))
      << "an update that can be read is judged whole";
}

TEST(Webhook, RefusesWhatIsNoReview) {
  for (const char* body : {"", "{}", "[]", R"({"apiVersion":"admission.k8s.io/v1beta1"})"}) {
    std::string out;
    EXPECT_EQ(Webhook({}).validate(body, out).status, 400) << body;
    EXPECT_THAT(out, testing::Not(IsEmpty()));
    out.clear();
    EXPECT_EQ(Webhook({}).mutate(body, out).status, 400) << body;
  }
}

}  // namespace
}  // namespace rankward::server
