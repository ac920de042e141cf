// ENV rules as CEL.
#include <algorithm>

#include "expressions_facts.hpp"
#include "expressions_rules.hpp"
#include "expressions_text.hpp"
#include "nvidia_variables.hpp"

namespace rankward::admission {
namespace {

constexpr std::string_view kValue = R"(e.?value.orValue(""))";

// As device_choice.cpp reads a value: one entry is void, or every entry is empty or none.
std::string chooses_nothing() {
  return "!has(e.valueFrom) && " +
         cel::matches(kValue, R"(^[\s\v]*(none)?[\s\v]*(,[\s\v]*(none)?[\s\v]*)*$)"
                              R"(|(^|,)[\s\v]*void[\s\v]*(,|$))");
}

std::string is_hidden() {
  return "(has(e.valueFrom) || " + cel::matches(kValue, R"((^|[^$])(\$\$)*\$\([^)]*\))") + ")";
}

// Of each container `c` for which the first condition holds, the variables `e` for which the second
// does.
std::string variables_where(std::string_view containers, std::string_view condition) {
  return cel::fill(
      R"(variables.environments.map(pod, pod
  .filter(c, @containers@)
  .map(c, c.last.filter(e, @condition@)
    .map(e, c.at + ": " + e.name +
      (has(e.valueFrom) ? " from elsewhere" : "=" + @quoted@)))))",
      {{"containers", containers}, {"condition", condition}, {"quoted", cel::quoted(kValue)}});
}

RuleExpression variables_from_elsewhere(const Policy& policy) {
  const std::string names = cel::list(policy.device_variables());
  return {"ENV-04",
          cel::fill(R"(variables.containers.transformList(i, containers,
  variables.aimed[i] ? containers.filter(c, !c.asks && c.judged &&
      !c.env.exists(e, e.name in @names@))
    .map(c, c.envFrom.filter(s, @names@.exists(n, n.startsWith(s.?prefix.orValue(""))))
      .map(s, c.at + ": envFrom of a " + (has(s.secretRef) ? "secretRef " : "configMapRef ") +
        strings.quote(s.?prefix.orValue("")))) : []))",
                    {{"names", names}}),
          {}};
}

RuleExpression legacy_cuda_version() {
  const auto has_value = [](std::string_view variable) {
    return cel::fill(R"((has(@v@.valueFrom) || @v@.?value.orValue("") != ""))", {{"v", variable}});
  };
  return {"ENV-05",
          variables_where("!c.asks", cel::fill(R"(e.name == @version@ && @valued@ &&
    !c.last.exists(o, o.name == @devices@ || o.name == @requirement@ && @required@))",
                                               {{"version", cel::literal(kCudaVersion)},
                                                {"valued", has_value("e")},
                                                {"devices", cel::literal(kVisibleDevices)},
                                                {"requirement", cel::literal(kCudaRequirement)},
                                                {"required", has_value("o")}})),
          {}};
}

// Features of one grade; those that are fine beside a request count without one alone.
std::string driver_features(bool grave) {
  std::vector<std::string> lists;
  std::vector<std::string> switches;
  std::vector<std::string> fine;
  for (const DriverFeature& feature : kDriverFeatureVariables) {
    if (feature.grave != grave) continue;
    (feature.is_switch ? switches : lists).emplace_back(feature.variable);
    if (feature.fine_with_request) fine.emplace_back(feature.variable);
  }
  return variables_where("true", cel::fill(R"((e.name in @lists@ && !(@nothing@) ||
      e.name in @switches@ && (@value@ == "enabled" || @hidden@)) &&
    !(c.asks && e.name in @fine@))",
                                           {{"lists", cel::list(lists)},
                                            {"nothing", chooses_nothing()},
                                            {"switches", cel::list(switches)},
                                            {"value", kValue},
                                            {"hidden", is_hidden()},
                                            {"fine", cel::list(fine)}}));
}

}  // namespace

std::vector<std::string> watched_variable_names(const Policy& policy) {
  const std::span<const std::string> devices = policy.device_variables();
  std::vector<std::string> names(devices.begin(), devices.end());
  for (const std::string_view name : {kCudaVersion, kCudaRequirement, kVisibleDevices})
    names.emplace_back(name);
  for (const DriverFeature& feature : kDriverFeatureVariables)
    names.emplace_back(feature.variable);
  std::vector<std::string> once;
  for (std::string& name : names)
    if (std::find(once.begin(), once.end(), name) == once.end()) once.push_back(std::move(name));
  return once;
}

void add_variable_rules(const Policy& policy, std::vector<RuleExpression>& out) {
  const std::string some =
      "e.name in " + cel::list(policy.device_variables()) + " &&\n    !(" + chooses_nothing() + ")";
  out.push_back({"ENV-01", variables_where("!c.asks", some + " && !" + is_hidden()), {}});
  out.push_back({"ENV-02", variables_where("!c.asks", some + " && " + is_hidden()), {}});
  out.push_back({"ENV-03", variables_where("c.asks", some), {}});
  out.push_back(variables_from_elsewhere(policy));
  out.push_back(legacy_cuda_version());
  out.push_back({"ENV-06", driver_features(true), driver_features(false)});
}

// Of variables with one name the last one counts.
void add_device_variables(const Policy& policy, std::vector<NamedExpression>& out) {
  out.push_back(
      {"environments", cel::fill(R"(variables.containers.map(pod, pod.map(c, {
    "at": c.at,
    "asks": c.asks,
    "last": dyn([c.env.filter(e, e.name in @names@)].map(l,
      l.size() == 0 ? [] : @names@.map(n, l.filter(e, e.name == n)).filter(d, d.size() > 0)
        .map(d, d[d.size() - 1]))[0])
  })))",
                                 {{"names", cel::list(watched_variable_names(policy))}})});
}

}  // namespace rankward::admission
