// HP rules as CEL.
#include "expressions_facts.hpp"
#include "expressions_host_path.hpp"
#include "expressions_rules.hpp"
#include "expressions_text.hpp"

namespace rankward::admission {
namespace {

using enum HostPathKind;

// Whether host path `u` is of one of the kinds; with `below` also where only its beginning is known
// and one of them can follow.
std::string is_of(std::initializer_list<HostPathKind> kinds, const Policy& policy,
                  bool below = true) {
  const HostPathPattern pattern = host_path_pattern(kinds, policy);
  std::string is = cel::matches("u.path", pattern.is);
  if (!pattern.is_not.empty()) is += " && !" + cel::matches("u.path", pattern.is_not);
  if (below) is += " ||\n      u.below && " + cel::matches("u.path", pattern.below);
  return "(" + is + ")";
}

std::string paths_where(std::string_view condition) {
  return cel::fill(R"(variables.knownPaths.map(paths, paths.map(l, l.filter(u,
  @condition@)
  .map(u, u.text))))",
                   {{"condition", condition}});
}

RuleExpression host_device_roots(const Policy& policy) {
  return {"HP-02",
          cel::fill(R"(variables.knownPaths.transformList(i, paths,
  paths.map(l, l.filter(u,
    @device_root@)
    .map(u, u.text)) +
  (variables.privileged[i].size() > 0 && !variables.privileged[i][0].ephemeral ?
    variables.hostRoots[i].map(l, l.map(u, u.text + " to " + variables.privileged[i][0].at)) : []) +
  (variables.hostRoots[i].size() > 0 ? [variables.privileged[i].filter(c, c.ephemeral)
    .map(c, variables.hostRoots[i][0][0].text + " to " + c.at)] : [])))",
                    {{"device_root", is_of({kDeviceRoot}, policy)}}),
          R"(variables.hostRoots.transformList(i, roots,
  variables.privileged[i].size() == 0 || variables.privileged[i][0].ephemeral ?
  roots.map(l, l.map(u, u.text)) : []))"};
}

RuleExpression host_control_channels(const Policy& policy) {
  return {"HP-04",
          cel::fill(R"(variables.knownPaths.transformList(i, paths,
  paths.map(l, l.filter(u,
    @control@)
    .map(u, u.text)) +
  variables.mounts[i].map(l, l.filter(m, !m.readOnly &&
    variables.podResources[i].exists(p, p.exists(u, u.volume == m.volume)))
    .map(m, m.text))))",
                    {{"control", is_of({kControlChannel}, policy)}}),
          R"(variables.podResources.transformList(i, lists, lists.map(p, p.filter(u,
  !variables.mounts[i].exists(l, l.exists(m, !m.readOnly && m.volume == u.volume)))
  .map(u, u.text))))"};
}

// The runtime compares mount paths by prefix. Of a mountPath with `..`, which the API server takes,
// this may find more than the rule does.
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

RuleExpression unclean_host_paths(const Policy& policy) {
  const auto kinds = {kDeviceNode, kDeviceRoot, kHostRoot, kControlChannel, kPodResources};
  return {"HP-07",
          paths_where("u.unclean && (u.path == \"/dev/null/\" || " + is_of(kinds, policy) + ")"),
          {}};
}

void add_allowed_host_paths(const Policy& policy, std::vector<RuleExpression>& out) {
  const auto& allowed = policy.options().allowed_host_paths;
  if (!allowed) return;
  std::string listed;
  for (const std::string& path : *allowed) {
    if (!listed.empty()) listed += " || ";
    listed += path == "/" ? "true" : "u.path.startsWith(" + cel::literal(path + "/") + ")";
  }
  out.push_back({"HP-08",
                 cel::fill(R"(variables.paths.transformList(i, paths,
  variables.aimed[i] ? paths.map(l, l.filter(u, !(@listed@)).map(u, u.text)) : []))",
                           {{"listed", listed.empty() ? "false" : listed}}),
                 {}});
}

}  // namespace

void add_host_path_rules(const Policy& policy, std::vector<RuleExpression>& out) {
  out.push_back({"HP-01", paths_where(is_of({kDeviceNode}, policy)), {}});
  out.push_back(host_device_roots(policy));
  out.push_back({"HP-03", paths_where("!u.below && " + is_of({kBroad}, policy, false)), {}});
  out.push_back(host_control_channels(policy));
  out.push_back(null_device_mounts());
  out.push_back(unclean_host_paths(policy));
  add_allowed_host_paths(policy, out);
}

void add_host_path_variables(const Policy& policy, std::vector<NamedExpression>& out) {
  out.push_back(
      {"privileged", R"(variables.containers.map(pod, pod.filter(c, c.privilege != "")))"});
  out.push_back(
      {"knownPaths", cel::fill("variables.paths.map(paths, paths.map(l, l.filter(u,\n  @known@)))",
                               {{"known", cel::matches("u.path", known_root_pattern(policy))}})});
  constexpr std::string_view kFirstNot = R"(variables.knownPaths.map(paths, paths.map(l, l.filter(u,
  !@first@ &&
  @then@))
  .filter(l, l.size() > 0)))";
  out.push_back({"hostRoots", cel::fill(kFirstNot, {{"first", is_of({kDeviceRoot}, policy)},
                                                    {"then", is_of({kHostRoot}, policy, false)}})});
  out.push_back(
      {"podResources", cel::fill(kFirstNot, {{"first", is_of({kControlChannel}, policy)},
                                             {"then", is_of({kPodResources}, policy, false)}})});
}

}  // namespace rankward::admission
