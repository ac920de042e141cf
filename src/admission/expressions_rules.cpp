#include "expressions_rules.hpp"

#include "device_annotations.hpp"
#include "expressions_facts.hpp"
#include "expressions_host_path.hpp"
#include "expressions_text.hpp"

namespace rankward::admission {
namespace cel {

// As device_variables.cpp reads a value: one entry is void, or every entry is empty or none.
std::string chooses_nothing() {
  return matches("e.?value.orValue(\"\")", R"(^[\s\v]*(none)?[\s\v]*(,[\s\v]*(none)?[\s\v]*)*$)"
                                           R"(|(^|,)[\s\v]*void[\s\v]*(,|$))");
}

std::string has_reference() {
  return matches("e.?value.orValue(\"\")", R"((^|[^$])(\$\$)*\$\([^)]*\))");
}

namespace {

// Whether host path `u` is of one of the kinds, also where only its beginning is known.
std::string is_host_path(std::initializer_list<HostPathKind> kinds, const Policy& policy) {
  const HostPathPattern pattern = host_path_pattern(kinds, policy);
  std::string is = matches("u.path", pattern.is);
  if (!pattern.is_not.empty()) is += " && !" + matches("u.path", pattern.is_not);
  return "(" + is + " || u.below && " + matches("u.path", pattern.below) + ")";
}

std::string is_exactly(HostPathKind kind, const Policy& policy) {
  const HostPathPattern pattern = host_path_pattern({kind}, policy);
  std::string is = matches("u.path", pattern.is);
  if (!pattern.is_not.empty()) is += " && !" + matches("u.path", pattern.is_not);
  return is;
}

std::string paths_where(std::string_view condition) {
  return fill(
      "variables.paths.map(paths, paths.map(l, l.filter(u,\n  @condition@).map(u, u.text)))",
      {{"condition", condition}});
}

std::string variables_where(std::string_view containers, std::string_view condition) {
  return fill(R"(variables.deviceVariables.map(pod, pod
  .filter(c, @containers@)
  .map(c, c.last.filter(e, @condition@)
    .map(e, c.at + ": " + e.name +
      (has(e.valueFrom) ? " from elsewhere" : "=" + @quoted@)))))",
              {{"containers", containers},
               {"condition", condition},
               {"quoted", quoted(R"(e.?value.orValue(""))")}});
}

std::string privileged_where(std::string_view pod, std::string_view condition) {
  return fill(R"(variables.containers.transformList(i, containers, @pod@ ? [containers
  .filter(c, c.privilege != "" && @condition@)
  .map(c, c.at + (c.privilege == "privileged" ? ": privileged" : ": capability " + c.privilege))]
  : []))",
              {{"pod", pod}, {"condition", condition}});
}

std::string annotation_pattern(const Policy& policy) {
  std::vector<std::string> domains;
  for (const std::string_view domain : kDeviceAnnotationDomains)
    domains.push_back(glob_pattern(domain, "[^/]*"));
  for (const VendorOption& vendor : policy.options().vendors)
    for (const std::string& domain : vendor.annotations)
      domains.push_back(glob_pattern(domain, "[^/]*"));
  return "^(" + alternatives(domains) + ")(/|$)";
}

// A value that changed makes a finding new: in the old pod only keys with the new value count.
std::string annotations_where(std::string_view condition, const Policy& policy) {
  return fill(
      R"(variables.pods.transformList(i, pod,
  @condition@ ? [pod.metadata.?annotations.orValue({}).filter(k,
    @adds_devices@ &&
    object.metadata.?annotations[?k].orValue("") == pod.metadata.annotations[k])
    .map(k, "annotation " + strings.quote(k))] : []))",
      {{"condition", condition}, {"adds_devices", matches("k", annotation_pattern(policy))}});
}

constexpr std::string_view kAnyAsks = "variables.containers[i].exists(c, c.asks)";

}  // namespace
}  // namespace cel

namespace {

using enum HostPathKind;

RuleExpression host_device_roots(const Policy& policy) {
  return {"HP-02",
          cel::fill(R"(variables.paths.transformList(i, paths,
  paths.map(l, l.filter(u,
    @device_root@).map(u, u.text)) +
  (variables.privileged[i].size() > 0 && !variables.privileged[i][0].ephemeral ?
    variables.hostRoots[i].map(l, l.map(u, u.text + " to " + variables.privileged[i][0].at)) : []) +
  (variables.hostRoots[i].size() > 0 ? [variables.privileged[i].filter(c, c.ephemeral)
    .map(c, variables.hostRoots[i][0][0].text + " to " + c.at)] : [])))",
                    {{"device_root", cel::is_host_path({kDeviceRoot}, policy)}}),
          R"(variables.hostRoots.transformList(i, roots,
  variables.privileged[i].size() == 0 || variables.privileged[i][0].ephemeral ?
  roots.map(l, l.map(u, u.text)) : []))"};
}

