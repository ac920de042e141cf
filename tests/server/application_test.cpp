#include "rankward/server/application.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "application_fixture.hpp"

namespace rankward::server {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Key;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::UnorderedElementsAre;

// A source that is not ready until it is told so.
class LateSource : public cluster::SnapshotSource {
 public:
  explicit LateSource(const cluster::SnapshotSource& source) : source_(source) {}
  void become_ready() { ready_ = true; }
  [[nodiscard]] std::shared_ptr<const placement::Snapshot> current() const override {
    return source_.current();
  }
  [[nodiscard]] bool ready() const override { return ready_; }

 private:
  const cluster::SnapshotSource& source_;
  std::atomic<bool> ready_{false};
};

// A rank that demands RDMA by its annotation and requests no device of it, so that kube-scheduler
// offers nodes without any.
std::string rank_without_request() {
  return R"({"metadata":{"name":"train-0","namespace":"team-a","annotations":{)"
         R"("rankward.io/transport":"rdma-required"}},"spec":{"containers":[{"name":"c",)"
         R"("resources":{"limits":{"nvidia.com/gpu":"8"}}}]}})";
}

const std::vector<std::string> kNodes = {"a-0", "a-far-nics", "a-no-rdma", "b-0"};

TEST_F(ApplicationTest, FilterGivesTheBestNodesFirstAndNoReasonsWhereSomethingFits) {
  start(&inventory_);
  const auto response =
      extender("/filter", formats::write_extender_args(rank_without_request(), kNodes));
  ASSERT_TRUE(response) << response.error().to_string();
  EXPECT_EQ(response->status, 200);
  const auto answer = formats::read_filter_answer(response->body).value();
  EXPECT_THAT(answer.node_names, Not(testing::Contains("a-no-rdma")));
  EXPECT_EQ(answer.node_names.back(), "a-far-nics");
  EXPECT_THAT(answer.failed, IsEmpty());
  EXPECT_THAT(answer.failed_and_unresolvable, IsEmpty());
  EXPECT_EQ(answer.error, "");
}

TEST_F(ApplicationTest, FilterNamesEveryNodeWithItsReasonWhereNothingFits) {
  start(&inventory_);
  const std::vector<std::string> nodes = {"a-no-rdma"};
  const auto response =
      extender("/filter", formats::write_extender_args(rank_without_request(), nodes));
  ASSERT_TRUE(response) << response.error().to_string();
  const auto answer = formats::read_filter_answer(response->body).value();
  EXPECT_THAT(answer.node_names, IsEmpty());
  EXPECT_THAT(answer.failed_and_unresolvable, UnorderedElementsAre(Key("a-no-rdma")));
  EXPECT_EQ(answer.failed_and_unresolvable.at("a-no-rdma"),
            placement::reason(placement::ReasonCode::kRdmaMissing).text);
}

TEST_F(ApplicationTest, APodThatAsksForNothingOfOursPassesWithEveryNode) {
  configuration_.placement.max_candidates = 1;
  start(&inventory_);
  const std::string pod =
      R"({"metadata":{"name":"p","namespace":"n"},"spec":{"containers":[{"name":"c"}]}})";
  const auto filter = extender("/filter", formats::write_extender_args(pod, kNodes));
  EXPECT_EQ(formats::read_filter_answer(filter->body).value().node_names, kNodes);
  const auto prioritize = extender("/prioritize", formats::write_extender_args(pod, kNodes));
  for (const auto& [node, score] : formats::read_host_priorities(prioritize->body).value()) {
    EXPECT_EQ(score, 0) << node << " has accelerators";
  }
}

TEST_F(ApplicationTest, AnswersAtMostMaxCandidates) {
  configuration_.placement.max_candidates = 1;
  start(&inventory_);
  const auto response = extender("/filter", formats::write_extender_args(rank(0), kNodes));
  EXPECT_THAT(formats::read_filter_answer(response->body).value().node_names, SizeIs(1));
}

TEST_F(ApplicationTest, TheSameRequestGivesTheSameBytes) {
  start(&inventory_);
  const std::string body = formats::write_extender_args(rank(0), kNodes);
  const std::string first = extender("/filter", body)->body;
  for (int i = 0; i < 20; ++i)
    EXPECT_EQ(extender("/filter", body)->body, first);
}

TEST_F(ApplicationTest, WhatCannotBeReadIsA200WithErrorForFilterAndA400ForTheOthers) {
  start(&inventory_);
  const auto filter = extender("/filter", R"({"Pod": {"metadata": 5}})");
  EXPECT_EQ(filter->status, 200);
  EXPECT_THAT(formats::read_filter_answer(filter->body).value().error, HasSubstr("metadata"));
  EXPECT_EQ(extender("/prioritize", "{")->status, 400);
  EXPECT_EQ(extender("/preempt", "[]")->status, 400);
  EXPECT_EQ(webhook("{}")->status, 400);
}

TEST_F(ApplicationTest, AnAnnotationOutsideItsFormIsAnErrorThatNamesIt) {
  start(&inventory_);
  const std::string pod =
      R"({"metadata":{"name":"p","namespace":"n","annotations":{"rankward.io/gpu-memory":"much"}},)"
      R"("spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}})";
  const auto response = extender("/filter", formats::write_extender_args(pod, kNodes));
  EXPECT_THAT(formats::read_filter_answer(response->body).value().error,
              HasSubstr("rankward.io/gpu-memory"));
}

