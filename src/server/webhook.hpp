// The validating webhook: AdmissionReview bytes in, AdmissionReview bytes out.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "metrics.hpp"
#include "rankward/admission/policy.hpp"
#include "rankward/record/decision.hpp"

namespace rankward::server {

struct ReviewAnswer {
  int status = 200;
  Outcome outcome = Outcome::kOk;
  std::string error;                   // why there is no verdict, for the log
  std::vector<std::string> denied_by;  // rules, one entry a finding
  std::vector<std::string> warned_by;
  record::AdmissionDecision decision;
};

class Webhook {
 public:
  explicit Webhook(admission::Policy policy) : policy_(std::move(policy)) {}

  // A verdict is always a 200. 400: not a review. 500: our own fault, so that failurePolicy decides
  // and nothing is allowed in silence. Safe to call from many threads.
  [[nodiscard]] ReviewAnswer validate(std::string_view body, std::string& out) const;

 private:
  const admission::Policy policy_;
};

}  // namespace rankward::server
