#include "expressions_facts.hpp"

#include "expressions_host_path.hpp"
#include "expressions_text.hpp"
#include "rankward/kube/resources.hpp"

namespace rankward::admission {
namespace cel {

std::string quoted(std::string_view text) {
  // strings.quote leaves control characters that have no letter of their own.
  return fill(R"((@text@.matches("^[ -~]*$") ?
      strings.quote(@text@.size() > 64 ? @text@.substring(0, 64) + "..." : @text@) :
      "what cannot be printed"))",
              {{"text", text}});
}

std::string asks_among(std::string_view resources, const Policy& policy) {
  const kube::NamePattern names = kube::accelerator_pattern();
  std::vector<std::string> more;
  for (const VendorOption& vendor : policy.options().vendors)
    for (const std::string& resource : vendor.resources)
      more.push_back(glob_pattern(resource, "[^/]*"));
  // Names without a domain, cpu and memory above all, are sorted out before the patterns are run.
  return fill(
      R"(@resources@.exists(r, r.contains("/") &&
    (@accepts@ && !@excepts@@more@) &&
    sign(quantity(string(@resources@[r]))) != 0))",
      {{"resources", resources},
       {"accepts", matches("r", names.accepts)},
       {"excepts", matches("r", names.excepts)},
       {"more",
        more.empty() ? std::string() : " || " + matches("r", "^(" + alternatives(more) + ")$")}});
}

std::string selects_gpu_nodes(const Policy& policy) {
  const std::string labels = names_pattern(policy.options().gpu_node_labels);
  return fill(R"((pod.spec.?nodeSelector.orValue({}).exists(k,
    pod.spec.nodeSelector[k] != "false" && @key@) ||
  pod.spec.?affinity.?nodeAffinity.?requiredDuringSchedulingIgnoredDuringExecution
    .?nodeSelectorTerms.orValue([]).exists(t, t.?matchExpressions.orValue([]).exists(e,
      !(e.operator in ["NotIn", "DoesNotExist"]) &&
      (e.operator != "In" || e.?values.orValue([]).exists(v, v != "false")) && @e.key@))))",
              {{"key", matches("k", labels)}, {"e.key", matches("e.key", labels)}});
}

std::string tolerates_gpu_nodes(const Policy& policy) {
  return fill(R"(pod.spec.?tolerations.orValue([]).exists(t, has(t.key) && @key@))",
              {{"key", matches("t.key", names_pattern(policy.options().gpu_toleration_keys))}});
}

namespace {

// canonical_host_path with a `/` at its end; the API server refuses `..` in what it is used on.
std::string canonical(std::string_view path) {
  return fill(R"([([""] + (@path@).split("/").filter(s, s != "" && s != ".") + [""]).join("/")]
      .map(p, p.substring(p.find(@roots@).size() - 1))
      .map(p, p.startsWith("/var/run/") ? p.substring(4) : p)[0])",
              {{"path", path}, {"roots", literal(process_root_pattern())}});
}

// lexically_clean would change it; `path` ought to begin with one `/`.
std::string unclean(std::string_view path) {
  return fill(R"(@path@.matches(@pattern@))",
              {{"path", path}, {"pattern", literal(R"(^[^/]|^$|//|/\.(/|$)|./$)")}});
}

std::string listed_containers(std::string_view list, std::string_view field) {
  return fill(R"(@list@.transformList(i, c,
      {"at": dyn("@field@[" + string(i) + "] " + strings.quote(c.name)), "is": c}))",
              {{"list", list}, {"field", field}});
}

}  // namespace
}  // namespace cel