TEST_F(ApplicationTest, PlansAreCountedByTheTierTheyAskedForAndCross) {
  start(&inventory_);
  const std::vector<std::string> leaf = {"b-0", "b-1", "b-2", "b-3"};
  (void)extender("/filter", formats::write_extender_args(rank(0), leaf));
  EXPECT_TRUE(
      metrics_come_to(R"(rankward_plan_tiers_total{achieved="1",asked="none",by="filter"} 1)"));
}

// What `pod` of eight GPUs evicts on each node, as kube-scheduler sends it to a nodeCacheCapable
// extender.
std::string preemption(const std::string& pod, const std::string& candidates) {
  return R"({"Pod":)" + pod + R"(,"NodeNameToVictims":null,"NodeNameToMetaVictims":{)" +
         candidates + "}}";
}
std::string lone_pod(const std::string& resource, const std::string& annotations = "") {
  return R"({"metadata":{"name":"urgent","namespace":"team-a","uid":"u","annotations":{)" +
         annotations + R"(}},"spec":{"containers":[{"name":"c","resources":{"limits":{")" +
         resource + R"(":"8"}}}]}})";
}
constexpr const char* kThreeCandidates =
    R"("a-0":{"Pods":[{"UID":"v"},{"UID":"never-seen"}],"NumPDBViolations":2},)"
    R"("a-no-rdma":{"Pods":[],"NumPDBViolations":0},)"
    R"("not-in-the-snapshot":{"Pods":null,"NumPDBViolations":0})";

TEST_F(ApplicationTest, PreemptKeepsOnlyNodesThatFitOnceTheVictimsAreGone) {
  start(&inventory_);
  const auto response =
      extender("/preempt",
               preemption(lone_pod("nvidia.com/gpu", R"("rankward.io/transport":"rdma-required")"),
                          kThreeCandidates));
  ASSERT_TRUE(response) << response.error().to_string();
  EXPECT_EQ(response->status, 200);
  EXPECT_EQ(response->body,
            R"({"NodeNameToMetaVictims":{)"
            R"("a-0":{"Pods":[{"UID":"v"},{"UID":"never-seen"}],"NumPDBViolations":2},)"
            R"("not-in-the-snapshot":{"Pods":[],"NumPDBViolations":0}}})");
}

