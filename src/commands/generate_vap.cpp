#include <ostream>

#include "findings_judge.hpp"
#include "generate_yaml.hpp"
#include "rankward/admission/expressions.hpp"
#include "rankward/commands/generate.hpp"

namespace rankward::commands {
namespace {

using admission::Mode;

std::string_view action_of(Mode mode) {
  switch (mode) {
    case Mode::kEnforce:
      return "Deny";
    case Mode::kWarn:
      return "Warn";
    default:
      return "Audit";
  }
}

void print_expressions(std::ostream& out, std::string_view field,
                       const std::vector<admission::NamedExpression>& expressions) {
  if (expressions.empty()) return;
  out << "  " << field << ":\n";
  for (const admission::NamedExpression& each : expressions)
    out << yaml_field("  - ", "name", each.name)
        << yaml_field("    ", "expression", each.expression);
}

void print_policy(std::ostream& out, const admission::Policy& policy,
                  const admission::ModePolicy& made) {
  const std::string name = "rankward-" + std::string(admission::to_string(made.mode));
  // A rule that cannot be worked out must not let a pod through where it would deny, and must not
  // hold one up where it would warn.
  const std::string_view on_failure = made.mode == Mode::kEnforce ? "Fail" : "Ignore";
  out << "apiVersion: admissionregistration.k8s.io/v1\n"
         "kind: ValidatingAdmissionPolicy\n"
         "metadata:\n"
         "  name: "
      << name
      << "\n"
         "spec:\n"
         "  failurePolicy: "
      << on_failure
      << "\n"
         "  matchConstraints:\n"
         "    resourceRules:\n"
         "    - apiGroups: [\"\"]\n"
         "      apiVersions: [v1]\n"
         "      operations: [CREATE, UPDATE]\n"
         "      resources: [pods, pods/ephemeralcontainers]\n";
  if (!policy.options().excluded_namespaces.empty()) {
    out << "    namespaceSelector:\n"
           "      matchExpressions:\n"
           "      - key: kubernetes.io/metadata.name\n"
           "        operator: NotIn\n"
           "        values: "
        << yaml_list(policy.options().excluded_namespaces) << "\n";
  }
  print_expressions(out, "matchConditions", made.match_conditions);
  print_expressions(out, "variables", made.variables);
  out << "  validations:\n";
  for (const admission::RuleValidation& validation : made.validations) {
    out << yaml_field("  - ", "expression", validation.expression)
        << yaml_field("    ", "message", validation.message)
        << yaml_field("    ", "messageExpression", validation.message_expression)
        << "    reason: Forbidden\n";
  }
  out << "---\n"
         "apiVersion: admissionregistration.k8s.io/v1\n"
         "kind: ValidatingAdmissionPolicyBinding\n"
         "metadata:\n"
         "  name: "
      << name
      << "\n"
         "spec:\n"
         "  policyName: "
      << name
      << "\n"
         "  validationActions: ["
      << action_of(made.mode) << "]\n";
}

}  // namespace

int generate_vap(const GenerateVapOptions& options, const Console& console) {
  const auto policy = read_policy(options.config);
  if (!policy) {
    console.err << "rankward generate vap: " << policy.error().to_string() << '\n';
    return 3;
  }
  const admission::PodPolicies made = admission::pod_policies(*policy);
  console.out << yaml_comment(
      "The rules of Rankward's webhook for pods as the API server judges them by itself. Made by "
      "`rankward generate vap`; make it again where the configuration changes.");
  if (!made.unexpressed.empty()) {
    console.out << yaml_comment("Judged by the webhook alone:");
    for (const admission::UnexpressedRule& rule : made.unexpressed)
      console.out << yaml_comment("  " + std::string(rule.rule) + ": " + std::string(rule.why));
  }
  for (const admission::ModePolicy& each : made.policies) {
    if (&each != &made.policies.front()) console.out << "---\n";
    print_policy(console.out, *policy, each);
  }
  return 0;
}

}  // namespace rankward::commands
