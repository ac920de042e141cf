// The webhook: AdmissionReview bytes in, AdmissionReview bytes out.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "rankward/admission/cluster_facts.hpp"
#include "rankward/admission/policy.hpp"
#include "rankward/cluster/latest.hpp"
#include "review_answer.hpp"

namespace rankward::server {

struct WebhookOptions {
  // What is known of the cluster; outlives the webhook. nullptr: nothing.
  const cluster::Latest<admission::ClusterFacts>* facts = nullptr;
  bool mutate = false;  // whether mutate() may be called
};

// Safe to call from many threads. A verdict is always a 200. 400: not a review. 500: our own fault,
// so that failurePolicy decides and nothing is allowed in silence.
class Webhook {
 public:
  explicit Webhook(admission::Policy policy, WebhookOptions options = {})
      : policy_(std::move(policy)), options_(options) {}

  // Pods, what makes them, PersistentVolumes, and what SELF-01 guards; other kinds pass. A custom
  // resource whose pod template cannot be read is admitted with the audit annotation `error`, since
  // nobody validates those and its pods are judged anyway.
  [[nodiscard]] ReviewAnswer validate(std::string_view body, std::string& out) const;

  // The companion: admits, with a patch where containers are to be told that they see no GPU.
  [[nodiscard]] ReviewAnswer mutate(std::string_view body, std::string& out) const;
  [[nodiscard]] bool mutates() const { return options_.mutate; }

  [[nodiscard]] const admission::Policy& policy() const { return policy_; }

 private:
  // Judgement of pods and of what makes them.
  [[nodiscard]] ReviewAnswer validate_object(const formats::AdmissionRequest& request,
                                             std::string& out) const;

  const admission::Policy policy_;
  const WebhookOptions options_;
};

}  // namespace rankward::server
