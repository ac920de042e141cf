// Each rule as CEL: what it finds in each pod of `variables.pods`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rankward/admission/expressions.hpp"
#include "rankward/admission/policy.hpp"

namespace rankward::admission {

// Both grades are a list, by pod, of lists of texts: `volumes[0] "dev": hostPath "/dev/kfd"`. Two
// findings are the same where their texts are equal. A text begins with, or says last, the
// container that it is about.
struct RuleExpression {
  std::string_view rule;
  std::string grave;   // variables.hp02
  std::string milder;  // variables.hp02Milder; "" for rules of one grade
};

// They may refer to the facts, to rule_variables and, where the rule is of the second pass, to
// `gpuPod` and `aimed`: by pod, whether it is a GPU pod and can land on GPU nodes.
[[nodiscard]] std::vector<RuleExpression> rule_expressions(const Policy& policy);
void add_host_path_rules(const Policy& policy, std::vector<RuleExpression>& out);
void add_variable_rules(const Policy& policy, std::vector<RuleExpression>& out);
void add_pod_rules(const Policy& policy, std::vector<RuleExpression>& out);

// Parts of rules, beyond the facts.
[[nodiscard]] std::vector<NamedExpression> rule_variables(const Policy& policy);
void add_host_path_variables(const Policy& policy, std::vector<NamedExpression>& out);
void add_device_variables(const Policy& policy, std::vector<NamedExpression>& out);

// Variables by which a runtime picks devices, and all others whose values some rule looks at.
[[nodiscard]] std::vector<std::string> watched_variable_names(const Policy& policy);
// `^(cdi\.k8s\.io|...)(/|$)`: keys of annotations that add devices.
[[nodiscard]] std::string device_annotation_pattern(const Policy& policy);

}  // namespace rankward::admission