TEST_F(ApplicationTest, PreemptLeavesPodsThatAreNotOursToTheScheduler) {
  start(&inventory_);
  const auto response =
      extender("/preempt", preemption(lone_pod("example.com/fpga"), kThreeCandidates));
  for (const char* node : {"a-0", "a-no-rdma", "not-in-the-snapshot"})
    EXPECT_THAT(response->body, HasSubstr("\"" + std::string(node) + "\":{"));
}

TEST_F(ApplicationTest, PreemptDoesNotOfferWhatAGangHolds) {
  start(&inventory_);
  // Four ranks of eight GPUs are planned onto the four free nodes of one leaf.
  const std::vector<std::string> leaf = {"b-0", "b-1", "b-2", "b-3"};
  const auto planned = extender("/filter", formats::write_extender_args(rank(0), leaf));
  ASSERT_THAT(formats::read_filter_answer(planned->body).value().node_names, SizeIs(1));
  const auto response =
      extender("/preempt", preemption(lone_pod("nvidia.com/gpu"),
                                      R"("a-0":{"Pods":[]},"b-0":{"Pods":[]},"b-3":{"Pods":[]})"));
  EXPECT_EQ(response->body,
            R"({"NodeNameToMetaVictims":{"a-0":{"Pods":[],"NumPDBViolations":0}}})");
}

TEST_F(ApplicationTest, UnknownPathsAndMethodsAreRefused) {
  start(&inventory_);
  EXPECT_EQ(extender("/bind", "{}")->status, 404);
  EXPECT_EQ(client(*application_->ports().extender, &scheduler_).request("GET", "/filter")->status,
            405);
  EXPECT_EQ(client(*application_->ports().webhook, nullptr).request("GET", "/validate")->status,
            405);
}

TEST_F(ApplicationTest, OnlyNamedClientsMayCallTheExtender) {
  configuration_.client_names = {"system:kube-scheduler"};
  start(&inventory_);
  const net::KeyPair other = client_certificate("somebody");
  const auto refused =
      client(*application_->ports().extender, &other)
          .request("POST", "/filter", {}, formats::write_extender_args(rank(0), kNodes));
  ASSERT_TRUE(refused) << refused.error().to_string();
  EXPECT_EQ(refused->status, 403);
  EXPECT_EQ(extender("/filter", formats::write_extender_args(rank(0), kNodes))->status, 200);
}

TEST_F(ApplicationTest, WithoutAClientCertificateNoVerbAnswers) {
  start(&inventory_);
  for (const char* verb : {"/filter", "/prioritize", "/preempt"}) {
    EXPECT_FALSE(client(*application_->ports().extender, nullptr).request("POST", verb, {}, "{}"));
  }
}

TEST_F(ApplicationTest, UntilTheClusterIsKnownFilterAnswersAnErrorAndTheWebhookWorks) {
  LateSource late(inventory_);
  start(&late);
  EXPECT_THAT(status("/readyz", 503),
              AllOf(HasSubstr("[-]extender failed"), HasSubstr("[+]webhook ok")));
  const std::string body = formats::write_extender_args(rank(0), kNodes);
  EXPECT_THAT(formats::read_filter_answer(extender("/filter", body)->body).value().error,
              HasSubstr("not seen the cluster yet"));
  EXPECT_EQ(webhook(formats::write_pod_review("u", "team-a", rank(0)))->status, 200);
  late.become_ready();
  EXPECT_EQ(status("/readyz"), "ok");
  EXPECT_EQ(formats::read_filter_answer(extender("/filter", body)->body).value().error, "");
}

