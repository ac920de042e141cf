// Each rule as CEL: what it finds in each pod of `variables.pods`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/expressions.hpp"
#include "rankward/admission/policy.hpp"

namespace rankward::admission {

// Both grades are a list, by pod, of lists of texts: `volumes[0] "dev": hostPath "/dev/kfd"`. Two
// findings are the same where their texts are equal.
struct RuleExpression {
  std::string_view rule;
  std::string grave;   // variables.hp02; always there
  std::string milder;  // variables.hp02Milder; "" for rules of one grade
};

// In the order of the catalogue. May refer to the facts, to rule_variables, and, where the rule is
// of the second pass, to `gpuPod` and `aimed`: by pod, whether it is a GPU pod and can land on GPU
// nodes.
[[nodiscard]] std::vector<RuleExpression> rule_expressions(const Policy& policy);

// Parts of rules, beyond the facts.
[[nodiscard]] std::vector<NamedExpression> rule_variables(const Policy& policy);

// The value of a device variable, over `e`, an entry of `env`.
namespace cel {
[[nodiscard]] std::string chooses_nothing();
[[nodiscard]] std::string has_reference();
}  // namespace cel

}  // namespace rankward::admission
