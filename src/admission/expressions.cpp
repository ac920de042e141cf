#include "rankward/admission/expressions.hpp"

#include <algorithm>
#include <cctype>
#include <set>

#include "expressions_facts.hpp"
#include "expressions_rules.hpp"
#include "expressions_text.hpp"
#include "rankward/admission/judge.hpp"
#include "rule.hpp"

namespace rankward::admission {
namespace {

// "hp01" of "HP-01": variables of a policy are named as Go names fields.
std::string variable_name(std::string_view rule) {
  std::string out;
  for (const char c : rule) {
    if (c == '-') continue;
    out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return out;
}

const Rule& rule_of(std::string_view id) {
  const auto all = rules();
  return **std::find_if(all.begin(), all.end(),
                        [&](const Rule* rule) { return rule->info.id == id; });
}

// In which namespaces something holds, as CEL. `holds` is asked for each that a mode is set for,
// and for "", which stands for all others.
template <class Holds>
std::string namespaces_where(const Policy& policy, Holds holds) {
  const bool elsewhere = holds(std::string_view());
  std::set<std::string> exceptions;
  for (const ModeOption& option : policy.options().modes)
    for (const std::string& name : option.namespaces)
      if (holds(std::string_view(name)) != elsewhere) exceptions.insert(name);
  if (exceptions.empty()) return elsewhere ? "true" : "false";
  const std::vector<std::string> names(exceptions.begin(), exceptions.end());
  return (elsewhere ? "!(request.namespace in " : "(request.namespace in ") + cel::list(names) +
         ")";
}

Mode mode_of(const Policy& policy, const RuleInfo& info, bool milder, std::string_view namespace_) {
  return policy.mode(info.id, namespace_).value_or(milder ? info.milder_mode : info.default_mode);
}

std::string in_mode(const Policy& policy, const RuleInfo& info, bool milder, Mode mode) {
  return namespaces_where(policy, [&](std::string_view namespace_) {
    return mode_of(policy, info, milder, namespace_) == mode;
  });
}

// EPH-01 caps the mode of what ephemeral containers do.
std::string in_mode_of_ephemeral(const Policy& policy, const RuleInfo& info, bool milder,
                                 Mode mode) {
  return namespaces_where(policy, [&](std::string_view namespace_) {
    const Mode own = mode_of(policy, info, milder, namespace_);
    return std::min(own, policy.mode("EPH-01", namespace_).value_or(own)) == mode;
  });
}

// A list of the ids of rules that something exempts the pod from.
std::string exempt_rules(const Policy& policy, const std::vector<RuleExpression>& expressions) {
  std::string out = "[]";
  for (const Exemption& exemption : policy.exemptions()) {
    std::vector<std::string> judged;
    for (const RuleExpression& expression : expressions)
      if (std::find(exemption.rules.begin(), exemption.rules.end(), expression.rule) !=
          exemption.rules.end())
        judged.emplace_back(expression.rule);
    if (judged.empty()) continue;
    std::string condition = "request.namespace in " + cel::list(exemption.namespaces) +
                            " &&\n  object.spec.?serviceAccountName.orValue(\"default\") in " +
                            cel::list(exemption.service_accounts);
    if (!exemption.owner_kinds.empty())
      condition += " &&\n  variables.owner in " + cel::list(exemption.owner_kinds);
    // A new pod is created now; CEL has no other clock.
    if (exemption.expires)
      condition += " &&\n  timestamp(object.metadata.creationTimestamp) < timestamp(" +
                   std::to_string(*exemption.expires) + ")";
    out += " +\n  (" + condition + " ?\n    " + cel::list(judged) + " : [])";
  }
  return out;
}

std::string found(std::string_view variable) {
  return "variables." + std::string(variable);
}

// Whether a rule of the first pass found something; those that are off find nothing.
std::string gpu_pod(const Policy& policy, const std::vector<RuleExpression>& expressions) {
  std::string out =
      "variables.pods.transformList(i, pod,\n  variables.containers[i].exists(c, c.asks)";
  for (const RuleExpression& expression : expressions) {
    const Rule& rule = rule_of(expression.rule);
    if (!rule.first_pass) continue;
    const std::string name = variable_name(expression.rule);
    for (const bool milder : {false, true}) {
      if (milder && expression.milder.empty()) continue;
      const std::string on = namespaces_where(policy, [&](std::string_view namespace_) {
        return mode_of(policy, rule.info, milder, namespace_) != Mode::kOff;
      });
      if (on == "false") continue;
      out += " ||\n  ";
      if (on != "true") out += on + " && ";
      out += found(name + (milder ? "Milder" : "")) + "[i].exists(l, l.size() > 0)";
    }
  }
  return out + ")";
}

std::string aimed(const Policy& policy) {
  return cel::fill(R"(variables.pods.transformList(i, pod,
  variables.gpuPod[i] || pod.spec.?nodeName.orValue("") != "" ||
  @tolerates@ ||
  @selects@))",
                   {{"tolerates", cel::tolerates_gpu_nodes(policy)},
                    {"selects", cel::selects_gpu_nodes(policy)}});
}

// The new pod's findings `t` that the old one did not have, in either grade.
std::string news(const RuleExpression& expression, bool milder, std::string_view condition) {
  const std::string name = variable_name(expression.rule);
  std::string known = found(name) + "[1].exists(k, t in k)";
  if (!expression.milder.empty()) known += " || " + found(name) + "Milder[1].exists(k, t in k)";
  return cel::fill(R"(@found@[0]
    .map(l, l.filter(t, @condition@ && (variables.pods.size() == 1 || !(@known@))))
    .filter(l, l.size() > 0).map(l, l.join(", ")))",
                   {{"found", found(name + (milder ? "Milder" : ""))},
                    {"condition", condition},
                    {"known", known}});
}

