#include <algorithm>
#include <map>
#include <ostream>
#include <vector>

#include "files.hpp"
#include "findings_judge.hpp"
#include "generate_yaml.hpp"
#include "rankward/admission/expressions.hpp"
#include "rankward/commands/generate.hpp"
#include "rankward/formats/base64.hpp"
#include "rankward/formats/workload.hpp"
#include "rankward/kube/rankward_keys.hpp"

namespace rankward::commands {
namespace {

using admission::NamedExpression;

// base64 of CA_BUNDLE, which manifests/README.md has replaced.
constexpr std::string_view kPlaceholder = "Q0FfQlVORExF";
constexpr std::string_view kOwnNamespace = "rankward-system";

struct Target {
  std::string service_namespace;  // "" where url counts
  std::string service_name;
  std::string url;
  std::string ca_bundle;  // base64

  [[nodiscard]] std::string own_namespace() const {
    return service_namespace.empty() ? std::string(kOwnNamespace) : service_namespace;
  }
};

struct Rule {
  std::string group;
  std::string versions;  // YAML
  std::string operations = "[CREATE, UPDATE]";
  std::vector<std::string> resources{};
  std::string scope{};  // "": any
};

struct Hook {
  std::string comment;
  std::string name;
  std::vector<Rule> rules;
  std::string namespace_operator;  // "NotIn"
  std::vector<std::string> namespaces;
  std::string condition_comment;
  std::vector<NamedExpression> conditions;
  std::string failure_policy;
};

Result<Target> target_of(const GenerateManifestsOptions& options) {
  Target target;
  target.ca_bundle = kPlaceholder;
  if (!options.ca_bundle.empty()) {
    auto text = read_file(options.ca_bundle);
    if (!text) return std::move(text.error());
    if (text->find("-----BEGIN CERTIFICATE-----") == std::string::npos)
      return Error::invalid("must hold certificates in PEM form").in(options.ca_bundle);
    target.ca_bundle = formats::base64_encode(*text);
  }
  if (!options.url.empty()) {
    // What the API server accepts; it would refuse the rest when this is applied.
    if (!options.url.starts_with("https://") ||
        options.url.find_first_of("?#@ ") != std::string::npos)
      return Error::invalid("--url must be https://HOST:PORT/validate, without user, ? and #");
    target.url = options.url;
    return target;
  }
  const std::size_t slash = options.service.find('/');
  if (slash == std::string::npos || slash == 0 || slash + 1 == options.service.size() ||
      options.service.find('/', slash + 1) != std::string::npos)
    return Error::invalid("--service must be NAMESPACE/NAME");
  target.service_namespace = options.service.substr(0, slash);
  target.service_name = options.service.substr(slash + 1);
  return target;
}

// As API machinery guesses a kind's resource (meta.UnsafeGuessKindToResource); right for every kind
// of the table.
std::string resource_of(std::string_view kind) {
  std::string out(kind);
  std::transform(out.begin(), out.end(), out.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  if (out.ends_with('s')) return out + "es";
  if (out.ends_with('y')) return out.substr(0, out.size() - 1) + "ies";
  return out + "s";
}

// Built-in kinds at the version that is served, custom ones at any.
std::vector<Rule> workload_rules() {
  std::vector<Rule> rules;
  for (const formats::WorkloadKind& kind : formats::workload_kinds()) {
    const std::string resource = resource_of(kind.kind);
    if (kind.group.empty() && kind.kind == "Pod") continue;
    const bool built_in = kind.group.empty() || kind.group == "apps" || kind.group == "batch";
    auto rule = std::find_if(rules.begin(), rules.end(),
                             [&](const Rule& known) { return known.group == kind.group; });
    if (rule == rules.end()) {
      rules.push_back(
          {.group = std::string(kind.group), .versions = built_in ? "[v1]" : "[\"*\"]"});
      rule = rules.end() - 1;
    }
    if (std::find(rule->resources.begin(), rule->resources.end(), resource) ==
        rule->resources.end())
      rule->resources.push_back(resource);
  }
  rules.front().resources.emplace_back("persistentvolumes");
  return rules;
}

std::string list_of(std::initializer_list<std::string_view> texts) {
  std::string out = "[";
  for (const std::string_view text : texts)
    out.append(out.size() > 1 ? ", " : "").append("\"").append(text).append("\"");
  return out + "]";
}

std::vector<Hook> hooks(const admission::Policy& policy, const std::string& own_namespace) {
  const std::vector<std::string>& excluded = policy.options().excluded_namespaces;
  const std::string with_kueue = "[?\"" + std::string(kube::kWithKueueKey) + "\"]";
  const std::string changed =
      "request.operation == \"CREATE\" || object.?spec != oldObject.?spec ||\n"
      "object.?template != oldObject.?template ||\n"
      "object.metadata.?labels != oldObject.metadata.?labels ||\n"
      "object.metadata.?annotations" +
      with_kueue + " != oldObject.metadata.?annotations" + with_kueue;
  return {
      {.comment = "Pods: what a rule denies must not start, so an answer is demanded.",
       .name = "pods.rankward.io",
       .rules = {{.group = "",
                  .versions = "[v1]",
                  .resources = {"pods", "pods/ephemeralcontainers", "pods/resize"},
                  .scope = "Namespaced"}},
       .namespace_operator = "NotIn",
       .namespaces = excluded,
       .condition_comment =
           "Finalizers, owners, most labels and gates that go are no subject of any rule, so gangs "
           "are let go without a call for each pod, and by hand while we are down. A pod in which "
           "no rule can find anything is not sent at all.",
       .conditions = admission::pod_match_conditions(policy),
       .failure_policy = "Fail"},
      {.comment = "What makes pods: told early, by a warning. Its pods are judged above in any "
                  "case. Kinds that the cluster does not have cost nothing.",
       .name = "workloads.rankward.io",
       .rules = workload_rules(),
       .namespace_operator = "NotIn",
       .namespaces = excluded,
       .condition_comment = "A PodTemplate has `template` where the others have `spec`.",
       .conditions = {{"what-is-judged-changed", changed},
                      {"can-matter",
                       "request.kind.kind != \"PersistentVolume\" || "
                       "has(object.spec.hostPath) || has(object.spec.local)"}},
       .failure_policy = "Ignore"},
      {.comment = "Our own configuration: who may loosen it (SELF-01).",
       .name = "configuration.rankward.io",
       .rules = {{.group = "",
                  .versions = "[v1]",
                  .operations = "[CREATE, UPDATE, DELETE]",
                  .resources = {"configmaps"},
                  .scope = "Namespaced"}},
       .namespace_operator = "In",
       .namespaces = {own_namespace},
       .condition_comment = "",
       .conditions = {{"not-the-root-ca", "request.name != \"kube-root-ca.crt\""},
                      {"data-changed",
                       "request.operation != \"UPDATE\" || object.?data != oldObject.?data ||\n"
                       "object.?binaryData != oldObject.?binaryData"}},
       .failure_policy = "Ignore"},
      {.comment = "Names that an exemption waits for, and labels that ask for isolation (SELF-01).",
       .name = "namespaces.rankward.io",
       .rules =
           {{.group = "", .versions = "[v1]", .resources = {"namespaces"}, .scope = "Cluster"}},
       .namespace_operator = "",
       .namespaces = {},
       .condition_comment = "",
       .conditions = {{"made-or-labels-changed", "request.operation == \"CREATE\" ||\n" +
                                                     list_of({kube::kIsolationKey, kube::kSloKey}) +
                                                     ".exists(k,\n  object.metadata.?labels[?k] != "
                                                     "oldObject.metadata.?labels[?k])"}},
       .failure_policy = "Ignore"},
  };
}

void print_target(std::ostream& out, const Target& target) {
  out << "  clientConfig:\n";
  if (target.url.empty()) {
    out << "    service:\n"
        << yaml_field("      ", "namespace", target.service_namespace)
        << yaml_field("      ", "name", target.service_name)
        << "      path: /validate\n"
           "      port: 443\n";
  } else {
    out << yaml_field("    ", "url", target.url);
  }
  out << "    caBundle: " << target.ca_bundle << '\n';
}

void print_hook(std::ostream& out, const Hook& hook, const Target& target) {
  out << yaml_comment(hook.comment) << yaml_field("- ", "name", hook.name);
  print_target(out, target);
  out << "  rules:\n";
  for (const Rule& rule : hook.rules) {
    out << "  - apiGroups: [" << yaml_scalar(rule.group) << "]\n"
        << "    apiVersions: " << rule.versions << "\n    operations: " << rule.operations
        << "\n    resources: " << yaml_list(rule.resources) << '\n';
    if (!rule.scope.empty()) out << "    scope: " << rule.scope << '\n';
  }
  if (!hook.namespaces.empty()) {
    out << "  namespaceSelector:\n"
           "    matchExpressions:\n"
           "    - key: kubernetes.io/metadata.name\n"
           "      operator: "
        << hook.namespace_operator << "\n      values: " << yaml_list(hook.namespaces) << '\n';
  }
  if (!hook.condition_comment.empty()) out << yaml_comment(hook.condition_comment, "  ");
  out << "  matchConditions:\n";
  for (const NamedExpression& each : hook.conditions)
    out << yaml_field("  - ", "name", each.name)
        << yaml_field("    ", "expression", each.expression);
  out << "  failurePolicy: " << hook.failure_policy
      << "\n"
         "  matchPolicy: Equivalent\n"
         "  sideEffects: None\n"
         "  timeoutSeconds: 3\n"
         "  admissionReviewVersions: [v1]\n";
}

}  // namespace

int generate_manifests(const GenerateManifestsOptions& options, const Console& console) {
  const auto fail = [&](const Error& error) {
    console.err << "rankward generate manifests: " << error.to_string() << '\n';
    return 3;
  };
  const auto policy = read_policy(options.config);
  if (!policy) return fail(policy.error());
  const auto target = target_of(options);
  if (!target) return fail(target.error());
  console.out << yaml_comment(
      "The webhook's registration, made by `rankward generate manifests`; make it again where "
      "excluded namespaces, vendors, variables, runtime classes, labels or tolerations of the "
      "configuration change.");
  if (options.ca_bundle.empty()) {
    console.out << yaml_comment(
        "caBundle is a placeholder (the words CA_BUNDLE): README.md shows the one line that puts "
        "the real one in before this is applied. Applied as it stands, every new pod that can "
        "matter would be refused.");
  }
  console.out << "apiVersion: admissionregistration.k8s.io/v1\n"
                 "kind: ValidatingWebhookConfiguration\n"
                 "metadata:\n"
                 "  name: rankward\n"
                 "webhooks:\n";
  for (const Hook& hook : hooks(*policy, target->own_namespace()))
    print_hook(console.out, hook, *target);
  return 0;
}

}  // namespace rankward::commands
