// RT, ANN, PRIV and SCH rules as CEL.
#include "expressions_rules.hpp"

#include "device_annotations.hpp"
#include "expressions_facts.hpp"
#include "expressions_text.hpp"

namespace rankward::admission {
namespace {

constexpr std::string_view kAnyAsks = "variables.containers[i].exists(c, c.asks)";

std::string gpu_runtime_class_where(std::string_view condition, const Policy& policy) {
  return cel::fill(
      R"(variables.pods.transformList(i, pod,
  pod.spec.?runtimeClassName.orValue("") != "" && @listed@ && @condition@ ?
  [["runtimeClassName=" + strings.quote(pod.spec.runtimeClassName)]] : []))",
      {{"listed", cel::matches("pod.spec.runtimeClassName",
                               cel::names_pattern(policy.options().runtime_classes))},
       {"condition", condition}});
}

// A value that changed makes a finding new, so in the old pod only keys with the new value count.
std::string annotations_where(std::string_view condition, const Policy& policy) {
  return cel::fill(R"(variables.pods.transformList(i, pod,
  @condition@ ? [pod.metadata.?annotations.orValue({}).filter(k,
    @adds_devices@ &&
    object.metadata.?annotations[?k].orValue("") == pod.metadata.annotations[k])
    .map(k, "annotation " + strings.quote(k))] : []))",
                   {{"condition", condition},
                    {"adds_devices", cel::matches("k", device_annotation_pattern(policy))}});
}

std::string privileged_where(std::string_view pod, std::string_view condition) {
  return cel::fill(R"(variables.containers.transformList(i, containers, @pod@ ? [containers
  .filter(c, c.privilege != "" && @condition@)
  .map(c, c.at + (c.privilege == "privileged" ? ": privileged" : ": capability " + c.privilege))]
  : []))",
                   {{"pod", pod}, {"condition", condition}});
}

std::string pods_where(std::string_view condition, std::string_view text) {
  return cel::fill("variables.pods.transformList(i, pod,\n  @condition@ ?\n  [[@text@]] : [])",
                   {{"condition", condition}, {"text", text}});
}

void add_scheduling_rules(const Policy& policy, std::vector<RuleExpression>& out) {
  // A pod that stands may have its node from the scheduler.
  out.push_back({"SCH-01",
                 pods_where(R"(request.operation == "CREATE" && variables.gpuPod[i] &&
  pod.spec.?nodeName.orValue("") != "")",
                            R"("nodeName=" + strings.quote(pod.spec.nodeName))"),
                 {}});
  if (!policy.options().served_schedulers.empty()) {
    constexpr std::string_view kName = R"(pod.spec.?schedulerName.orValue("default-scheduler"))";
    out.push_back(
        {"SCH-02",
         pods_where(cel::fill("variables.gpuPod[i] && !(@name@ in @served@)",
                              {{"name", kName},
                               {"served", cel::list(policy.options().served_schedulers)}}),
                    cel::fill(R"("schedulerName=" + strings.quote(@name@))", {{"name", kName}})),
         {}});
  }
  out.push_back({"SCH-03",
                 cel::fill(R"(variables.pods.transformList(i, pod,
  @asks@ || pod.metadata.?ownerReferences.orValue([])
    .exists(o, o.?controller.orValue(false) && o.kind == "DaemonSet") ? [] :
  @selects@ ?
    [["a node label that leads to GPU nodes"]] :
  @tolerates@ ?
    [["a toleration that leads to GPU nodes"]] : []))",
                           {{"asks", kAnyAsks},
                            {"selects", cel::selects_gpu_nodes(policy)},
                            {"tolerates", cel::tolerates_gpu_nodes(policy)}}),
                 {}});
}

}  // namespace

std::string device_annotation_pattern(const Policy& policy) {
  std::vector<std::string> domains;
  for (const std::string_view domain : kDeviceAnnotationDomains)
    domains.push_back(cel::glob_pattern(domain, "[^/]*"));
  for (const VendorOption& vendor : policy.options().vendors)
    for (const std::string& domain : vendor.annotations)
      domains.push_back(cel::glob_pattern(domain, "[^/]*"));
  return "^(" + cel::alternatives(domains) + ")(/|$)";
}

void add_pod_rules(const Policy& policy, std::vector<RuleExpression>& out) {
  const std::string asks(kAnyAsks);
  out.push_back({"RT-01", gpu_runtime_class_where("!" + asks, policy), {}});
  out.push_back({"RT-02", gpu_runtime_class_where(asks, policy), {}});
  out.push_back({"ANN-01", annotations_where("!" + asks, policy), annotations_where(asks, policy)});
  out.push_back({"PRIV-01", privileged_where("variables.aimed[i]", "!c.asks && c.judged"), {}});
  out.push_back({"PRIV-02", privileged_where("true", "c.asks"), {}});
  out.push_back({"PRIV-03",
                 R"(variables.pods.transformList(i, pod, variables.gpuPod[i] ? [
  ["hostPID", "hostIPC"].filter(f, pod.spec[?f].orValue(false))] : []))",
                 {}});
  add_scheduling_rules(policy, out);
}

std::vector<RuleExpression> rule_expressions(const Policy& policy) {
  std::vector<RuleExpression> out;
  add_host_path_rules(policy, out);
  add_variable_rules(policy, out);
  add_pod_rules(policy, out);
  return out;
}

std::vector<NamedExpression> rule_variables(const Policy& policy) {
  std::vector<NamedExpression> out;
  add_host_path_variables(policy, out);
  add_device_variables(policy, out);
  return out;
}

}  // namespace rankward::admission