// What holds for findings of the rule in this mode: "false" where none is.
std::string applies(const Policy& policy, const RuleInfo& info, bool milder, Mode mode) {
  const std::string others = in_mode(policy, info, milder, mode);
  const std::string ephemeral = in_mode_of_ephemeral(policy, info, milder, mode);
  if (others == ephemeral) return others;
  return cel::fill(R"((t.startsWith("ephemeralContainers[") ||
      t.contains("\" to ephemeralContainers[") ? @ephemeral@ : @others@))",
                   {{"ephemeral", ephemeral}, {"others", others}});
}

std::string tail_of(const RuleInfo& info) {
  std::string out(info.title);
  return out.append(". ").append(info.why).append(" Fix: ").append(info.fix);
}

// The rule's message, or "" where it found nothing new in this mode.
std::string told(const Policy& policy, const RuleExpression& expression, Mode mode) {
  const RuleInfo& info = rule_of(expression.rule).info;
  std::string lists;
  for (const bool milder : {false, true}) {
    if (milder && expression.milder.empty()) continue;
    const std::string condition = applies(policy, info, milder, mode);
    if (condition == "false") continue;
    lists += (lists.empty() ? "" : " +\n  ") + news(expression, milder, condition);
  }
  if (lists.empty()) return {};
  std::string out = "(" + lists + ")\n  .join(\", \")";
  if (info.exemptible) out = cel::literal(info.id) + " in variables.exempt ? \"\" :\n  " + out;
  return cel::fill("[@texts@]\n  .map(m, m == \"\" ? \"\" : @begin@ + m + @end@)[0]",
                   {{"texts", out},
                    {"begin", cel::literal("[" + std::string(info.id) + "] ")},
                    {"end", cel::literal(": " + tail_of(info))}});
}

// What nothing refers to is left out.
void drop_unused(ModePolicy& policy) {
  std::set<std::string> used;
  const auto note = [&](std::string_view text) {
    constexpr std::string_view kPrefix = "variables.";
    for (std::size_t at = text.find(kPrefix); at != std::string_view::npos;
         at = text.find(kPrefix, at + 1)) {
      const std::size_t begin = at + kPrefix.size();
      std::size_t end = begin;
      while (end < text.size() && std::isalnum(static_cast<unsigned char>(text[end])) != 0)
        ++end;
      used.emplace(text.substr(begin, end - begin));
    }
  };
  for (const RuleValidation& validation : policy.validations)
    note(validation.expression + validation.message_expression);
  std::vector<NamedExpression> kept;
  for (auto variable = policy.variables.rbegin(); variable != policy.variables.rend(); ++variable) {
    if (used.count(variable->name) == 0) continue;
    note(variable->expression);
    kept.push_back(std::move(*variable));
  }
  policy.variables.assign(std::make_move_iterator(kept.rbegin()),
                          std::make_move_iterator(kept.rend()));
}