TEST_F(ApplicationTest, AHostPathPodIsDeniedWithItsUidAndAMessage) {
  start(&inventory_);
  const std::string pod =
      R"({"apiVersion":"v1","kind":"Pod","metadata":{"name":"p","namespace":"team-a"},"spec":{)"
      R"("containers":[{"name":"c"}],"volumes":[{"name":"v","hostPath":{"path":"/dev/nvidia0"}}]}})";
  const auto response = webhook(formats::write_pod_review("uid-7", "team-a", pod));
  ASSERT_EQ(response->status, 200);
  const auto verdict = formats::read_review_verdict(response->body).value();
  EXPECT_EQ(verdict.uid, "uid-7");
  EXPECT_FALSE(verdict.allowed);
  EXPECT_THAT(verdict.message, AllOf(HasSubstr("[HP-01]"), HasSubstr("Fix:")));
  EXPECT_TRUE(formats::read_review_verdict(
                  webhook(formats::write_pod_review("u", "kube-system", pod))->body)
                  .value()
                  .allowed);
}

TEST_F(ApplicationTest, MetricsCountAnswersAndRejects) {
  start(&inventory_);
  static_cast<void>(
      extender("/filter", formats::write_extender_args(rank_without_request(), kNodes)));
  std::string text;
  // Counted after the answer has left.
  for (int i = 0; i < 100; ++i) {
    text = status("/metrics");
    if (text.find("rankward_requests_total{outcome=\"ok\",verb=\"filter\"} 1") != std::string::npos)
      break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  EXPECT_THAT(text,
              AllOf(HasSubstr("rankward_requests_total{outcome=\"ok\",verb=\"filter\"} 1"),
                    HasSubstr("rankward_node_rejects_total{reason=\"RdmaMissing\"} 1"),
                    HasSubstr("rankward_snapshot_nodes 11"), HasSubstr("rankward_snapshot_pods 0"),
                    HasSubstr("rankward_certificate_expiry_seconds{door=\"extender\"}"),
                    HasSubstr("rankward_admission_denials_total{rule=\"HP-01\"} 0")));
}

TEST_F(ApplicationTest, WarnsOfACertificateThatEndsWithinAMonth) {
  ::testing::internal::CaptureStderr();
  {
    record::Log log({.format = record::LogFormat::kJson});
    auto started = Application::start(configuration_, log, &inventory_);
    ASSERT_TRUE(started) << started.error().to_string();
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              AllOf(HasSubstr("the serving certificate ends soon"), HasSubstr("\"daysLeft\":0")));
}

TEST_F(ApplicationTest, StoppingIsNotReadyAndClosesConnections) {
  start(&inventory_);
  EXPECT_EQ(status("/livez"), "ok");
  std::thread stopper(
      [&] { application_->stop(std::chrono::milliseconds(500), std::chrono::seconds(5)); });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  EXPECT_THAT(status("/readyz", 503), HasSubstr("[-]shutdown failed"));
  const auto late = extender("/filter", formats::write_extender_args(rank(0), kNodes));
  ASSERT_TRUE(late) << late.error().to_string();
  EXPECT_EQ(late->status, 200);
  EXPECT_EQ(late->header("Connection"), "close");
  stopper.join();
}

TEST_F(ApplicationTest, WithoutStateEachPodIsJudgedFromTheNodesOfTheRequest) {
  start(nullptr);
  const std::string node =
      R"({"metadata":{"name":"n-0","labels":{"nvidia.com/gpu.product":"NVIDIA-A10G-SHARED",)"
      R"("nvidia.com/gpu.replicas":"4","nvidia.com/gpu.count":"1"}},)"
      R"("status":{"allocatable":{"nvidia.com/gpu":"4"}}})";
  const std::string body =
      R"({"Pod":{"metadata":{"name":"p","namespace":"n","annotations":{"rankward.io/sharing":"exclusive"}},)"
      R"("spec":{"containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"1"}}}]}},)"
      R"("Nodes":{"metadata":{},"items":[)" +
      node + R"(]},"NodeNames":null})";
  const auto response = extender("/filter", body);
  ASSERT_TRUE(response) << response.error().to_string();
  EXPECT_THAT(
      response->body,
      HasSubstr(std::string(placement::reason(placement::ReasonCode::kSharedNotExclusive).text)));
}

}  // namespace
}  // namespace rankward::server
