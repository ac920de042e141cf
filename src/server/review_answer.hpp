// What a review came to, as bytes for the caller and as what is logged and counted afterwards.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "metrics.hpp"
#include "rankward/admission/judge.hpp"
#include "rankward/formats/review.hpp"
#include "rankward/record/decision.hpp"

namespace rankward::server {

struct ReviewAnswer {
  int status = 200;
  Outcome outcome = Outcome::kOk;
  std::string error;  // what could not be read, for the log
  // Rules, by what their findings led to; one entry a rule, each with its number of findings.
  std::vector<admission::RuleCount> counts;
  std::vector<std::string> exempted_by;  // names of exemptions, each once
  record::AdmissionDecision decision;
};

[[nodiscard]] record::AdmissionDecision decision_of(const formats::AdmissionRequest& request);

// No verdict: the text of the error in place of a review.
[[nodiscard]] ReviewAnswer refuse(int status, Outcome outcome, const Error& error,
                                  record::AdmissionDecision decision, std::string& out);

[[nodiscard]] ReviewAnswer answer(const formats::AdmissionRequest& request,
                                  admission::Judgement judgement, std::string& out);

// Admitted because nobody could judge it; the audit annotation `error` and a warning say why.
[[nodiscard]] ReviewAnswer admit_unread(const formats::AdmissionRequest& request,
                                        const Error& error, std::string& out);

}  // namespace rankward::server