std::vector<NamedExpression> all_variables(const Policy& policy,
                                           const std::vector<RuleExpression>& expressions) {
  std::vector<NamedExpression> out = pod_fact_variables(policy);
  for (NamedExpression& variable : rule_variables(policy))
    out.push_back(std::move(variable));
  for (const bool first_pass : {true, false}) {
    if (!first_pass) {
      out.push_back({"gpuPod", gpu_pod(policy, expressions)});
      out.push_back({"aimed", aimed(policy)});
    }
    for (const RuleExpression& expression : expressions) {
      if (rule_of(expression.rule).first_pass != first_pass) continue;
      const std::string name = variable_name(expression.rule);
      out.push_back({name, expression.grave});
      if (!expression.milder.empty()) out.push_back({name + "Milder", expression.milder});
    }
  }
  out.push_back({"owner", R"(object.metadata.?ownerReferences.orValue([])
  .filter(o, o.?controller.orValue(false)).map(o, o.kind).join(""))"});
  out.push_back({"exempt", exempt_rules(policy, expressions)});
  return out;
}

// The API server shows the first denial alone, so each tells all of them.
std::string everything_denied(const std::vector<RuleValidation>& validations) {
  std::string out;
  for (const RuleValidation& validation : validations)
    out += (out.empty() ? "" : ", ") + found(variable_name(validation.rule) + "Told");
  return cel::fill(R"([[@all@].filter(m, m != "").join(" ")]
  .map(m, m.size() > @limit@ ? m.substring(0, @limit@) + "..." : m)[0])",
                   {{"all", out}, {"limit", std::to_string(kMessageLength)}});
}

ModePolicy policy_of(const Policy& policy, const std::vector<RuleExpression>& expressions,
                     Mode mode) {
  ModePolicy out;
  out.mode = mode;
  // A mirror pod runs already; an object that is being deleted must be free to go.
  out.match_conditions = {
      {"not-a-mirror-pod",
       R"(!("kubernetes.io/config.mirror" in object.metadata.?annotations.orValue({})))"},
      {"not-being-deleted", "!has(object.metadata.deletionTimestamp)"},
  };
  out.variables = all_variables(policy, expressions);
  for (const RuleExpression& expression : expressions) {
    std::string text = told(policy, expression, mode);
    if (text.empty()) continue;
    const RuleInfo& info = rule_of(expression.rule).info;
    const std::string name = variable_name(expression.rule) + "Told";
    out.variables.push_back({name, std::move(text)});
    out.validations.push_back({info.id, found(name) + " == \"\"",
                               "[" + std::string(info.id) + "] " + tail_of(info), found(name)});
  }
  if (mode == Mode::kEnforce) {
    const std::string all = everything_denied(out.validations);
    for (RuleValidation& validation : out.validations)
      validation.message_expression = all;
  }
  drop_unused(out);
  return out;
}

// EPH-01 is in every rule's own expression; HP-08 and SCH-02 have one where they are configured.
std::string_view why_unexpressed(std::string_view rule) {
  struct Reason {
    std::string_view rule;
    std::string_view why;
  };
  static constexpr Reason kReasons[] = {
      {"HP-06", "an expression cannot look up the volume of a claim"},
      {"HP-08", "not configured (admission.allowedHostPaths)"},
      {"SCH-02", "not configured (schedulerNames)"},
      {"EPH-01", "part of every rule here: ephemeral containers are judged as the others are"},
      {"SELF-01", "it is about ConfigMaps and Namespaces"},
      {"REQ-01", "it warns of amounts, some by what nodes have; no device is reached by them"},
      {"REQ-02", "it warns of memory that a slice does not have; no device is reached by it"},
      {"REQ-03", "it goes by labels of namespaces and guards nobody's devices"},
      {"REQ-04", "it warns of ranks that would be slow; no device is reached by them"},
      {"FAB-01", "it reads commands and amounts as expressions cannot"},
      {"KEY-01", "it reads values as expressions cannot"},
  };
  for (const Reason& reason : kReasons)
    if (reason.rule == rule) return reason.why;
  return "nobody has put it into CEL";
}

}  // namespace

PodPolicies pod_policies(const Policy& policy) {
  const std::vector<RuleExpression> expressions = rule_expressions(policy);
  PodPolicies out;
  for (const Mode mode : {Mode::kEnforce, Mode::kWarn, Mode::kAudit}) {
    ModePolicy made = policy_of(policy, expressions, mode);
    if (!made.validations.empty()) out.policies.push_back(std::move(made));
  }
  for (const RuleInfo& info : catalogue()) {
    const bool expressed =
        std::any_of(expressions.begin(), expressions.end(),
                    [&](const RuleExpression& known) { return known.rule == info.id; });
    if (!expressed) out.unexpressed.push_back({info.id, why_unexpressed(info.id)});
  }
  return out;
}

}  // namespace rankward::admission
