#include "rankward/kube/scheduling.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <system_error>

#include "qualified_name.hpp"

namespace rankward::kube {
namespace {

std::optional<std::int64_t> parse_integer(std::string_view text) {
  // As strconv.ParseInt: a plus sign is fine.
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool contains(const std::vector<std::string>& values, const std::string& value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

bool is_label_value(const std::string& text) {
  return text.empty() || is_name_part(text);
}

// `label` is nullptr where the node has no such key.
bool matches(const NodeSelectorRequirement& requirement, const std::string* label) {
  // The API server lets such a value pass; the scheduler cannot read it and drops the whole term.
  if (!std::all_of(requirement.values.begin(), requirement.values.end(), is_label_value)) {
    return false;
  }
  if (requirement.op == "In") {
    return label != nullptr && contains(requirement.values, *label);
  }
  // A label that is absent is not in any list.
  if (requirement.op == "NotIn") {
    return !requirement.values.empty() &&
           (label == nullptr || !contains(requirement.values, *label));
  }
  if (requirement.op == "Exists") return label != nullptr && requirement.values.empty();
  if (requirement.op == "DoesNotExist") return label == nullptr && requirement.values.empty();
  if (requirement.op == "Gt" || requirement.op == "Lt") {
    if (label == nullptr || requirement.values.size() != 1) return false;
    const auto have = parse_integer(*label);
    const auto bound = parse_integer(requirement.values.front());
    if (!have || !bound) return false;
    return requirement.op == "Gt" ? *have > *bound : *have < *bound;
  }
  return false;
}

// Only metadata.name is a field to Kubernetes here, with In or NotIn and a single value, which may
// be longer than a label's.
bool matches_field(const NodeSelectorRequirement& requirement, const std::string& node_name) {
  if (requirement.key != "metadata.name" || requirement.values.size() != 1) return false;
  if (requirement.op == "In") return requirement.values.front() == node_name;
  return requirement.op == "NotIn" && requirement.values.front() != node_name;
}

std::string to_string(const NodeSelectorRequirement& requirement) {
  std::string out = requirement.key + " " + requirement.op;
  if (requirement.values.empty()) return out;
  const bool list = requirement.op == "In" || requirement.op == "NotIn";
  std::string values;
  for (const std::string& value : requirement.values) {
    if (!values.empty()) values += ", ";
    values += value;
  }
  return out + (list ? " (" + values + ")" : " " + values);
}

// Nothing where the term matches.
std::optional<std::string> failing_requirement(const NodeSelectorTerm& term, const Node& node) {
  if (term.match_expressions.empty() && term.match_fields.empty()) {
    return "an empty node selector term";
  }
  for (const NodeSelectorRequirement& requirement : term.match_expressions) {
    if (!matches(requirement, find(node.metadata.labels, requirement.key))) {
      return to_string(requirement);
    }
  }
  for (const NodeSelectorRequirement& requirement : term.match_fields) {
    if (!matches_field(requirement, node.metadata.name)) return to_string(requirement);
  }
  return std::nullopt;
}

// The operators Gt and Lt (KEP-5471, off by default) are left to the scheduler: where in doubt, a
// taint is not tolerated.
bool tolerates(const Toleration& toleration, const Taint& taint) {
  if (!toleration.effect.empty() && toleration.effect != taint.effect) return false;
  if (!toleration.key.empty() && toleration.key != taint.key) return false;
  if (toleration.op == "Exists") return true;
  return (toleration.op.empty() || toleration.op == "Equal") && toleration.value == taint.value;
}

}  // namespace

std::optional<std::string> failing_selector(const PodSpec& spec, const Node& node) {
  for (const auto& [key, value] : spec.node_selector) {
    const std::string* label = find(node.metadata.labels, key);
    if (label == nullptr || *label != value) return key + "=" + value;
  }
  if (!spec.required_node_affinity) return std::nullopt;
  std::string failed;
  for (const NodeSelectorTerm& term : *spec.required_node_affinity) {
    const auto failure = failing_requirement(term, node);
    if (!failure) return std::nullopt;
    if (!failed.empty()) failed += " or ";
    failed += *failure;
  }
  return failed.empty() ? "a node affinity without terms" : failed;
}

std::optional<std::string> untolerated_taint(const PodSpec& spec, const Node& node) {
  for (const Taint& taint : node.taints) {
    if (taint.effect != "NoSchedule" && taint.effect != "NoExecute") continue;
    const bool tolerated =
        std::any_of(spec.tolerations.begin(), spec.tolerations.end(),
                    [&](const Toleration& toleration) { return tolerates(toleration, taint); });
    if (tolerated) continue;
    return taint.key + (taint.value.empty() ? "" : "=" + taint.value) + ":" + taint.effect;
  }
  return std::nullopt;
}

bool asks_for_accelerator(const Container& container) {
  if (!container.resources.claims.empty()) return true;
  const auto counts = [](const ResourceList& list) {
    return std::any_of(list.begin(), list.end(), [](const auto& item) {
      return !item.second.is_zero() && is_accelerator(item.first);
    });
  };
  return counts(container.resources.requests) || counts(container.resources.limits);
}

bool asks_for_accelerator(const PodSpec& spec) {
  const auto asks = [](const Container& container) { return asks_for_accelerator(container); };
  return std::any_of(spec.containers.begin(), spec.containers.end(), asks) ||
         std::any_of(spec.init_containers.begin(), spec.init_containers.end(), asks);
}

}  // namespace rankward::kube
