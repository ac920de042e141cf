// The webhook's door as a whole: routes, metrics, warnings, what it learns of the cluster.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

#include "application_fixture.hpp"
#include "fake_api_server.hpp"
#include "reviews.hpp"

namespace rankward::server {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

const std::string kDevicePod =
    R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"team-a"},"spec":{)"
    R"("containers":[{"name":"c"}],"volumes":[{"name":"v","hostPath":{"path":"/dev/nvidia0"}}]}})";
const std::string kPlainPod =
    R"({"metadata":{"name":"p","namespace":"team-a"},"spec":{"containers":[{"name":"c"}]}})";

class WebhookDoor : public ApplicationTest {
 protected:
  WebhookDoor() { configuration_.extender_door = false; }
};

TEST_F(WebhookDoor, MutatesOnlyWhereConfigured) {
  start(nullptr);
  const std::string review = review_of({.object = kPlainPod});
  EXPECT_EQ(webhook(review, "/mutate?timeout=3s")->status, 404);
  application_.reset();
  configuration_.mutate = true;
  start(nullptr);
  const auto response = webhook(review, "/mutate?timeout=3s");
  EXPECT_EQ(response->status, 200);
  EXPECT_THAT(response->body, HasSubstr(R"("patchType":"JSONPatch")"));
  EXPECT_EQ(webhook(review)->status, 200);
  EXPECT_EQ(webhook(review, "/other")->status, 404);
  EXPECT_TRUE(metrics_come_to(R"(rankward_requests_total{outcome="ok",verb="mutate"} 1)"));
}

TEST_F(WebhookDoor, CountsWhatRulesAndExemptionsDid) {
  configuration_.admission.exemptions = {
      {{"team-b"}, {"default"}, {}, {"HP-01"}, "why", 4'000'000'000}};
  start(nullptr);
  EXPECT_THAT(status("/metrics"),
              AllOf(HasSubstr(R"(rankward_admission_denials_total{rule="SELF-01"} 0)"),
                    HasSubstr(R"(rankward_admission_exempted_total{exemption="gpu-operator"} 0)"),
                    HasSubstr(R"(rankward_admission_exemption_expiry_seconds{exemption=)"
                              R"("exemptions[0]"})")));
  EXPECT_THAT(webhook(review_of({.object = kDevicePod}))->body, HasSubstr(R"("allowed":false)"));
  EXPECT_THAT(webhook(review_of({.object = kDevicePod, .namespace_ = "team-b"}))->body,
              HasSubstr(R"("allowed":true)"));
  EXPECT_TRUE(metrics_come_to(R"(rankward_admission_denials_total{rule="HP-01"} 1)"));
  EXPECT_TRUE(metrics_come_to(R"(rankward_admission_exempted_total{exemption="exemptions[0]"} 1)"));
  EXPECT_TRUE(metrics_come_to(R"(rankward_request_duration_seconds_count{verb="validate"} 2)"));
}

TEST_F(WebhookDoor, WarnsOfExemptionsThatEndOrHaveEnded) {
  const auto now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  constexpr std::int64_t kDay = 86'400;
  configuration_.admission.exemptions = {
      {{"a"}, {"b"}, {}, {"HP-01"}, "ends soon", now + 3 * kDay + 60},
      {{"a"}, {"b"}, {}, {"HP-01"}, "has ended", now - 2 * kDay},
      {{"a"}, {"b"}, {}, {"HP-01"}, "ends late", now + 400 * kDay}};
  ::testing::internal::CaptureStderr();
  {
    record::Log log({.format = record::LogFormat::kJson});
    auto started = Application::start(configuration_, log, nullptr);
    ASSERT_TRUE(started) << started.error().to_string();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("the exemption ends soon"), HasSubstr("\"daysLeft\":3"),
                    HasSubstr("the exemption has ended"), HasSubstr("\"daysLeft\":-2"),
                    Not(HasSubstr("ends late"))));
}

class WatchingWebhookDoor : public WebhookDoor {
 protected:
  WatchingWebhookDoor() {
    write("kubeconfig", R"({"apiVersion":"v1","kind":"Config","current-context":"c",
      "clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:)" +
                            std::to_string(api_.address().port) + R"("}}],
      "users":[{"name":"u","user":{}}],
      "contexts":[{"name":"c","context":{"cluster":"c","user":"u"}}]})");
    configuration_.kubeconfig = path("kubeconfig");
  }
  ~WatchingWebhookDoor() override { application_.reset(); }

  cluster::FakeApiServer api_;
};

TEST_F(WatchingWebhookDoor, SeesThroughClaims) {
  api_.put("persistentvolumes", "pv-1",
           R"({"metadata":{"name":"pv-1","resourceVersion":"@VERSION@"},"spec":{)"
           R"("hostPath":{"path":"/dev/nvidia0"},)"
           R"("claimRef":{"namespace":"team-a","name":"data"}}})");
  start(nullptr);
  ASSERT_TRUE(metrics_come_to(R"(rankward_cluster_facts_watched{resource="persistentvolumes"} 1)"));
  const std::string review = review_of(
      {.object = R"({"metadata":{"name":"p"},"spec":{"containers":[{"name":"c"}],"volumes":[)"
                 R"({"name":"v","persistentVolumeClaim":{"claimName":"data"}}]}})"});
  std::string body;
  for (int i = 0; i < 500 && body.find("HP-06") == std::string::npos; ++i) {
    body = webhook(review)->body;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(body, HasSubstr("[HP-06]"));
}

TEST_F(WatchingWebhookDoor, AnswersAndIsReadyWithoutAnyOfIt) {
  api_.require_token("another");
  start(nullptr);
  EXPECT_EQ(status("/readyz"), "ok");
  EXPECT_THAT(webhook(review_of({.object = kDevicePod}))->body, HasSubstr(R"("allowed":false)"));
  EXPECT_THAT(status("/metrics"),
              HasSubstr(R"(rankward_cluster_facts_watched{resource="nodes"} 0)"));
}

TEST_F(WatchingWebhookDoor, WatchesNothingWhereNothingIsConfigured) {
  configuration_.admission_watch.clear();
  start(nullptr);
  EXPECT_EQ(webhook(review_of({.object = kPlainPod}))->status, 200);
  EXPECT_TRUE(api_.targets("nodes").empty());
  EXPECT_THAT(status("/metrics"), Not(HasSubstr("rankward_cluster_facts_watched")));
}

}  // namespace
}  // namespace rankward::server
