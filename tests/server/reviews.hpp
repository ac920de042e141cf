// AdmissionReviews as the API server sends them, and what comes back, taken apart.
#pragma once

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <string>
#include <vector>

#include "webhook.hpp"

namespace rankward::server {

struct Asked {
  std::string api_version = "v1";
  std::string kind = "Pod";
  std::string operation = "CREATE";
  std::string object;      // JSON, "" for null
  std::string old_object;  // the same
  std::string sub_resource;
  std::string namespace_ = "team-a";
  std::string user = "alice";
  std::vector<std::string> groups{"system:authenticated"};
};

inline std::string review_of(const Asked& asked) {
  namespace json = boost::json;
  const auto slash = asked.api_version.find('/');
  const bool core = slash == std::string::npos;
  const auto parsed = [](const std::string& text) {
    return text.empty() ? json::value(nullptr) : json::parse(text);
  };
  json::array groups;
  for (const std::string& group : asked.groups)
    groups.emplace_back(group);
  return json::serialize(json::object{
      {"apiVersion", "admission.k8s.io/v1"},
      {"kind", "AdmissionReview"},
      {"request",
       json::object{{"uid", "u-1"},
                    {"kind", json::object{{"group", core ? "" : asked.api_version.substr(0, slash)},
                                          {"version", core ? asked.api_version
                                                           : asked.api_version.substr(slash + 1)},
                                          {"kind", asked.kind}}},
                    {"subResource", asked.sub_resource},
                    {"name", "x"},
                    {"namespace", asked.namespace_},
                    {"operation", asked.operation},
                    {"userInfo", json::object{{"username", asked.user}, {"groups", groups}}},
                    {"object", parsed(asked.object)},
                    {"oldObject", parsed(asked.old_object)}}}});
}

struct Told {
  int status = 0;
  std::string body;
  bool allowed = false;
  std::string message;
  std::vector<std::string> causes;  // "field: reason"
  std::vector<std::string> warnings;
  boost::json::object audit;
  std::string patch;  // base64
  ReviewAnswer answer;

  [[nodiscard]] std::string all_warnings() const {
    std::string out;
    for (const std::string& warning : warnings)
      out += warning + "\n";
    return out;
  }
};

inline Told taken_apart(ReviewAnswer answer, std::string body) {
  namespace json = boost::json;
  Told out;
  out.status = answer.status;
  out.answer = std::move(answer);
  out.body = std::move(body);
  if (out.status != 200) return out;
  const json::value root = json::parse(out.body);
  const json::object& response = root.at("response").as_object();
  EXPECT_EQ(response.at("uid"), "u-1");
  out.allowed = response.at("allowed").as_bool();
  if (const auto* status = response.if_contains("status")) {
    out.message = std::string(status->at("message").as_string());
    EXPECT_EQ(status->at("code"), 403);
    if (const auto* details = status->as_object().if_contains("details")) {
      for (const json::value& cause : details->at("causes").as_array())
        out.causes.push_back(std::string(cause.at("field").as_string()) + ": " +
                             std::string(cause.at("reason").as_string()));
    }
  }
  if (const auto* warnings = response.if_contains("warnings")) {
    for (const json::value& warning : warnings->as_array())
      out.warnings.emplace_back(warning.as_string());
  }
  if (const auto* audit = response.if_contains("auditAnnotations")) out.audit = audit->as_object();
  if (const auto* patch = response.if_contains("patch"))
    out.patch = std::string(patch->as_string());
  return out;
}

inline Told validate(const Webhook& webhook, const Asked& asked) {
  std::string body;
  ReviewAnswer answer = webhook.validate(review_of(asked), body);
  return taken_apart(std::move(answer), std::move(body));
}

inline Told mutate(const Webhook& webhook, const Asked& asked) {
  std::string body;
  ReviewAnswer answer = webhook.mutate(review_of(asked), body);
  return taken_apart(std::move(answer), std::move(body));
}

}  // namespace rankward::server
