#include "rankward/formats/review.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <boost/json.hpp>

namespace rankward::formats {
namespace {

using ::testing::ElementsAre;

constexpr std::string_view kReview =
    R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u-1",)"
    R"("kind":{"group":"apps","version":"v1","kind":"Deployment"},)"
    R"("resource":{"group":"apps","version":"v1","resource":"deployments"},"subResource":"scale",)"
    R"("requestKind":{"group":"apps","version":"v1","kind":"Deployment"},)"
    R"("name":"d","namespace":"team-a","operation":"UPDATE","userInfo":{"username":"alice",)"
    R"("uid":"x","groups":["dev","system:authenticated"],"extra":{"k":["v"]}},)"
    R"("object":{"spec": {"replicas": 1}},"oldObject":{"spec":null},"dryRun":true,)"
    R"("options":{"kind":"UpdateOptions"}}})";

TEST(AdmissionReview, reads_a_request) {
  const auto request = read_admission_review(kReview);
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->uid, "u-1");
  EXPECT_EQ(request->kind.api_version(), "apps/v1");
  EXPECT_EQ(request->kind.kind, "Deployment");
  EXPECT_EQ(request->resource.resource, "deployments");
  EXPECT_EQ(request->sub_resource, "scale");
  EXPECT_EQ(request->name, "d");
  EXPECT_EQ(request->namespace_, "team-a");
  EXPECT_EQ(request->operation, Operation::kUpdate);
  EXPECT_TRUE(request->dry_run);
  EXPECT_EQ(request->username, "alice");
  EXPECT_THAT(request->groups, ElementsAre("dev", "system:authenticated"));
  EXPECT_EQ(request->object, R"({"spec": {"replicas": 1}})");
  EXPECT_EQ(request->old_object, R"({"spec":null})");
}

TEST(AdmissionReview, a_null_object_is_empty) {
  const auto request = read_admission_review(
      R"({"kind":"AdmissionReview","apiVersion":"admission.k8s.io/v1","request":{"uid":"u",)"
      R"("kind":{"version":"v1","kind":"Pod"},"operation":"DELETE","object":null,)"
      R"("oldObject":{}}})");
  ASSERT_TRUE(request) << request.error().to_string();
  EXPECT_EQ(request->kind.api_version(), "v1");
  EXPECT_EQ(request->object, "");
  EXPECT_EQ(request->old_object, "{}");
}

std::string written(const AdmissionResponse& response) {
  std::string out;
  write_admission_response(response, out);
  return out;
}

TEST(AdmissionResponse, an_allowed_one_has_no_status) {
  EXPECT_EQ(written({.uid = "u"}),
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview",)"
            R"("response":{"uid":"u","allowed":true}})");
}

TEST(AdmissionResponse, a_denial_has_message_causes_and_annotations) {
  EXPECT_EQ(written({.uid = "u",
                     .allowed = false,
                     .message = "[HP-01] \"train\": no",
                     .causes = {{"spec.volumes[0].hostPath", "no", "HP-01"}},
                     .audit_annotations = {{"decision", "denied"}, {"rules", "HP-01"}}}),
            R"({"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","response":{"uid":"u",)"
            R"("allowed":false,"status":{"status":"Failure","message":"[HP-01] \"train\": no",)"
            R"("reason":"Forbidden","details":{"causes":[{"reason":"HP-01","message":"no",)"
            R"("field":"spec.volumes[0].hostPath"}]},"code":403},)"
            R"("auditAnnotations":{"decision":"denied","rules":"HP-01"}}})");
}

std::vector<std::string> warnings_of(std::vector<std::string> warnings) {
  const auto value = boost::json::parse(written({.uid = "u", .warnings = std::move(warnings)}));
  std::vector<std::string> out;
  for (const auto& warning : value.at("response").at("warnings").as_array()) {
    out.emplace_back(warning.as_string());
  }
  return out;
}

TEST(AdmissionResponse, warnings_lose_control_characters_and_broken_utf8) {
  EXPECT_THAT(warnings_of({"a\nb\tc\x1B[0m\x7F", "\xC2\x85next", "bad \xFF byte", "\xC3\xA9"}),
              ElementsAre("a b c [0m ", " next", "bad \xEF\xBF\xBD byte", "\xC3\xA9"));
}

TEST(AdmissionResponse, a_warning_is_cut_between_characters) {
  const std::string euro = "\xE2\x82\xAC";
  std::string exact;
  for (std::size_t i = 0; i < kMaxWarningLength; ++i)
    exact += euro;
  std::string cut;
  for (std::size_t i = 0; i + 1 < kMaxWarningLength; ++i)
    cut += euro;
  cut += "\xE2\x80\xA6";
  EXPECT_THAT(warnings_of({exact, exact + euro, exact + "\xFF"}), ElementsAre(exact, cut, cut));
}

TEST(AdmissionResponse, warnings_that_fit_exactly_are_all_there) {
  std::vector<std::string> full(kMaxWarningsLength / kMaxWarningLength,
                                std::string(kMaxWarningLength, 'w'));
  full.emplace_back(kMaxWarningsLength % kMaxWarningLength, 'w');
  EXPECT_EQ(warnings_of(full), full);
}

TEST(AdmissionResponse, warnings_that_do_not_fit_are_counted) {
  const std::vector<std::string> many(50, std::string(kMaxWarningLength, 'w'));
  const std::vector<std::string> out = warnings_of(many);
  std::size_t total = 0;
  for (const std::string& warning : out)
    total += warning.size();
  EXPECT_LE(total, kMaxWarningsLength);
  EXPECT_EQ(out.back(), "and " + std::to_string(50 - (out.size() - 1)) + " more warnings");
  EXPECT_GT(out.size(), 30U);
}

}  // namespace
}  // namespace rankward::formats