RuleExpression host_control_channels(const Policy& policy) {
  return {"HP-04",
          cel::fill(R"(variables.paths.transformList(i, paths,
  paths.map(l, l.filter(u,
    @control@).map(u, u.text)) +
  variables.mounts[i].map(l, l.filter(m, !m.readOnly &&
    variables.podResources[i].exists(p, p.exists(u, u.volume == m.volume)))
    .map(m, m.text))))",
                    {{"control", cel::is_host_path({kControlChannel}, policy)}}),
          R"(variables.podResources.transformList(i, lists, lists.map(p, p.filter(u,
  !variables.mounts[i].exists(l, l.exists(m, !m.readOnly && m.volume == u.volume)))
  .map(u, u.text))))"};
}

// The runtime compares mount paths by prefix; HP-05 in null_device_mounts.cpp.
RuleExpression null_device_mounts() {
  return {"HP-05",
          cel::fill(R"(variables.mounts.map(pod, pod.map(l, l.filter(m,
  (m.path == "/dev/null/" || m.below && m.path in ["/", "/dev/"]) &&
  ("/" + m.mountPath.split("/").filter(s, s != "" && s != ".").join("/"))
    .contains("/nvidia-container-devices"))
  .map(m, m.text + " mounted at " + @quoted@))))",
                    {{"quoted", cel::quoted("m.mountPath")}}),
          {}};
}

RuleExpression gpu_runtime_class(const Policy& policy) {
  return {"RT-01",
          cel::fill(R"(variables.pods.transformList(i, pod,
  pod.spec.?runtimeClassName.orValue("") != "" &&
  @listed@ &&
  !@any_asks@ ?
  [["runtimeClassName=" + strings.quote(pod.spec.runtimeClassName)]] : []))",
                    {{"listed", cel::matches("pod.spec.runtimeClassName",
                                             cel::names_pattern(policy.options().runtime_classes))},
                     {"any_asks", cel::kAnyAsks}}),
          {}};
}

RuleExpression preset_node_name() {
  return {"SCH-01",
          R"(variables.pods.transformList(i, pod,
  request.operation == "CREATE" && pod.spec.?nodeName.orValue("") != "" && variables.gpuPod[i] ?
  [["nodeName=" + strings.quote(pod.spec.nodeName)]] : []))",
          {}};
}

std::vector<std::string> device_variable_names(const Policy& policy) {
  std::vector<std::string> names = policy.options().env_names;
  for (const VendorOption& vendor : policy.options().vendors)
    names.insert(names.end(), vendor.env_names.begin(), vendor.env_names.end());
  return names;
}

}  // namespace

std::vector<NamedExpression> rule_variables(const Policy& policy) {
  const std::string names = cel::list(device_variable_names(policy));
  return {
      {"privileged", R"(variables.containers.map(pod, pod.filter(c, c.privilege != "")))"},
      {"hostRoots", cel::fill(R"(variables.paths.map(paths, paths.map(l, l.filter(u,
  !@device_root@ &&
  @host_root@)).filter(l, l.size() > 0)))",
                              {{"device_root", cel::is_host_path({kDeviceRoot}, policy)},
                               {"host_root", cel::is_exactly(kHostRoot, policy)}})},
      {"podResources", cel::fill(R"(variables.paths.map(paths, paths.map(l, l.filter(u,
  !@control@ &&
  @pod_resources@)).filter(l, l.size() > 0)))",
                                 {{"control", cel::is_host_path({kControlChannel}, policy)},
                                  {"pod_resources", cel::is_exactly(kPodResources, policy)}})},
      // Of variables with one name the last one counts.
      {"deviceVariables", cel::fill(R"(variables.containers.map(pod, pod.map(c, {
    "at": c.at,
    "asks": c.asks,
    "last": dyn([c.env.filter(e, e.name in @names@)].map(l,
      @names@.filter(n, l.exists(e, e.name == n))
        .map(n, l.filter(e, e.name == n))
        .map(d, d[d.size() - 1]))[0])
  })))",
                                    {{"names", names}})},
  };
}

std::vector<RuleExpression> rule_expressions(const Policy& policy) {
  const std::string nothing = cel::chooses_nothing();
  const std::string reference = cel::has_reference();
  const std::string asks(cel::kAnyAsks);
  return {
      {"HP-01", cel::paths_where(cel::is_host_path({kDeviceNode}, policy)), {}},
      host_device_roots(policy),
      host_control_channels(policy),
      null_device_mounts(),
      {"HP-07",
       cel::paths_where(
           R"(u.unclean && (u.path == "/dev/null/" || )" +
           cel::is_host_path({kDeviceNode, kDeviceRoot, kHostRoot, kControlChannel, kPodResources},
                             policy) +
           ")"),
       {}},
      {"ENV-01",
       cel::variables_where("!c.asks", "!has(e.valueFrom) && !" + nothing + " && !" + reference),
       {}},
      {"ENV-02",
       cel::variables_where("!c.asks",
                            "(has(e.valueFrom) || !" + nothing + " && " + reference + ")"),
       {}},
      {"ENV-03", cel::variables_where("c.asks", "(has(e.valueFrom) || !" + nothing + ")"), {}},
      gpu_runtime_class(policy),
      {"ANN-01", cel::annotations_where("!" + asks, policy), cel::annotations_where(asks, policy)},
      {"PRIV-01", cel::privileged_where("variables.aimed[i]", "!c.asks && c.judged"), {}},
      {"PRIV-02", cel::privileged_where("true", "c.asks"), {}},
      preset_node_name(),
  };
}

}  // namespace rankward::admission
