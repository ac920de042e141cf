// The rules as expressions in CEL, for ValidatingAdmissionPolicies and match conditions: for when,
// and where, the webhook is not asked. Made from the same tables and the same Policy as the rules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/finding.hpp"
#include "rankward/admission/policy.hpp"

namespace rankward::admission {

struct NamedExpression {
  std::string name;
  std::string expression;  // CEL, of several lines
};

struct RuleValidation {
  std::string_view rule;  // "HP-01"; as long as the catalogue
  std::string expression;
  std::string message;             // where message_expression cannot be worked out
  std::string message_expression;  // the findings, in one line
};

// The rules of one mode over pods. A binding has its actions for a whole policy, so a rule that
// holds in different modes is in several.
struct ModePolicy {
  Mode mode = Mode::kEnforce;
  std::vector<NamedExpression> match_conditions;
  std::vector<NamedExpression> variables;  // each refers to earlier ones alone
  std::vector<RuleValidation> validations;
};

// A rule that has no expression.
struct UnexpressedRule {
  std::string_view rule;
  std::string_view why;
};

struct PodPolicies {
  std::vector<ModePolicy> policies;  // strictest mode first; none without a validation
  std::vector<UnexpressedRule> unexpressed;
};

// For CREATE and UPDATE of pods and UPDATE of pods/ephemeralcontainers, of Kubernetes 1.34 and
// later. As `judge` does, counts on UPDATE only what the old object did not have.
[[nodiscard]] PodPolicies pod_policies(const Policy& policy);

// Match conditions of the webhook's entry for pods, joined by AND as the API server does: true for
// every pod in which a rule could find something under this policy. What they keep away is plain.
[[nodiscard]] std::vector<NamedExpression> pod_match_conditions(const Policy& policy);

}  // namespace rankward::admission
