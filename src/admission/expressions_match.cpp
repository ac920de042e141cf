// Which pods are worth a call of the webhook. Wider than the rules where they would be dear to
// state: what a condition keeps away no rule ever sees.
#include "expressions_facts.hpp"
#include "expressions_rules.hpp"
#include "expressions_text.hpp"
#include "rank_keys.hpp"
#include "rankward/admission/expressions.hpp"
#include "rankward/kube/rankward_keys.hpp"

namespace rankward::admission {
namespace {

// Finalizers, owners, most labels and scheduling gates are no subject of any rule: gates are only
// taken away, so gangs are let go without a call for each pod, and by hand while we are down.
std::string changed() {
  std::vector<std::string> labels{"kueue.x-k8s.io/queue-name"};
  for (const std::string_view key : kRankKeys)
    labels.emplace_back(key);
  return cel::fill(
      R"(request.operation == "CREATE" ||
object.metadata.?annotations != oldObject.metadata.?annotations ||
[dyn(object), dyn(oldObject)].exists(o, o.metadata.?labels.orValue({}).exists(k,
  (k.startsWith(@prefix@) || k in @labels@) &&
  object.metadata.?labels[?k] != oldObject.metadata.?labels[?k])) ||
!dyn(oldObject.spec).all(k, k == "schedulingGates" || k in dyn(object.spec)) ||
!dyn(object.spec).all(k, k == "schedulingGates" ||
  (k in dyn(oldObject.spec) && dyn(oldObject.spec)[k] == dyn(object.spec)[k])))",
      {{"prefix", cel::literal(kube::kRankwardPrefix)}, {"labels", cel::list(labels)}});
}

// HP: volumes that lead to the host or may do so.
std::string reaches_the_host() {
  return R"(pod.spec.?volumes.orValue([]).exists(v, has(v.hostPath) || has(v.persistentVolumeClaim)))";
}

// Of a container `c`. REQ: any amount of a resource that is not the node's own, 0 too.
std::string asks_or_chooses(const Policy& policy) {
  return cel::fill(R"(c.?resources.?claims.orValue([]).size() > 0 ||
    c.?resources.?limits.orValue({}).exists(r, r.contains("/")) ||
    c.?resources.?requests.orValue({}).exists(r, r.contains("/")) ||
    c.?env.orValue([]).exists(e, e.name in @names@))",
                   {{"names", cel::list(watched_variable_names(policy))}});
}

// Of a container `c`: matters on GPU nodes, which a pod that names its node may be on.
std::string matters_on_gpu_nodes() {
  return R"(c.?envFrom.orValue([]).size() > 0 ||
      c.?securityContext.?privileged.orValue(false) ||
      c.?securityContext.?capabilities.?add.orValue([]).size() > 0)";
}

std::string marked(const Policy& policy) {
  const std::string prefix = cel::literal(kube::kRankwardPrefix);
  return cel::fill(
      R"(pod.metadata.?annotations.orValue({}).exists(k,
    k in ["gpu-fraction", "gpu-memory"] || k.startsWith(@prefix@) ||
    @adds_devices@) ||
  pod.metadata.?labels.orValue({}).exists(k, k.startsWith(@prefix@)) ||
  pod.spec.?schedulingGates.orValue([]).exists(g, g.name.startsWith(@prefix@)))",
      {{"prefix", prefix}, {"adds_devices", cel::matches("k", device_annotation_pattern(policy))}});
}

// REQ-04: ranks that are none. Every Indexed Job's and StatefulSet's pod has one that is.
std::string has_odd_rank() {
  std::vector<std::string> keys;
  for (const std::string_view key : kRankKeys)
    keys.emplace_back(key);
  return cel::fill(R"([pod.metadata.?labels.orValue({}), pod.metadata.?annotations.orValue({})]
    .exists(m, m.exists(k, k in @keys@ &&
      (k == @kueue@ || !m[k].matches("^[0-9]{1,5}$")))))",
                   {{"keys", cel::list(keys)}, {"kueue", cel::literal(kKueuePodIndex)}});
}

// FAB-01: what is common to the names of the programs and images in fabric_test_program.cpp, of a
// container `c`. A launcher asks for no GPU itself.
constexpr std::string_view kMayTestTheFabric =
    R"(([c.?image.orValue("")] + c.?command.orValue([]) + c.?args.orValue([])).exists(w,
      w.matches("_perf|perftest|[nr]ccl-tests|ib_|raw_ethernet")))";

std::string can_matter(const Policy& policy) {
  return cel::fill(
      R"([dyn(object)].exists(pod,
  @reaches_the_host@ ||
  (pod.spec.containers + pod.spec.?initContainers.orValue([]) +
    pod.spec.?ephemeralContainers.orValue([])).exists(c,
    @asks_or_chooses@ ||
    @may_test_the_fabric@ ||
    pod.spec.?nodeName.orValue("") != "" && (
      @matters_on_gpu_nodes@)) ||
  pod.spec.?runtimeClassName.orValue("") != "" &&
    @gpu_runtime_class@ ||
  @marked@ ||
  @has_odd_rank@ ||
  @tolerates@ ||
  @selects@))",
      {{"reaches_the_host", reaches_the_host()},
       {"asks_or_chooses", asks_or_chooses(policy)},
       {"may_test_the_fabric", kMayTestTheFabric},
       {"matters_on_gpu_nodes", matters_on_gpu_nodes()},
       {"gpu_runtime_class", cel::matches("pod.spec.runtimeClassName",
                                          cel::names_pattern(policy.options().runtime_classes))},
       {"marked", marked(policy)},
       {"has_odd_rank", has_odd_rank()},
       {"tolerates", cel::tolerates_gpu_nodes(policy)},
       {"selects", cel::selects_gpu_nodes(policy)}});
}

}  // namespace

std::vector<NamedExpression> pod_match_conditions(const Policy& policy) {
  return {{"what-is-judged-changed", changed()}, {"can-matter", can_matter(policy)}};
}

}  // namespace rankward::admission