namespace {

std::string containers(const Policy& policy) {
  return cel::fill(
      R"(variables.pods.map(pod, (
    @regular@ +
    @init@ +
    @ephemeral@
  ).map(x, {
    "at": x.at,
    "name": x.is.name,
    "ephemeral": dyn(x.at.startsWith("ephemeral")),
    "judged": dyn(request.?subResource.orValue("") != "ephemeralcontainers" ||
      !oldObject.spec.?ephemeralContainers.orValue([]).exists(o, o.name == x.is.name) &&
      x.at.startsWith("ephemeral")),
    "env": x.is.?env.orValue([]),
    "envFrom": x.is.?envFrom.orValue([]),
    "mounts": x.is.?volumeMounts.orValue([]),
    "asks": dyn(x.is.?resources.?claims.orValue([]).size() > 0 ||
      [x.is.?resources.?limits.orValue({}), x.is.?resources.?requests.orValue({})].exists(l,
        @asks@) ||
      ["gpu-fraction", "gpu-memory"].exists(k,
        pod.metadata.?annotations[?k].orValue("") != "" &&
        isQuantity(pod.metadata.annotations[k]) &&
        sign(quantity(pod.metadata.annotations[k])) > 0) &&
      x.is.name == pod.metadata.?annotations[?"gpu-fraction-container-name"]
        .orValue(pod.spec.containers[0].name)),
    "privilege": dyn(x.is.?securityContext.?privileged.orValue(false) ? "privileged" :
      x.is.?securityContext.?capabilities.?add.orValue([]).exists(k,
        k.upperAscii() in ["SYS_ADMIN", "CAP_SYS_ADMIN"]) ? "SYS_ADMIN" :
      x.is.?securityContext.?capabilities.?add.orValue([]).exists(k,
        k.upperAscii() in ["ALL", "CAP_ALL"]) ? "ALL" : "")
  })))",
      {{"regular", cel::listed_containers("pod.spec.containers", "containers")},
       {"init", cel::listed_containers("pod.spec.?initContainers.orValue([])", "initContainers")},
       {"ephemeral",
        cel::listed_containers("pod.spec.?ephemeralContainers.orValue([])", "ephemeralContainers")},
       {"asks", cel::asks_among("l", policy)}});
}

std::string volumes() {
  return R"(variables.pods.map(pod, pod.spec.?volumes.orValue([]).transformList(i, v,
    has(v.hostPath), {
      "at": dyn("volumes[" + string(i) + "] " + strings.quote(v.name)),
      "name": v.name,
      "path": v.hostPath.path
    })))";
}

std::string mounts() {
  return cel::fill(R"(variables.containers.transformList(i, containers,
    variables.volumes[i].size() == 0 ? [] : containers.map(c, c.mounts
      .filter(m, variables.volumes[i].exists(v, v.name == m.name))
      .map(m, {
        "at": c.at,
        "container": c.name,
        "volume": m.name,
        "readOnly": m.?readOnly.orValue(false),
        "mountPath": m.mountPath,
        "subPath": m.?subPath.orValue(""),
        "below": dyn(m.?subPathExpr.orValue("") != ""),
        "text": dyn(variables.volumes[i].filter(v, v.name == m.name)[0].path +
          (m.?subPath.orValue("") == "" ? "" : "/" + m.subPath))
      }))
      .map(l, l.map(m, {
        "at": m.at,
        "container": m.container,
        "volume": m.volume,
        "readOnly": m.readOnly,
        "mountPath": m.mountPath,
        "subPath": m.subPath,
        "below": m.below,
        "text": dyn(m.at + ": hostPath " + @quoted@ + " of volume " + strings.quote(m.volume) +
          (m.below ? " with a subPathExpr" : "")),
        "path": dyn(@path@),
        "unclean": dyn(m.subPath != "" && @unclean@)
      }))))",
                   {{"quoted", cel::quoted("m.text")},
                    {"path", cel::canonical("m.text")},
                    {"unclean", cel::unclean(R"(("/" + m.subPath))")}});
}

std::string paths() {
  return cel::fill(R"(variables.volumes.transformList(i, volumes, [volumes.map(v, {
      "volume": v.name,
      "below": dyn(false),
      "text": dyn(v.at + ": hostPath " + @quoted@),
      "path": dyn(@path@),
      "unclean": dyn(@unclean@)
    })] + variables.mounts[i].map(l, l.filter(m, m.below || m.subPath != ""))))",
                   {{"quoted", cel::quoted("v.path")},
                    {"path", cel::canonical("v.path")},
                    {"unclean", cel::unclean("v.path")}});
}

}  // namespace

std::vector<NamedExpression> pod_fact_variables(const Policy& policy) {
  return {
      {"pods", R"(request.operation == "UPDATE" ? [dyn(object), dyn(oldObject)] : [dyn(object)])"},
      {"containers", containers(policy)},
      {"volumes", volumes()},
      {"mounts", mounts()},
      {"paths", paths()},
  };
}

}  // namespace rankward::admission
